package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// sparkWidth is the largest number of characters of a row of values over time.
const sparkWidth = 48

// mainMetrics returns the five most important metrics in a line; of a load with stages what it came to instead, since nothing is of
// all levels together.
func mainMetrics(r *result.Result) string {
	if len(r.Levels) > 0 {
		return LevelsInWords(r, func(value, unit string) string { return value + unit }) + fmt.Sprintf(" %s of %s failed.", number.Count(r.Merged.Errors.Total()), number.Count(r.Merged.Requests))
	}
	total := r.Merged.Latencies.Get(result.Total)
	latency := func(of percentile.Percentile) string {
		if total.Count() == 0 {
			return "-"
		}
		return number.Significant(float64(total.Percentile(of.Percent()))/1000) + "ms"
	}
	text := fmt.Sprintf("%s requests/s, p50 %s, p99 %s, %s of %s failed", number.Significant(r.RequestsPerSecond()), latency(percentile.P50), latency(percentile.P99),
		number.Count(r.Merged.Errors.Total()), number.Count(r.Merged.Requests))
	if limit := r.Environment.TargetCPULimit; r.Server != nil && limit > 0 {
		text += fmt.Sprintf(", target CPU %.0f%% of %s", r.Server.CPUPercentOf(limit), CPUCount(limit))
	}
	return text
}

// OneRun says what a single run doesn't tell.
func OneRun(r *result.Result) string {
	if validity.TooShortForSteady(r) {
		return "One run, too short to tell whether it was steady. How much the next one would differ is not known."
	}
	return "One run: how much the next one would differ is not known."
}

// overTime returns a row for throughput, p99 and the target's CPU, if the result has metrics of at least two points.
func overTime(r *result.Result) doc.Section {
	points := r.Points()
	if len(points) < 2 {
		return doc.Section{}
	}
	var f facts
	row := func(name, unit string, of func(*result.Second) float64) {
		values := make([]float64, len(points))
		for i := range points {
			values[i] = of(&points[i])
		}
		if text := sparkline(values, unit); text != "" {
			f.add(name, "%s", text)
		}
	}
	row("Requests/s", "", func(s *result.Second) float64 { return float64(s.Requests-s.Errors) / s.Length() })
	row("p99", "ms", func(s *result.Second) float64 {
		if s.P99 == result.Unknown || s.Requests == s.Errors {
			return math.NaN()
		}
		return float64(s.P99) / 1000
	})
	if limit := r.Environment.TargetCPULimit; limit > 0 {
		row("Target CPU", "%", func(s *result.Second) float64 {
			if s.ServerCPU == result.Unknown {
				return math.NaN()
			}
			return float64(s.ServerCPU) / s.Length() / 10 / float64(limit)
		})
	}
	return doc.Section{ID: "time", Title: "Over time", Blocks: []doc.Block{f.block()}}
}

// sparkline returns a character for each value, as high as the value on a scale from 0 to the largest, with the least and the largest; empty without any.
// A value that is unknown is a space. Where several share a character, it is the largest of them.
func sparkline(values []float64, unit string) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	if math.IsInf(low, 1) {
		return ""
	}
	bars := []rune("▁▂▃▄▅▆▇█")
	every := (len(values) + sparkWidth - 1) / sparkWidth
	var line strings.Builder
	for from := 0; from < len(values); from += every {
		most := math.NaN()
		for _, v := range values[from:min(from+every, len(values))] {
			if !math.IsNaN(v) && !(v <= most) {
				most = v
			}
		}
		switch {
		case math.IsNaN(most):
			line.WriteRune(' ')
		case high <= 0:
			line.WriteRune(bars[0])
		default:
			line.WriteRune(bars[max(0, int(math.Ceil(most/high*float64(len(bars))))-1)])
		}
	}
	text := fmt.Sprintf("%s  %s%s to %s%s", line.String(), number.Significant(low), unit, number.Significant(high), unit)
	if every > 1 {
		text += fmt.Sprintf(", the largest of each %d", every)
	}
	return text
}
