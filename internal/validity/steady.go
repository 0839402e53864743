package validity

import (
	"fmt"
	"math"
	"slices"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/statistics"
)

const (
	// minSteadySeconds is the shortest measurement of which a trend is said. In a shorter one a machine that
	// is slow for a few seconds looks like one.
	minSteadySeconds = 20
	// maxWindows is the largest number of windows that are compared, each of at least two seconds. Seconds
	// next to each other are alike, windows are less so.
	maxWindows = 15
	// minSegment is the smallest number of windows before and after a step.
	minSegment = 3
	// throughputRatio is a change by twice the 10% by which the seconds of a shared machine vary.
	// latencyRatio is larger: where a busy server's speed changes by 10%, its queue does by a multiple.
	throughputRatio = 1.2
	latencyRatio    = 2.0
)

// notSteady finds a trend or a step within a measurement: of the throughput or, under open load, where that
// is the clients' doing, of the median latency. Loads that change by themselves are not judged, nor is one
// that the target can't keep up with.
func notSteady(r *result.Result, d Declared) *result.Finding {
	all := spans(r, d)
	if len(all) != 1 || all[0].level != nil || overloaded(r, d) != nil {
		return nil
	}
	metric, bound, unit := throughputs, throughputRatio, "%.0f requests/s"
	if r.Arrivals != nil {
		metric, bound, unit = medianLatencies, latencyRatio, "a median latency of %.3fms"
	}
	seconds := all[0].seconds
	if len(seconds) == 0 || int64(len(seconds))*seconds[0].Seconds < minSteadySeconds {
		return nil
	}
	windows, length := inWindows(seconds)
	var values []float64
	for _, w := range windows {
		if v := metric(w); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	if len(values) < len(windows) {
		return nil
	}
	how, at := change(values, bound, unit, length)
	if how == "" {
		return nil
	}
	first, last := thirds(values)
	faster := (last > first) == (r.Arrivals == nil)
	ratio := last / first
	if r.Arrivals != nil {
		ratio = 0
	}
	target, clients, machine := machineChange(windows, ratio)
	remedy := "Something slowed it down, such as a leak, fuller caches or tables, throttling, or other work on its node: measure for longer to see where it ends, and see the seconds in the report."
	switch {
	case machine && faster == (target < 0):
		became := "slower"
		if faster {
			became = "faster"
		}
		remedy = fmt.Sprintf("The CPU time per request changed by %+.0f%% for the target, and by %+.0f%% for the clients: not the target but its machine became %s. Find what else runs on the host, and measure again.", target, clients, became)
	case faster:
		remedy = "It was still becoming faster, as while code is compiled and caches are filled: set warmup.steady, or a longer warm-up."
	}
	f := found(ReasonNotSteady, result.Warns, "The target was not steady during the measurement: %s. The metrics depend on when it is measured. %s", how, remedy)
	if at > 0 {
		happened(f, seconds[0].Second+at, seconds[0].Second+at)
	}
	return f
}

// TooShortForSteady reports whether nothing can be said of a trend within a measurement because it is too short.
func TooShortForSteady(r *result.Result) bool {
	return len(r.Levels) == 0 && r.Run.Load != result.LoadScript && r.DurationMicroseconds < minSteadySeconds*1_000_000
}

// inWindows returns windows of equally many entries, and their length in seconds. Entries after the last whole
// window are omitted.
func inWindows(seconds []result.Second) (windows [][]result.Second, length int64) {
	each := (len(seconds) + maxWindows - 1) / maxWindows
	if seconds[0].Seconds == 1 {
		each = max(each, 2)
	}
	for w := range slices.Chunk(seconds, each) {
		if len(w) == each {
			windows = append(windows, w)
		}
	}
	return windows, int64(each) * seconds[0].Seconds
}

// throughputs returns the successful requests per second of a window.
func throughputs(window []result.Second) float64 {
	var succeeded, seconds int64
	for i := range window {
		succeeded += window[i].Requests - window[i].Errors
		seconds += window[i].Seconds
	}
	return float64(succeeded) / float64(seconds)
}

// medianLatencies returns the median of the seconds' median latencies in milliseconds; NaN without any.
func medianLatencies(window []result.Second) float64 {
	return statistics.MedianOf(medians(window)) / 1000
}

// apart reports whether the larger of two values is at least ratio times the other.
func apart(a, b, ratio float64) bool { return max(a, b) >= ratio*min(a, b) && a != b }

// change describes the step, or else the trend, of values that are length seconds apart; empty for none
// by the given ratio. It returns after how many seconds the step was, 0 for a trend.
func change(values []float64, bound float64, unit string, length int64) (how string, at int64) {
	points, err := statistics.ChangePoints(values, minSegment, trendSignificance)
	if err != nil {
		return "", 0
	}
	if len(points) == 1 && apart(points[0].Before, points[0].After, bound) {
		p := points[0]
		return fmt.Sprintf("it changed from "+unit+" to "+unit+" (%+.0f%%) about %ds after the start",
			p.Before, p.After, statistics.Percent(p.After/p.Before), int64(p.Index)*length), int64(p.Index) * length
	}
	first, last := thirds(values)
	if !apart(first, last, bound) || statistics.TrendOf(values).P > trendSignificance {
		return "", 0
	}
	return fmt.Sprintf("it went from "+unit+" in the first third to "+unit+" in the last (%+.0f%%)", first, last, statistics.Percent(last/first)), 0
}
