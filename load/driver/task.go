package driver

import (
	"container/heap"
	"iter"
	"net"
	"os"
	"syscall"
	"time"
)

// waits is what a task waits for.
type waits uint8

const (
	forNothing waits = iota
	forReading
	forWriting
	forRest
	forArrival
)

// task is a connection that a loop carries: a coroutine, which stops at each
// wait and has the loop go on with others.
type task struct {
	loop  *loop
	place int32 // among the loop's
	// generation tells the events of its socket from those of the ones before it.
	generation int32
	next       func() (struct{}, bool)
	stop       func()
	yield      func(struct{}) bool
	socket     loopSocket

	waits   waits
	until   time.Duration // when the wait is over at the latest
	expired bool          // whether it was
	// intended is when the request was meant to start that the task was given.
	intended time.Duration
	given    bool
}

// newTask makes a connection one of a loop's.
func newTask(l *loop, place int, c *connection) *task {
	t := &task{loop: l, place: int32(place)}
	c.mu.Lock()
	c.task = t
	c.mu.Unlock()
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		c.run()
	})
	return t
}

// wait has the loop go on with others until what is waited for has come, or the
// instant. The error is then os.ErrDeadlineExceeded; when the stage is stopped,
// it is net.ErrClosed.
func (t *task) wait(what waits, until time.Duration) error {
	l := t.loop
	if l.stage.stopping.Load() {
		return net.ErrClosed
	}
	t.waits, t.until, t.expired = what, until, false
	if what != forRest {
		l.earliest = min(l.earliest, until)
	}
	t.yield(struct{}{})
	t.waits = forNothing
	switch {
	case l.stage.stopping.Load():
		return net.ErrClosed
	case t.expired:
		return os.ErrDeadlineExceeded
	}
	return nil
}

// tell notes events on the task's socket. It returns whether the task is to go
// on.
func (t *task) tell(events uint32) bool {
	const gone = syscall.EPOLLRDHUP | syscall.EPOLLHUP | syscall.EPOLLERR
	s := &t.socket
	s.readable = s.readable || events&(syscall.EPOLLIN|gone) != 0
	s.gone = s.gone || events&gone != 0
	switch t.waits {
	case forReading:
		return s.readable
	case forWriting:
		return events&(syscall.EPOLLOUT|syscall.EPOLLHUP|syscall.EPOLLERR) != 0
	}
	return false
}

// rest waits until an instant; false when the stage ended before.
func (t *task) rest(until time.Duration) bool {
	stage := t.loop.stage
	if stage.ending.Load() || stage.stopping.Load() {
		return false
	}
	t.until = until
	heap.Push(&t.loop.resting, t)
	return t.wait(forRest, until) == nil && !stage.ending.Load()
}

// request waits for a request of an open load; false when there is none any more.
func (t *task) request(a *arrivals) (intended time.Duration, ok bool) {
	for !t.given {
		if a.isOver() || t.loop.stage.ending.Load() || t.wait(forArrival, never) != nil {
			return 0, false
		}
	}
	t.given = false
	return t.intended, true
}
