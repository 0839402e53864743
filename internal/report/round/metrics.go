package round

import (
	"math"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/picture"
)

// The metrics that only levels have.
const (
	metricTargetCPU     v1alpha1.BenchmarkMetric = "TargetCPU"
	metricTargetCPUIdle v1alpha1.BenchmarkMetric = "TargetCPUIdle"
)

// unit is the unit in which reports write a metric: figures are divided by size.
type unit struct {
	size     float64
	name     string
	decimals int
}

// unitOf returns the unit of a metric. Figures have those of result.Metrics.
func unitOf(metric v1alpha1.BenchmarkMetric) unit {
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

// format formats a figure, without the name of the unit.
func (u unit) format(figure float64) string {
	if math.IsNaN(figure) {
		return "-"
	}
	return strconv.FormatFloat(figure/u.size, 'f', u.decimals, 64)
}

// heading returns the name of a metric with its unit.
func heading(metric v1alpha1.BenchmarkMetric) string {
	return strings.TrimSpace(string(metric) + " " + unitOf(metric).name)
}

// number formats a large number with separators: 1,234,567.
func number(x float64) string {
	return picture.Separated(strconv.FormatFloat(math.Round(x), 'f', 0, 64))
}
