package driver

import (
	"container/heap"
	"encoding/binary"
	"math"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/assay-dev/assay/internal/load/usage"
)

const (
	never          = time.Duration(math.MaxInt64)
	maxEvents      = 512 // fewer cost more with thousands of connections (docs/performance.md)
	maxStartBatch  = 16  // connections to start before the next poll
	lagSampleEvery = 8   // measure the lag of every n-th event
)

// The identifiers of events that don't belong to a task.
const (
	wakeEvent   = -1 - iota
	timerEvents // of the first timer; those of the others are lower
)

// loop is an event loop that runs connections: one goroutine that waits for events on any
// of them with its own epoll instance, and resumes each where it stopped. The connections
// are coroutines (task), so that their code reads as if each had its own goroutine. This
// avoids the cost of Go's scheduler and of its poller's state for each descriptor. A task
// must not block except in task.wait.
type loop struct {
	stage *Stage
	poller
	events     [maxEvents]syscall.EpollEvent
	eventCount int // number of valid events
	// now is a time since the last poll.
	now time.Duration

	tasks []*task
	live  int // tasks that haven't ended
	// earliest is a lower bound of the times at which tasks time out.
	earliest time.Duration
	sleeping sleepHeap // tasks that wait for a time
	ready    []*task   // tasks to resume
	// paces reports whether the loop dispatches the requests of an open load. due is the
	// time at which the next one is due, or never if that isn't known, and following the time
	// of the one after it, if there is one.
	paces          bool
	due, following time.Duration
	plain          *plainLoad // nil if the load isn't plain
	// eventsHandled counts events for lagSampleEvery.
	eventsHandled uint8

	mu     sync.Mutex
	queued []wakeup // of other goroutines
}

// wakeup is a call of wake for a task.
type wakeup struct {
	task *task
	at   time.Duration
}

// processorsMu prevents that one of two loops' changes of the number of processors is lost.
var processorsMu sync.Mutex

// addProcessors changes the number of Go's processors (GOMAXPROCS).
func addProcessors(n int) {
	processorsMu.Lock()
	defer processorsMu.Unlock()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + n)
}

// newLoop returns a loop for a stage. The caller must close it.
func newLoop(s *Stage) (*loop, error) {
	l := &loop{stage: s, earliest: never, due: never, following: never}
	if err := l.prepare(); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// run runs connections from the stage's start time until all of them have ended. The loop must have a
// processor of its own.
func (l *loop) run(tasks []*task) {
	l.tasks, l.live = tasks, len(tasks)
	l.plain = newPlainLoad(l.stage, len(tasks))
	started := 0
	for l.live > 0 {
		if started < len(tasks) {
			for range min(maxStartBatch, len(tasks)-started) {
				l.resume(tasks[started])
				started++
			}
			l.poll(0)
		} else {
			l.wait()
		}
		l.handle()
		if l.paces || len(l.sleeping) > 0 {
			l.now = l.stage.now()
		}
		if l.now >= l.earliest {
			l.expire(l.now)
		}
		for len(l.sleeping) > 0 && l.sleeping[0].until <= l.now {
			l.resume(heap.Pop(&l.sleeping).(*task))
		}
		if l.paces && (l.now >= l.due || l.due == never) {
			l.pace()
		}
		for i := 0; i < len(l.ready); i++ {
			if !l.begin(l.ready[i]) {
				l.resume(l.ready[i])
			}
		}
		l.ready = l.ready[:0]
	}
}

// handle resumes the tasks whose events have arrived, and sets now.
func (l *loop) handle() {
	polled := l.stage.now()
	l.now = polled
	for i := range l.eventCount {
		if l.eventsHandled++; l.eventsHandled%lagSampleEvery == 0 {
			l.now = l.stage.now()
			usage.AddSchedulingLatency(l.now - polled)
		}
		switch e := &l.events[i]; {
		case e.Fd == wakeEvent:
			l.handleWake()
		case e.Fd < 0:
			l.timers[timerEvents-e.Fd].fires = never
		case l.plain.repeats(e) && l.repeat(e.Fd):
		default:
			if t := l.tasks[e.Fd]; t.generation == e.Pad && t.notify(e.Events) && !l.plain.isFree(t) {
				l.resume(t)
			}
		}
	}
	l.eventCount = 0
}

// resume runs a task until it waits again or ends.
func (l *loop) resume(t *task) {
	if _, ok := t.next(); !ok {
		l.live--
	}
}

// expire resumes the tasks that have timed out.
func (l *loop) expire(now time.Duration) {
	l.earliest = never
	for _, t := range l.tasks {
		if t.waits == forNothing || t.waits == forTime || l.plain.isFree(t) {
			continue
		}
		if l.plain != nil && l.plain.requests[t.index].repeats {
			t.until = t.connection.limit(l.plain.requests[t.index].begin)
		}
		if t.until <= now {
			t.expired = true
			l.resume(t)
		} else {
			l.earliest = min(l.earliest, t.until)
		}
	}
}

// pace dispatches the requests of an open load that are due.
func (l *loop) pace() {
	a := l.stage.arrivals
	if l.stage.stopping.Load() || l.stage.ending.Load() {
		l.finish()
		return
	}
	at, starved, more := a.dispatchDue()
	switch {
	case !more:
		l.finish()
	case starved:
		l.due, l.following = never, never
	default:
		l.due, l.following = at, a.following()
	}
}

// finish ends the dispatching of requests.
func (l *loop) finish() {
	l.paces, l.due, l.following = false, never, never
	l.stage.arrivals.finish()
}

// dispatch wakes a task. Only the loop's own goroutine may call it.
func (l *loop) dispatch(t *task, at time.Duration) {
	t.woken, t.wokenAt = true, at
	if t.waits == forWake || l.plain.isFree(t) { // otherwise it is about to park
		l.ready = append(l.ready, t)
	}
}

// enqueue is like dispatch but is safe to call from any goroutine.
func (l *loop) enqueue(t *task, at time.Duration) {
	l.mu.Lock()
	l.queued = append(l.queued, wakeup{t, at})
	l.mu.Unlock()
	l.wake()
}

// wake makes the loop check for enqueued calls and for a stage that has ended.
func (l *loop) wake() {
	// This fails only if the loop is closed.
	_, _ = l.wakeup.Write(binary.NativeEndian.AppendUint64(nil, 1))
}

// handleWake dispatches what is enqueued. If the stage has been stopped or ended, it resumes the tasks that wait for something
// else than their sockets, so that they check whether they go on.
func (l *loop) handleWake() {
	l.mu.Lock()
	for _, w := range l.queued {
		l.dispatch(w.task, w.at)
	}
	l.queued = l.queued[:0]
	l.mu.Unlock()
	stopping, ending := l.stage.stopping.Load(), l.stage.ending.Load()
	if l.paces && (stopping || ending) {
		l.finish()
	}
	if !stopping && !ending && (l.stage.arrivals == nil || !isClosed(l.stage.arrivals.exhausted)) {
		return
	}
	l.sleeping = l.sleeping[:0] // a task that goes on waiting for its time adds itself again
	for _, t := range l.tasks {
		parked := t.waits == forWake || l.plain.isFree(t)
		switch {
		case parked && t.woken, t.waits == forNothing:
			// The task is about to be resumed, or has ended.
		case stopping || parked || t.waits == forTime:
			l.resume(t)
		}
	}
}

// sleepHeap is a heap with the task to resume first at the top.
type sleepHeap []*task

func (h sleepHeap) Len() int           { return len(h) }
func (h sleepHeap) Less(i, j int) bool { return h[i].until < h[j].until }
func (h sleepHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *sleepHeap) Push(t any)        { *h = append(*h, t.(*task)) }
func (h *sleepHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	*h = (*h)[:last]
	return t
}
