package driver

import (
	"container/heap"
	"encoding/binary"
	"math"
	"sync"
	"syscall"
	"time"

	"github.com/assay-dev/assay/load/usage"
)

const (
	never        = time.Duration(math.MaxInt64)
	mostEvents   = 128
	mostAtOnce   = 16 // connections that start before it is looked what has come
	lagsMeasured = 8  // one in so many
)

// Events that aren't a task's.
const (
	timerEvent = -1 - iota
	bellEvent
)

// loop carries connections: one goroutine that waits for what comes on any of
// them, by an epoll instance of its own, and goes on with each where it stopped.
// Connections are coroutines (task), so that their code reads as if each had its
// own goroutine. That spares them Go's scheduler and what its poller keeps for
// each descriptor. Nothing that a task does may block but by task.wait.
type loop struct {
	stage *Stage
	sleeping
	events [mostEvents]syscall.EpollEvent
	came   int // number of events

	tasks []*task
	live  int
	// earliest is before any instant at which a task is to give up.
	earliest time.Duration
	resting  restHeap
	ready    []*task // to go on
	// paces is whether the loop gives out requests of an open load, due when the next
	// one is; never when that isn't known.
	paces bool
	due   time.Duration
	// lags counts towards lagsMeasured.
	lags uint8

	mu   sync.Mutex
	rung []gift // that others have brought
}

// gift is a request that another loop, or the pacer, has for a task: when it was
// meant to start.
type gift struct {
	task     *task
	intended time.Duration
}

// newLoop returns a loop for a stage. It must be closed.
func newLoop(s *Stage) (*loop, error) {
	l := &loop{stage: s, earliest: never, due: never}
	if err := l.prepare(); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// run carries connections from the stage's start instant until they have ended.
func (l *loop) run(tasks []*task) {
	l.tasks, l.live = tasks, len(tasks)
	started := 0
	for l.live > 0 {
		if started < len(tasks) {
			for range min(mostAtOnce, len(tasks)-started) {
				l.resume(tasks[started])
				started++
			}
			l.fetch(0)
		} else {
			l.wait()
		}
		l.handle()
		now := l.stage.now()
		l.yield(now)
		if now >= l.earliest {
			l.expire(now)
		}
		for len(l.resting) > 0 && l.resting[0].until <= now {
			l.resume(heap.Pop(&l.resting).(*task))
		}
		if l.paces && (now >= l.due || l.due == never) {
			l.pace()
		}
		for i := 0; i < len(l.ready); i++ {
			l.resume(l.ready[i])
		}
		l.ready = l.ready[:0]
	}
}

// handle goes on with the connections on which something has come.
func (l *loop) handle() {
	if l.came == 0 {
		return
	}
	came := time.Now()
	for i := range l.came {
		if l.lags++; l.lags%lagsMeasured == 0 {
			usage.Lagged(time.Since(came))
		}
		switch e := &l.events[i]; e.Fd {
		case timerEvent:
		case bellEvent:
			l.answer()
		default:
			if t := l.tasks[e.Fd]; t.generation == e.Pad && t.tell(e.Events) {
				l.resume(t)
			}
		}
	}
	l.came = 0
}

// resume has a task go on until it waits again, or ends.
func (l *loop) resume(t *task) {
	if _, ok := t.next(); !ok {
		l.live--
	}
}

// expire goes on with tasks that have waited for long enough.
func (l *loop) expire(now time.Duration) {
	l.earliest = never
	for _, t := range l.tasks {
		if t.waits == forNothing || t.waits == forRest {
			continue
		}
		if t.until <= now {
			t.expired = true
			l.resume(t)
		} else {
			l.earliest = min(l.earliest, t.until)
		}
	}
}

// pace gives out what is due of an open load.
func (l *loop) pace() {
	a := l.stage.arrivals
	if l.stage.stopping.Load() || l.stage.ending.Load() {
		l.finish()
		return
	}
	at, short, more := a.give()
	switch {
	case !more:
		l.finish()
	case short:
		l.due = never
	default:
		l.due = at
	}
}

// finish ends the giving out of requests.
func (l *loop) finish() {
	l.paces, l.due = false, never
	close(l.stage.arrivals.over)
	l.stage.ringLoops()
}

// give has a task go on with a request. It is for the loop's own goroutine.
func (l *loop) give(t *task, intended time.Duration) {
	t.intended, t.given = intended, true
	l.ready = append(l.ready, t)
}

// bring is give for others' goroutines.
func (l *loop) bring(t *task, intended time.Duration) {
	l.mu.Lock()
	l.rung = append(l.rung, gift{t, intended})
	l.mu.Unlock()
	l.ring()
}

// ring wakes the loop to look what it was brought, and what has become of the
// stage.
func (l *loop) ring() {
	// It fails only where it rings already.
	_, _ = l.bell.Write(binary.NativeEndian.AppendUint64(nil, 1))
}

// answer does what the bell was rung for.
func (l *loop) answer() {
	l.mu.Lock()
	for _, g := range l.rung {
		l.give(g.task, g.intended)
	}
	l.rung = l.rung[:0]
	l.mu.Unlock()
	stopping := l.stage.stopping.Load()
	if !stopping && !l.stage.ending.Load() && (l.stage.arrivals == nil || !l.stage.arrivals.isOver()) {
		return
	}
	for _, t := range l.tasks {
		switch {
		case t.waits == forArrival && t.given, t.waits == forNothing:
			// It goes on anyway, or has ended.
		case stopping || t.waits == forArrival || t.waits == forRest:
			l.resume(t)
		}
	}
	l.resting = l.resting[:0]
}

// restHeap has the task that is to go on first first.
type restHeap []*task

func (h restHeap) Len() int           { return len(h) }
func (h restHeap) Less(i, j int) bool { return h[i].until < h[j].until }
func (h restHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *restHeap) Push(t any)        { *h = append(*h, t.(*task)) }
func (h *restHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	*h = (*h)[:last]
	return t
}
