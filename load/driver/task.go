package driver

import (
	"container/heap"
	"iter"
	"net"
	"os"
	"syscall"
	"time"
)

// waits is the kind of event that a task waits for.
type waits uint8

const (
	forNothing waits = iota
	forReading
	forWriting
	forTime
	forArrival
)

// task is a connection that a loop runs: a coroutine that yields to the loop at each wait.
type task struct {
	loop       *loop
	connection *connection
	index      int32 // among the loop's tasks
	// generation distinguishes the events of the current socket from those of earlier ones.
	generation int32
	next       func() (struct{}, bool)
	stop       func()
	yield      func(struct{}) bool
	socket     loopSocket

	waits   waits
	until   time.Duration // time at which the wait ends at the latest
	expired bool          // reports whether the wait timed out
	// intended is the intended start time of the request that was dispatched to the task.
	intended   time.Duration
	dispatched bool
}

// newTask makes a connection a task of a loop.
func newTask(l *loop, index int, c *connection) *task {
	t := &task{loop: l, connection: c, index: int32(index)}
	c.mu.Lock()
	c.task = t
	c.mu.Unlock()
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		c.run()
	})
	return t
}

// wait yields to the loop until what it waits for has happened. It returns os.ErrDeadlineExceeded
// if that hasn't happened by the time until, and net.ErrClosed if the stage was stopped.
func (t *task) wait(what waits, until time.Duration) error {
	l := t.loop
	if l.stage.stopping.Load() {
		return net.ErrClosed
	}
	t.waits, t.until, t.expired = what, until, false
	if what != forTime {
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

// notify records events on the task's socket. It reports whether the task must be resumed.
func (t *task) notify(events uint32) bool {
	const gone = syscall.EPOLLRDHUP | syscall.EPOLLHUP | syscall.EPOLLERR
	s := &t.socket
	s.readable = s.readable || events&(syscall.EPOLLIN|gone) != 0
	s.gone = s.gone || events&gone != 0
	s.finished = s.finished || events&gone == syscall.EPOLLRDHUP
	switch t.waits {
	case forReading:
		return s.readable
	case forWriting:
		return events&(syscall.EPOLLOUT|syscall.EPOLLHUP|syscall.EPOLLERR) != 0
	}
	return false
}

// sleep waits until a time. It returns false if the stage ends first.
func (t *task) sleep(until time.Duration) bool {
	stage := t.loop.stage
	if stage.ending.Load() || stage.stopping.Load() {
		return false
	}
	t.until = until
	heap.Push(&t.loop.sleeping, t)
	return t.wait(forTime, until) == nil && !stage.ending.Load()
}

// awaitArrival waits for a request of an open load and returns its intended start time.
// It returns false if there are no more.
func (t *task) awaitArrival(a *arrivals) (intended time.Duration, ok bool) {
	for !t.dispatched {
		if a.isExhausted() || t.loop.stage.ending.Load() || t.wait(forArrival, never) != nil {
			return 0, false
		}
	}
	t.dispatched = false
	return t.intended, true
}
