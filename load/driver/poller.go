package driver

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// spin is the time for which a loop stays awake before an event is due: the wake-up latency of an
// idle machine. It is shorter if events follow each other closely, so that at most one
// spinFraction-th of the time is spent spinning.
const (
	spin         = 20 * time.Microsecond
	spinFraction = 10
)

// poller waits for a loop: an epoll instance with a timer and a descriptor for wake-ups.
//
// It blocks its thread and Go's processor with it, which costs less than to wait by Go's poller.
// So the loop must have a processor of its own (addProcessors).
type poller struct {
	epoll   int
	timer   *os.File
	timerFD int
	wakeup  *os.File // an eventfd (eventfd(2)); nobody reads it, since each write is an event by itself
	// armed is the time at which the timer fires, or never if it is known to have fired.
	armed time.Duration
	// wakeTime is the time to wait for. lead is how long before it the loop wakes up.
	wakeTime, lead time.Duration
}

// prepare opens the loop's poller.
func (l *loop) prepare() (err error) {
	l.armed, l.epoll = never, -1
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if l.timer, l.timerFD, err = openTimer(0); err != nil {
		return err
	}
	wakeup, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
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
	for _, file := range []*os.File{l.wakeup, l.timer} {
		if file != nil {
			_ = file.Close() // nothing is written to them
		}
	}
	if l.epoll >= 0 {
		_ = unix.Close(l.epoll)
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

// wait waits for events, or until the next time at which something is due. It doesn't set a timer
// that fires early enough already: to set it takes the kernel microseconds in a virtual machine.
func (l *loop) wait() {
	next := l.nextDue()
	if l.armed <= next {
		l.poll(-1)
		return
	}
	now := l.stage.now()
	left := l.planSleep(next, now)
	if left <= 0 {
		l.poll(0)
		return
	}
	l.setTimer(now+left, now)
	l.poll(-1)
}

// nextDue returns the next time at which something is due, or never.
func (l *loop) nextDue() time.Duration {
	next := min(l.earliest, l.due)
	if len(l.sleeping) > 0 {
		next = min(next, l.sleeping[0].until)
	}
	return next
}

// planSleep plans to wake up shortly before a time. It returns the time left to sleep.
func (l *loop) planSleep(until, now time.Duration) time.Duration {
	if until == never {
		l.wakeTime = never
		return never
	}
	if left := until - now; until != l.wakeTime {
		l.wakeTime, l.lead = until, max(0, min(spin, left/spinFraction))
	}
	return until - now - l.lead
}

// setTimer makes the timer fire at a time, or leaves it as it is if it fires earlier. Go's own
// timers would fire too late, as for sleeper.
func (l *loop) setTimer(at, now time.Duration) {
	if l.armed <= now || l.armed > at {
		l.armed = at
		startTimer(l.timerFD, at-now)
	}
}
