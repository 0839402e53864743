package round

import (
	"fmt"
	"slices"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/report/number"
)

// FromStatus returns what the status of a Benchmark says of its last round, which must exist: the conclusions, but
// no metrics of cells or runs.
func FromStatus(b *v1alpha1.Benchmark) *Report {
	s := b.Status.Round
	r := &benchmark.Round{
		Namespace: b.Namespace, Benchmark: b.Name, Number: s.Number, Trigger: s.Trigger, Seed: ptr.Deref(s.Seed, 0), Hash: s.Hash,
		Started: s.StartTime.Time, Verdict: s.Verdict,
	}
	report := &Report{Round: r}
	if s.CompletionTime != nil {
		r.Ended = s.CompletionTime.Time
	}
	r.Blocks = int(ptr.Deref(s.CompletedBlocks, 0))
	r.Reason = s.Reason
	if s.CompletionTime != nil && !lifecycle.IsRejected(b) {
		r.Message = lifecycle.Succeeded(b).Message
	}
	if b.Status.Hash == s.Hash {
		r.Spec = b.Spec
		if cells, err := cells.Of(&b.Spec); err == nil {
			r.Cells = cells
		}
	}
	r.Claims = claimsOf(report, s.Claims)
	for i := range s.Effects {
		r.Effects = append(r.Effects, effectOf(report, &s.Effects[i]))
	}
	for _, c := range s.Capacities {
		achieved, _ := strconv.ParseFloat(c.Achieved, 64)
		r.Capacities = append(r.Capacities, benchmark.Capacity{
			Cell: cellOf(report, c.Cell), Sustained: ptr.Deref(c.Sustained, 0), Failed: ptr.Deref(c.Failed, 0), Limit: c.Limit,
			Trials: int(ptr.Deref(c.Trials, 0)), AchievedPerSecond: achieved,
		})
	}
	report.Notes = []string{fmt.Sprintf("This is from the Benchmark's status: %s of %s, %d invalid. The metrics of cells and runs are missing.",
		number.Plural(int(ptr.Deref(s.FinishedRuns, 0)), "run"), number.Plural(int(ptr.Deref(s.Cells, 0)), "cell"), ptr.Deref(s.InvalidRuns, 0))}
	return report
}

// claimsOf returns the claims of a status, as far as the spec has them.
func claimsOf(r *Report, statuses []v1alpha1.ClaimStatus) []benchmark.Claim {
	d := inference.Design{Spec: &r.Spec, Cells: r.Cells}
	if c := r.Spec.Comparison; c != nil && c.Baseline.Cell == nil { // each cell may have been compared
		d.Stored = map[string][]benchmark.Run{}
		for i := range r.Cells {
			d.Stored[r.Cells[i].Name] = make([]benchmark.Run, 1)
		}
	}
	known, err := d.Claims()
	if err != nil {
		return nil
	}
	var claims []benchmark.Claim
	for i := range statuses {
		s := &statuses[i]
		at := slices.IndexFunc(known, func(c benchmark.Claim) bool { return c.Name == s.Name })
		if at < 0 {
			continue
		}
		c := known[at]
		c.Percent, c.LowPercent, c.HighPercent, c.DetectablePercent = parsed(s.Percent), parsed(s.LowPercent), parsed(s.HighPercent), parsed(s.DetectablePercent)
		c.Verdict, c.BlocksToDecide, c.Message = s.Verdict, int(ptr.Deref(s.BlocksToDecide, 0)), s.Message
		claims = append(claims, c)
	}
	return claims
}

func effectOf(r *Report, s *v1alpha1.EffectStatus) benchmark.Effect {
	e := benchmark.Effect{
		Cell: cellOf(r, s.Cell), Metric: benchmark.MetricKey(s.Metric, s.Request), Percent: parsed(s.Percent), LowPercent: parsed(s.LowPercent), HighPercent: parsed(s.HighPercent),
		DetectablePercent: parsed(s.DetectablePercent), Message: s.Message,
	}
	if c := r.Spec.Comparison; c != nil {
		e.DifferentTimes = c.Baseline.Cell == nil
	}
	return e
}

// cellOf returns the index of a cell by its name. It adds cells that the spec no longer has.
func cellOf(r *Report, name string) int {
	at := slices.IndexFunc(r.Cells, func(c cells.Cell) bool { return c.Name == name })
	if at < 0 {
		at = len(r.Cells)
		r.Cells = append(r.Cells, cells.Cell{Index: at, Name: name, Baseline: cells.NoBaseline})
	}
	return at
}

// parsed returns a decimal number of the status, or nil for none.
func parsed(decimal string) *float64 {
	x, err := strconv.ParseFloat(decimal, 64)
	if err != nil {
		return nil
	}
	return &x
}
