package driver

import (
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	// spin is how long before an instant a loop is awake: what it takes to be woken
	// on an idle machine. It is less where instants follow each other closely, so
	// that at most one in wakefulness parts of the time is spent so.
	spin        = 20 * time.Microsecond
	wakefulness = 10
	// brief is for how long a loop may keep its processor from other goroutines.
	brief = time.Millisecond
)

// sleeping is what a loop waits by: an epoll instance, and in it a timer and a bell.
type sleeping struct {
	// file is the epoll instance. Go's poller waits for it, so that no thread is held
	// up, where that may take long.
	file     *os.File
	raw      syscall.RawConn
	fetchNow func(fd uintptr) bool // fetchOrSleep
	epoll    int
	timer    *os.File
	timerFD  int
	bell     *os.File // whose ringing is told once for each time (eventfd(2))
	// armed is when the timer goes off.
	armed time.Duration
	// target is what is waited for next, lead how long before it the loop is awake.
	target, lead time.Duration
	// yielded is when other goroutines last had the processor.
	yielded time.Duration
}

// prepare opens what the loop waits by.
func (l *loop) prepare() (err error) {
	l.armed = never
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
	if l.timer, l.timerFD, err = openTimer(); err != nil {
		return err
	}
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
	}
}

// fetchOrSleep is fetch; false once the timer is set, for Go's poller to wait.
func (l *loop) fetchOrSleep(uintptr) bool {
	if l.fetch(0) || l.target != never && !l.setTimer() {
		return true
	}
	l.yielded = l.stage.now()
	return false
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
// As for sleeper, Go's own timers would be too late.
func (l *loop) setTimer() bool {
	now := l.stage.now()
	at := l.target - l.lead
	if at <= now {
		return false
	}
	if l.armed <= now || l.armed > at {
		l.armed = at
		startTimer(l.timerFD, at-now)
	}
	return true
}
