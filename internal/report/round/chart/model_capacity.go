package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/report/round"
)

// Capacity holds the capacity search of a cell.
type Capacity struct {
	Label string
	// Load is the name of the load's axis: "requests/s" or "connections".
	Load string
	// LatencyAxis is the name of the axis of p99 with its unit.
	LatencyAxis string
	// Open reports whether the load is a rate, of which a trial achieves a share.
	Open   bool
	Trials []Trial
	benchmark.Capacity
	// LatencyBound is the upper bound of the template's threshold of p99 in milliseconds; 0 without one.
	LatencyBound float64
}

// Trial is a trial of a capacity search.
type Trial struct {
	Run     string
	Load    int64
	Valid   bool
	Outcome benchmark.Outcome
	// Reason says why the trial failed or isn't valid; empty if it passed.
	Reason string
	// Lower and Upper are the bounds after the trial; 0 for none.
	Lower, Upper int64
	// AchievedPercent is the achieved rate in percent of the load; nil for closed load, or if it is unknown.
	AchievedPercent *float64
	// LatencyP99 is in milliseconds; nil if it is unknown.
	LatencyP99 *float64
}

// NewCapacities returns the capacity searches of a round, by cell.
func NewCapacities(r *round.Report) []Capacity {
	if r.Spec.Capacity == nil {
		return nil
	}
	var all []Capacity
	for i := range r.Capacities {
		c := Capacity{Label: r.Label(r.Capacities[i].Cell), Capacity: r.Capacities[i], Load: "requests/s", LatencyAxis: r.AxisTitle("LatencyP99"), Open: true, LatencyBound: latencyBound(&r.Spec)}
		if path := r.Spec.Capacity.Path; strings.HasSuffix(path, "onnections") {
			c.Load, c.Open = "connections", false
		}
		c.addTrials(r)
		all = append(all, c)
	}
	return all
}

func (c *Capacity) addTrials(r *round.Report) {
	var runs []*benchmark.Run
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Trial && run.Cell == c.Cell && !run.Ended.IsZero() {
			runs = append(runs, run)
		}
	}
	slices.SortStableFunc(runs, func(a, b *benchmark.Run) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Replacement, b.Replacement))
	})
	var tried []benchmark.Trial
	for _, run := range runs {
		t := Trial{Run: run.Name, Load: run.Load, Valid: run.Valid, Outcome: run.Outcome, Reason: run.Message}
		if run.Valid {
			tried = append(tried, benchmark.Trial{Load: run.Load, Outcome: run.Outcome})
			if c.Open && run.Load > 0 && run.Achieved > 0 {
				share := 100 * run.Achieved / float64(run.Load)
				t.AchievedPercent = &share
			}
			if p99, ok := run.Figures[v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP99)]; ok && run.Outcome != benchmark.OutcomeSaturated {
				milliseconds := p99 / 1000
				t.LatencyP99 = &milliseconds
			}
		}
		step := benchmark.Search(r.Spec.Capacity, tried)
		t.Lower, t.Upper = step.Sustained, step.Failed
		c.Trials = append(c.Trials, t)
	}
}

// latencyBound returns the threshold of p99 in milliseconds; 0 without one.
func latencyBound(spec *v1alpha1.BenchmarkSpec) float64 {
	for _, t := range spec.Template.Spec.Thresholds {
		if bound, err := time.ParseDuration(t.Below); err == nil && t.Metric == v1alpha1.MetricLatencyP99 {
			return float64(bound) / float64(time.Millisecond)
		}
	}
	return 0
}

// Sentence says what the cell sustains.
func (c *Capacity) Sentence() string {
	load := func(n int64) string {
		if c.Open {
			return picture.Count(n) + "/s"
		}
		return picture.Count(n) + " connections"
	}
	switch {
	case c.Limit == v1alpha1.LimitMaximum:
		return fmt.Sprintf("%s sustains %s, the largest load that was tried.", c.Label, load(c.Sustained))
	case c.Limit == v1alpha1.LimitClients && c.Sustained > 0:
		return fmt.Sprintf("%s sustains at least %s. At %s the clients were the limit: give them more CPU, or use more of them.", c.Label, load(c.Sustained), load(c.Failed))
	case c.Limit == v1alpha1.LimitClients:
		return fmt.Sprintf("What %s sustains is unknown: at %s the clients were the limit. Give them more CPU, or use more of them.", c.Label, load(c.Failed))
	case c.Limit == v1alpha1.LimitTrials:
		return fmt.Sprintf("What %s sustains is unknown: %d trials contradict each other. Increase capacity.trialSeconds or precisionPercent.", c.Label, c.Capacity.Trials)
	case c.Limit == "":
		return fmt.Sprintf("The search of %s is not complete.", c.Label)
	case c.Sustained == 0:
		return fmt.Sprintf("%s doesn't sustain %s, the smallest load that was tried.", c.Label, load(c.Failed))
	}
	return fmt.Sprintf("%s sustains %s, fails at %s.", c.Label, load(c.Sustained), load(c.Failed))
}
