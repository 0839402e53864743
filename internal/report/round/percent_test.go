package round_test

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/round"
)

// TestDigits checks that metrics have the digits that their intervals support, and 3 significant ones without.
func TestDigits(t *testing.T) {
	f := ptr.To[float64]
	for _, test := range []struct {
		of               benchmark.Estimate
		median, interval string
	}{
		{benchmark.Estimate{Metric: "RequestsPerSecond", Median: 10157.39, Low: f(9880.06), High: f(10433.75)}, "10,160", "9,880 to 10,430"},
		{benchmark.Estimate{Metric: "RequestsPerSecond", Median: 10157.39}, "10,200", ""},
		{benchmark.Estimate{Metric: "LatencyP99", Median: 93_812, Low: f(91_200), High: f(95_100)}, "93.8", "91.2 to 95.1"},
		{benchmark.Estimate{Metric: "LatencyP99", Median: 93_812, Low: f(89_200), High: f(96_100)}, "94", "89 to 96"},
		{benchmark.Estimate{Metric: "LatencyP50", Median: 5524}, "5.52", ""},
		{benchmark.Estimate{Metric: "ErrorRate", Median: 0, Low: f(0), High: f(0)}, "0", ""},
		{benchmark.Estimate{Metric: "ErrorRate", Median: 0.0004, Low: f(0), High: f(1)}, "<0.1", "0.0 to 1.0"},
	} {
		if median, interval := round.EstimateTexts(&test.of); median != test.median || interval != test.interval {
			t.Errorf("%+v: %s (%s), want %s (%s)", test.of, median, interval, test.median, test.interval)
		}
	}
	for want, ends := range map[string][3]float64{
		"+12% (+9% to +16%)":           {12.3, 8.9, 16.1},
		"-1.1% (-3.9% to +1.8%)":       {-1.1, -3.9, 1.8},
		"+2% (-4% to +7%)":             {2, -4, 7},
		"+1.0% (-8.0% to +4.8%)":       {1, -8, 4.8}, // 5% would be at the bound
		"+8.0% (+0.3% to +16.0%)":      {8, 0.3, 16}, // and 0% no difference
		"+0.20% (+0.15% to +0.22%)":    {0.2, 0.15, 0.22},
		"+140% (+110% to +180%)":       {140, 110, 180},
		"-0.500% (-0.510% to -0.490%)": {-0.5, -0.51, -0.49},
		"+300% (-20% to +1,200%)":      {300, -20, 1200},
		"0% (0% to 0%)":                {0, 0, 0},
		"+5.10% (+4.95% to +5.20%)":    {5.1, 4.95, 5.2},
	} {
		e := benchmark.Effect{Percent: &ends[0], LowPercent: &ends[1], HighPercent: &ends[2]}
		if got := round.Change(&e, 5) + " (" + round.Interval(&e, 5) + ")"; got != want {
			t.Errorf("%v: %s, want %s", ends, got, want)
		}
	}
}

// TestCountsAsFailed checks that only a round that is inconclusive and fails then counts as failed.
func TestCountsAsFailed(t *testing.T) {
	for _, test := range []struct {
		verdict v1alpha1.BenchmarkVerdict
		policy  v1alpha1.InconclusivePolicy
		want    string
	}{
		{v1alpha1.BenchmarkInconclusive, v1alpha1.InconclusiveFails, "Counts as failed: onInconclusive is Fail."},
		{v1alpha1.BenchmarkInconclusive, v1alpha1.InconclusivePasses, ""},
		{v1alpha1.BenchmarkPassed, v1alpha1.InconclusiveFails, ""},
	} {
		r := &round.Report{Round: &benchmark.Round{Verdict: test.verdict}}
		r.Spec.OnInconclusive = test.policy
		if got := r.CountsAsFailed(); got != test.want {
			t.Errorf("%s, %s: %q", test.verdict, test.policy, got)
		}
	}
}
