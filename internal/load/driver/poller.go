package driver

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/assay-dev/assay/internal/load/usage"
)

// spin is the time for which a loop stays awake before an event is due: the wake-up latency of an
// idle machine. It is shorter if events follow each other closely, so that at most one
// spinFraction-th of the time is spent spinning.
const (
	spin         = 20 * time.Microsecond
	spinFraction = 10
)

// poller waits for a loop: an epoll instance with timers and a descriptor for wake-ups.
//
// It blocks its thread and Go's processor with it, which costs less than to wait by Go's poller.
// So the loop must have a processor of its own (addProcessors).
type poller struct {
	epoll  int
	timers [2]timer
	wakeup *os.File // an eventfd (eventfd(2)); nobody reads it, since each write is an event by itself
	// planned are the times to wake up for: the next one, and the one after it if that is known.
	planned [2]wakeTime
}

// timer is a timer of a loop.
type timer struct {
	file  *os.File
	fd    int
	fires time.Duration // never if it is known to have fired
}

// wakeTime is a time at which something is due. The loop wakes up before it, by the lead.
type wakeTime struct{ due, lead time.Duration }

func newWakeTime(due, sleep time.Duration) wakeTime {
	return wakeTime{due, max(0, min(spin, sleep/spinFraction))}
}

// prepare opens the loop's poller.
func (l *loop) prepare() (err error) {
	l.epoll = -1
	if l.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	for i := range l.timers {
		t := &l.timers[i]
		t.fires = never
		if t.file, t.fd, err = openTimer(0); err != nil {
			return err
		}
		if err := l.register(syscall.EPOLL_CTL_ADD, t.fd, syscall.EPOLLIN, timerEvents-int32(i), 0); err != nil {
			return err
		}
	}
	wakeup, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("eventfd", err)
	}
	l.wakeup = os.NewFile(uintptr(wakeup), "wakeup")
	return l.register(syscall.EPOLL_CTL_ADD, wakeup, syscall.EPOLLIN, wakeEvent, 0)
}

func (l *loop) close() {
	for _, file := range []*os.File{l.wakeup, l.timers[0].file, l.timers[1].file} {
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

// wait waits for events, or until the next time at which something is due. It doesn't set a timer if
// one fires early enough already.
//
// A timer that becomes the next one to fire has to be programmed into the CPU's timer, which takes microseconds in a
// virtual machine. A later one hasn't: the kernel programs it when the earlier one fires. That is why the
// timer for a request of an open load is set before the one for the previous request has fired.
func (l *loop) wait() {
	if next := l.nextDue(); min(l.timers[0].fires, l.timers[1].fires) > next {
		now := l.stage.now()
		l.plan(next, now)
		at := next - l.planned[0].lead
		if at <= now {
			l.poll(0)
			return
		}
		l.setTimer(at, now)
	}
	if l.following != never && l.following != l.planned[1].due {
		now := l.stage.now()
		l.plan(l.due, now)
		l.planned[1] = newWakeTime(l.following, l.following-l.due)
		if at := l.following - l.planned[1].lead; at > now {
			l.setTimer(at, now)
		}
	}
	if d := l.plain.nap(l.live); d > 0 && l.nap(d) {
		return
	}
	l.poll(-1)
}

// nap sleeps for a duration unless there are events already, and reports whether there are events then. What arrives meanwhile
// wakes nobody up. It needs no timer of the loop's: a signal may end it early.
func (l *loop) nap(d time.Duration) bool {
	if l.poll(0) {
		return true
	}
	usage.AddNap()
	// By default a sleep is up to 50 µs longer. The setting is one of the thread's, which may be another one each time.
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, unix.PR_SET_TIMERSLACK, 1, 0)
	length := unix.NsecToTimespec(d.Nanoseconds())
	_, _, _ = syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&length)), 0, 0)
	return l.poll(0)
}

// nextDue returns the next time at which something is due, or never.
func (l *loop) nextDue() time.Duration {
	next := min(l.earliest, l.due)
	if len(l.sleeping) > 0 {
		next = min(next, l.sleeping[0].until)
	}
	return next
}

// plan plans to wake up shortly before a time.
func (l *loop) plan(due, now time.Duration) {
	switch due {
	case l.planned[0].due:
	case l.planned[1].due:
		l.planned[0] = l.planned[1]
	default:
		l.planned[0] = newWakeTime(due, due-now)
	}
}

// setTimer makes a timer fire at a time. Go's own timers would fire too late, as for sleeper.
func (l *loop) setTimer(at, now time.Duration) {
	t := &l.timers[0]
	if other := &l.timers[1]; t.fires != never && (other.fires == never || other.fires > t.fires) {
		t = other
	}
	t.fires = at
	startTimer(t.fd, at-now)
}
