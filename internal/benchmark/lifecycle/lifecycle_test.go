package lifecycle_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/verdict"
	"github.com/assay-dev/assay/test/benchtest"
)

// lasting returns a Benchmark that compares with the last round that passed, and keeps all rounds that it can.
func lasting() *v1alpha1.Benchmark {
	b := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Name: "bm", Namespace: "default", Generation: 1}}
	b.Spec.Comparison = benchtest.Compare("x", "LatencyP99")
	b.Spec.Comparison.Baseline = v1alpha1.Baseline{LastPassed: &v1alpha1.LastPassed{}}
	b.Spec.History = v1alpha1.History{Passed: ptr.To(int32(100)), Failed: ptr.To(int32(100))}
	return b
}

// execute begins a round and ends it with a verdict and an artifact.
func execute(b *v1alpha1.Benchmark, outcome v1alpha1.BenchmarkVerdict) {
	lifecycle.Begin(b, v1alpha1.TriggerRequested, "hash", 1, 1, benchtest.Begin)
	b.Status.Round.Artifact = &v1alpha1.ArtifactReference{ConfigMap: &v1alpha1.ArtifactConfigMap{Name: "a", Key: benchmark.ArtifactKey}, SHA256: "0"}
	lifecycle.Complete(b, &verdict.End{Verdict: outcome, Reason: benchmark.ReasonCompleted, Message: "It ended."}, benchtest.Begin.Add(time.Hour))
}

func accept(t *testing.T, b *v1alpha1.Benchmark, request string) {
	t.Helper()
	round, refusal := lifecycle.Acceptable(b)
	if refusal == "" {
		refusal = lifecycle.RequestMismatch(round, request)
	}
	if refusal != "" {
		t.Fatal(refusal)
	}
	lifecycle.Accept(b, request, round, benchtest.Begin.Add(2*time.Hour))
}

// TestHistoryAtItsLimit has as many rounds as history can keep: never more, and never without the baseline.
func TestHistoryAtItsLimit(t *testing.T) {
	b := lasting()
	check := func() {
		t.Helper()
		last, kept := b.Status.LastPassed, 0
		for i := range b.Status.History {
			if last != nil && b.Status.History[i].Number == last.Number {
				kept++
			}
		}
		if n := len(b.Status.History); n > 200 || last != nil && kept != 1 {
			t.Fatalf("after round %d: %d in history, the baseline %d times", b.Status.Round.Number, n, kept)
		}
	}
	for range 130 {
		execute(b, v1alpha1.BenchmarkPassed)
		check()
	}
	execute(b, v1alpha1.BenchmarkFailed)
	accept(t, b, "131")
	for range 130 {
		execute(b, v1alpha1.BenchmarkFailed)
		check()
	}
	if n := len(b.Status.History); n != 200 || b.Status.LastPassed.Number != 131 || b.Status.History[0].Number != 261 {
		t.Errorf("%d rounds, the baseline is %+v", n, b.Status.LastPassed)
	}
	b.Spec.History = v1alpha1.History{Passed: ptr.To(int32(0)), Failed: ptr.To(int32(0))}
	execute(b, v1alpha1.BenchmarkInconclusive)
	if h := b.Status.History; len(h) != 1 || h[0].Number != 131 || h[0].AcceptanceTime == nil {
		t.Errorf("without history: %+v", h)
	}
}

func TestAcceptance(t *testing.T) {
	b := lasting()
	refused := func(want string) {
		t.Helper()
		if round, refusal := lifecycle.Acceptable(b); round != nil || refusal != want {
			t.Errorf("%+v, %q, want %q", round, refusal, want)
		}
	}
	refused("No completed round has an artifact.")
	execute(b, v1alpha1.BenchmarkPassed)
	execute(b, v1alpha1.BenchmarkInconclusive)
	lifecycle.Begin(b, v1alpha1.TriggerScheduled, "hash", 1, 1, benchtest.Begin)
	refused("Round 3 is under way. Wait for its end, or cancel it.")
	lifecycle.Complete(b, &verdict.End{Verdict: v1alpha1.BenchmarkError, Reason: v1alpha1.ReasonCancelled}, benchtest.Begin)
	round, _ := lifecycle.Acceptable(b)
	if round == nil || round.Number != 2 {
		t.Fatalf("after a cancelled round: %+v", round)
	}
	if got, want := lifecycle.RequestMismatch(round, "1"), `"1" is not the number of the newest completed round that has an artifact: that is round 2.`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b.Annotations = map[string]string{v1alpha1.AnnotationAcceptRound: "2"}
	if request := lifecycle.AcceptanceRequest(b); request != "2" {
		t.Errorf("the request is %q", request)
	}
	accept(t, b, "2")
	s := &b.Status
	if s.LastPassed.Number != 2 || s.LastPassed.Verdict != v1alpha1.BenchmarkInconclusive || s.LastPassed.AcceptanceTime == nil || s.History[1].AcceptanceTime == nil ||
		s.Acceptance.Outcome != v1alpha1.AcceptanceAccepted || s.Acceptance.Message != "Round 2 is the baseline of later rounds, instead of round 1." {
		t.Errorf("%+v %+v", s.LastPassed, s.Acceptance)
	}
	if s.Round.Verdict != v1alpha1.BenchmarkError || s.Verdict != v1alpha1.BenchmarkError {
		t.Errorf("the verdict changed: %+v", s)
	}
	if request := lifecycle.AcceptanceRequest(b); request != "" {
		t.Errorf("%q is asked for again", request)
	}
	execute(b, v1alpha1.BenchmarkPassed)
	if s.LastPassed.Number != 4 || s.LastPassed.AcceptanceTime != nil {
		t.Errorf("a round that passed is not the baseline: %+v", s.LastPassed)
	}
	accept(t, b, "4")
	if s.Acceptance.Message != "Round 4 was the baseline already." || s.LastPassed.AcceptanceTime != nil {
		t.Errorf("%+v", s.Acceptance)
	}
	b.Spec.Comparison.Baseline = v1alpha1.Baseline{Cell: v1alpha1.CellSelector{"a": "x"}}
	refused("spec.comparison.baseline.lastPassed is not set, so that no round is the baseline of later ones.")
}

// TestAcceptanceIsRepeated makes the same request again: with another time, and after the annotation was removed.
func TestAcceptanceIsRepeated(t *testing.T) {
	b := lasting()
	execute(b, v1alpha1.BenchmarkInconclusive)
	b.Annotations = map[string]string{}
	request := func(value string) string {
		b.Annotations[v1alpha1.AnnotationAcceptRound] = value
		return lifecycle.AcceptanceRequest(b)
	}
	first, second := lifecycle.NewAcceptanceRequest(1, benchtest.Begin), lifecycle.NewAcceptanceRequest(1, benchtest.Begin.Add(time.Nanosecond))
	for _, value := range []string{first, second, first, "1"} {
		if got := request(value); got != value || lifecycle.RequestedRound(got) != "1" {
			t.Fatalf("%q is the request %q", value, got)
		}
		lifecycle.Refuse(b, value, "No.", benchtest.Begin)
		if got := request(value); got != "" {
			t.Errorf("%q was answered, and is the request %q again", value, got)
		}
	}
	delete(b.Annotations, v1alpha1.AnnotationAcceptRound)
	if got := lifecycle.AcceptanceRequest(b); got != "" || b.Status.Acceptance != nil {
		t.Errorf("without the annotation: %q, %+v", got, b.Status.Acceptance)
	}
	if got := request("1"); got != "1" {
		t.Errorf("set again, it is the request %q", got)
	}
	round, _ := lifecycle.Acceptable(b)
	for value, want := range map[string]string{
		first: "", "1": "", "1 because of the kernel": "",
		"2 " + benchtest.Begin.String(): `"2" is not the number of the newest completed round that has an artifact: that is round 1.`,
		" 1":                            `"" is not the number of the newest completed round that has an artifact: that is round 1.`,
	} {
		if got := lifecycle.RequestMismatch(round, value); got != want {
			t.Errorf("%q: %q", value, got)
		}
	}
}

func TestUnacceptable(t *testing.T) {
	r := benchtest.Ended(t, benchtest.ExampleRound(t, 5))
	if why := r.Unacceptable(); why != "" {
		t.Error(why)
	}
	mixed := *r
	mixed.Reason, mixed.Message = benchmark.ReasonIncomparable, "The kernels differ."
	if why := mixed.Unacceptable(); why != "The runs of round 1 were made under different conditions, so that no later round could be compared with them. The kernels differ." {
		t.Error(why)
	}
	r.Blocks = 0
	if why := r.Unacceptable(); why != "Round 1 has no block in which every cell has a valid run." {
		t.Error(why)
	}
}

// TestErrorsAreVisible checks that the status says why a step is tried again, and no longer does so once it succeeded.
func TestErrorsAreVisible(t *testing.T) {
	b := lasting()
	lifecycle.Retry(b, errors.New("nothing to write it to")) // no condition exists yet
	lifecycle.Begin(b, v1alpha1.TriggerCreated, "hash", 1, 1, benchtest.Begin)
	message := func(kind string) string { return meta.FindStatusCondition(b.Status.Conditions, kind).Message }
	before := message(v1alpha1.ConditionSucceeded)
	for _, err := range []string{"create run bm-r1-c000-b00: timeout", "create run bm-r1-c000-b00: " + strings.Repeat("x", 2000)} {
		lifecycle.Retry(b, errors.New(err))
		if got := message(v1alpha1.ConditionSucceeded); got != before+" Retrying: "+err[:min(len(err), 1024)] {
			t.Errorf("Succeeded: %q", got)
		}
		if got := message(v1alpha1.ConditionReconciling); got != "Round 1 is under way. Retrying: "+err[:min(len(err), 1024)] {
			t.Errorf("Reconciling: %q", got)
		}
	}
	lifecycle.ClearRetry(b)
	if got := message(v1alpha1.ConditionSucceeded); got != before {
		t.Errorf("afterwards: %q", got)
	}
	lifecycle.Complete(b, &verdict.End{Verdict: v1alpha1.BenchmarkPassed, Reason: benchmark.ReasonCompleted, Message: "It passed."}, benchtest.Begin)
	lifecycle.Retry(b, errors.New("delete bm-r1-c000-b00: timeout"))
	if s, r := message(v1alpha1.ConditionSucceeded), message(v1alpha1.ConditionReconciling); s != "It passed." || r != "No round is under way. Retrying: delete bm-r1-c000-b00: timeout" {
		t.Errorf("%q, %q", s, r)
	}
}

// TestAnInvalidSpecIsRestored makes a spec invalid after a round, and valid again.
func TestAnInvalidSpecIsRestored(t *testing.T) {
	b := lasting()
	execute(b, v1alpha1.BenchmarkFailed)
	lifecycle.Restore(b, benchtest.Begin)
	if lifecycle.IsRejected(b) || lifecycle.Succeeded(b).Message != "It ended." {
		t.Fatalf("%+v", b.Status)
	}
	lifecycle.Reject(b, "hash", "spec.schedule.cron: no", benchtest.Begin)
	if c := lifecycle.Succeeded(b); !lifecycle.IsRejected(b) || b.Status.Verdict != v1alpha1.BenchmarkError || c.Reason != v1alpha1.ReasonInvalidSpec {
		t.Errorf("%+v", b.Status)
	}
	lifecycle.Restore(b, benchtest.Begin)
	if c := lifecycle.Succeeded(b); lifecycle.IsRejected(b) || b.Status.Verdict != v1alpha1.BenchmarkFailed || c.Reason != v1alpha1.ReasonFailed || c.Status != metav1.ConditionFalse {
		t.Errorf("%+v", b.Status)
	}
	// A round whose cells the API server rejected ended; it isn't the spec that keeps rounds from beginning.
	lifecycle.Begin(b, v1alpha1.TriggerRequested, "hash", 1, 1, benchtest.Begin)
	lifecycle.Complete(b, &verdict.End{Verdict: v1alpha1.BenchmarkError, Reason: v1alpha1.ReasonInvalidSpec, Message: "Cell a=x is not valid."}, benchtest.Begin)
	if lifecycle.IsRejected(b) || b.Status.Round.Reason != v1alpha1.ReasonInvalidSpec {
		t.Errorf("%+v", b.Status)
	}
}
