// Package traces sends the trace of each run and round that has ended, once for each manager. After a restart it
// sends those again of which the manager before may not have sent them; they have the same IDs.
package traces

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/run"
)

// margin is the time before the last sign of life of the manager before, in which ended what it may not have
// sent: a receiver that doesn't answer is tried again for a minute, one batch after the other.
const margin = 2 * time.Minute

// Sender sends traces and doesn't wait for the receiver. A tracing.Tracer is one.
type Sender interface {
	Run(br *v1alpha1.BenchmarkRun)
	Round(b *v1alpha1.Benchmark, round *v1alpha1.RoundStatus, verdict v1alpha1.BenchmarkVerdict, end time.Time)
}

// Traces knows which traces this manager has sent. A nil Traces sends none. Its methods are safe to call from any
// goroutine.
type Traces struct {
	sender Sender
	since  func() time.Time

	mu sync.Mutex
	// sent holds the runs whose traces were sent, and the Benchmarks with the number of the last
	// round whose trace was.
	sent map[types.UID]int64
}

// New returns Traces. since returns the time up to which another manager has led, and so has sent traces.
func New(sender Sender, since func() time.Time) *Traces {
	return &Traces{sender: sender, since: since, sent: map[types.UID]int64{}}
}

// due reports whether a trace must be sent of what ended at a time.
func (t *Traces) due(uid types.UID, number int64, ended *metav1.Time) bool {
	if t == nil || ended == nil || ended.Add(margin).Before(t.since()) {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sent[uid] < number
}

// mark reports whether a trace was not sent yet, and notes that it is.
func (t *Traces) mark(uid types.UID, number int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sent[uid] >= number {
		return false
	}
	t.sent[uid] = number
	return true
}

// RunDue reports whether the trace of a run must be sent.
func (t *Traces) RunDue(br *v1alpha1.BenchmarkRun) bool {
	return run.IsFinished(br) && t.due(br.UID, 1, br.Status.CompletionTime)
}

// Run sends the trace of a finished run, which must have its whole status.
func (t *Traces) Run(br *v1alpha1.BenchmarkRun) {
	if t != nil && t.mark(br.UID, 1) {
		t.sender.Run(br)
	}
}

// RoundDue reports whether the trace of a Benchmark's last round must be sent.
func (t *Traces) RoundDue(b *v1alpha1.Benchmark) bool {
	return b.Status.Round != nil && !benchmark.IsActive(b) && t.due(b.UID, b.Status.Round.Number, b.Status.Round.CompletionTime)
}

// Round sends the trace of a round that ended at a time with a verdict.
func (t *Traces) Round(b *v1alpha1.Benchmark, round *v1alpha1.RoundStatus, verdict v1alpha1.BenchmarkVerdict, end time.Time) {
	if t != nil && t.mark(b.UID, round.Number) {
		t.sender.Round(b, round, verdict, end)
	}
}

// Forget forgets a run or a Benchmark that was deleted.
func (t *Traces) Forget(uid types.UID) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.sent, uid)
}
