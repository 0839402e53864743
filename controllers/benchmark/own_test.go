package benchmark

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/objects"
)

// plant creates a run as the Benchmark would, but for a change.
func (b *bench) plant(k benchmark.RunKey, change func(*v1alpha1.BenchmarkRun)) *v1alpha1.BenchmarkRun {
	b.t.Helper()
	cells, err := cells.Of(&b.b.Spec)
	if err != nil {
		b.t.Fatal(err)
	}
	spec, err := cells[k.Cell].JSON(&b.b.Spec.Template.Spec)
	if err != nil {
		b.t.Fatal(err)
	}
	made, err := objects.NewRun(b.b, k, &cells[k.Cell], spec, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	run := &v1alpha1.BenchmarkRun{}
	encoded, err := json.Marshal(made.Object)
	if err == nil {
		err = json.Unmarshal(encoded, run)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	change(run)
	if err := api.Create(b.t.Context(), run); err != nil {
		b.t.Fatal(err)
	}
	return run
}

func slower(run *v1alpha1.BenchmarkRun) { run.Spec.Load.Closed.Connections = 26 }

// exists reports whether a run still exists.
func (b *bench) exists(run *v1alpha1.BenchmarkRun) bool {
	b.t.Helper()
	err := api.Get(b.t.Context(), client.ObjectKeyFromObject(run), &v1alpha1.BenchmarkRun{})
	if client.IgnoreNotFound(err) != nil {
		b.t.Fatal(err)
	}
	return err == nil
}

// TestAForgedRunEndsTheRound has somebody create a run in the Benchmark's name that measures something else: before the
// Benchmark's own one, and in addition to it when that was measured.
func TestAForgedRunEndsTheRound(t *testing.T) {
	const differs = "spec.load.closed.connections is 26, must be 25."
	forged := func(b *bench, run *v1alpha1.BenchmarkRun) {
		t.Helper()
		wantRound(t, b, 1, v1alpha1.TriggerCreated, v1alpha1.BenchmarkError)
		c := lifecycle.Succeeded(b.b)
		if c.Reason != v1alpha1.ReasonNameConflict || !strings.Contains(c.Message, "BenchmarkRun "+run.Name+" has the name of a run of cell template") || !strings.Contains(c.Message, differs) {
			t.Errorf("%+v", c)
		}
		b.reconcile()
		if !b.exists(run) || b.b.Status.Round.Artifact != nil {
			t.Errorf("the forged run was deleted or counted: %+v", b.b.Status.Round)
		}
	}
	t.Run("before the Benchmark's own", func(t *testing.T) {
		b := newBench(t, short)
		run := b.plant(benchmark.RunKey{Round: 1}, slower)
		b.reconcile()
		forged(b, run)
	})
	t.Run("beside the Benchmark's own", func(t *testing.T) {
		b := newBench(t, func(spec *v1alpha1.BenchmarkSpec) { spec.Repetitions.Min = ptr.To(int32(2)) })
		b.reconcile()
		first := b.measured(func(*v1alpha1.BenchmarkRun) int64 { return 1000 })
		b.reconcile()
		own := &v1alpha1.BenchmarkRun{}
		if err := api.Get(t.Context(), client.ObjectKey{Namespace: b.b.Namespace, Name: b.b.Status.Round.CurrentRun.Name}, own); err != nil {
			t.Fatal(err)
		}
		b.reconcile() // it is seen
		run := b.plant(benchmark.RunKey{Round: 1, Replacement: 1}, slower)
		b.reconcile()
		forged(b, run)
		if b.exists(own) || !b.exists(first) {
			t.Error("the Benchmark's own run goes on, or one that has finished was deleted")
		}
	})
	t.Run("that has finished, seen by a new manager", func(t *testing.T) {
		b := newBench(t, func(spec *v1alpha1.BenchmarkSpec) { spec.Repetitions.Min = ptr.To(int32(2)) })
		b.reconcile()
		first := b.measured(func(*v1alpha1.BenchmarkRun) int64 { return 1000 })
		b.reconcile()
		if err := api.Delete(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		run := b.plant(benchmark.RunKey{Round: 1}, slower)
		b.end(run, v1alpha1.VerdictPassed, metav1.ConditionTrue, v1alpha1.ReasonCompleted)
		b.Reconciler = newReconciler()
		b.reconcile()
		forged(b, run)
	})
}

// TestARunLikeTheBenchmarksOwnCounts has a run that the Benchmark could have created, and others that no round plans.
func TestARunLikeTheBenchmarksOwnCounts(t *testing.T) {
	b := newBench(t, short)
	b.plant(benchmark.RunKey{Round: 1}, func(run *v1alpha1.BenchmarkRun) { run.Labels["team"] = "shop" })
	for _, k := range []benchmark.RunKey{{Round: 1, Number: 7}, {Round: 1, Trial: true}, {Round: 3}} {
		b.plant(k, slower)
	}
	b.round(1000)
	wantRound(t, b, 1, v1alpha1.TriggerCreated, v1alpha1.BenchmarkMeasured)
	stored, err := b.storedRound(t.Context(), b.b, &b.b.Status.History[0])
	if err != nil || len(stored.Runs) != 1 {
		t.Errorf("%d runs, %v", len(stored.Runs), err)
	}
}

// TestAnUpgradeKeepsRuns brings a default for a field that a run was stored without, while it is under way.
func TestAnUpgradeKeepsRuns(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := api.Get(t.Context(), client.ObjectKey{Name: "benchmarkruns.assay.dev"}, crd); err != nil {
		t.Fatal(err)
	}
	property := func(name string, properties map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		p, ok := properties[name]
		if !ok {
			t.Fatalf("the schema has no %s", name)
		}
		return p
	}
	setDefault := func(ctx context.Context, value *apiextensionsv1.JSON) error {
		if err := api.Get(ctx, client.ObjectKeyFromObject(crd), crd); err != nil {
			return err
		}
		schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
		closed := property("closed", property("load", property("spec", schema.Properties).Properties).Properties)
		ramp := property("rampSeconds", closed.Properties)
		ramp.Default = value
		closed.Properties["rampSeconds"] = ramp
		return api.Update(ctx, crd)
	}
	upgrade := func(run *v1alpha1.BenchmarkRun) {
		t.Helper()
		if err := setDefault(t.Context(), &apiextensionsv1.JSON{Raw: []byte("0")}); err != nil {
			t.Fatal(err)
		}
		if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			read := &v1alpha1.BenchmarkRun{}
			err := api.Get(ctx, client.ObjectKeyFromObject(run), read)
			return err == nil && read.Spec.Load.Closed.RampSeconds != nil, nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := setDefault(context.Background(), nil); err != nil {
			t.Error(err)
		}
	})
	b := newBench(t, func(spec *v1alpha1.BenchmarkSpec) { spec.Repetitions.Min = ptr.To(int32(2)) })
	b.reconcile()
	runs := b.runs()
	if len(runs) != 1 || runs[0].Spec.Load.Closed.RampSeconds != nil {
		t.Fatalf("%d runs: %+v", len(runs), runs)
	}
	upgrade(&runs[0])
	b.reconcile() // with what the dry run returned before the upgrade
	if !lifecycle.IsActive(b.b) {
		t.Fatalf("%+v", lifecycle.Succeeded(b.b))
	}
	b.measured(func(*v1alpha1.BenchmarkRun) int64 { return 1000 })
	b.Reconciler = newReconciler()
	b.round(1000)
	wantRound(t, b, 1, v1alpha1.TriggerCreated, v1alpha1.BenchmarkMeasured)
}
