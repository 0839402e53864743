package benchmark

import (
	"context"
	"fmt"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/verdict"
	"github.com/assay-dev/assay/internal/statistics"
	"github.com/assay-dev/assay/test/wrapper"
)

// mostRequests bounds the requests of a reconciliation: five for each run that is read, one for each object that is deleted,
// and a few of its own.
const mostRequests = 60

// counted is a reconciler whose requests are counted.
type counted struct {
	*Reconciler
	t        *testing.T
	b        *v1alpha1.Benchmark
	requests int
}

func newCounted(t *testing.T, b *v1alpha1.Benchmark, objects ...client.Object) *counted {
	t.Helper()
	c := &counted{t: t, b: b}
	api := fake.NewClientBuilder().WithScheme(api.Scheme()).WithIndex(&v1alpha1.BenchmarkRun{}, ownerField, ownerIndex).WithStatusSubresource(&v1alpha1.Benchmark{}).
		WithObjects(append(objects, b)...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, w client.WithWatch, key client.ObjectKey, obj client.Object, o ...client.GetOption) error {
			c.requests++
			return w.Get(ctx, key, obj, o...)
		},
		List: func(ctx context.Context, w client.WithWatch, list client.ObjectList, o ...client.ListOption) error {
			c.requests++
			return w.List(ctx, list, o...)
		},
		Create: func(ctx context.Context, w client.WithWatch, obj client.Object, o ...client.CreateOption) error {
			c.requests++
			return w.Create(ctx, obj, o...)
		},
		Delete: func(ctx context.Context, w client.WithWatch, obj client.Object, o ...client.DeleteOption) error {
			c.requests++
			return w.Delete(ctx, obj, o...)
		},
	}).Build()
	c.Reconciler = &Reconciler{Client: api, APIReader: api, Events: events.NewFakeRecorder(10_000), Clock: clocktesting.NewFakePassiveClock(began.Add(time.Hour))}
	return c
}

// settle reconciles until nothing is to be done at once, and returns the number of reconciliations.
func (c *counted) settle() (n int) {
	c.t.Helper()
	for n = 1; ; n++ {
		c.requests = 0
		r, err := c.Reconcile(c.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.b)})
		if err != nil {
			c.t.Fatal(err)
		}
		if c.requests > mostRequests {
			c.t.Fatalf("%d requests in one reconciliation", c.requests)
		}
		if r.RequeueAfter == 0 || r.RequeueAfter > time.Second {
			break
		}
		if n == 1000 {
			c.t.Fatal("it doesn't end")
		}
	}
	if err := c.Get(c.t.Context(), client.ObjectKeyFromObject(c.b), c.b); err != nil {
		c.t.Fatal(err)
	}
	return n
}

var began = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// manyCells returns a Benchmark with the most cells and a capacity search.
func manyCells() *v1alpha1.Benchmark {
	b := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "bm", UID: "1", Generation: 1, CreationTimestamp: metav1.NewTime(began)}}
	b.Spec.Template.Spec = wrapper.NewRun("", "", "image").Rate(10, 5).Obj().Spec
	for i := range 8 {
		a := v1alpha1.Axis{Name: fmt.Sprintf("a%d", i), Path: fmt.Sprintf("/target/annotations/a%d", i)}
		a.Values = []apiextensionsv1.JSON{{Raw: []byte(`"x"`)}, {Raw: []byte(`"y"`)}}
		b.Spec.Axes = append(b.Spec.Axes, a)
	}
	b.Spec.Repetitions = &v1alpha1.Repetitions{Min: ptr.To(int32(100))}
	b.Spec.Capacity = &v1alpha1.Capacity{Path: "/load/open/requestsPerSecond", From: 10, Max: 1000}
	return b
}

// ended returns runs of round 1 that ended without results, with an owner or without one.
func ended(owner *v1alpha1.Benchmark, n int) (runs []client.Object) {
	for i := range n {
		run := wrapper.NewRun("ns", benchmark.RunKey{Round: 1, Cell: i % cells.Max, Number: i / cells.Max}.Name("bm"), "image").Obj()
		run.UID, run.Labels = types.UID(run.Name), map[string]string{"is": "baseline"}
		if owner != nil {
			run.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, v1alpha1.GroupVersion.WithKind("Benchmark"))}
		}
		run.Status.CompletionTime = ptr.To(metav1.NewTime(began.Add(time.Duration(i) * time.Second)))
		for _, condition := range []string{v1alpha1.ConditionFinished, v1alpha1.ConditionSucceeded, v1alpha1.ConditionValid} {
			run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{Type: condition, Status: metav1.ConditionTrue, Reason: "Test"})
		}
		runs = append(runs, run)
	}
	return runs
}

// TestAReconciliationIsBounded has Benchmarks that need many requests, and counts those of each reconciliation.
func TestAReconciliationIsBounded(t *testing.T) {
	const many = 400
	// checked is as after the first run of a round, so that no cell is checked again.
	checked := func(b *v1alpha1.Benchmark) {
		hash, err := lifecycle.Hash(&b.Spec)
		if err != nil {
			t.Fatal(err)
		}
		lifecycle.Begin(b, v1alpha1.TriggerCreated, hash, 1, 7, began)
		b.Status.Round.FinishedRuns, b.Status.ObservedGeneration = ptr.To(int32(1)), ptr.To(int64(1))
	}
	for name, test := range map[string]struct {
		begin func(b *v1alpha1.Benchmark) []client.Object
		least int // reconciliations
		done  func(c *counted) bool
	}{
		"dry runs of all cells": {
			func(*v1alpha1.Benchmark) []client.Object { return nil }, 3 * cells.Max / checksAtOnce,
			func(c *counted) bool { return c.b.Status.Round.CurrentRun != nil },
		},
		"runs after a restart, none of which the Benchmark made": {
			func(b *v1alpha1.Benchmark) []client.Object { checked(b); return ended(b, many) }, many / readsAtOnce,
			func(c *counted) bool { return c.b.Status.Round.Reason == v1alpha1.ReasonNameConflict },
		},
		"selected runs": {
			func(b *v1alpha1.Benchmark) []client.Object {
				b.Spec.Axes, b.Spec.Capacity = nil, nil
				selector := metav1.LabelSelector{MatchLabels: map[string]string{"is": "baseline"}}
				b.Spec.Comparison = &v1alpha1.Comparison{Baseline: v1alpha1.Baseline{Runs: &v1alpha1.RunSelector{Selector: selector}}, Metrics: []v1alpha1.ComparedMetric{{Name: "LatencyP99"}}}
				checked(b)
				return ended(nil, many)
			}, statistics.MaxRuns / readsAtOnce,
			func(c *counted) bool { return c.b.Status.Round.Reason == benchmark.ReasonBaselineMissing }, // none has a result
		},
		"runs of a round that expires": {
			func(b *v1alpha1.Benchmark) []client.Object {
				checked(b)
				b.Status.Round.Number = 2
				lifecycle.Complete(b, &verdict.End{Verdict: v1alpha1.BenchmarkPassed, Reason: benchmark.ReasonCompleted}, began)
				return ended(b, many)
			}, many / deletionsAtOnce,
			func(c *counted) bool {
				var runs v1alpha1.BenchmarkRunList
				return c.List(t.Context(), &runs) == nil && len(runs.Items) == 0
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := manyCells()
			c := newCounted(t, b, test.begin(b)...)
			if n := c.settle(); n < test.least || n > test.least+10 {
				t.Errorf("%d reconciliations, want about %d", n, test.least)
			}
			if !test.done(c) {
				t.Errorf("%+v %+v", c.b.Status.Round, c.b.Status.Conditions)
			}
		})
	}
}
