package driver

import (
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

// sleeper waits for times with an accuracy of about 10 µs on an idle machine. Go's own
// timers fire up to a millisecond late, because the runtime waits for them in whole
// milliseconds. A timer file wakes it without that delay.
type sleeper struct {
	file   *os.File
	buffer [8]byte
}

func newSleeper() (*sleeper, error) {
	file, _, err := openTimer(unix.TFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return &sleeper{file: file}, nil
}

// until waits until a time. It returns false if the sleeper was closed.
func (s *sleeper) until(at time.Time) bool {
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

// close wakes a goroutine that sleeps.
func (s *sleeper) close() { _ = s.file.Close() }
