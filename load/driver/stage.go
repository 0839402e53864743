package driver

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// Stage is a part of a load with a start and an end: a warm-up or a measurement. Run runs its
// connections. They wait until Begin starts all of them at once, and are closed at the end.
//
// With a number of requests, each connection takes the next request when it is free. With
// a duration, no request starts after it, and requests in flight are completed.
type Stage struct {
	load        *Load
	recorder    Recorder
	connections []*connection
	amount      session.Amount
	// mu guards loops, the loops that run connections, and the choice of the loop that
	// dispatches the requests of an open load.
	mu    sync.Mutex
	loops []*loop

	remaining atomic.Int64 // requests left to start
	arrivals  *arrivals    // nil for closed load

	// start is the start time and deadline the end of the duration, counted from start. Both
	// are set before begun is closed.
	start    time.Time
	deadline time.Duration
	begun    chan struct{}

	context  context.Context
	cancel   context.CancelFunc
	stopping atomic.Bool
	ending   atomic.Bool
	ended    chan struct{} // closed by End

	waiting atomic.Int64 // connections that aren't ready yet
	ready   chan struct{}
	running atomic.Int64 // connections that haven't ended
	done    chan struct{}
}

// NewStage returns a stage of the load, whose outcomes r records. The caller must call
// Stop in the end.
func (l *Load) NewStage(amount session.Amount, r Recorder) *Stage {
	s := &Stage{
		load: l, recorder: r, amount: amount,
		begun: make(chan struct{}), ready: make(chan struct{}), done: make(chan struct{}),
		ended: make(chan struct{}),
	}
	s.context, s.cancel = context.WithCancel(context.Background())
	s.remaining.Store(amount.Requests)
	for i := range l.plan.Connections {
		switch {
		case l.plan.Streams > 0:
			s.addShared(i)
			continue
		case len(l.plan.Pages) > 0:
			s.addUser(i)
			continue
		}
		s.connections = append(s.connections, &connection{stage: s, number: i, index: i, woken: make(chan time.Duration, 1), pace: newPace(l.plan, amount, i)})
	}
	s.waiting.Store(int64(len(s.connections)))
	s.running.Store(int64(len(s.connections)))
	if l.plan.Arrivals != nil {
		s.arrivals = newArrivals(s)
	}
	return s
}

// Run runs connections share, share+shares, share+2*shares and so on until they end. Call
// it once for each share in [0, shares).
func (s *Stage) Run(share, shares int) {
	var connections []*connection
	for i := share; i < len(s.connections); i += shares {
		connections = append(connections, s.connections[i])
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
	case <-s.context.Done():
		if c.user == nil {
			return
		} // otherwise connections of the same user may run already, and wait for this one
	}
	if c.user != nil {
		c.user.run(c)
		return
	}
	c.run()
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

// Begin starts all connections at start, or at once if that has passed. start must have a
// monotonic clock reading. Begin must be called once. With an open load it may block
// until the last request has been dispatched.
func (s *Stage) Begin(start time.Time) {
	waitUntil(s.context, start)
	s.start = start
	s.deadline = max(0, time.Since(start)) + s.amount.Duration()
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

// Stop ends the stage at once. Requests in flight have no outcome.
func (s *Stage) Stop() {
	s.stopping.Store(true)
	s.cancel()
	s.wakeLoops()
	for _, c := range s.connections {
		c.interrupt()
	}
}

// End prevents further requests from starting. Requests of an open load that are due and
// haven't started are skipped. The stage ends when the requests in flight have ended.
func (s *Stage) End() {
	if !s.ending.Swap(true) {
		close(s.ended)
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
	if s.arrivals == nil || !s.arrivals.shorten(s.now()) {
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
		begin, end := s.start.Add(c.first), s.start.Add(c.last)
		if !ok || begin.Before(first) {
			first = begin
		}
		if !ok || end.After(last) {
			last = end
		}
		ok = true
	}
	if s.arrivals != nil && s.arrivals.anyStarted {
		first = s.start.Add(s.arrivals.firstStart - s.arrivals.firstIntended)
	}
	return first, last, ok
}

// next returns the time, from the stage's start, at which the connection's next request
// begins, which is now. It waits until a request of an open load is due, or the pace of a
// closed load permits one. It returns false if there are no more.
func (s *Stage) next(c *connection) (begin time.Duration, ok bool) {
	if s.stopping.Load() || s.ending.Load() {
		return 0, false
	}
	if s.arrivals != nil {
		c.intended, begin, ok = s.arrivals.claim(c)
		return begin, ok
	}
	if c.pace != nil && !s.await(c) {
		return 0, false
	}
	now := s.now()
	return now, s.claim(now)
}

// claim takes one of the requests that the stage has left for a request that begins at now. It returns false if there is none.
func (s *Stage) claim(now time.Duration) bool {
	if s.amount.Requests > 0 {
		return s.remaining.Add(-1) >= 0
	}
	return now < s.deadline
}

// now returns the time from the stage's start.
func (s *Stage) now() time.Duration { return time.Since(s.start) }

// waitUntil waits until a time, with an accuracy of about 100 µs. Go's timers fire up to
// a millisecond late, a sleeping thread doesn't.
func waitUntil(ctx context.Context, at time.Time) {
	const timerError, sleepError = 2 * time.Millisecond, 100 * time.Microsecond
	timer := time.NewTimer(time.Until(at) - timerError)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return
	}
	if left := time.Until(at) - sleepError; left > 0 {
		sleep := syscall.NsecToTimespec(left.Nanoseconds())
		_ = syscall.Nanosleep(&sleep, nil) // if it is interrupted, the loop below waits longer
	}
	for time.Until(at) > 0 {
		runtime.Gosched()
	}
}
