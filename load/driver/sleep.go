package driver

import (
	"encoding/binary"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// sleeper waits for instants to within some 10 µs on an idle machine. Go's own
// timers come up to a millisecond late, since the runtime waits for them in
// whole milliseconds; a timer that is a file wakes it at once.
type sleeper struct {
	file   *os.File
	buffer [8]byte
}

func newSleeper() (*sleeper, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	return &sleeper{file: os.NewFile(uintptr(fd), "timer")}, nil
}

// until waits for an instant; false when the sleeper was closed.
func (s *sleeper) until(instant time.Time) bool {
	if rest := time.Until(instant) - spin; rest > 0 && !s.sleep(rest) {
		return false
	}
	for time.Until(instant) > 0 {
		runtime.Gosched()
	}
	return true
}

func (s *sleeper) sleep(d time.Duration) bool {
	raw, err := s.file.SyscallConn()
	if err != nil {
		return false
	}
	var setting error
	err = raw.Control(func(fd uintptr) {
		setting = unix.TimerfdSettime(int(fd), 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(d.Nanoseconds())}, nil)
	})
	if err != nil || setting != nil {
		return false
	}
	n, err := s.file.Read(s.buffer[:])
	return err == nil && n == len(s.buffer) && binary.NativeEndian.Uint64(s.buffer[:]) > 0
}

// close wakes whoever sleeps.
func (s *sleeper) close() { _ = s.file.Close() }
