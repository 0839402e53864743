package driver

import (
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
	forWake
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
	socket     socket

	waits   waits
	until   time.Duration // time at which the wait ends at the latest
	expired bool          // reports whether the wait timed out
	// woken reports whether the task was woken and hasn't returned from park since. wokenAt is the time that was passed to wake.
	woken   bool
	wokenAt time.Duration
}

// newTask makes a connection a task of a loop.
func newTask(l *loop, index int, c *connection) *task {
	t := &task{loop: l, connection: c, index: int32(index)}
	c.mu.Lock()
	c.task = t
	c.mu.Unlock()
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		c.runAll()
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
