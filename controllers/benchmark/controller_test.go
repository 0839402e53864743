package benchmark

import (
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
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
		word    v1alpha1.EffectWord
	}{
		"identical": {0, v1alpha1.BenchmarkPassed, v1alpha1.EffectNoDifference},
		"slower":    {2000, v1alpha1.BenchmarkFailed, v1alpha1.EffectWorse},
		"faster":    {-2000, v1alpha1.BenchmarkPassed, v1alpha1.EffectBetter},
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
			if n != 12 || s.Verdict != test.verdict || len(s.Round.Effects) != 1 || s.Round.Effects[0].Word != test.word {
				t.Errorf("after %d runs: %+v %+v", n, s.Round, s.Conditions)
			}
			if *s.ObservedGeneration != b.b.Generation || len(s.History) != 1 || (s.LastPassed != nil) != (test.verdict == v1alpha1.BenchmarkPassed) {
				t.Errorf("%+v", s)
			}
		})
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
