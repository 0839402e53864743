// Package usage samples what this process uses of its machine: CPU time, memory,
// throttling, scheduling latency and GC pauses, and the CPUs that it may run on.
package usage

import (
	"syscall"

	"github.com/assay-dev/assay/internal/result"
)

// Sample is the process's usage since it started.
type Sample struct {
	used    result.ClientUsage // without what runtime has
	runtime runtimeSample
	node    *result.NodeUsage // nil if it can't be read
}

// Read returns the usage up to now, of a process whose responses are timed by goroutines.
func Read() Sample { return read(readMetrics()) }

// ReadLoops returns the usage up to now, of a process whose responses are timed by loops. Its scheduling latencies are those of
// AddSchedulingLatency. Those of goroutines aren't among them: a loop that sleeps for a short time keeps others from their CPU,
// for which no request waits.
func ReadLoops() Sample { return read(readLoops()) }

func read(runtime runtimeSample) Sample {
	s := Sample{used: result.ClientUsage{Throttled: throttled(), Naps: naps.Load()}, runtime: runtime}
	var ru syscall.Rusage
	// The call cannot fail with these arguments.
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err == nil {
		s.used.UserCPU, s.used.SystemCPU = ru.Utime.Nano()/1000, ru.Stime.Nano()/1000
		s.used.MaxResident = ru.Maxrss << 10
	}
	s.node = around(s.used.CPU())
	return s
}

// Since returns the usage between an earlier sample and this one.
func (s Sample) Since(earlier Sample) result.ClientUsage {
	u := s.used
	result.ClientMetrics.Since(&u, &earlier.used)
	latency, pause := since(s.runtime.latency, earlier.runtime.latency), since(s.runtime.pause, earlier.runtime.pause)
	u.SchedulingLatencyP99 = upperPercentile(latency, 99)
	u.GCPause, u.GCPauseMax = sum(pause)
	return u
}

// Skip returns the sample with which Since and NodeSince omit what was used between two later samples.
func (s Sample) Skip(from, to Sample) Sample {
	result.ClientMetrics.Skip(&s.used, &from.used, &to.used)
	s.runtime = runtimeSample{skip(s.runtime.latency, from.runtime.latency, to.runtime.latency), skip(s.runtime.pause, from.runtime.pause, to.runtime.pause)}
	if s.node != nil && from.node != nil && to.node != nil {
		node := *s.node
		result.NodeMetrics.Skip(&node, from.node, to.node)
		s.node = &node
	}
	return s
}

// NodeSince returns what happened around the process between an earlier sample and this one, or nil
// if that is unknown.
func (s Sample) NodeSince(earlier Sample) *result.NodeUsage {
	if s.node == nil || earlier.node == nil {
		return nil
	}
	u := *s.node
	result.NodeMetrics.Since(&u, earlier.node)
	return &u
}
