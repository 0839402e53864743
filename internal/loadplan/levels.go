package loadplan

import (
	"strconv"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/breakingpoint"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
)

// Profile returns the connections or the rate of a load with stages over all clients, or nil for another load.
func Profile(spec *v1alpha1.BenchmarkRunSpec) profile.Profile {
	if spec.Load.Stages == nil {
		return nil
	}
	s := sharing{per: spec.Load.LoadIsPer, clients: Replicas(spec)}
	return segments(spec.Load.Stages, func(l *v1alpha1.LoadLevel) int64 {
		return s.all(int64(ptr.Deref(held(l), ptr.Deref(l.RequestsPerSecond, 0))))
	})
}

// Levels returns the levels of a load over all clients and the steps between them, without metrics.
func Levels(spec *v1alpha1.BenchmarkRunSpec) (levels []result.Level, steps []result.Step) {
	p, rate := Profile(spec), Shape(spec) == result.LoadOpen
	level := func(l profile.Level) result.Level {
		of := result.Level{Start: l.Start, End: l.End, ServerCPU: result.Unknown}
		if rate {
			of.TargetRatePerSecond = l.Load
		} else {
			of.TargetConnections = l.Load
		}
		return of
	}
	for _, l := range p.Levels() {
		levels = append(levels, level(l))
	}
	from := map[int64]int64{} // by the start of a step
	for i, bounds := range p.Bounds() {
		from[int64(bounds.Start/time.Second)] = p[i].From
	}
	for _, l := range p.Steps() {
		steps = append(steps, result.Step{From: from[l.Start], Level: level(l)})
	}
	return levels, steps
}

// StopAt returns the bounds at which a load with stages ends. Without any it returns the zero value.
func StopAt(load *v1alpha1.StagesLoad) breakingpoint.Bounds {
	var b breakingpoint.Bounds
	if load == nil {
		return b
	}
	for _, t := range load.StopAt { // the API server has checked the bounds
		switch t.Metric {
		case v1alpha1.MetricTargetCPU:
			b.CPUPercent = percent(t.Above)
		case v1alpha1.MetricFailedRequests:
			above, _ := strconv.ParseInt(t.Above, 10, 64)
			b.FailedRequests = above + 1
		case v1alpha1.MetricErrorRate:
			b.ErrorPercent = percent(t.Above)
		case v1alpha1.MetricLatencyP99:
			b.LatencyP99 = microseconds(t.Above)
		case v1alpha1.MetricThroughputGain:
			b.ThroughputGainPercent = percent(t.Below)
		}
	}
	return b
}

// percent returns a percentage of the API.
func percent(text string) float64 {
	value, _ := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	return value
}

// BreakingPoints returns the bounds of the breaking points that a result has: those of stopAt and, where it has
// none, that of a threshold and the defaults.
func BreakingPoints(spec *v1alpha1.BenchmarkRunSpec) breakingpoint.Bounds {
	defaults := breakingpoint.Defaults
	for _, t := range spec.Thresholds {
		if t.Metric == v1alpha1.MetricLatencyP99 && t.Request == "" {
			defaults.LatencyP99 = microseconds(t.Below)
		}
	}
	return StopAt(spec.Load.Stages).Or(defaults)
}

// microseconds returns a duration of the API in microseconds, 1 at least, or 0 if it isn't set.
func microseconds(text string) int64 {
	if text == "" {
		return 0
	}
	d, _ := time.ParseDuration(text) // the API server has checked it
	return max(d.Microseconds(), 1)
}
