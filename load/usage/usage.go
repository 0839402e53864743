// Package usage reads what this process uses of its machine: CPU time, memory,
// the time for which its CPU limit and Go's runtime held it up, and the CPUs it
// may run on.
package usage

import (
	"syscall"

	"github.com/assay-dev/assay/internal/result"
)

// Reading is what the process has used since it started.
type Reading struct {
	user, system int64 // microseconds
	throttled    int64 // microseconds; -1 when it can't be read
	maxResident  int64 // bytes
	runtime      runtimeReading
}

// Read reads the use up to now.
func Read() Reading {
	r := Reading{throttled: throttled(), runtime: readRuntime()}
	var ru syscall.Rusage
	// The call fails only for arguments that aren't these.
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err == nil {
		r.user = ru.Utime.Nano() / 1000
		r.system = ru.Stime.Nano() / 1000
		r.maxResident = ru.Maxrss << 10
	}
	return r
}

// Since is the use between an earlier reading and this one.
func (r Reading) Since(earlier Reading) result.ClientUsage {
	u := result.ClientUsage{
		UserCPU:     r.user - earlier.user,
		SystemCPU:   r.system - earlier.system,
		Throttled:   -1,
		MaxResident: r.maxResident,
	}
	if r.throttled >= 0 && earlier.throttled >= 0 {
		u.Throttled = r.throttled - earlier.throttled
	}
	lag, pause := since(r.runtime.lag, earlier.runtime.lag), since(r.runtime.pause, earlier.runtime.pause)
	u.SchedulingLatencyP99 = percentile(lag, 99)
	u.GCPause, u.GCPauseMax = sum(pause), percentile(pause, 100)
	return u
}
