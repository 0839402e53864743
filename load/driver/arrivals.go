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
// A connection that is free takes what is due already, or else waits for the
// pacer to wake it. The connection that became free last is woken first, so
// that no more are opened than are needed. What is due and has no connection
// needs no memory: it is in the schedule still.
type arrivals struct {
	stage *Stage
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
		a.freed <- struct{}{}
	}
	a.mu.Unlock()
	select {
	case intended = <-c.woken:
	case <-a.over:
		select { // what it was woken for before goes first
		case intended = <-c.woken:
		default:
			return 0, 0, false
		}
	case <-a.stage.ended:
		return 0, 0, false
	case <-a.stage.context.Done():
		return 0, 0, false
	}
	begin = a.stage.now()
	if begin-c.last > idle {
		c.shed()
	}
	a.begun(intended, begin)
	return intended, begin, true
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
		c := a.pick()
		c.woken <- a.next // it has room for the one request that a free connection is given
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
