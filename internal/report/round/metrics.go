package round

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/number"
)

// The metrics that only levels have.
const (
	metricTargetCPU     v1alpha1.BenchmarkMetric = "TargetCPU"
	metricTargetCPUIdle v1alpha1.BenchmarkMetric = "TargetCPUIdle"
)

// unit is the unit in which reports write a metric: values are divided by size.
type unit struct {
	size     float64
	name     string
	decimals int
}

// unitOf returns the unit of a metric. Metrics have those of result.Metrics.
func unitOf(key v1alpha1.BenchmarkMetric) unit {
	metric, _ := benchmark.SplitMetric(key)
	switch {
	case strings.HasPrefix(string(metric), "Latency"), strings.HasPrefix(string(metric), "PageTime"):
		return unit{1000, "ms", 3}
	case metric == v1alpha1.BenchmarkMetric(v1alpha1.MetricErrorRate), metric == v1alpha1.MetricPageErrorRate:
		return unit{1, "%", 2}
	case benchmark.IsBreakingPoint(metric):
		return unit{1, "", 0} // connections or requests/s, as the load's levels
	case metric == metricTargetCPU, metric == metricTargetCPUIdle:
		return unit{1, "%", 1}
	case metric == v1alpha1.MetricBytesPerSecond:
		return unit{1e6, "MB/s", 2}
	case metric == v1alpha1.MetricTargetPeakMemory:
		return unit{1 << 20, "MiB", 1}
	case metric == v1alpha1.MetricTargetCPUPerRequest, metric == v1alpha1.MetricClientCPUPerRequest:
		return unit{1, "µs", 1}
	}
	return unit{1, "", 2}
}

// format formats a value, without the name of the unit.
func (u unit) format(value float64) string {
	if math.IsNaN(value) {
		return "-"
	}
	return strconv.FormatFloat(value/u.size, 'f', u.decimals, 64)
}

// Heading returns the name of a metric with its unit.
func Heading(metric v1alpha1.BenchmarkMetric) string {
	return strings.TrimSpace(string(metric) + " " + unitOf(metric).name)
}

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

// MetricName returns the name of a metric in sentences and on axes. That of a single request has its name: "p99 (cart)".
func MetricName(key v1alpha1.BenchmarkMetric) string {
	metric, request := benchmark.SplitMetric(key)
	name := cmp.Or(metricNames[metric], string(metric))
	if request != "" {
		name += " (" + request + ")"
	}
	return name
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

// InUnit converts a value from the unit of result.Metrics to MetricUnit.
func InUnit(metric v1alpha1.BenchmarkMetric, value float64) float64 {
	return value / unitOf(metric).size
}

// InUnitOf is like InUnit; nil stays nil.
func InUnitOf(metric v1alpha1.BenchmarkMetric, value *float64) *float64 {
	if value == nil {
		return nil
	}
	x := InUnit(metric, *value)
	return &x
}

// Value formats a value of a metric in MetricUnit with 3 significant digits.
func Value(metric v1alpha1.BenchmarkMetric, value float64) string {
	x := InUnit(metric, value)
	return number.Fixed(x, number.Decimals(x, 0))
}

// EstimateTexts returns a median in MetricUnit and its interval, as in "93.8" and "91.2 to 95.1", with the digits that
// the interval supports. The interval is empty if the runs don't bound it,
// and if all of it is 0.
func EstimateTexts(e *benchmark.Estimate) (median, interval string) {
	size := unitOf(e.Metric).size
	decimals := number.Decimals(e.Median/size, half(e.Low, e.High)/size)
	if unitOf(e.Metric).decimals == 0 { // a count
		decimals = min(decimals, 0)
	}
	write := func(value float64) string { return number.Fixed(value/size, decimals) }
	if e.Low != nil && e.High != nil && (*e.Low != 0 || *e.High != 0) {
		interval = write(*e.Low) + " to " + write(*e.High)
	}
	return write(e.Median), interval
}

// EstimateText returns the median of an estimate with its interval, if it has one.
func EstimateText(e *benchmark.Estimate) string {
	median, interval := EstimateTexts(e)
	if interval != "" {
		median += " (" + interval + ")"
	}
	return median
}

// half returns half the distance of the ends of an interval; 0 unless it has both.
func half(low, high *float64) float64 {
	if low == nil || high == nil {
		return 0
	}
	return (*high - *low) / 2
}
