package benchmark

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
)

// MetricNames has the metrics of a result, sorted by name.
var MetricNames = func() (names []v1alpha1.BenchmarkMetric) {
	for name := range result.Metrics {
		names = append(names, v1alpha1.BenchmarkMetric(name))
	}
	slices.Sort(names)
	return names
}()

// MetricKey returns the name by which a round has a metric: "LatencyP99" or, of a single request, "LatencyP99:cart".
func MetricKey(metric v1alpha1.BenchmarkMetric, request string) v1alpha1.BenchmarkMetric {
	if request == "" {
		return metric
	}
	return metric + v1alpha1.BenchmarkMetric(requestSeparator+request)
}

// SplitMetric is the inverse of MetricKey.
func SplitMetric(key v1alpha1.BenchmarkMetric) (metric v1alpha1.BenchmarkMetric, request string) {
	name, request, _ := strings.Cut(string(key), requestSeparator)
	return v1alpha1.BenchmarkMetric(name), request
}

// requestSeparator is in no name of a metric or a request.
const requestSeparator = ":"

// KeyOf returns the key of a compared metric.
func KeyOf(m *v1alpha1.ComparedMetric) v1alpha1.BenchmarkMetric { return MetricKey(m.Name, m.Request) }

// RequestMetrics returns the keys of the metrics of single requests that a spec names, sorted.
func RequestMetrics(spec *v1alpha1.BenchmarkSpec) (keys []v1alpha1.BenchmarkMetric) {
	for i := range spec.Claims {
		if c := &spec.Claims[i]; c.Request != "" {
			keys = append(keys, MetricKey(c.Metric, c.Request))
		}
	}
	if c := spec.Comparison; c != nil {
		for i := range c.Metrics {
			if c.Metrics[i].Request != "" {
				keys = append(keys, KeyOf(&c.Metrics[i]))
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// RoleOf returns the role of a compared metric: Gate, unless the spec names another.
func RoleOf(m *v1alpha1.ComparedMetric) v1alpha1.MetricRole { return cmp.Or(m.Role, v1alpha1.RoleGate) }

// GateMetrics returns the compared metrics of a spec that decide.
func GateMetrics(spec *v1alpha1.BenchmarkSpec) (metrics []*v1alpha1.ComparedMetric) {
	if spec.Comparison == nil {
		return nil
	}
	for i := range spec.Comparison.Metrics {
		if m := &spec.Comparison.Metrics[i]; RoleOf(m) == v1alpha1.RoleGate {
			metrics = append(metrics, m)
		}
	}
	return metrics
}

// HigherIsBetter reports whether a higher value of a metric is an improvement, unless the spec says otherwise.
func HigherIsBetter(key v1alpha1.BenchmarkMetric) bool {
	metric, _ := SplitMetric(key)
	switch metric {
	case v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond), v1alpha1.MetricBytesPerSecond, v1alpha1.MetricPagesPerSecond, v1alpha1.MetricRoundsPer10Seconds:
		return true
	}
	return IsBreakingPoint(metric)
}

// IsBreakingPoint reports whether a metric is a breaking point. A run without such a metric has it above its load.
func IsBreakingPoint(metric v1alpha1.BenchmarkMetric) bool {
	return result.BreakingMetrics[string(metric)] != nil
}

// Percent formats a difference in percent with its sign and at most two decimals: "+12.3%".
func Percent(percent float64) string {
	if percent > 0 {
		return "+" + Decimal(percent) + "%"
	}
	return Decimal(percent) + "%"
}

// Decimal formats a number with at most two decimals.
func Decimal(x float64) string {
	if math.Abs(x) >= 1e15 {
		return strconv.FormatFloat(x, 'g', 6, 64)
	}
	text := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(x, 'f', 2, 64), "0"), ".")
	if text == "-0" {
		return "0"
	}
	return text
}

// Plural returns a number with a noun, in the plural unless it is 1.
func Plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
