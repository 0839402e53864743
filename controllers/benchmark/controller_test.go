package benchmark

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
)

// compared makes a spec with two numbers of connections, of which the first is the baseline.
func compared(spec *v1alpha1.BenchmarkSpec) {
	spec.Axes = []v1alpha1.Axis{{Name: "connections", Path: "/load/closed/connections", Values: []apiextensionsv1.JSON{{Raw: []byte("25")}, {Raw: []byte("50")}}}}
	spec.Comparison = &v1alpha1.Comparison{
		Baseline: v1alpha1.Baseline{Cell: v1alpha1.CellSelector{"connections": "25"}},
		Metrics:  []v1alpha1.ComparedMetric{{Name: "LatencyP99"}},
	}
}

// TestARoundDecides runs rounds whose second cell is as fast, or slower.
func TestARoundDecides(t *testing.T) {
	for name, test := range map[string]struct {
		slower  int64
		verdict v1alpha1.BenchmarkVerdict
		claim   v1alpha1.ClaimVerdict
	}{
		"identical": {0, v1alpha1.BenchmarkPassed, v1alpha1.ClaimConfirmed},
		"slower":    {2000, v1alpha1.BenchmarkFailed, v1alpha1.ClaimContradicted},
		"faster":    {-2000, v1alpha1.BenchmarkPassed, v1alpha1.ClaimConfirmed},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, compared)
			n := int64(0)
			for b.reconcile(); lifecycle.IsActive(b.b); b.reconcile() {
				b.measured(func(run *v1alpha1.BenchmarkRun) int64 {
					n++
					latency := 10_000 + n%5
					if run.Spec.Load.Closed.Connections == 50 {
						latency += test.slower
					}
					return latency
				})
			}
			s := b.b.Status
			if n != 12 || s.Verdict != test.verdict || len(s.Round.Effects) != 0 || len(s.Round.Claims) != 1 || s.Round.Claims[0].Verdict != test.claim {
				t.Errorf("after %d runs: %+v %+v", n, s.Round, s.Conditions)
			}
			if *s.ObservedGeneration != b.b.Generation || len(s.History) != 1 || (s.LastPassed != nil) != (test.verdict == v1alpha1.BenchmarkPassed) {
				t.Errorf("%+v", s)
			}
		})
	}
}

// named gives the requests names, and compares the latency of one of them besides that of all.
func named(spec *v1alpha1.BenchmarkSpec) {
	compared(spec)
	spec.Template.Spec.Load.Requests = []v1alpha1.Request{{Name: "cart", Path: "/cart"}, {Name: "checkout", Path: "/checkout"}}
	spec.Comparison.Metrics = append(spec.Comparison.Metrics, v1alpha1.ComparedMetric{Name: "LatencyP99", Request: "checkout"})
	spec.Repetitions.Min = ptr.To(int32(7))
}

// TestARequestDecides has one request of a mix slower in the second cell, which doesn't show in the latency of all.
func TestARequestDecides(t *testing.T) {
	b := newBench(t, named)
	n := int64(0)
	latency := func(*v1alpha1.BenchmarkRun) int64 { n++; return 10_000 + n%5 }
	b.checkout = func(run *v1alpha1.BenchmarkRun) int64 {
		return latency(run) + 1000*int64(run.Spec.Load.Closed.Connections)
	}
	for b.reconcile(); lifecycle.IsActive(b.b); b.reconcile() {
		b.measured(latency)
	}
	s := b.b.Status
	if s.Verdict != v1alpha1.BenchmarkFailed || len(s.Round.Claims) != 2 || !strings.Contains(lifecycle.Succeeded(b.b).Message, "LatencyP99:checkout of connections=50") {
		t.Fatalf("%+v %+v", s.Round, s.Conditions)
	}
	for i, want := range []v1alpha1.ClaimStatus{
		{Name: "not-worse/LatencyP99:checkout/connections=50", Verdict: v1alpha1.ClaimContradicted}, {Name: "not-worse/LatencyP99/connections=50", Verdict: v1alpha1.ClaimConfirmed},
	} {
		if c := s.Round.Claims[i]; c.Name != want.Name || c.Verdict != want.Verdict {
			t.Errorf("claim %d: %+v, want %+v", i, c, want)
		}
	}
	var config corev1.ConfigMap
	if err := api.Get(t.Context(), client.ObjectKey{Namespace: b.b.Namespace, Name: s.Round.Artifact.ConfigMap.Name}, &config); err != nil {
		t.Fatal(err)
	}
	round, err := benchmark.DecodeRound(config.BinaryData[benchmark.ArtifactKey])
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range round.Stored()["connections=50"] {
		if latency := run.Metric("LatencyP99:checkout"); !(latency >= 60_000) {
			t.Errorf("a later round would be compared with %g µs of %s", latency, run.Name)
		}
	}
}

// TestEachCellHasTheRequest has a cell without the request whose metric is compared.
func TestEachCellHasTheRequest(t *testing.T) {
	b := newBench(t, func(spec *v1alpha1.BenchmarkSpec) {
		named(spec)
		spec.Axes = []v1alpha1.Axis{{Name: "connections", Path: "/load/requests/1/name", Values: []apiextensionsv1.JSON{{Raw: []byte(`"checkout"`)}, {Raw: []byte(`"pay"`)}}}}
		spec.Comparison.Baseline.Cell = v1alpha1.CellSelector{"connections": "checkout"}
	})
	b.reconcile()
	c := lifecycle.Succeeded(b.b)
	want := `spec.comparison.metrics[1].request: cell connections=pay has no request with the name "checkout": set it as the name of one of load.requests`
	if len(b.runs()) != 0 || c.Reason != v1alpha1.ReasonInvalidSpec || !strings.HasPrefix(c.Message, want) {
		t.Errorf("%d runs: %+v", len(b.runs()), c)
	}
}

// TestAManagerThatIsKilledMakesNoRunTwice starts a new manager at each step of a round.
func TestAManagerThatIsKilledMakesNoRunTwice(t *testing.T) {
	b := newBench(t, compared)
	var made []string
	for b.reconcile(); lifecycle.IsActive(b.b); b.reconcile() {
		b.Reconciler = newReconciler()
		run := b.measured(func(*v1alpha1.BenchmarkRun) int64 { return 10_000 })
		if slices.Contains(made, run.Name) {
			t.Fatalf("%s was made twice", run.Name)
		}
		made = append(made, run.Name)
		b.Reconciler = newReconciler()
	}
	if len(made) != 12 || len(b.runs()) != 12 || b.b.Status.Verdict != v1alpha1.BenchmarkPassed {
		t.Errorf("%d runs, %d exist: %+v", len(made), len(b.runs()), b.b.Status)
	}
}

// TestEveryCellIsChecked has a cell that the API server rejects.
func TestEveryCellIsChecked(t *testing.T) {
	b := newBench(t, func(spec *v1alpha1.BenchmarkSpec) {
		spec.Axes = []v1alpha1.Axis{{Name: "connections", Path: "/load/closed/connections", Values: []apiextensionsv1.JSON{{Raw: []byte("25")}, {Raw: []byte("0")}}}}
	})
	b.reconcile()
	c := lifecycle.Succeeded(b.b)
	if len(b.runs()) != 0 || b.b.Status.Verdict != v1alpha1.BenchmarkError || c.Reason != v1alpha1.ReasonInvalidSpec || c.Status != metav1.ConditionFalse {
		t.Errorf("%d runs: %+v", len(b.runs()), c)
	}
	t.Log(c.Message)
}
