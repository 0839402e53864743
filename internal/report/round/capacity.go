package round

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/search"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
)

// Trial is a trial of a capacity search.
type Trial struct {
	*benchmark.Run
	// Lower and Upper are the bounds after the trial; 0 for none.
	Lower, Upper int64
	// AchievedPercent is the achieved rate in percent of the load; nil for closed load, or if it is unknown.
	AchievedPercent *float64
	// LatencyP99 is in the unit of MetricUnit; nil if it is unknown, or the clients were saturated.
	LatencyP99 *float64
}

// Trials returns the trials of a cell that have ended, in their order.
func (r *Report) Trials(cell int) []Trial {
	if r.Spec.Capacity == nil { // the spec that the status knows is another
		return nil
	}
	var all []Trial
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Trial && run.Cell == cell && !run.Ended.IsZero() {
			all = append(all, Trial{Run: run})
		}
	}
	slices.SortStableFunc(all, func(a, b Trial) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Replacement, b.Replacement))
	})
	_, open := r.CapacityLoad()
	var tried []search.Trial
	for i := range all {
		t := &all[i]
		if t.Valid {
			tried = append(tried, search.Trial{Load: t.Load, Outcome: t.Outcome})
			if open && t.Load > 0 && t.Achieved > 0 {
				share := 100 * t.Achieved / float64(t.Load)
				t.AchievedPercent = &share
			}
			if p99, ok := t.Metrics["LatencyP99"]; ok && t.Outcome != benchmark.OutcomeSaturated {
				t.LatencyP99 = InUnitOf("LatencyP99", &p99)
			}
		}
		step := search.Next(r.Spec.Capacity, tried)
		t.Lower, t.Upper = step.Sustained, step.Failed
	}
	return all
}

// CapacityLoad returns what the capacity searches count the load in, "requests/s" or "connections", and whether it is a
// rate, of which a trial achieves a share.
func (r *Report) CapacityLoad() (unit string, open bool) {
	if c := r.Spec.Capacity; c != nil && strings.HasSuffix(c.Path, "onnections") {
		return "connections", false
	}
	return "requests/s", true
}

// LatencyBound returns the bound of the template's threshold of p99 in the unit of MetricUnit; 0 without one.
func (r *Report) LatencyBound() float64 {
	for _, t := range r.Spec.Template.Spec.Thresholds {
		if bound, err := time.ParseDuration(t.Below); err == nil && t.Metric == v1alpha1.MetricLatencyP99 && t.Request == "" {
			return InUnit("LatencyP99", float64(bound)/float64(time.Microsecond))
		}
	}
	return 0
}

// Sustains says what a cell sustains.
func (r *Report) Sustains(c *benchmark.Capacity) string {
	label := r.Label(c.Cell)
	load := func(n int64) string {
		if unit, open := r.CapacityLoad(); !open {
			return number.Count(n) + " " + unit
		}
		return number.Count(n) + "/s"
	}
	switch {
	case c.Limit == v1alpha1.LimitMaximum:
		return fmt.Sprintf("%s sustains %s, the largest load that was tried.", label, load(c.Sustained))
	case c.Limit == v1alpha1.LimitClients && c.Sustained > 0:
		return fmt.Sprintf("%s sustains at least %s. At %s the clients were the limit: give them more CPU, or use more of them.", label, load(c.Sustained), load(c.Failed))
	case c.Limit == v1alpha1.LimitClients:
		return fmt.Sprintf("What %s sustains is unknown: at %s the clients were the limit. Give them more CPU, or use more of them.", label, load(c.Failed))
	case c.Limit == v1alpha1.LimitTrials:
		return fmt.Sprintf("What %s sustains is unknown: %d trials contradict each other. Increase capacity.trialSeconds or precisionPercent.", label, c.Trials)
	case c.Limit == "":
		return fmt.Sprintf("The search of %s is not complete.", label)
	case c.Sustained == 0:
		return fmt.Sprintf("%s doesn't sustain %s, the smallest load that was tried.", label, load(c.Failed))
	}
	return fmt.Sprintf("%s sustains %s, fails at %s.", label, load(c.Sustained), load(c.Failed))
}

// capacitiesTable returns the results of the capacity searches.
func (r *Report) capacitiesTable() *doc.Table {
	type capacity = benchmark.Capacity
	positive := func(name string, of func(*capacity) float64, text func(float64) string) doc.Field[capacity] {
		return doc.Number(name, func(c *capacity) string { return number.OrDash(of(c) > 0, text(of(c))) })
	}
	return doc.TableOf("At the sustained load: medians of the trials that passed there", r.Capacities,
		doc.Word("cell", func(c *capacity) string { return r.Cells[c.Cell].Name }),
		positive("sustained", func(c *capacity) float64 { return float64(c.Sustained) }, digits),
		positive("not sustained", func(c *capacity) float64 { return float64(c.Failed) }, digits),
		doc.Word("limit", func(c *capacity) string { return limits[c.Limit] }),
		positive("achieved/s", func(c *capacity) float64 { return c.AchievedPerSecond }, benchmark.Decimal),
		positive("requests/day", func(c *capacity) float64 { return c.RequestsPerDay }, digits),
		positive("MB/s", func(c *capacity) float64 { return c.BytesPerSecond / 1e6 }, benchmark.Decimal),
		positive("CPU s/million requests", func(c *capacity) float64 { return c.CPUSecondsPerMillionRequests }, benchmark.Decimal),
		positive("KiB/connection", func(c *capacity) float64 { return c.BytesPerConnection / 1024 }, benchmark.Decimal),
		doc.Number("trials", func(c *capacity) string { return strconv.Itoa(c.Trials) }))
}

var limits = map[v1alpha1.CapacityLimit]string{
	v1alpha1.LimitServer:  "the server",
	v1alpha1.LimitClients: "the clients: the server's is unknown",
	v1alpha1.LimitMaximum: "capacity.max",
	v1alpha1.LimitTrials:  "too many trials that contradict each other",
	"":                    "not complete",
}
