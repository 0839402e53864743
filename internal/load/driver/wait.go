package driver

import (
	"container/heap"
	"time"
)

// This file has what a connection waits for apart from its transport: a time, and another connection or the arrival of a
// request. A task yields to its loop meanwhile, a goroutine blocks.

// sleep waits until a time. It returns false if the stage ends first.
func (c *connection) sleep(until time.Duration) bool {
	s := c.stage
	if t := c.task; t != nil {
		if s.ending.Load() || s.stopping.Load() {
			return false
		}
		t.until = until
		heap.Push(&t.loop.sleeping, t)
		return t.wait(forTime, until) == nil && !s.ending.Load()
	}
	timer := time.NewTimer(until - s.now())
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.active.Done():
		return false
	}
}

// park waits for wake and returns the time that was passed to it. It returns false if the stage was stopped, or if over is closed
// and wake wasn't called before.
func (c *connection) park(over <-chan struct{}) (at time.Duration, ok bool) {
	if t := c.task; t != nil {
		for !t.woken {
			if isClosed(over) || t.wait(forWake, never) != nil {
				return 0, false
			}
		}
		t.woken = false
		return t.wokenAt, true
	}
	select {
	case at = <-c.woken:
		return at, true
	case <-over:
	case <-c.stage.context.Done():
	}
	select {
	case at = <-c.woken:
		return at, true
	default:
		return 0, false
	}
}

// wake makes park return a time. The connection must be parked, or about to park. by is the loop whose goroutine calls wake, or
// nil if none does.
func (c *connection) wake(by *loop, at time.Duration) {
	switch t := c.task; {
	case t == nil:
		c.woken <- at // never blocks: the channel has room for one
	case t.loop == by:
		by.dispatch(t, at)
	default:
		t.loop.enqueue(t, at)
	}
}

// loop returns the loop that runs the connection, or nil if a goroutine does.
func (c *connection) loop() *loop {
	if c.task == nil {
		return nil
	}
	return c.task.loop
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
