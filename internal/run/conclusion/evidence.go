package conclusion

import (
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Evidence is what a result is made of, once every client has sent its totals.
type Evidence struct {
	// Run has the status as it will be written.
	Run      *v1alpha1.BenchmarkRun
	Observed *observed.Run
	Now      time.Time
	// Started describes the target as it was started, plans the load of each client.
	Started *v1alpha1.TargetStatus
	Plans   []*session.Plan
}

// measurementStart returns the common start time of the measurement, as the clients had it.
func (e *Evidence) measurementStart() int64 {
	for _, c := range e.Observed.Sessions.Clients {
		if at := c.Starts[sessionpb.Stage_STAGE_MEASUREMENT]; at != 0 {
			return at
		}
	}
	return e.Observed.Sessions.Starts[sessionpb.Stage_STAGE_MEASUREMENT]
}
