package traces

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// sender counts.
type sender struct{ runs, rounds int }

// Run implements Sender.
func (s *sender) Run(*v1alpha1.BenchmarkRun) { s.runs++ }

// Round implements Sender.
func (s *sender) Round(*v1alpha1.Benchmark, *v1alpha1.RoundStatus, v1alpha1.BenchmarkVerdict, time.Time) {
	s.rounds++
}

var since = time.Unix(1_000_000, 0)

func finished(ended time.Time) *v1alpha1.BenchmarkRun {
	br := &v1alpha1.BenchmarkRun{}
	br.UID = "run"
	br.Status.CompletionTime = ptr.To(metav1.NewTime(ended))
	br.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue}}
	return br
}

func TestRun(t *testing.T) {
	var s sender
	traces := New(&s, func() time.Time { return since })
	for ended, want := range map[time.Duration]bool{-time.Hour: false, -margin - time.Second: false, -margin: true, 0: true, time.Hour: true} {
		if got := traces.RunDue(finished(since.Add(ended))); got != want {
			t.Errorf("a run that ended %s after the last manager: %t", ended, got)
		}
	}
	if active := (&v1alpha1.BenchmarkRun{}); traces.RunDue(active) {
		t.Error("an active run is due")
	}
	br := finished(since)
	traces.Run(br)
	traces.Run(br)
	if s.runs != 1 || traces.RunDue(br) {
		t.Errorf("%d traces, due %t", s.runs, traces.RunDue(br))
	}
	traces.Forget(br.UID)
	if len(traces.sent) != 0 {
		t.Errorf("after its deletion: %v", traces.sent)
	}
}

func TestRound(t *testing.T) {
	var s sender
	traces := New(&s, func() time.Time { return since })
	b := &v1alpha1.Benchmark{}
	b.UID = "benchmark"
	if traces.RoundDue(b) {
		t.Error("a Benchmark without a round is due")
	}
	b.Status.Round = &v1alpha1.RoundStatus{Number: 7}
	if traces.RoundDue(b) {
		t.Error("a round under way is due")
	}
	b.Status.Round.CompletionTime = ptr.To(metav1.NewTime(since))
	if !traces.RoundDue(b) {
		t.Error("a round that has ended isn't due")
	}
	for _, number := range []int64{7, 7, 6, 8} {
		traces.Round(b, &v1alpha1.RoundStatus{Number: number}, v1alpha1.BenchmarkPassed, since)
	}
	if s.rounds != 2 || traces.RoundDue(b) {
		t.Errorf("%d traces of rounds 7 and 8", s.rounds)
	}
}

// TestNone sends nothing.
func TestNone(t *testing.T) {
	var none *Traces
	none.Run(finished(since))
	none.Round(&v1alpha1.Benchmark{}, &v1alpha1.RoundStatus{Number: 1}, v1alpha1.BenchmarkPassed, since)
	none.Forget("run")
	if none.RunDue(finished(since)) {
		t.Error("it is due")
	}
}
