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

// Stage is a load with a beginning and an end: a warm-up or a measurement. Its
// connections are carried by whoever calls Carry; they stand ready until Begin
// lets them all go at once, and are closed at its end.
//
// With a number of requests, the connections share them as they come to it.
// With a duration, no request begins after it, and those under way end.
type Stage struct {
	load        *Load
	recorder    Recorder
	connections []*connection
	amount      session.Amount
	// loops are those that carry connections; the lock is for them, and for which of
	// them gives out what an open load has due.
	mu    sync.Mutex
	loops []*loop

	remaining atomic.Int64 // requests
	arrivals  *arrivals    // nil for closed load

	// start is the start instant, deadline the end of the duration from there.
	// They are set before begun is closed.
	start    time.Time
	deadline time.Duration
	begun    chan struct{}

	context  context.Context
	cancel   context.CancelFunc
	stopping atomic.Bool
	ending   atomic.Bool
	ended    chan struct{} // closed by End

	waiting  atomic.Int64 // connections that don't stand ready yet
	standing chan struct{}
	running  atomic.Int64 // connections that haven't ended
	done     chan struct{}
}

// NewStage returns a stage of the load, whose outcomes go to the recorder. Stop
// must be called at last.
func (l *Load) NewStage(amount session.Amount, r Recorder) *Stage {
	s := &Stage{
		load: l, recorder: r, amount: amount,
		begun: make(chan struct{}), standing: make(chan struct{}), done: make(chan struct{}),
		ended: make(chan struct{}),
	}
	s.context, s.cancel = context.WithCancel(context.Background())
	s.remaining.Store(amount.Requests)
	for i := range l.plan.Connections {
		if l.plan.Streams > 0 {
			s.addShared(i)
			continue
		}
		s.connections = append(s.connections, &connection{stage: s, number: i, place: i, woken: make(chan time.Duration, 1), pace: newPace(l.plan, amount, i)})
	}
	s.waiting.Store(int64(len(s.connections)))
	s.running.Store(int64(len(s.connections)))
	if l.plan.Arrivals != nil {
		s.arrivals = newArrivals(s)
	}
	return s
}

// Carry carries every so-manyth connection, beginning with the one numbered
// share, until they have ended. Every share below shares must be carried once.
func (s *Stage) Carry(share, shares int) {
	var connections []*connection
	for i := share; i < len(s.connections); i += shares {
		connections = append(connections, s.connections[i])
	}
	if len(connections) == 0 {
		return
	}
	if s.load.looped {
		if l, err := s.addLoop(share == 0); err == nil {
			s.carryInLoop(l, connections)
			return
		} // else there are no more descriptors, as each of the connections will find
	}
	var group sync.WaitGroup
	for _, c := range connections {
		group.Go(func() { s.carry(c) })
	}
	group.Wait()
}

func (s *Stage) carry(c *connection) {
	defer countDown(&s.running, s.done)
	countDown(&s.waiting, s.standing)
	select {
	case <-s.begun:
		c.run()
	case <-s.context.Done():
	}
}

// addLoop adds a loop, which the first gives out the requests of an open load.
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

func (s *Stage) carryInLoop(l *loop, connections []*connection) {
	tasks := make([]*task, len(connections))
	for i, c := range connections {
		tasks[i] = newTask(l, i, c)
	}
	for range tasks {
		countDown(&s.waiting, s.standing)
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
	for range tasks {
		countDown(&s.running, s.done)
	}
}

// ringLoops has loops look what has become of the stage.
func (s *Stage) ringLoops() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.loops {
		l.ring()
	}
}

func countDown(n *atomic.Int64, zero chan struct{}) {
	if n.Add(-1) == 0 {
		close(zero)
	}
}

// Standing is closed when all connections stand ready.
func (s *Stage) Standing() <-chan struct{} { return s.standing }

// Done is closed when all connections have ended and all outcomes are recorded.
func (s *Stage) Done() <-chan struct{} { return s.done }

// Begin lets all connections go at the start instant, or at once when that has
// passed. The instant needs a monotonic reading. Begin must be called once; of
// an open load it may return only when nothing more is to be made.
func (s *Stage) Begin(start time.Time) {
	waitUntil(s.context, start)
	s.start = start
	s.deadline = max(0, time.Since(start)) + s.amount.Duration()
	close(s.begun)
	if s.arrivals == nil {
		return
	}
	select {
	case <-s.standing:
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

// Arrivals is how well an open load kept its rate; nil for closed load. It may
// be called when the stage is done.
func (s *Stage) Arrivals() *result.Arrivals {
	if s.arrivals == nil {
		return nil
	}
	return s.arrivals.total()
}

// Stop ends the stage at once. Requests under way have no outcome.
func (s *Stage) Stop() {
	s.stopping.Store(true)
	s.cancel()
	s.ringLoops()
	for _, c := range s.connections {
		c.interrupt()
	}
}

// End has no further request begin; of an open load, what is due and hasn't begun
// is left out. Those under way end, and with them the stage.
func (s *Stage) End() {
	if !s.ending.Swap(true) {
		close(s.ended)
		s.ringLoops()
	}
}

// Stopped is closed by Stop.
func (s *Stage) Stopped() <-chan struct{} { return s.context.Done() }

// Span is when the first request began and the last one ended; false when there
// was none. Of an open load, the first is taken as if it had been due at the
// start instant. It may be called when the stage is done.
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
	if s.arrivals != nil && s.arrivals.made {
		first = s.start.Add(s.arrivals.firstBegan - s.arrivals.firstIntended)
	}
	return first, last, ok
}

// next is the time from the stage's start, and whether the connection's next
// request may begin now. It waits until an open load has one due, or the pace of
// a closed one lets it.
func (s *Stage) next(c *connection) (begin time.Duration, ok bool) {
	if s.stopping.Load() || s.ending.Load() {
		return 0, false
	}
	if s.arrivals != nil {
		c.intended, begin, ok = s.arrivals.take(c)
		return begin, ok
	}
	if c.pace != nil && !s.await(c) {
		return 0, false
	}
	now := s.now()
	if s.amount.Requests > 0 {
		return now, s.remaining.Add(-1) >= 0
	}
	return now, now < s.deadline
}

// now is the time from the stage's start.
func (s *Stage) now() time.Duration { return time.Since(s.start) }

// waitUntil waits for an instant, to within some 100 µs. Go's timers come up to
// a millisecond late, a sleeping thread doesn't.
func waitUntil(ctx context.Context, instant time.Time) {
	const timerError, sleepError = 2 * time.Millisecond, 100 * time.Microsecond
	timer := time.NewTimer(time.Until(instant) - timerError)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return
	}
	if rest := time.Until(instant) - sleepError; rest > 0 {
		sleep := syscall.NsecToTimespec(rest.Nanoseconds())
		_ = syscall.Nanosleep(&sleep, nil) // if it's cut short, the loop waits longer
	}
	for time.Until(instant) > 0 {
		runtime.Gosched()
	}
}
