// Package usage samples what this process uses of its machine: CPU time, memory,
// throttling, scheduling latency and GC pauses, and the CPUs that it may run on.
package usage

import (
	"syscall"

	"github.com/assay-dev/assay/internal/result"
)

// Sample is what the process has used since it started.
type Sample struct {
	user, system int64 // microseconds
	throttled    int64 // microseconds; -1 if it cannot be read
	maxResident  int64 // bytes
	runtime      runtimeSample
}

// Read returns the usage up to now.
func Read() Sample {
	s := Sample{throttled: throttled(), runtime: readRuntime()}
	var ru syscall.Rusage
	// The call cannot fail with these arguments.
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err == nil {
		s.user = ru.Utime.Nano() / 1000
		s.system = ru.Stime.Nano() / 1000
		s.maxResident = ru.Maxrss << 10
	}
	return s
}

// Since returns the usage between an earlier sample and this one.
func (s Sample) Since(earlier Sample) result.ClientUsage {
	u := result.ClientUsage{
		UserCPU:     s.user - earlier.user,
		SystemCPU:   s.system - earlier.system,
		Throttled:   -1,
		MaxResident: s.maxResident,
	}
	if s.throttled >= 0 && earlier.throttled >= 0 {
		u.Throttled = s.throttled - earlier.throttled
	}
	latency, pause := since(s.runtime.latency, earlier.runtime.latency), since(s.runtime.pause, earlier.runtime.pause)
	u.SchedulingLatencyP99 = upperPercentile(latency, 99)
	u.GCPause, u.GCPauseMax = sum(pause), upperPercentile(pause, 100)
	return u
}
