package driver

import (
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

// arrivals dispatches the requests of an open load (open model, arrival rate) to
// connections when they fall due. A free connection takes a request that is already due,
// or waits. Waiting connections are woken by the first loop, or by the pacer if no loop
// runs connections. The connection that became free last is woken first, so that no more
// connections are opened than needed. A request that is due while no connection is free
// takes no memory: it stays in the schedule.
//
// The schedule is in virtual time, as are all other times here unless they say otherwise. Requests that are due at the end of a slice
// and haven't started start in the next one, and were delayed by no more than their slice's rest.
type arrivals struct {
	stage *Stage
	loop  *loop // dispatches the requests; nil if the pacer does
	// maxDelay is the longest delay with which a request may start. Later ones are dropped.
	maxDelay time.Duration

	mu       sync.Mutex
	schedule schedule
	next     time.Duration // intended start time of the next request
	more     bool          // reports whether there is a next request
	free     []*connection // with HTTP/1.1
	// freeStreams has a bit for each stream with HTTP/2, which is set while the stream is free.
	// freeWords has a bit for each of its words, which is set unless the word is 0.
	freeStreams, freeWords []uint64
	// starved reports whether a request is due and no connection is free.
	starved bool
	// anyStarted reports whether a request has started. firstStart and firstIntended are the
	// actual and the intended start time of the one that was due first. lastStart is the
	// time at which the last request started or was dropped.
	anyStarted                bool
	firstStart, firstIntended time.Duration
	lastStart                 time.Duration
	dropped                   int64
	// notStarted counts the requests that were due when the stage was stopped, and had not started.
	notStarted int64

	freed     chan struct{} // signals the pacer that a connection is free after starved was set
	exhausted chan struct{} // closed when dispatching has ended
}

func newArrivals(s *Stage) *arrivals {
	a := &arrivals{
		stage: s, maxDelay: s.load.timeout(), schedule: newSchedule(s.load.plan, s.amount),
		freed: make(chan struct{}, 1), exhausted: make(chan struct{}),
	}
	if s.load.plan.Streams > 0 {
		a.makeFreeStreams(len(s.connections))
	}
	for _, c := range slices.Backward(s.connections) { // so that the first one is picked first
		a.put(c)
	}
	a.next, a.more = a.schedule.next()
	return a
}

// claim returns the intended start time of the connection's next request, and the actual one by the clock.
// It waits until one is due and returns false if there are no more.
func (a *arrivals) claim(c *connection) (intended, begin time.Duration, ok bool) {
	if c.claimed && !c.free {
		if intended, begin, ok = a.due(c); ok {
			// The client is late: before a request that follows at once, only what came with the response may be there.
			if _, secure := c.transport.(*tlsTransport); secure || begin-c.last > idleAfter {
				c.checkIdle(begin)
			}
			return intended, begin, true
		}
	}
	c.claimed, c.free = true, false // before the first request it is free already
	if intended, ok = c.park(a.exhausted); !ok {
		return 0, 0, false
	}
	if begin, ok = a.stage.enter(c); !ok {
		a.lose(intended)
		return 0, 0, false
	}
	c.checkIdle(begin)
	a.recordStart(intended, a.stage.slices.Virtual(begin))
	return intended, begin, true
}

// due returns the intended start time of a request that is due and starts on the connection now, and the time by the clock. If there is
// none, the connection is free.
func (a *arrivals) due(c *connection) (intended, now time.Duration, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now = a.stage.now()
	virtual := a.stage.slices.Virtual(now)
	if a.drop(virtual) && a.next <= virtual && a.stage.slices.Next(now) == now {
		return a.advance(virtual), now, true
	}
	a.put(c)
	if a.starved {
		a.starved = false
		a.notifyFree()
	}
	return 0, now, false
}

// lose records a request that was dispatched to a connection and hasn't started, because the stage ended before the next slice.
func (a *arrivals) lose(intended time.Duration) {
	if s := a.stage; s.stopping.Load() {
		a.mu.Lock()
		a.notStarted++
		a.mu.Unlock()
		stopped := s.slices.Virtual(s.stopped)
		s.recorder.Unanswered(stopped, 1, stopped-intended)
	}
}

func (a *arrivals) makeFreeStreams(streams int) {
	a.freeStreams, a.freeWords = make([]uint64, streams/64+1), make([]uint64, streams/(64*64)+1)
}

// put adds c to the free connections. a.mu must be held.
func (a *arrivals) put(c *connection) {
	if c.shared == nil {
		a.free = append(a.free, c)
		return
	}
	word := c.number / 64
	a.freeStreams[word] |= 1 << (c.number % 64)
	a.freeWords[word/64] |= 1 << (word % 64)
}

// pick removes and returns the free connection to use next, or nil if none is free. With HTTP/1.1
// it is the one that became free last. With HTTP/2 it is the stream with the lowest number, so that
// the streams of open connections are used first. a.mu must be held.
func (a *arrivals) pick() *connection {
	if last := len(a.free) - 1; last >= 0 {
		c := a.free[last]
		a.free = a.free[:last]
		return c
	}
	for i, words := range a.freeWords {
		if words == 0 {
			continue
		}
		word := i*64 + bits.TrailingZeros64(words)
		streams := a.freeStreams[word]
		a.freeStreams[word] = streams & (streams - 1) // without its lowest bit
		if a.freeStreams[word] == 0 {
			a.freeWords[i] = words & (words - 1)
		}
		return a.stage.connections[word*64+bits.TrailingZeros64(streams)]
	}
	return nil
}

// notifyFree signals the dispatching loop or the pacer that a connection has become free.
func (a *arrivals) notifyFree() {
	if a.loop != nil {
		a.loop.wake()
		return
	}
	a.freed <- struct{}{}
}

// recordStart records the start of a request that was dispatched to a waiting connection.
func (a *arrivals) recordStart(intended, begin time.Duration) {
	a.mu.Lock()
	a.noteStart(intended, begin)
	a.mu.Unlock()
}

// noteStart is like recordStart. a.mu must be held.
func (a *arrivals) noteStart(intended, begin time.Duration) {
	if !a.anyStarted || intended < a.firstIntended {
		a.anyStarted, a.firstIntended, a.firstStart = true, intended, begin
	}
	a.lastStart = max(a.lastStart, begin)
}

// advance takes the next request off the schedule, records that it starts now and returns
// its intended start time.
func (a *arrivals) advance(now time.Duration) time.Duration {
	intended := a.next
	a.noteStart(intended, now)
	a.next, a.more = a.schedule.next()
	return intended
}

// shorten makes now the end of the schedule. It reports whether requests are due that have not started.
func (a *arrivals) shorten(now time.Duration) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.endSchedule(now)
	return a.more
}

// endSchedule makes now the end of the schedule. a.mu must be held.
func (a *arrivals) endSchedule(now time.Duration) {
	a.schedule.amount.Requests, a.schedule.amount.DurationMicroseconds = 0, now.Microseconds()
	if a.more && a.next >= a.schedule.amount.Duration() {
		a.more = false
		a.schedule.count--
	}
}

// drop drops requests that are later than maxDelay. It returns whether any requests are left.
func (a *arrivals) drop(now time.Duration) bool {
	var dropped int64
	for a.more && now-a.next > a.maxDelay {
		dropped++
		a.next, a.more = a.schedule.next()
	}
	if dropped > 0 {
		a.dropped += dropped
		a.lastStart = max(a.lastStart, now)
		a.stage.recorder.Drop(now, dropped)
	}
	return a.more
}

// abandon ends the schedule of a stage that is stopped now, and records the requests that are due and have not started.
func (a *arrivals) abandon(now time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.more {
		return
	}
	a.endSchedule(now)
	for ; a.drop(now); a.next, a.more = a.schedule.next() {
		a.notStarted++
		a.stage.recorder.Unanswered(now, 1, now-a.next)
	}
}

// pace dispatches requests to waiting connections when they fall due, until there are no
// more or the stage ends.
func (a *arrivals) pace() {
	defer a.finish()
	sleeper := newSleeper(a.stage.active, a.stage.load.coarse)
	defer sleeper.close()
	for {
		at, starved, more := a.dispatchDue()
		switch {
		case !more:
			return
		case starved:
			select {
			case <-a.freed:
			case <-a.stage.active.Done():
				return
			}
		case !sleeper.until(a.stage.start.Add(at)) || a.stage.ending.Load():
			return
		}
	}
}

// finish ends the dispatching of requests.
func (a *arrivals) finish() {
	close(a.exhausted)
	a.stage.wakeLoops()
}

// dispatchDue dispatches all requests that are due to free connections, if a slice is under way. It returns the
// time by the clock at which the next request can be dispatched, whether that request is due but no connection
// is free, and whether there is a next request.
func (a *arrivals) dispatchDue() (at time.Duration, starved, more bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	slices, now := a.stage.slices, a.stage.now()
	virtual := slices.Virtual(now)
	for a.drop(virtual) && a.next <= virtual {
		if at := slices.Next(now); at != now {
			return at, false, true
		}
		c := a.pick()
		if c == nil {
			a.starved = true
			return now, true, true
		}
		c.wake(a.loop, a.next)
		a.next, a.more = a.schedule.next()
	}
	return slices.Wall(a.next), false, a.more
}

// following returns the intended start time by the clock of the request after the next one, or never if there is none.
func (a *arrivals) following() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if at, ok := a.schedule.peek(); a.more && ok {
		return a.stage.slices.Wall(at)
	}
	return never
}

// total returns how well the rate was kept. It must be called after the stage is done.
func (a *arrivals) total() *result.Arrivals {
	a.mu.Lock()
	defer a.mu.Unlock()
	return &result.Arrivals{
		Due:                 a.schedule.count,
		PlannedMicroseconds: a.schedule.plannedDuration().Microseconds(),
		StartedMicroseconds: a.lastStart.Microseconds(),
		NotStarted:          a.notStarted,
	}
}
