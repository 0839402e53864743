package driver

import (
	"context"
	"encoding/binary"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// openTimer returns a timer file and its descriptor (timerfd(2)). With the flag TFD_NONBLOCK Go's
// poller waits for it too, and wakes up each time it fires.
func openTimer(flags int) (*os.File, int, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|flags)
	if err != nil {
		return nil, -1, os.NewSyscallError("timerfd_create", err)
	}
	return os.NewFile(uintptr(fd), "timer"), fd, nil
}

// startTimer makes a timer fire after d, which must be positive.
func startTimer(fd int, d time.Duration) {
	setting := unix.ItimerSpec{Value: unix.NsecToTimespec(d.Nanoseconds())}
	// This fails only for invalid arguments.
	_, _, _ = syscall.RawSyscall6(unix.SYS_TIMERFD_SETTIME, uintptr(fd), 0, uintptr(unsafe.Pointer(&setting)), 0, 0, 0)
}

// sleeper waits for times with an accuracy of about 10 µs on an idle machine, until its context is done. Go's own timers fire
// up to a millisecond late, because the runtime waits for them in full milliseconds. A timer file wakes it without that delay.
type sleeper struct {
	ctx    context.Context
	file   *os.File    // nil to use Go's timers
	stop   func() bool // keeps ctx from closing the file
	buffer [8]byte
}

// newSleeper returns a sleeper, which the caller must close. A coarse one uses Go's timers, as does one that gets no timer file.
func newSleeper(ctx context.Context, coarse bool) *sleeper {
	s := &sleeper{ctx: ctx}
	if coarse {
		return s
	}
	file, _, err := openTimer(unix.TFD_NONBLOCK)
	if err != nil { // out of descriptors, or the kernel has no timerfd
		return s
	}
	s.file = file
	s.stop = context.AfterFunc(ctx, func() { _ = file.Close() })
	return s
}

// until waits until a time. It returns false if the context is done first.
func (s *sleeper) until(at time.Time) bool {
	if s.file == nil {
		timer := time.NewTimer(time.Until(at))
		defer timer.Stop()
		select {
		case <-timer.C:
			return true
		case <-s.ctx.Done():
			return false
		}
	}
	if left := time.Until(at) - spin; left > 0 && !s.sleep(left) {
		return false
	}
	for time.Until(at) > 0 {
		runtime.Gosched()
	}
	return true
}

func (s *sleeper) sleep(d time.Duration) bool {
	raw, err := s.file.SyscallConn()
	if err != nil {
		return false
	}
	if err := raw.Control(func(fd uintptr) { startTimer(int(fd), d) }); err != nil {
		return false
	}
	n, err := s.file.Read(s.buffer[:])
	return err == nil && n == len(s.buffer) && binary.NativeEndian.Uint64(s.buffer[:]) > 0
}

func (s *sleeper) close() {
	if s.file != nil {
		s.stop()
		_ = s.file.Close()
	}
}
