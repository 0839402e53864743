package driver

import (
	"container/heap"
	"encoding/binary"
	"math"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/assay-dev/assay/load/usage"
)

const (
	// spin is how long before an instant a loop is awake: what it takes to be woken
	// on an idle machine. It is less where instants follow each other closely, so
	// that at most one in wakefulness parts of the time is spent so.
	spin         = 20 * time.Microsecond
	wakefulness  = 10
	never        = time.Duration(math.MaxInt64)
	brief        = time.Millisecond // for which a loop may keep its processor asleep
	mostEvents   = 128
	mostAtOnce   = 16 // connections that start before it is looked what has come
	lagsMeasured = 8  // one in so many
)

// Events that aren't a task's.
const (
	timerEvent = -1 - iota
	bellEvent
)

// loop carries connections: one goroutine that waits for what comes on any of
// them, by an epoll instance of its own, and goes on with each where it stopped.
// Connections are coroutines (task), so that their code reads as if each had its
// own goroutine. That spares them Go's scheduler and what its poller keeps for
// each descriptor. Nothing that a task does may block but by task.wait.
type loop struct {
	stage *Stage
	// file is the epoll instance. Go's poller waits for it when nothing is there, so
	// that no thread is held up.
	file         *os.File
	raw          syscall.RawConn
	fetchNow     func(fd uintptr) bool
	epoll        int
	timer, bell  *os.File
	timerFD      int
	events       [mostEvents]syscall.EpollEvent
	came         int           // number of events
	armed        time.Duration // when the timer goes off
	target, lead time.Duration // what is waited for next, and how long before it the loop is awake
	yielded      time.Duration // when others could run

	tasks []*task
	live  int
	// earliest is before any instant at which a task is to give up.
	earliest time.Duration
	resting  restHeap
	ready    []*task // to go on
	// due is when the next request of an open load is; never where other loops see to
	// that.
	due   time.Duration
	paces bool
	// lags counts towards lagsMeasured.
	lags uint8

	mu   sync.Mutex
	rung []gift
}

// gift is a request that another loop, or the pacer, has for a task: when it was
// meant to start.
type gift struct {
	task     *task
	intended time.Duration
}

// newLoop returns a loop for a stage. It must be closed.
func newLoop(s *Stage) (*loop, error) {
	l := &loop{stage: s, armed: never, earliest: never, due: never}
	if err := l.prepare(); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *loop) prepare() (err error) {
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	blocking := unix.SetNonblock(l.epoll, true) // only what doesn't block is a file for Go's poller
	l.file = os.NewFile(uintptr(l.epoll), "epoll")
	if blocking != nil {
		return os.NewSyscallError("fcntl", blocking)
	}
	if l.raw, err = l.file.SyscallConn(); err != nil {
		return err
	}
	l.fetchNow = l.fetchOrSleep
	if l.timerFD, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		return os.NewSyscallError("timerfd_create", err)
	}
	l.timer = os.NewFile(uintptr(l.timerFD), "timer")
	bell, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("eventfd", err)
	}
	l.bell = os.NewFile(uintptr(bell), "bell")
	if err := l.register(syscall.EPOLL_CTL_ADD, l.timerFD, syscall.EPOLLIN, timerEvent, 0); err != nil {
		return err
	}
	return l.register(syscall.EPOLL_CTL_ADD, bell, syscall.EPOLLIN, bellEvent, 0)
}

func (l *loop) close() {
	for _, file := range []*os.File{l.bell, l.timer, l.file} {
		if file != nil {
			_ = file.Close() // nothing is written to them
		}
	}
}

// register has the loop told of changes on a descriptor, edge-triggered
// (epoll(7)).
func (l *loop) register(operation, fd int, events uint32, place, generation int32) error {
	const edge = 1 << 31 // EPOLLET, which package syscall has as a negative number
	event := syscall.EpollEvent{Events: events | edge, Fd: place, Pad: generation}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_CTL, uintptr(l.epoll), uintptr(operation), uintptr(fd), uintptr(unsafe.Pointer(&event)), 0, 0)
	if errno != 0 {
		return os.NewSyscallError("epoll_ctl", errno)
	}
	return nil
}

// run carries connections from the stage's start instant until they have ended.
func (l *loop) run(tasks []*task) {
	l.tasks, l.live = tasks, len(tasks)
	started := 0
	for l.live > 0 {
		if started < len(tasks) {
			for range min(mostAtOnce, len(tasks)-started) {
				l.resume(tasks[started])
				started++
			}
			l.fetch(0)
		} else {
			l.wait()
		}
		l.handle()
		now := l.stage.now()
		l.yield(now)
		if now >= l.earliest {
			l.expire(now)
		}
		for len(l.resting) > 0 && l.resting[0].until <= now {
			l.resume(heap.Pop(&l.resting).(*task))
		}
		if l.paces && (now >= l.due || l.due == never) {
			l.pace()
		}
		for i := 0; i < len(l.ready); i++ {
			l.resume(l.ready[i])
		}
		l.ready = l.ready[:0]
	}
}

// fetch takes what has come; false for nothing. With patience -1 it waits until
// something has, and holds up the thread, with 0 not at all.
func (l *loop) fetch(patience int) bool {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(l.epoll), uintptr(unsafe.Pointer(&l.events[0])), mostEvents, uintptr(patience), 0, 0)
	l.came = 0
	if errno == 0 { // it can only be EINTR otherwise, by which Go's runtime makes itself heard
		l.came = int(n)
	}
	return l.came > 0
}

// wait returns when something has come, or an instant that is waited for.
func (l *loop) wait() {
	switch rest := l.rest(); {
	case rest <= 0:
		l.fetch(0)
	case rest <= brief && l.setTimer():
		l.fetch(-1)
	default:
		// It fails only when it is closed, which it isn't before run returns.
		_ = l.raw.Read(l.fetchNow)
		l.yielded = l.stage.now()
	}
}

// fetchOrSleep is fetch; false once the timer is set, for Go's poller to wait.
func (l *loop) fetchOrSleep(uintptr) bool {
	return l.fetch(0) || l.target != never && !l.setTimer()
}

// yield lets other goroutines run, which a loop that never sleeps would only do
// when Go's runtime takes the processor from it, every ten milliseconds.
func (l *loop) yield(now time.Duration) {
	if now-l.yielded > brief {
		runtime.Gosched()
		l.yielded = l.stage.now()
	}
}

// rest sees to what is to be waited for next. It returns for how long the loop
// may sleep before.
func (l *loop) rest() time.Duration {
	next := min(l.earliest, l.due)
	if len(l.resting) > 0 {
		next = min(next, l.resting[0].until)
	}
	if next == never {
		l.target = never
		return never
	}
	rest := next - l.stage.now()
	if next != l.target {
		l.target, l.lead = next, max(0, min(spin, rest/wakefulness))
	}
	return rest - l.lead
}

// setTimer sets the timer for the time to sleep until; false when that is over.
// Go's own timers come up to a millisecond late, since the runtime waits for
// them in whole milliseconds; a timer that is a file wakes it at once.
func (l *loop) setTimer() bool {
	now := l.stage.now()
	at := l.target - l.lead
	if at <= now {
		return false
	}
	if l.armed <= now || l.armed > at {
		l.armed = at
		setting := unix.ItimerSpec{Value: unix.NsecToTimespec((at - now).Nanoseconds())}
		// It fails only for arguments that aren't these.
		_, _, _ = syscall.RawSyscall6(unix.SYS_TIMERFD_SETTIME, uintptr(l.timerFD), 0, uintptr(unsafe.Pointer(&setting)), 0, 0, 0)
	}
	return true
}

// handle goes on with the connections on which something has come.
func (l *loop) handle() {
	if l.came == 0 {
		return
	}
	came := time.Now()
	for i := range l.came {
		if l.lags++; l.lags%lagsMeasured == 0 {
			usage.Lagged(time.Since(came))
		}
		switch e := &l.events[i]; e.Fd {
		case timerEvent:
		case bellEvent:
			l.answer()
		default:
			if t := l.tasks[e.Fd]; t.generation == e.Pad && t.tell(e.Events) {
				l.resume(t)
			}
		}
	}
	l.came = 0
}

// resume has a task go on until it waits again, or ends.
func (l *loop) resume(t *task) {
	if _, ok := t.next(); !ok {
		l.live--
	}
}

// expire goes on with tasks that have waited for long enough.
func (l *loop) expire(now time.Duration) {
	l.earliest = never
	for _, t := range l.tasks {
		if t.waits == forNothing || t.waits == forRest {
			continue
		}
		if t.until <= now {
			t.expired = true
			l.resume(t)
		} else {
			l.earliest = min(l.earliest, t.until)
		}
	}
}

// pace gives out what is due of an open load.
func (l *loop) pace() {
	a := l.stage.arrivals
	if l.stage.stopping.Load() || l.stage.ending.Load() {
		l.finish()
		return
	}
	at, short, more := a.give()
	switch {
	case !more:
		l.finish()
	case short:
		l.due = never
	default:
		l.due = at
	}
}

// finish ends the giving out of requests.
func (l *loop) finish() {
	l.paces, l.due = false, never
	close(l.stage.arrivals.over)
	l.stage.ringLoops()
}

// give has a task go on with a request. It is for the loop's own goroutine.
func (l *loop) give(t *task, intended time.Duration) {
	t.intended, t.given = intended, true
	l.ready = append(l.ready, t)
}

// bring is give for others' goroutines.
func (l *loop) bring(t *task, intended time.Duration) {
	l.mu.Lock()
	l.rung = append(l.rung, gift{t, intended})
	l.mu.Unlock()
	l.ring()
}

// ring wakes the loop to look what it was brought, and what has become of the
// stage.
func (l *loop) ring() {
	// It fails only where it rings already.
	_, _ = l.bell.Write(binary.NativeEndian.AppendUint64(nil, 1))
}

// answer does what the bell was rung for.
func (l *loop) answer() {
	l.mu.Lock()
	for _, g := range l.rung {
		l.give(g.task, g.intended)
	}
	l.rung = l.rung[:0]
	l.mu.Unlock()
	stopping := l.stage.stopping.Load()
	if !stopping && !l.stage.ending.Load() && (l.stage.arrivals == nil || !l.stage.arrivals.isOver()) {
		return
	}
	for _, t := range l.tasks {
		switch {
		case t.waits == forArrival && t.given, t.waits == forNothing:
			// It goes on anyway, or has ended.
		case stopping || t.waits == forArrival || t.waits == forRest:
			l.resume(t)
		}
	}
	l.resting = l.resting[:0]
}

// restHeap has the task that is to go on first first.
type restHeap []*task

func (h restHeap) Len() int           { return len(h) }
func (h restHeap) Less(i, j int) bool { return h[i].until < h[j].until }
func (h restHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *restHeap) Push(t any)        { *h = append(*h, t.(*task)) }
func (h *restHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	*h = (*h)[:last]
	return t
}
