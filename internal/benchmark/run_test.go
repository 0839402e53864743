package benchmark_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
	"github.com/assay-dev/assay/test/definition"
)

// measured returns the result of a second at the given rate, all of it achieved.
func measured(rate int64) *result.Result {
	r := &result.Result{
		DurationMicroseconds: 1_000_000,
		Merged:               result.Measure{Counts: result.Counts{Requests: rate, BytesReceived: 10 * rate}},
		Clients:              []result.Client{{}},
		Server:               &result.Server{End: result.ServerUsage{UserCPU: 5 * rate}},
		Arrivals:             &result.Arrivals{Due: rate, PlannedMicroseconds: 1_000_000, StartedMicroseconds: 1_000_000},
		Environment: result.Environment{
			Machine: &result.Machine{CPUs: 2, CPUModel: "Xeon E5", MemoryBytes: 4<<30 - 1<<20},
			Kernel:  "6.1.0", TargetImageID: "tomcat@sha256:1", CPUExclusivity: "Exclusive",
			Backends: []result.BackendEnvironment{{Name: "app", ImageID: "app@sha256:2", CPUExclusivity: "Shared"}},
		},
		Backends: []result.Backend{{Name: "app"}},
	}
	r.Merged.Latencies.Of(result.Total).Record(500)
	return r
}

// Every metric that the API knows is one of the result, and the other way around.
func TestMetricsAreThoseOfTheAPI(t *testing.T) {
	schema := definition.Schema[any](t, "../../config/crd/bases/assay.dev_benchmarks.yaml")
	for _, token := range strings.Fields("properties spec properties comparison properties metrics items properties name enum") {
		schema = schema.(map[string]any)[token]
	}
	var want []string
	for _, name := range schema.([]any) {
		want = append(want, name.(string))
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(result.Metrics))); diff != "" {
		t.Errorf("(-API +metrics)\n%s", diff)
	}
	whole := measured(100)
	for _, kinds := range result.BreakingMetrics {
		whole.BreakingPoints = append(whole.BreakingPoints, result.BreakingPoint{Kind: kinds[0], Reached: true, Connections: 25})
	}
	whole.Merged.Pages, whole.Merged.Rounds = 20, 10
	whole.Merged.Latencies.Of(result.Page).Record(5000)
	metrics := benchmark.MetricsOf(whole)
	for _, name := range want {
		if _, ok := metrics[v1alpha1.BenchmarkMetric(name)]; !ok {
			t.Errorf("a whole result has no %s", name)
		}
	}
}

// TestRequestMetrics takes the metrics of single requests that a Benchmark names.
func TestRequestMetrics(t *testing.T) {
	spec := &v1alpha1.BenchmarkSpec{
		Claims: []v1alpha1.Claim{{Metric: "LatencyP99", Request: "pay"}, {Metric: "LatencyP99"}},
		Comparison: &v1alpha1.Comparison{Metrics: []v1alpha1.ComparedMetric{
			{Name: "LatencyP99"}, {Name: "LatencyP99", Request: "pay"}, {Name: "RequestsPerSecond", Request: "cart"}, {Name: "ErrorRate", Request: "none"},
		}},
	}
	named := benchmark.RequestMetrics(spec)
	if diff := cmp.Diff([]v1alpha1.BenchmarkMetric{"ErrorRate:none", "LatencyP99:pay", "RequestsPerSecond:cart"}, named); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	r := measured(100)
	slow := result.NewHistogram()
	slow.Record(700)
	r.ByRequest = []result.RequestMetrics{{Name: "cart", Requests: 60}, {Name: "pay", Requests: 40, Latency: slow}}
	metrics := benchmark.MetricsOf(r, named...)
	maps.DeleteFunc(metrics, func(m v1alpha1.BenchmarkMetric, _ float64) bool { return !strings.Contains(string(m), ":") })
	if diff := cmp.Diff(map[v1alpha1.BenchmarkMetric]float64{"LatencyP99:pay": 700, "RequestsPerSecond:cart": 60}, metrics); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for metric, want := range map[v1alpha1.BenchmarkMetric]bool{"RequestsPerSecond:cart": true, "LatencyP99:pay": false} {
		if benchmark.HigherIsBetter(metric) != want {
			t.Errorf("more %s is better: %t", metric, !want)
		}
	}
}

func TestComplete(t *testing.T) {
	finding := func(reason string, severity result.Severity) func(*result.Result) {
		return func(r *result.Result) {
			r.Findings = append(r.Findings, result.Finding{Reason: reason, Severity: severity, Message: "About " + reason + "."})
		}
	}
	for name, c := range map[string]struct {
		change       func(*result.Result)
		valid        bool   // as a run of a block
		message      string // of that
		outcome      benchmark.Outcome
		trialMessage string
		warnings     []string
	}{
		"as asked": {
			change: func(*result.Result) {}, valid: true, outcome: benchmark.OutcomePassed,
		},
		"a warning": {
			change: func(r *result.Result) {
				finding(validity.ReasonNetworkLimited, result.Warns)(r)
				finding(validity.ReasonClientSaturated, result.Warns)(r)
				finding(validity.ReasonNetworkLimited, result.Warns)(r)
				finding(validity.ReasonStartSkew, result.Accepted)(r)
			},
			valid: true, outcome: benchmark.OutcomePassed, warnings: []string{"NetworkLimited", "ClientSaturated"},
		},
		"99% achieved": {
			change: func(r *result.Result) { r.Arrivals.StartedMicroseconds = 1_010_000 }, valid: true, outcome: benchmark.OutcomePassed,
		},
		"less than 99% achieved": {
			change: func(r *result.Result) { r.Arrivals.StartedMicroseconds = 1_011_000 }, valid: true, outcome: benchmark.OutcomeFailed,
			trialMessage: "989.12 requests/s were started of 1000.00",
		},
		"dropped": {
			change: func(r *result.Result) { r.Merged.Dropped = 1 }, valid: true, outcome: benchmark.OutcomeFailed,
			trialMessage: "1 requests were dropped",
		},
		"thresholds": {
			change: func(r *result.Result) {
				r.Thresholds = []result.ThresholdOutcome{{Metric: "LatencyP99", Bound: "below 50ms", Actual: "51ms"}, {Metric: "LatencyP50", Met: true}}
			}, valid: true, outcome: benchmark.OutcomeFailed, trialMessage: "LatencyP99 is 51ms, must be below 50ms",
		},
		"closed load": {
			change: func(r *result.Result) { r.Arrivals = nil }, valid: true, outcome: benchmark.OutcomePassed,
		},
		"overloaded": {
			change: finding(validity.ReasonRateNotAchieved, result.Invalidates), message: "About RateNotAchieved.", outcome: benchmark.OutcomeFailed, trialMessage: "About RateNotAchieved.",
		},
		"not kept up with": {
			change: finding(validity.ReasonNotKeepingUp, result.Invalidates), message: "About NotKeepingUp.", outcome: benchmark.OutcomeFailed, trialMessage: "About NotKeepingUp.",
		},
		"saturated": {
			change: func(r *result.Result) {
				finding(validity.ReasonRateNotAchieved, result.Invalidates)(r)
				finding(validity.ReasonClientThrottled, result.Invalidates)(r)
			},
			message: "About RateNotAchieved. About ClientThrottled.", outcome: benchmark.OutcomeSaturated, trialMessage: "About RateNotAchieved. About ClientThrottled.",
		},
		"invalid": {
			change: func(r *result.Result) {
				finding(validity.ReasonErrorsDominate, result.Invalidates)(r)
				finding(validity.ReasonStartSkew, result.Invalidates)(r)
			},
			message: "About ErrorsDominate. About StartSkew.", trialMessage: "About ErrorsDominate. About StartSkew.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := measured(1000)
			c.change(r)
			run, trial := benchmark.Run{}, benchmark.Run{RunKey: benchmark.RunKey{Trial: true}}
			run.Complete(r, "c5.large")
			trial.Complete(r, "c5.large")
			if run.Valid != c.valid || run.Message != c.message || run.Outcome != "" {
				t.Errorf("run: valid %t, %q, outcome %q", run.Valid, run.Message, run.Outcome)
			}
			if trial.Valid != (c.outcome != "") || trial.Message != c.trialMessage || trial.Outcome != c.outcome {
				t.Errorf("trial: valid %t, %q, outcome %q", trial.Valid, trial.Message, trial.Outcome)
			}
			if diff := cmp.Diff(c.warnings, run.Warnings); diff != "" {
				t.Error(diff)
			}
			want := benchmark.Conditions{NodeType: "c5.large, 2 × Xeon E5, 4 GiB", Kernel: "6.1.0", Image: "tomcat@sha256:1, app app@sha256:2", CPUExclusivity: "Exclusive, app Shared"}
			if run.Conditions != want {
				t.Errorf("conditions %+v", run.Conditions)
			}
			if run.Metrics["RequestsPerSecond"] != 1000 || trial.Metrics["TargetCPUPerRequest"] != 5 {
				t.Errorf("metrics %v, %v", run.Metrics, trial.Metrics)
			}
		})
	}
}

func TestPlacement(t *testing.T) {
	for name, c := range map[string]struct {
		target  string
		clients []string
		want    string
	}{
		"apart":                  {"a", []string{"b", "c"}, "Apart"},
		"together":               {"a", []string{"a", "a"}, "Together"},
		"one on the same":        {"a", []string{"b", "a"}, "Mixed"},
		"an external target":     {"", []string{"b"}, ""},
		"an unknown client node": {"a", []string{"a", ""}, ""},
		"no clients":             {"a", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := &result.Result{Environment: result.Environment{TargetNode: c.target}}
			for _, node := range c.clients {
				r.Clients = append(r.Clients, result.Client{Node: node})
			}
			if got := benchmark.ConditionsOf(r, "").Placement; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestFail(t *testing.T) {
	for _, c := range []struct {
		trial  bool
		reason string
		want   benchmark.Run
	}{
		{false, "TargetCrashed", benchmark.Run{Message: "TargetCrashed: exit code 137"}},
		{true, "TargetCrashed", benchmark.Run{Message: "TargetCrashed: exit code 137", Valid: true, Outcome: benchmark.OutcomeFailed}},
		{true, "ClientLost", benchmark.Run{Message: "ClientLost: exit code 137"}},
	} {
		got := benchmark.Run{RunKey: benchmark.RunKey{Trial: c.trial}}
		got.Fail(c.reason, "exit code 137")
		c.want.Trial = c.trial
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.reason, diff)
		}
	}
}

// TestMessagesAreBounded has the reasons of a run that the manager keeps until its round ends.
func TestMessagesAreBounded(t *testing.T) {
	long := strings.Repeat("ä", 20_000)
	failed := benchmark.Run{RunKey: benchmark.RunKey{Trial: true}}
	failed.Fail(v1alpha1.ReasonTargetCrashed, long)
	completed := benchmark.Run{}
	completed.Complete(&result.Result{Findings: []result.Finding{{Severity: result.Invalidates, Reason: "Long", Message: long}}}, "")
	for _, r := range []*benchmark.Run{&failed, &completed} {
		if n := len(r.Message); n < 1000 || n > 1024 || !utf8.ValidString(r.Message) {
			t.Errorf("%d bytes: %.40q", n, r.Message)
		}
	}
	if failed.Outcome != benchmark.OutcomeFailed || completed.Valid {
		t.Errorf("%q, %t", failed.Outcome, completed.Valid)
	}
}
