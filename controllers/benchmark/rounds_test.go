package benchmark

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
)

// update changes the Benchmark.
func (b *bench) update(change func(*v1alpha1.Benchmark)) {
	b.t.Helper()
	change(b.b)
	if err := api.Update(b.t.Context(), b.b); err != nil {
		b.t.Fatal(err)
	}
}

// round carries out a round in which every run has the same latency.
func (b *bench) round(latency int64) {
	b.t.Helper()
	for b.reconcile(); lifecycle.IsActive(b.b); b.reconcile() {
		b.measured(func(*v1alpha1.BenchmarkRun) int64 { return latency })
	}
}

func wantRound(t *testing.T, b *bench, number int64, trigger v1alpha1.RoundTrigger, verdict v1alpha1.BenchmarkVerdict) {
	t.Helper()
	if r := b.b.Status.Round; r == nil || r.Number != number || r.Trigger != trigger || r.Verdict != verdict || b.b.Status.Verdict != verdict {
		t.Fatalf("%+v %+v", r, b.b.Status.Conditions)
	}
}

// short makes rounds of one run.
func short(spec *v1alpha1.BenchmarkSpec) { spec.Repetitions.Min = ptr.To(int32(1)) }

// TestRoundsBegin has rounds begin for each cause.
func TestRoundsBegin(t *testing.T) {
	b := newBench(t, short)
	b.round(1000)
	wantRound(t, b, 1, v1alpha1.TriggerCreated, v1alpha1.BenchmarkMeasured)
	b.update(func(b *v1alpha1.Benchmark) { b.Spec.Template.Spec.Load.Closed.Connections = 30 })
	b.round(1000)
	wantRound(t, b, 2, v1alpha1.TriggerChanged, v1alpha1.BenchmarkMeasured)
	b.update(func(b *v1alpha1.Benchmark) { b.Annotations = map[string]string{v1alpha1.AnnotationRunRound: "now"} })
	b.round(1000)
	wantRound(t, b, 3, v1alpha1.TriggerRequested, v1alpha1.BenchmarkMeasured)
	b.reconcile()
	wantRound(t, b, 3, v1alpha1.TriggerRequested, v1alpha1.BenchmarkMeasured)
	b.update(func(b *v1alpha1.Benchmark) {
		b.Spec.Rerun = v1alpha1.RerunNever
		b.Spec.Template.Spec.Load.Closed.Connections = 40
	})
	b.reconcile()
	wantRound(t, b, 3, v1alpha1.TriggerRequested, v1alpha1.BenchmarkMeasured)
}

// TestAChangeCancelsTheRound changes the spec in mid-round, and cancels another by the annotation.
func TestAChangeCancelsTheRound(t *testing.T) {
	b := newBench(t, compared)
	b.reconcile()
	first := b.b.Status.Round.CurrentRun.Name
	b.update(func(b *v1alpha1.Benchmark) { b.Spec.Template.Spec.Load.Closed.DurationSeconds = ptr.To(int32(2)) })
	b.reconcile()
	if r := b.b.Status.Round; r.Number != 2 || !lifecycle.IsActive(b.b) || b.b.Status.History[0].Verdict != v1alpha1.BenchmarkError {
		t.Fatalf("%+v", b.b.Status)
	}
	if err := api.Get(t.Context(), client.ObjectKey{Namespace: b.b.Namespace, Name: first}, &v1alpha1.BenchmarkRun{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the run of the cancelled round: %v", err)
	}
	b.update(func(b *v1alpha1.Benchmark) { b.Annotations = map[string]string{v1alpha1.AnnotationCancelRound: "2"} })
	b.reconcile()
	wantRound(t, b, 2, v1alpha1.TriggerChanged, v1alpha1.BenchmarkError)
	if c := lifecycle.Succeeded(b.b); c.Reason != v1alpha1.ReasonCancelled || len(b.runs()) != 0 {
		t.Errorf("%+v", c)
	}
}

// TestHistoryIsBounded keeps one round that passed, its artifact and its runs.
func TestHistoryIsBounded(t *testing.T) {
	b := newBench(t, func(spec *v1alpha1.BenchmarkSpec) {
		short(spec)
		spec.History.Passed = ptr.To(int32(1))
	})
	for _, request := range []string{"1", "2", "3"} {
		b.update(func(b *v1alpha1.Benchmark) { b.Annotations = map[string]string{v1alpha1.AnnotationRunRound: request} })
		b.round(1000)
	}
	b.reconcile()
	if h := b.b.Status.History; len(h) != 1 || h[0].Number != 3 || len(b.runs()) != 1 {
		t.Errorf("%+v, %d runs", h, len(b.runs()))
	}
	var artifacts corev1.ConfigMapList
	if err := api.List(t.Context(), &artifacts, client.InNamespace(b.b.Namespace), client.HasLabels{benchmark.LabelBenchmark}); err != nil {
		t.Fatal(err)
	}
	if len(artifacts.Items) != 1 || artifacts.Items[0].Name != b.b.Status.Round.Artifact.ConfigMap.Name || !*artifacts.Items[0].Immutable {
		t.Errorf("%d artifacts", len(artifacts.Items))
	}
}

// TestLastPassed compares rounds with the last that passed.
func TestLastPassed(t *testing.T) {
	b := newBench(t, func(spec *v1alpha1.BenchmarkSpec) {
		spec.Comparison = &v1alpha1.Comparison{
			Baseline: v1alpha1.Baseline{LastPassed: &v1alpha1.LastPassed{}}, Measure: v1alpha1.MeasureStored,
			Metrics: []v1alpha1.ComparedMetric{{Name: "LatencyP99"}},
		}
	})
	b.round(10_000)
	wantRound(t, b, 1, v1alpha1.TriggerCreated, v1alpha1.BenchmarkPassed)
	again := func(request string) {
		b.update(func(b *v1alpha1.Benchmark) { b.Annotations = map[string]string{v1alpha1.AnnotationRunRound: request} })
	}
	again("slower")
	b.round(12_000)
	wantRound(t, b, 2, v1alpha1.TriggerRequested, v1alpha1.BenchmarkFailed)
	again("as before")
	b.round(10_000)
	wantRound(t, b, 3, v1alpha1.TriggerRequested, v1alpha1.BenchmarkPassed)
	if b.b.Status.LastPassed.Number != 3 {
		t.Errorf("%+v", b.b.Status.LastPassed)
	}
}

// TestInvalidRunsAreReplaced has a run end without a result, and then more than are replaced.
func TestInvalidRunsAreReplaced(t *testing.T) {
	b := newBench(t, func(spec *v1alpha1.BenchmarkSpec) {
		short(spec)
		spec.Repetitions.InvalidRuns.Replace = ptr.To(int32(1))
	})
	fail := func() {
		run := &v1alpha1.BenchmarkRun{}
		if err := api.Get(t.Context(), client.ObjectKey{Namespace: b.b.Namespace, Name: b.b.Status.Round.CurrentRun.Name}, run); err != nil {
			t.Fatal(err)
		}
		b.end(run, v1alpha1.VerdictError, metav1.ConditionFalse, v1alpha1.ReasonTargetLost)
		b.reconcile()
	}
	b.reconcile()
	fail()
	if name := b.b.Status.Round.CurrentRun.Name; !strings.HasSuffix(name, "-i1") {
		t.Errorf("the replacement is %s", name)
	}
	fail()
	wantRound(t, b, 1, v1alpha1.TriggerCreated, v1alpha1.BenchmarkInconclusive)
}

// TestAPlantedRunIsNotTaken has somebody else's run under the name that the Benchmark needs.
func TestAPlantedRunIsNotTaken(t *testing.T) {
	b := newBench(t, short)
	planted := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: b.b.Namespace, Name: benchmark.RunKey{Round: 1}.Name(b.b.Name)}}
	planted.Spec = *b.b.Spec.Template.Spec.DeepCopy()
	if err := api.Create(t.Context(), planted); err != nil {
		t.Fatal(err)
	}
	b.reconcile()
	wantRound(t, b, 1, v1alpha1.TriggerCreated, v1alpha1.BenchmarkError)
	if c := lifecycle.Succeeded(b.b); c.Reason != v1alpha1.ReasonNameConflict || !strings.Contains(c.Message, "isn't the Benchmark's own") {
		t.Errorf("%+v", c)
	}
}

// TestSuspend suspends a Benchmark before its first round and during it.
func TestSuspend(t *testing.T) {
	b := newBench(t, func(spec *v1alpha1.BenchmarkSpec) {
		spec.Repetitions.Min = ptr.To(int32(2))
		spec.Suspend = ptr.To(true)
	})
	b.reconcile()
	if c := lifecycle.Succeeded(b.b); c.Reason != v1alpha1.ReasonSuspended || b.b.Status.Round != nil {
		t.Fatalf("%+v", b.b.Status)
	}
	b.update(func(b *v1alpha1.Benchmark) { b.Spec.Suspend = nil })
	b.reconcile()
	b.update(func(b *v1alpha1.Benchmark) { b.Spec.Suspend = ptr.To(true) })
	b.measured(func(*v1alpha1.BenchmarkRun) int64 { return 1000 })
	b.reconcile()
	if c := lifecycle.Succeeded(b.b); c.Reason != v1alpha1.ReasonSuspended || len(b.runs()) != 1 {
		t.Fatalf("%+v, %d runs", c, len(b.runs()))
	}
	b.update(func(b *v1alpha1.Benchmark) { b.Spec.Suspend = nil })
	b.round(1000)
	wantRound(t, b, 1, v1alpha1.TriggerCreated, v1alpha1.BenchmarkMeasured)
}

// TestForeignRunsAreCounted has the lane admit somebody else's runs during a round and after its last run. One that is deleted since counts.
func TestForeignRunsAreCounted(t *testing.T) {
	b := newBench(t, func(spec *v1alpha1.BenchmarkSpec) {
		spec.Repetitions.Min = ptr.To(int32(2))
		spec.Template.Spec.Lane = "foreign"
	})
	b.reconcile()
	start := time.Now().Add(-time.Minute)
	b.b.Status.Round.StartTime = metav1.NewTime(start)
	if err := api.Status().Update(t.Context(), b.b); err != nil {
		t.Fatal(err)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "foreign-"}}
	if err := api.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	for name, admitted := range map[string]time.Time{"during": start.Add(time.Second), "after": start.Add(time.Hour)} {
		run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: name}, Spec: *b.b.Spec.Template.Spec.DeepCopy()}
		if err := api.Create(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		run.Status.AdmissionTime = ptr.To(metav1.NewTime(admitted))
		if err := api.Status().Update(t.Context(), run); err != nil {
			t.Fatal(err)
		}
	}
	b.measured(func(*v1alpha1.BenchmarkRun) int64 { return 1000 })
	b.reconcile()
	if err := api.DeleteAllOf(t.Context(), &v1alpha1.BenchmarkRun{}, client.InNamespace(ns.Name)); err != nil {
		t.Fatal(err)
	}
	b.round(1000)
	if n := b.b.Status.Round.ForeignRuns; n == nil || *n != 1 {
		t.Errorf("%+v", b.b.Status.Round)
	}
}

// TestARoundGoesOnWithoutAValidSchedule breaks the schedule in mid-round, which doesn't change what is measured.
func TestARoundGoesOnWithoutAValidSchedule(t *testing.T) {
	b := newBench(t, short)
	b.reconcile()
	b.update(func(b *v1alpha1.Benchmark) { b.Spec.Schedule = &v1alpha1.Schedule{Cron: "99 99 99 * *"} })
	b.reconcile()
	if !lifecycle.IsActive(b.b) || lifecycle.Succeeded(b.b).Status != metav1.ConditionUnknown {
		t.Fatalf("%+v", b.b.Status)
	}
	b.measured(func(*v1alpha1.BenchmarkRun) int64 { return 1000 })
	b.reconcile()
	if len(b.b.Status.History) != 1 || b.b.Status.History[0].Verdict != v1alpha1.BenchmarkMeasured {
		t.Errorf("%+v", b.b.Status)
	}
	b.reconcile()
	if c := lifecycle.Succeeded(b.b); !lifecycle.IsRejected(b.b) || b.b.Status.Verdict != v1alpha1.BenchmarkError || c.Reason != v1alpha1.ReasonInvalidSpec {
		t.Errorf("with an invalid schedule: %+v", b.b.Status)
	}
	b.update(func(b *v1alpha1.Benchmark) { b.Spec.Schedule = nil })
	b.reconcile()
	wantRound(t, b, 1, v1alpha1.TriggerCreated, v1alpha1.BenchmarkMeasured)
	if c := lifecycle.Succeeded(b.b); lifecycle.IsRejected(b.b) || c.Status != metav1.ConditionTrue {
		t.Errorf("after it was resolved: %+v", b.b.Status)
	}
}
