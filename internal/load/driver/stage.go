package driver

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// Stage is a part of a load with a start and an end: a warm-up or a measurement. Run runs its
// connections. They wait until Begin starts all of them at once, and are closed at the end.
//
// With a number of requests, each connection takes the next request when it is free. With
// a duration, no request starts after it, and requests in flight are completed.
//
// If the load alternates with those of other variants, requests start in own slices alone. The times that a stage reports are virtual
// then, as are its duration and the schedule of an open load. Those that are called from the stage's start are by the clock.
type Stage struct {
	load        *Load
	recorder    Recorder
	connections []*connection
	amount      session.Amount
	slices      *profile.Slices // nil unless the load alternates
	// until is the time from which no request of a closed load starts. It is never if the stage has another end.
	until time.Duration
	// mu guards loops, the loops that run connections, and the choice of the loop that
	// dispatches the requests of an open load.
	mu    sync.Mutex
	loops []*loop

	remaining atomic.Int64 // requests left to start
	arrivals  *arrivals    // nil for closed load

	// start is the start time, which all other times count from. It is set before begun is closed.
	start time.Time
	begun chan struct{}

	// context is done when the stage was stopped, active when it was stopped or ended. stopping and ending are the same, since
	// they are read more often.
	context, active  context.Context
	stop, end        context.CancelFunc
	stopping, ending atomic.Bool
	// stopped is the time at which Stop stopped the running stage, from its start, or 0. It is set before stopping.
	stopped time.Duration

	waiting atomic.Int64 // connections that aren't ready yet
	ready   chan struct{}
	running atomic.Int64 // connections that haven't ended
	done    chan struct{}
}

// NewStage returns a stage of the load, whose outcomes r records. The caller must call
// Stop in the end.
func (l *Load) NewStage(amount session.Amount, r Recorder) *Stage {
	s := &Stage{
		load: l, recorder: r, amount: amount, slices: l.plan.Slices, until: never,
		begun: make(chan struct{}), ready: make(chan struct{}), done: make(chan struct{}),
	}
	s.context, s.stop = context.WithCancel(context.Background())
	s.active, s.end = context.WithCancel(s.context)
	s.remaining.Store(amount.Requests)
	if amount.Requests == 0 && l.plan.Arrivals == nil {
		s.until = s.slices.Wall(amount.Duration())
	}
	for i := range l.plan.Connections {
		switch {
		case l.plan.Streams > 0:
			s.addShared(i)
		case len(l.plan.Pages) > 0:
			s.addUser(i)
		default:
			s.add(i, i).pace = newPace(l.plan, amount, i)
		}
	}
	s.waiting.Store(int64(len(s.connections)))
	s.running.Store(int64(len(s.connections)))
	if l.plan.Arrivals != nil {
		s.arrivals = newArrivals(s)
	}
	return s
}

// add adds a connection.
func (s *Stage) add(number, index int) *connection {
	c := &connection{stage: s, number: number, index: index, woken: make(chan time.Duration, 1)}
	s.connections = append(s.connections, c)
	return c
}

// Run runs the connections or users share, share+shares, share+2*shares and so on until they end.
// Call it once for each share in [0, shares).
func (s *Stage) Run(share, shares int) {
	var connections []*connection
	for _, c := range s.connections {
		if c.number%shares == share { // a user's connections stay together, since they wake each other
			connections = append(connections, c)
		}
	}
	if len(connections) == 0 {
		return
	}
	if s.load.looped {
		if l, err := s.addLoop(share == 0); err == nil {
			s.runInLoop(l, connections)
			return
		} // otherwise descriptors have run out, and each connection will fail to open
	}
	var group sync.WaitGroup
	for _, c := range connections {
		group.Go(func() { s.runConnection(c) })
	}
	group.Wait()
}

func (s *Stage) runConnection(c *connection) {
	defer countDown(&s.running, s.done)
	countDown(&s.waiting, s.ready)
	select {
	case <-s.begun:
		c.runAll()
	case <-s.context.Done():
	}
}

// addLoop adds a loop. The first one dispatches the requests of an open load.
func (s *Stage) addLoop(first bool) (*loop, error) {
	l, err := newLoop(s)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.loops = append(s.loops, l)
	if first && s.arrivals != nil {
		l.paces, s.arrivals.loop = true, l
	}
	s.mu.Unlock()
	return l, nil
}

func (s *Stage) runInLoop(l *loop, connections []*connection) {
	// Since the loop blocks its processor while it waits, it brings one along.
	addProcessors(1)
	tasks := make([]*task, len(connections))
	for i, c := range connections {
		tasks[i] = newTask(l, i, c)
	}
	for range tasks {
		countDown(&s.waiting, s.ready)
	}
	select {
	case <-s.begun:
		l.run(tasks)
	case <-s.context.Done():
		for _, t := range tasks {
			t.stop()
		}
	}
	s.mu.Lock()
	s.loops = slices.DeleteFunc(s.loops, func(other *loop) bool { return other == l })
	s.mu.Unlock()
	l.close()
	addProcessors(-1)
	for range tasks {
		countDown(&s.running, s.done)
	}
}

// wakeLoops makes all loops check whether the stage has been stopped or has ended.
func (s *Stage) wakeLoops() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.loops {
		l.wake()
	}
}

func countDown(n *atomic.Int64, zero chan struct{}) {
	if n.Add(-1) == 0 {
		close(zero)
	}
}

// Ready returns a channel that is closed when all connections are ready to start.
func (s *Stage) Ready() <-chan struct{} { return s.ready }

// Done returns a channel that is closed when all connections have ended and all outcomes
// are recorded.
func (s *Stage) Done() <-chan struct{} { return s.done }

// Begin starts all connections at start, or at once if that has passed. The stage's duration counts
// from start in either case, so that the clients of a run end together. start must have a monotonic
// clock reading. Begin must be called once. With an open load it may block until the last request has
// been dispatched.
func (s *Stage) Begin(start time.Time) {
	sleeper := newSleeper(s.context, s.load.coarse)
	sleeper.until(start)
	sleeper.close()
	s.start = start
	close(s.begun)
	if s.arrivals == nil {
		return
	}
	select {
	case <-s.ready:
	case <-s.context.Done():
		return
	}
	s.mu.Lock()
	looped := s.arrivals.loop != nil
	s.mu.Unlock()
	if !looped {
		s.arrivals.pace()
	}
}

// Arrivals returns how well an open load kept its rate, or nil for closed load. It must
// be called after the stage is done.
func (s *Stage) Arrivals() *result.Arrivals {
	if s.arrivals == nil {
		return nil
	}
	return s.arrivals.total()
}

// Stop ends the stage at once. Requests in flight, and those of an open load that are due, are recorded as unanswered.
func (s *Stage) Stop() {
	if isClosed(s.begun) && !isClosed(s.done) && !s.stopping.Load() {
		s.stopped = s.now()
		if s.arrivals != nil && !s.ending.Load() {
			s.arrivals.abandon(s.slices.Virtual(s.stopped))
		}
	}
	s.stopping.Store(true)
	s.stop()
	s.wakeLoops()
	for _, c := range s.connections {
		c.interrupt()
	}
}

// End prevents further requests from starting. Requests of an open load that are due and
// haven't started are skipped. The stage ends when the requests in flight have ended.
func (s *Stage) End() {
	if !s.ending.Swap(true) {
		s.end()
		s.wakeLoops()
	}
}

// Shorten makes now the planned end of a stage with a duration. Before Begin it waits for that. Of an open load, requests that
// are due already still start, as at the end that was planned before.
func (s *Stage) Shorten() {
	select {
	case <-s.begun:
	case <-s.context.Done():
		return
	}
	if s.arrivals == nil || !s.arrivals.shorten(s.slices.Virtual(s.now())) {
		s.End()
	}
}

// Stopped returns a channel that is closed by Stop.
func (s *Stage) Stopped() <-chan struct{} { return s.context.Done() }

// Span returns the times at which the first request began and the last one ended, or false if there
// was none. For an open load, first is shifted back by the intended start time of the first
// request, as if that had been due at the start time. It must be called after the stage is done.
func (s *Stage) Span() (first, last time.Time, ok bool) {
	for _, c := range s.connections {
		if !c.made {
			continue
		}
		begin, end := s.start.Add(s.slices.Virtual(c.first)), s.start.Add(s.slices.Virtual(c.last))
		if !ok || begin.Before(first) {
			first = begin
		}
		if !ok || end.After(last) {
			last = end
		}
		ok = true
	}
	if stopped := s.start.Add(s.slices.Virtual(s.stopped)); ok && s.stopped > 0 && stopped.After(last) {
		last = stopped // all that was measured until then
	}
	if s.arrivals != nil && s.arrivals.anyStarted {
		first = s.start.Add(s.arrivals.firstStart - s.arrivals.firstIntended)
	}
	return first, last, ok
}

// next returns the time, from the stage's start, at which the connection's next request
// begins, which is now. It waits until a request of an open load is due, or the pace and the slices of a
// closed load permit one. It returns false if there are no more.
func (s *Stage) next(c *connection) (begin time.Duration, ok bool) {
	if !c.free && (s.stopping.Load() || s.ending.Load()) { // a free one may have been woken before that
		return 0, false
	}
	if c.pace != nil && !s.await(c) {
		return 0, false
	}
	c.join()
	if s.arrivals != nil {
		c.intended, begin, ok = s.arrivals.claim(c)
		return begin, ok
	}
	begin, ok = s.enter(c)
	return begin, ok && s.claim(begin)
}

// enter waits until the connection is in a slice of the load, and returns the time. It returns false if the stage ends first.
func (s *Stage) enter(c *connection) (now time.Duration, ok bool) {
	for {
		now = s.now()
		at := s.slices.Next(now)
		if at == now {
			return now, true
		}
		if at >= s.until || !c.sleep(at) {
			return now, false
		}
		c.checkIdle(s.now())
	}
}

// claim takes one of the requests that the stage has left for a request that begins at now. It returns false if there is none.
func (s *Stage) claim(now time.Duration) bool {
	if s.amount.Requests > 0 {
		return s.remaining.Add(-1) >= 0
	}
	return now < s.until
}

// now returns the time from the stage's start.
func (s *Stage) now() time.Duration { return time.Since(s.start) }
