package observed

import (
	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/breakingpoint"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/session"
)

// Stops reports whether the run's load ends at a breaking point, and this is undecided: the decision needs the
// seconds that all clients have sent.
func Stops(run *v1alpha1.BenchmarkRun) bool {
	return !state.IsFinished(run) && run.Status.Stop == nil && loadplan.StopAt(run.Spec.Load.Stages) != breakingpoint.Bounds{}
}

// Levels returns the levels of the run's load that the clients came to and the steps between them, with their
// bounds, given that all clients have sent their totals.
func Levels(run *v1alpha1.BenchmarkRun, clients map[int]session.ClientState) (levels []result.Level, steps []result.Step) {
	levels, steps = loadplan.Levels(&run.Spec)
	if run.Status.Stop == nil {
		return levels, steps
	}
	var totals []*result.Totals
	for _, c := range clients {
		totals = append(totals, c.Totals)
	}
	return result.Reached(levels, steps, totals)
}
