package benchmark

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/traces"
)

// traceSender keeps the numbers and verdicts of rounds.
type traceSender struct{ rounds []string }

// Run implements traces.Sender.
func (*traceSender) Run(*v1alpha1.BenchmarkRun) {}

// Round implements traces.Sender.
func (s *traceSender) Round(_ *v1alpha1.Benchmark, round *v1alpha1.RoundStatus, verdict v1alpha1.BenchmarkVerdict, end time.Time) {
	if end.Before(round.StartTime.Time) {
		verdict = "before its start"
	}
	s.rounds = append(s.rounds, fmt.Sprintf("%d %s", round.Number, verdict))
}

// TestTraces sends the trace of a round that passes, of one that is cancelled by the next, and after a restart that
// of the last one again.
func TestTraces(t *testing.T) {
	b := newBench(t, short)
	var first, second traceSender
	b.Traces = traces.New(&first, time.Now)
	b.round(1000)
	b.reconcile()
	b.Traces = traces.New(&second, func() time.Time { return b.b.Status.Round.CompletionTime.Time })
	b.reconcile()
	b.Traces = traces.New(&second, time.Now)
	b.annotate(v1alpha1.AnnotationRunRound, "to be cancelled")
	b.reconcile()
	b.update(func(b *v1alpha1.Benchmark) { b.Spec.Template.Spec.Load.Closed.Connections = 30 }) // cancels it, and begins another
	b.reconcile()
	if diff := cmp.Diff([]string{"1 Passed"}, first.rounds); diff != "" {
		t.Errorf("the first manager (-want +got):\n%s", diff)
	}
	if n := len(second.rounds); n < 2 || second.rounds[0] != "1 Passed" || second.rounds[n-1] != "2 Error" {
		t.Errorf("the second manager: %v", second.rounds)
	}
}
