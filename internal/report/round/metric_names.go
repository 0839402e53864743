package round

import (
	"cmp"
	"strings"
	"unicode"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/picture"
)

// metricNames are the names of metrics in sentences and on axes.
var metricNames = map[v1alpha1.BenchmarkMetric]string{
	"LatencyMean":         "mean latency",
	"LatencyP50":          "p50",
	"LatencyP90":          "p90",
	"LatencyP95":          "p95",
	"LatencyP99":          "p99",
	"LatencyP999":         "p99.9",
	"LatencyP9999":        "p99.99",
	"LatencyMax":          "longest latency",
	"ErrorRate":           "error rate",
	"RequestsPerSecond":   "requests/s",
	"BytesPerSecond":      "received data",
	"TargetCPUPerRequest": "target CPU per request",
	"TargetCPU":           "target CPU",
	"TargetCPUIdle":       "target CPU idle",
	"TargetPeakMemory":    "target peak memory",
	"ClientCPUPerRequest": "client CPU per request",

	v1alpha1.MetricPageTimeMean:       "mean page time",
	v1alpha1.MetricPageTimeP50:        "p50 of the page time",
	v1alpha1.MetricPageTimeP90:        "p90 of the page time",
	v1alpha1.MetricPageTimeP99:        "p99 of the page time",
	v1alpha1.MetricPageTimeMax:        "longest page time",
	v1alpha1.MetricPagesPerSecond:     "pages/s",
	v1alpha1.MetricPageErrorRate:      "failed pages",
	v1alpha1.MetricRoundsPer10Seconds: "rounds per 10 s",

	v1alpha1.MetricBreakingPointCPU:            "breaking point of the CPU",
	v1alpha1.MetricBreakingPointFailedRequests: "first failed request",
	v1alpha1.MetricBreakingPointErrorRate:      "breaking point of failing requests",
	v1alpha1.MetricBreakingPointLatencyP99:     "breaking point of p99",
	v1alpha1.MetricBreakingPointThroughput:     "breaking point of throughput",
}

// MetricName returns the name of a metric in sentences and on axes.
func MetricName(metric v1alpha1.BenchmarkMetric) string {
	return cmp.Or(metricNames[metric], string(metric))
}

// MetricUnit returns the unit in which a metric is written; empty if its name says it.
func MetricUnit(metric v1alpha1.BenchmarkMetric) string { return unitOf(metric).name }

// MetricTitle returns the name of a metric with its unit: "p99, ms".
func MetricTitle(metric v1alpha1.BenchmarkMetric) string {
	if unit := MetricUnit(metric); unit != "" {
		return MetricName(metric) + ", " + unit
	}
	return MetricName(metric)
}

// InUnit converts a figure from the unit of result.Metrics to MetricUnit.
func InUnit(metric v1alpha1.BenchmarkMetric, figure float64) float64 {
	return figure / unitOf(metric).size
}

// Figure formats a figure of a metric in MetricUnit with 3 significant digits.
func Figure(metric v1alpha1.BenchmarkMetric, figure float64) string {
	x := InUnit(metric, figure)
	return picture.Fixed(x, picture.Decimals(x, 0))
}

// EstimateTexts returns a median in MetricUnit and its interval, as in "93.8" and "91.2 to 95.1", with the digits that
// the interval supports. The interval is empty if the runs don't bound it,
// and if all of it is 0.
func EstimateTexts(e *benchmark.Estimate) (median, interval string) {
	size := unitOf(e.Metric).size
	decimals := picture.Decimals(e.Median/size, half(e.Low, e.High)/size)
	if unitOf(e.Metric).decimals == 0 { // a count
		decimals = min(decimals, 0)
	}
	write := func(figure float64) string { return picture.Fixed(figure/size, decimals) }
	if e.Low != nil && e.High != nil && (*e.Low != 0 || *e.High != 0) {
		interval = write(*e.Low) + " to " + write(*e.High)
	}
	return write(e.Median), interval
}

// Label returns the name of a cell in sentences and pictures: the values of its axes, as in "apr connections=400". A
// value that could be taken for a number has the name of its axis.
func (r *Report) Label(cell int) string {
	c := &r.Cells[cell]
	var parts []string
	for i := range r.Spec.Axes {
		axis := r.Spec.Axes[i].Name
		value, has := c.Values[axis]
		if !has {
			return c.Name
		}
		if first := []rune(value); len(first) == 0 || !unicode.IsLetter(first[0]) {
			value = axis + "=" + value
		}
		parts = append(parts, value)
	}
	if len(parts) == 0 {
		return c.Name
	}
	return strings.Join(parts, " ")
}

// SignedPercent formats a change without an interval.
func SignedPercent(percent float64) string {
	return signedPercent(&benchmark.Effect{Percent: &percent}, &percent)
}
