package benchmarkrun

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/traces"
)

// traceSender keeps the runs whose traces were sent.
type traceSender struct{ runs []*v1alpha1.BenchmarkRun }

// Run implements traces.Sender.
func (s *traceSender) Run(br *v1alpha1.BenchmarkRun) { s.runs = append(s.runs, br.DeepCopy()) }

// Round implements traces.Sender.
func (*traceSender) Round(*v1alpha1.Benchmark, *v1alpha1.RoundStatus, v1alpha1.BenchmarkVerdict, time.Time) {
}

// managed makes a bench's reconciler that of a new manager, before which another led up to a time.
func (b *bench) managed(since time.Time) *traceSender {
	sender := &traceSender{}
	b.Traces = traces.New(sender, func() time.Time { return since })
	return sender
}

// TestTrace checks that the trace of a run is sent once, by a manager that is restarted again, and by one that is
// started much later not at all.
func TestTrace(t *testing.T) {
	b := collected(t)
	first := b.managed(b.clock.Now().Add(-time.Hour))
	b.reconcile()
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonCompleted || len(first.runs) != 1 {
		t.Fatalf("%s, %d traces", got.Reason, len(first.runs))
	}
	var events []v1alpha1.TimelineEvent
	for _, entry := range first.runs[0].Status.Timeline {
		events = append(events, entry.Event)
	}
	want := []v1alpha1.TimelineEvent{
		v1alpha1.EventStarting, v1alpha1.EventTargetReady, v1alpha1.EventClientsReady, v1alpha1.EventMeasuring,
		v1alpha1.EventCollecting, v1alpha1.EventStoring, v1alpha1.EventFinished,
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
	second := b.managed(b.run.Status.CompletionTime.Time)
	b.reconcile()
	b.reconcile()
	if len(second.runs) != 1 {
		t.Fatalf("after a restart %d traces", len(second.runs))
	}
	if diff := cmp.Diff(first.runs[0].Status.Timeline, second.runs[0].Status.Timeline); diff != "" || second.runs[0].UID != first.runs[0].UID {
		t.Errorf("the two managers sent other times (-first +second):\n%s", diff)
	}
	late := b.managed(b.run.Status.CompletionTime.Add(time.Hour))
	b.reconcile()
	if len(late.runs) != 0 {
		t.Errorf("an hour later %d traces", len(late.runs))
	}
}

// TestTraceWithoutAnswer kills a manager after it has written the verdict.
func TestTraceWithoutAnswer(t *testing.T) {
	b := collected(t)
	killed := b.managed(b.clock.Now().Add(-time.Hour))
	restore := b.intercept(statusWrites(1, true))
	b.killed()
	restore()
	next := b.managed(b.clock.Now())
	b.reconcile()
	if len(killed.runs) != 0 || len(next.runs) != 1 || len(next.runs[0].Status.Timeline) != 7 || next.runs[0].Status.Result == nil {
		t.Errorf("%d traces before, %d after", len(killed.runs), len(next.runs))
	}
}
