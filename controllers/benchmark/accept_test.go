package benchmark

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/metrics"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/session/manager"
)

// gated compares rounds with the last that passed.
func gated(spec *v1alpha1.BenchmarkSpec) {
	spec.Comparison = &v1alpha1.Comparison{
		Baseline: v1alpha1.Baseline{LastPassed: &v1alpha1.LastPassed{}}, Measure: v1alpha1.MeasureStored,
		Metrics: []v1alpha1.ComparedMetric{{Name: "LatencyP99"}},
	}
}

// annotate sets an annotation of the Benchmark.
func (b *bench) annotate(name, value string) {
	b.t.Helper()
	b.update(func(b *v1alpha1.Benchmark) {
		if b.Annotations == nil {
			b.Annotations = map[string]string{}
		}
		b.Annotations[name] = value
	})
}

// TestARoundIsAccepted upgrades the kernel after a round that passed: later ones are incomparable, until one of them
// is accepted.
func TestARoundIsAccepted(t *testing.T) {
	b := newBench(t, gated)
	b.round(10_000)
	wantRound(t, b, 1, v1alpha1.TriggerCreated, v1alpha1.BenchmarkPassed)
	b.kernel = "6.12"
	b.annotate(v1alpha1.AnnotationRunRound, "after the upgrade")
	b.round(10_000)
	wantRound(t, b, 2, v1alpha1.TriggerRequested, v1alpha1.BenchmarkInconclusive)
	if c := b.b.Status.Round.Claims[0]; c.Verdict != v1alpha1.ClaimUndecided || c.Message == "" {
		t.Fatalf("the claim is %+v", c)
	}

	b.annotate(v1alpha1.AnnotationAcceptRound, "1")
	b.reconcile()
	if a := b.b.Status.Acceptance; a == nil || a.Outcome != v1alpha1.AcceptanceRefused || b.b.Status.LastPassed.Number != 1 || !strings.Contains(a.Message, "that is round 2") {
		t.Fatalf("%+v, %+v", a, b.b.Status.LastPassed)
	}
	b.annotate(v1alpha1.AnnotationAcceptRound, "2")
	b.reconcile()
	if a := b.b.Status.Acceptance; a.Outcome != v1alpha1.AcceptanceAccepted || b.b.Status.LastPassed.Number != 2 || b.b.Status.LastPassed.AcceptanceTime == nil {
		t.Fatalf("%+v, %+v", a, b.b.Status.LastPassed)
	}
	wantRound(t, b, 2, v1alpha1.TriggerRequested, v1alpha1.BenchmarkInconclusive)

	b.annotate(v1alpha1.AnnotationRunRound, "compared with it")
	b.round(10_000)
	wantRound(t, b, 3, v1alpha1.TriggerRequested, v1alpha1.BenchmarkPassed)
	if e := b.b.Status.Round.Claims[0]; e.Verdict != v1alpha1.ClaimConfirmed || b.b.Status.LastPassed.Number != 3 {
		t.Errorf("%+v, %+v", e, b.b.Status.LastPassed)
	}
	stored, err := b.storedRound(t.Context(), b.b, &b.b.Status.History[0])
	if err != nil || stored.Baseline == nil || stored.Baseline.Number != 2 || stored.Baseline.AcceptanceTime == nil {
		t.Errorf("the artifact has the baseline %+v: %v", stored.Baseline, err)
	}
}

// TestARoundWithoutAnArtifactIsNotAccepted deletes the artifact of the round, and asks during another one.
func TestARoundWithoutAnArtifactIsNotAccepted(t *testing.T) {
	b := newBench(t, gated)
	b.round(10_000)
	b.annotate(v1alpha1.AnnotationRunRound, "slower")
	b.round(20_000)
	wantRound(t, b, 2, v1alpha1.TriggerRequested, v1alpha1.BenchmarkFailed)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.b.Namespace, Name: b.b.Status.Round.Artifact.ConfigMap.Name}}
	if err := api.Delete(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	refused := func(request, want string) {
		t.Helper()
		b.annotate(v1alpha1.AnnotationAcceptRound, request)
		b.reconcile()
		if a := b.b.Status.Acceptance; a.Request != request || a.Outcome != v1alpha1.AcceptanceRefused || a.Message != want || b.b.Status.LastPassed.Number != 1 {
			t.Errorf("%+v, %+v", a, b.b.Status.LastPassed)
		}
	}
	refused("2", "The artifact of round 2 was deleted.")
	config.BinaryData = map[string][]byte{benchmark.ArtifactKey: []byte("another")}
	config.ResourceVersion = ""
	if err := api.Create(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	refused("02", `"02" is not the number of the newest completed round that has an artifact: that is round 2.`)
	b.update(func(b *v1alpha1.Benchmark) { delete(b.Annotations, v1alpha1.AnnotationAcceptRound) })
	b.reconcile()
	refused("2", "The artifact of round 2 can't be read: ConfigMap sizes-r2-round: it is not the artifact that the status announces.")
	b.annotate(v1alpha1.AnnotationRunRound, "again")
	b.reconcile()
	refused("3", "Round 3 is under way. Wait for its end, or cancel it.")
}

// TestARefusedRequestIsMadeAgain refuses a request once, however often it is read, and answers it again with another
// time or after it was removed.
func TestARefusedRequestIsMadeAgain(t *testing.T) {
	b := newBench(t, gated)
	b.round(10_000)
	recorder := b.Events.(*events.FakeRecorder)
	answers := func(want int, outcome v1alpha1.AcceptanceOutcome) {
		t.Helper()
		for range 3 {
			b.reconcile()
		}
		if a := b.b.Status.Acceptance; a == nil || a.Outcome != outcome {
			t.Errorf("%+v", a)
		}
		got := 0
		for len(recorder.Events) > 0 {
			if event := <-recorder.Events; strings.Contains(event, "RoundNotAccepted") || strings.Contains(event, "RoundAccepted") {
				got++
			}
		}
		if got != want {
			t.Errorf("%d events, want %d", got, want)
		}
	}
	first := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	b.annotate(v1alpha1.AnnotationAcceptRound, lifecycle.NewAcceptanceRequest(2, first))
	answers(1, v1alpha1.AcceptanceRefused)
	b.annotate(v1alpha1.AnnotationAcceptRound, lifecycle.NewAcceptanceRequest(2, first.Add(time.Second)))
	answers(1, v1alpha1.AcceptanceRefused)
	b.annotate(v1alpha1.AnnotationRunRound, "the second")
	b.round(10_000)
	answers(0, v1alpha1.AcceptanceRefused)

	// The same value: nothing, until it was removed.
	again := lifecycle.NewAcceptanceRequest(2, first.Add(time.Second))
	b.annotate(v1alpha1.AnnotationAcceptRound, again)
	answers(0, v1alpha1.AcceptanceRefused)
	b.update(func(b *v1alpha1.Benchmark) { delete(b.Annotations, v1alpha1.AnnotationAcceptRound) })
	b.reconcile()
	if b.b.Status.Acceptance != nil {
		t.Errorf("without the annotation: %+v", b.b.Status.Acceptance)
	}
	b.annotate(v1alpha1.AnnotationAcceptRound, again)
	answers(1, v1alpha1.AcceptanceAccepted)
	if b.b.Status.LastPassed.Number != 2 {
		t.Errorf("%+v", b.b.Status.LastPassed)
	}
}

// TestTheTrendDecidesNothing has both cells of a comparison become slower with round 7. Each round passes, and the trend
// outlives the rounds that history keeps.
func TestTheTrendDecidesNothing(t *testing.T) {
	b := newBench(t, func(spec *v1alpha1.BenchmarkSpec) {
		compared(spec)
		spec.ConfidencePercent = ptr.To(int32(50))
		spec.Repetitions.Min = ptr.To(int32(2))
		spec.History.Passed = ptr.To(int32(1))
	})
	const rounds = 12
	for number := range int64(rounds) {
		latency := 10_000 + 10*(number%3)
		if number >= 6 {
			latency += 3000
		}
		b.annotate(v1alpha1.AnnotationRunRound, string(rune('a'+number)))
		b.round(latency)
		if b.b.Status.Verdict != v1alpha1.BenchmarkPassed {
			t.Fatalf("round %d: %+v", number+1, b.b.Status.Round)
		}
		b.reconcile()
	}
	s := b.b.Status
	if len(s.History) != 1 || len(s.Trend) != 2 {
		t.Fatalf("%d rounds in history, trend %+v", len(s.History), s.Trend)
	}
	for _, change := range s.Trend {
		if change.Round != 7 || change.Metric != "LatencyP99" || !strings.HasPrefix(change.Percent, "29.") && !strings.HasPrefix(change.Percent, "30") {
			t.Errorf("%+v", change)
		}
	}
	stored, err := b.storedRound(t.Context(), b.b, &s.History[0])
	if err != nil || len(stored.Trend.Rounds) != rounds {
		t.Errorf("%+v: %v", stored.Trend, err)
	}
}

// failing is a client that can't create runs.
type failing struct{ client.Client }

var errDown = errors.New("webhook is down")

// Create implements client.Client.
func (c failing) Create(ctx context.Context, obj client.Object, options ...client.CreateOption) error {
	if o := (&client.CreateOptions{}).ApplyOptions(options); len(o.DryRun) == 0 {
		return errDown
	}
	return c.Client.Create(ctx, obj, options...)
}

// TestErrorsAreVisible has the API server fail for a while.
func TestErrorsAreVisible(t *testing.T) {
	b := newBench(t, short)
	b.Client = failing{b.Client}
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(b.b)}
	for range 3 { // the round begins, its first run can't be created
		_, err := b.Reconcile(t.Context(), request)
		if err != nil && !errors.Is(err, errDown) {
			t.Fatal(err)
		}
	}
	if err := api.Get(t.Context(), request.NamespacedName, b.b); err != nil {
		t.Fatal(err)
	}
	want := "Retrying: create run " + benchmark.RunKey{Round: 1}.Name("sizes") + ": " + errDown.Error()
	for _, kind := range []string{v1alpha1.ConditionSucceeded, v1alpha1.ConditionReconciling} {
		if c := meta.FindStatusCondition(b.b.Status.Conditions, kind); !strings.HasSuffix(c.Message, want) || strings.Count(c.Message, "Retrying") != 1 {
			t.Errorf("%s: %q", kind, c.Message)
		}
	}
	b.Reconciler = newReconciler()
	b.reconcile()
	for _, c := range b.b.Status.Conditions {
		if strings.Contains(c.Message, "Retrying") {
			t.Errorf("afterwards: %s: %q", c.Type, c.Message)
		}
	}
}

// gathered returns the values of a metric by its only label.
func gathered(t *testing.T, registry *prometheus.Registry, name string) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			values[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return values
}

// noSessions has no sessions.
type noSessions struct{}

// Statistics implements metrics.Sessions.
func (noSessions) Statistics() manager.Statistics { return manager.Statistics{} }

// TestMetrics counts rounds by their verdict, and Benchmarks by their state.
func TestMetrics(t *testing.T) {
	b := newBench(t, short)
	registry := prometheus.NewPedanticRegistry()
	b.Metrics = metrics.New(inNamespace{api, b.b.Namespace}, noSessions{}, b.Clock, "1")
	if err := b.Metrics.Register(registry); err != nil {
		t.Fatal(err)
	}
	check := func(name string, want map[string]float64) {
		t.Helper()
		if diff := cmp.Diff(want, gathered(t, registry, name)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	check("assay_benchmarks", map[string]float64{"New": 1})
	b.round(1000)
	b.reconcile()
	b.annotate(v1alpha1.AnnotationRunRound, "to be cancelled")
	b.reconcile()
	b.update(func(b *v1alpha1.Benchmark) { b.Spec.Template.Spec.Load.Closed.Connections = 30 }) // cancels it, and begins another
	b.reconcile()
	check("assay_benchmark_rounds_finished_total", map[string]float64{"Measured": 1, "Error": 1})
	check("assay_benchmarks", map[string]float64{"Running": 1})
	check("assay_artifact_failures_total", map[string]float64{})
}

// inNamespace reads a single namespace.
type inNamespace struct {
	client.Reader
	namespace string
}

// List implements client.Reader.
func (r inNamespace) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return r.Reader.List(ctx, list, append(options, client.InNamespace(r.namespace))...)
}
