package driver

import (
	"context"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

// idle is for how long nothing was asked on a connection before it is looked at
// whether the server has closed it.
const idle = 100 * time.Millisecond

// arrivals gives the requests of an open load to connections as they fall due.
// A connection that is free takes what is due already, or else waits to be woken:
// by the first loop, or by the pacer where no loop carries connections. The one
// that became free last is woken first, so that no more are opened than are
// needed. What is due and has no connection needs no memory: it is in the
// schedule still.
type arrivals struct {
	stage *Stage
	loop  *loop // that gives out requests; nil where that is the pacer's
	// patience is how late a request may start; past that it is dropped.
	patience time.Duration

	mu       sync.Mutex
	schedule schedule
	next     time.Duration // the next request's instant
	more     bool          // whether there is one
	free     []*connection
	// short is whether something is due and no connection is free.
	short bool
	// first is when the first request began and when it was meant to; started when
	// the last one did, or was dropped.
	made                      bool
	firstBegan, firstIntended time.Duration
	started                   time.Duration
	dropped                   int64

	freed chan struct{} // tells the pacer that short has ended
	over  chan struct{} // closed when there is nothing more
}

func newArrivals(s *Stage) *arrivals {
	a := &arrivals{
		stage: s, patience: s.load.timeout(), schedule: newSchedule(s.load.plan, s.amount),
		freed: make(chan struct{}, 1), over: make(chan struct{}),
	}
	a.next, a.more = a.schedule.next()
	return a
}

// take returns when the connection's next request was meant to start, and when
// it does; false when there is none any more.
func (a *arrivals) take(c *connection) (intended, begin time.Duration, ok bool) {
	a.mu.Lock()
	now := a.stage.now()
	if a.drop(now) && a.next <= now {
		intended = a.advance(now)
		a.mu.Unlock()
		return intended, now, true
	}
	a.put(c)
	if a.short {
		a.short = false
		a.tell()
	}
	a.mu.Unlock()
	if intended, ok = a.wait(c); !ok {
		return 0, 0, false
	}
	begin = a.stage.now()
	if begin-c.last > idle {
		c.shed()
	}
	a.begun(intended, begin)
	return intended, begin, true
}

// wait has a free connection wait for a request; false when there is none any
// more.
func (a *arrivals) wait(c *connection) (intended time.Duration, ok bool) {
	if c.task != nil {
		return c.task.request(a)
	}
	select {
	case intended = <-c.woken:
		return intended, true
	case <-a.over:
		select { // what it was woken for before goes first
		case intended = <-c.woken:
			return intended, true
		default:
		}
	case <-a.stage.ended:
	case <-a.stage.context.Done():
	}
	return 0, false
}

// wake gives a free connection a request. It is called by the loop that gives out
// requests, if one does.
func (a *arrivals) wake(c *connection, intended time.Duration) {
	switch t := c.task; {
	case t == nil:
		c.woken <- intended // it has room for the one request that a free connection is given
	case t.loop == a.loop:
		t.loop.give(t, intended)
	default:
		t.loop.bring(t, intended)
	}
}

// tell tells who gives out requests that a connection has become free.
func (a *arrivals) tell() {
	if a.loop != nil {
		a.loop.ring()
		return
	}
	a.freed <- struct{}{}
}

// isOver is whether there is nothing more to give out.
func (a *arrivals) isOver() bool {
	select {
	case <-a.over:
		return true
	default:
		return false
	}
}

// begun notes a request that was given out by the pacer.
func (a *arrivals) begun(intended, begin time.Duration) {
	a.mu.Lock()
	a.note(intended, begin)
	a.mu.Unlock()
}

func (a *arrivals) note(intended, begin time.Duration) {
	if !a.made || intended < a.firstIntended {
		a.made, a.firstIntended, a.firstBegan = true, intended, begin
	}
	a.started = max(a.started, begin)
}

// advance gives out the next request.
func (a *arrivals) advance(now time.Duration) time.Duration {
	intended := a.next
	a.note(intended, now)
	a.next, a.more = a.schedule.next()
	return intended
}

// drop drops what has become too late. It returns whether there is more.
func (a *arrivals) drop(now time.Duration) bool {
	var dropped int64
	for a.more && now-a.next > a.patience {
		dropped++
		a.next, a.more = a.schedule.next()
	}
	if dropped > 0 {
		a.dropped += dropped
		a.started = max(a.started, now)
		a.stage.recorder.Drop(now, dropped)
	}
	return a.more
}

// pace wakes connections for requests as they fall due, until there are no
// more or the stage is stopped.
func (a *arrivals) pace() {
	defer close(a.over)
	wait, end := a.waiter()
	defer end()
	for {
		at, short, more := a.give()
		switch {
		case !more:
			return
		case short:
			select {
			case <-a.freed:
			case <-a.stage.ended:
				return
			case <-a.stage.context.Done():
				return
			}
		case !wait(a.stage.start.Add(at)) || a.stage.stopping.Load() || a.stage.ending.Load():
			return
		}
	}
}

// waiter returns what waits for an instant, as sleeper's until, and what ends
// it.
func (a *arrivals) waiter() (wait func(time.Time) bool, end func()) {
	ctx := a.stage.context
	coarse := func(instant time.Time) bool {
		timer := time.NewTimer(time.Until(instant))
		defer timer.Stop()
		select {
		case <-timer.C:
			return true
		case <-ctx.Done():
			return false
		}
	}
	if a.stage.load.coarse {
		return coarse, func() {}
	}
	s, err := newSleeper()
	if err != nil { // no more descriptors, or a kernel without such timers
		return coarse, func() {}
	}
	stopped := context.AfterFunc(ctx, s.close)
	return s.until, func() {
		stopped()
		s.close()
	}
}

// give wakes free connections for all that is due. It returns when the next
// request is due, whether that was before and it has no connection, and whether
// there is one.
func (a *arrivals) give() (at time.Duration, short, more bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.stage.now()
	for a.drop(now) && a.next <= now {
		if len(a.free) == 0 {
			a.short = true
			return a.next, true, true
		}
		a.wake(a.pick(), a.next)
		a.next, a.more = a.schedule.next()
	}
	return a.next, false, a.more
}

// total is how well the rate was kept, when all is over.
func (a *arrivals) total() *result.Arrivals {
	a.mu.Lock()
	defer a.mu.Unlock()
	return &result.Arrivals{
		Due:                 a.schedule.made,
		PlannedMicroseconds: a.schedule.planned().Microseconds(),
		StartedMicroseconds: a.started.Microseconds(),
	}
}
