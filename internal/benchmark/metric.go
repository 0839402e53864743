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

// RoleOf returns the role of a compared metric: Gate, unless the spec names another.
func RoleOf(m *v1alpha1.ComparedMetric) v1alpha1.MetricRole { return cmp.Or(m.Role, v1alpha1.RoleGate) }

// HigherIsBetter reports whether a higher value of a metric is an improvement, unless the spec says otherwise.
func HigherIsBetter(metric v1alpha1.BenchmarkMetric) bool {
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
