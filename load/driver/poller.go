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
	// spin is the time for which a loop stays awake before an event is due: the wake-up
	// latency of an idle machine. It is shorter if events follow each other closely, so that
	// at most one spinFraction-th of the time is spent spinning.
	spin         = 20 * time.Microsecond
	spinFraction = 10
	// maxHold is the longest time for which a loop keeps its processor from other goroutines.
	maxHold = time.Millisecond
)

// poller waits for a loop: an epoll instance with a timer and a descriptor for wake-ups.
type poller struct {
	// file is the epoll instance. For longer waits Go's poller waits on it, so that no
	// thread is blocked.
	file    *os.File
	raw     syscall.RawConn
	pollNow func(fd uintptr) bool // pollOrArm as a function value
	epoll   int
	timer   *os.File
	timerFD int
	wakeup  *os.File // an eventfd (eventfd(2)); nobody reads it, since each write is an event by itself
	// armed is the time at which the timer fires.
	armed time.Duration
	// wakeTime is the time to wait for. lead is how long before it the loop wakes up.
	wakeTime, lead time.Duration
	// yielded is the time at which other goroutines last had the processor.
	yielded time.Duration
}

// prepare opens the loop's poller.
func (l *loop) prepare() (err error) {
	l.armed = never
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	blocking := unix.SetNonblock(l.epoll, true) // required by Go's poller
	l.file = os.NewFile(uintptr(l.epoll), "epoll")
	if blocking != nil {
		return os.NewSyscallError("fcntl", blocking)
	}
	if l.raw, err = l.file.SyscallConn(); err != nil {
		return err
	}
	l.pollNow = l.pollOrArm
	if l.timer, l.timerFD, err = openTimer(); err != nil {
		return err
	}
	wakeup, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("eventfd", err)
	}
	l.wakeup = os.NewFile(uintptr(wakeup), "wakeup")
	if err := l.register(syscall.EPOLL_CTL_ADD, l.timerFD, syscall.EPOLLIN, timerEvent, 0); err != nil {
		return err
	}
	return l.register(syscall.EPOLL_CTL_ADD, wakeup, syscall.EPOLLIN, wakeEvent, 0)
}

func (l *loop) close() {
	for _, file := range []*os.File{l.wakeup, l.timer, l.file} {
		if file != nil {
			_ = file.Close() // nothing is written to them
		}
	}
}

// register registers a descriptor for edge-triggered events (epoll(7)).
func (l *loop) register(operation, fd int, events uint32, index, generation int32) error {
	const edge = 1 << 31 // EPOLLET, which is negative in package syscall
	event := syscall.EpollEvent{Events: events | edge, Fd: index, Pad: generation}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_CTL, uintptr(l.epoll), uintptr(operation), uintptr(fd), uintptr(unsafe.Pointer(&event)), 0, 0)
	if errno != 0 {
		return os.NewSyscallError("epoll_ctl", errno)
	}
	return nil
}

// poll fetches events and reports whether there are any. With timeout -1 it blocks the
// thread until there are, with 0 it returns at once.
func (l *loop) poll(timeout int) bool {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(l.epoll), uintptr(unsafe.Pointer(&l.events[0])), maxEvents, uintptr(timeout), 0, 0)
	l.eventCount = 0
	if errno == 0 { // otherwise EINTR, from the signals of Go's runtime
		l.eventCount = int(n)
	}
	return l.eventCount > 0
}

// wait waits for events, or until the next time at which something is due.
func (l *loop) wait() {
	switch left := l.planSleep(); {
	case left <= 0:
		l.poll(0)
	case left <= maxHold && l.setTimer():
		l.poll(-1)
	default:
		// This fails only if the file is closed, which happens after run.
		_ = l.raw.Read(l.pollNow)
	}
}

// pollOrArm polls for events. If there are none, it sets the timer and returns false, so
// that Go's poller waits.
func (l *loop) pollOrArm(uintptr) bool {
	if l.poll(0) || l.wakeTime != never && !l.setTimer() {
		return true
	}
	l.yielded = l.stage.now()
	return false
}

// yield lets other goroutines run. Otherwise a loop that never sleeps would run until
// Go's runtime preempts it, every ten milliseconds.
func (l *loop) yield(now time.Duration) {
	if now-l.yielded > maxHold {
		runtime.Gosched()
		l.yielded = l.stage.now()
	}
}

// planSleep determines the next time at which something is due. It returns the time left to sleep.
func (l *loop) planSleep() time.Duration {
	next := min(l.earliest, l.due)
	if len(l.sleeping) > 0 {
		next = min(next, l.sleeping[0].until)
	}
	if next == never {
		l.wakeTime = never
		return never
	}
	left := next - l.stage.now()
	if next != l.wakeTime {
		l.wakeTime, l.lead = next, max(0, min(spin, left/spinFraction))
	}
	return left - l.lead
}

// setTimer sets the timer for the end of the sleep. It returns false if that has passed.
// Go's own timers would fire too late, as for sleeper.
func (l *loop) setTimer() bool {
	now := l.stage.now()
	at := l.wakeTime - l.lead
	if at <= now {
		return false
	}
	if l.armed <= now || l.armed > at {
		l.armed = at
		startTimer(l.timerFD, at-now)
	}
	return true
}
