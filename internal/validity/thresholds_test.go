package validity_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// exactly returns a result with 1,000 requests in ten seconds. Ten failed. The latencies
// of the others are 1 to 990 µs, which the histogram has exactly.
func exactly() *result.Result {
	r := &result.Result{DurationMicroseconds: 10_000_000}
	r.Merged.Requests, r.Merged.Errors[result.ErrorLength] = 1000, 10
	for n := range int64(990) {
		r.Merged.Latencies.Of(result.Total).Record(n + 1)
	}
	return r
}

func TestThresholds(t *testing.T) {
	for _, tc := range []struct {
		bound    validity.Bound
		actual   string
		limit    float64
		measured float64
		unit     string
		met      bool
	}{
		{validity.Bound{Metric: "LatencyP50", Below: "495us"}, "495us", 495, 495, "us", false},
		{validity.Bound{Metric: "LatencyP50", Below: "496us"}, "495us", 496, 495, "us", true},
		{validity.Bound{Metric: "LatencyP50", Below: "0.4951ms"}, "0.495ms", 0.4951, 0.495, "ms", true},
		{validity.Bound{Metric: "LatencyP50", Above: "495us"}, "495us", 495, 495, "us", false},
		{validity.Bound{Metric: "LatencyP50", Above: "494us"}, "495us", 494, 495, "us", true},
		{validity.Bound{Metric: "LatencyP90", Below: "0.9ms"}, "0.891ms", 0.9, 0.891, "ms", true},
		{validity.Bound{Metric: "LatencyP95", Below: "0.5s"}, "0.000941s", 0.5, 0.000941, "s", true},
		{validity.Bound{Metric: "LatencyP99", Below: "981us"}, "981us", 981, 981, "us", false},
		{validity.Bound{Metric: "LatencyP99", Below: "982us"}, "981us", 982, 981, "us", true},
		{validity.Bound{Metric: "LatencyP999", Below: "990us"}, "990us", 990, 990, "us", false},
		{validity.Bound{Metric: "LatencyP9999", Below: "991us"}, "990us", 991, 990, "us", true},
		{validity.Bound{Metric: "LatencyMax", Below: "991us"}, "990us", 991, 990, "us", true},
		{validity.Bound{Metric: "LatencyMean", Below: "0.4955ms"}, "0.4955ms", 0.4955, 0.4955, "ms", false},
		{validity.Bound{Metric: "LatencyMean", Below: "0.4956ms"}, "0.4955ms", 0.4956, 0.4955, "ms", true},
		{validity.Bound{Metric: "ErrorRate", Below: "1%"}, "1%", 1, 1, "%", false},
		{validity.Bound{Metric: "ErrorRate", Below: "1.01%"}, "1%", 1.01, 1, "%", true},
		{validity.Bound{Metric: "RequestsPerSecond", Above: "99"}, "99", 99, 99, "", false},
		{validity.Bound{Metric: "RequestsPerSecond", Above: "98.9"}, "99", 98.9, 99, "", true},
		{validity.Bound{Metric: "RequestsPerSecond", Below: "100"}, "99", 100, 99, "", true},
	} {
		bound := "below " + tc.bound.Below
		if tc.bound.Above != "" {
			bound = "above " + tc.bound.Above
		}
		t.Run(tc.bound.Metric+" "+bound, func(t *testing.T) {
			got, err := validity.Thresholds(exactly(), []validity.Bound{tc.bound})
			if err != nil {
				t.Fatal(err)
			}
			want := []result.ThresholdOutcome{{Metric: tc.bound.Metric, Bound: bound, Actual: tc.actual, Met: tc.met, Limit: tc.limit, Measured: &tc.measured, Unit: tc.unit, Above: tc.bound.Above != ""}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestThresholdsWithoutSuccess(t *testing.T) {
	failed := &result.Result{DurationMicroseconds: 1_000_000}
	failed.Merged.Requests, failed.Merged.Errors[result.ErrorConnect] = 5, 5
	bounds := []validity.Bound{
		{Metric: "LatencyP99", Below: "50ms"}, {Metric: "LatencyMean", Above: "1us"},
		{Metric: "ErrorRate", Below: "1%"}, {Metric: "ErrorRate", Above: "1%"}, {Metric: "RequestsPerSecond", Below: "1"},
	}
	for name, tc := range map[string]struct {
		result *result.Result
		actual []string
		met    []bool
	}{
		"all failed":  {failed, []string{"no successful request", "no successful request", "100%", "100%", "0"}, []bool{false, false, false, true, true}},
		"no requests": {&result.Result{}, []string{"no successful request", "no successful request", "no requests", "no requests", "0"}, []bool{false, false, false, false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			outcomes, err := validity.Thresholds(tc.result, bounds)
			if err != nil {
				t.Fatal(err)
			}
			for i, o := range outcomes {
				if o.Actual != tc.actual[i] || o.Met != tc.met[i] {
					t.Errorf("%s %s: %s, met %t, want %s, met %t", o.Metric, o.Bound, o.Actual, o.Met, tc.actual[i], tc.met[i])
				}
			}
		})
	}
}

func TestBoundsRefused(t *testing.T) {
	for _, tc := range []struct {
		bound validity.Bound
		want  string
	}{
		{validity.Bound{Metric: "LatencyP42", Below: "1ms"}, "unknown metric"},
		{validity.Bound{Metric: "LatencyP99"}, "exactly one"},
		{validity.Bound{Metric: "LatencyP99", Below: "1ms", Above: "2ms"}, "exactly one"},
		{validity.Bound{Metric: "LatencyP99", Below: "50"}, `"1.5us" or "1.5ms" or "1.5s"`},
		{validity.Bound{Metric: "LatencyP99", Below: "5m"}, "must be of the form"},
		{validity.Bound{Metric: "LatencyP99", Below: "ms"}, "must be of the form"},
		{validity.Bound{Metric: "LatencyP99", Below: "-5ms"}, "must be of the form"},
		{validity.Bound{Metric: "LatencyP99", Below: "1e3ms"}, "must be of the form"},
		{validity.Bound{Metric: "LatencyP99", Below: ".5ms"}, "must be of the form"},
		{validity.Bound{Metric: "LatencyP99", Below: "1.2.3ms"}, "must be of the form"},
		{validity.Bound{Metric: "LatencyP99", Below: " 5ms"}, "must be of the form"},
		{validity.Bound{Metric: "LatencyP99", Below: "1%"}, "must be of the form"},
		{validity.Bound{Metric: "ErrorRate", Below: "0.01"}, `"1.5%"`},
		{validity.Bound{Metric: "RequestsPerSecond", Above: "1500/s"}, `"1.5"`},
		{validity.Bound{Metric: "RequestsPerSecond", Above: "NaN"}, "must be of the form"},
	} {
		t.Run(tc.bound.Metric+" "+tc.bound.Below+tc.bound.Above, func(t *testing.T) {
			for _, r := range []*result.Result{{}, exactly()} {
				if _, err := validity.Thresholds(r, []validity.Bound{tc.bound}); err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("error %v, want one with %q", err, tc.want)
				}
			}
		})
	}
	if _, err := validity.Thresholds(&result.Result{}, []validity.Bound{{Metric: "LatencyP99", Below: "50ms"}}); err != nil {
		t.Error(err)
	}
}
