package node

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/procfs"

	"github.com/assay-dev/assay/internal/result"
)

// cpus sums what the pod's CPUs did. The pod's CPUs may change, so each sample adds what they did
// since the previous one.
type cpus struct {
	sets []result.CPUSet
	seen map[int64]procfs.CPUStat
	at   time.Time
	own  int64 // CPU time of the pod's processes at the previous sample
	sum  result.NodeUsage
	// other is OtherCPU without what keeps it from decreasing.
	other  int64
	known  bool // whether a sample had the pod's CPUs
	waits  map[string]uint64
	waited int64
}

func newCPUs() cpus { return cpus{seen: map[int64]procfs.CPUStat{}, waits: map[string]uint64{}} }

// set sets the pod's CPUs. If none is known, as when its processes have just exited, those of the
// previous sample stay.
func (c *cpus) set(lists []string) {
	if sets := union(lists); len(sets) > 0 {
		c.sets = sets
	}
}

func (c *cpus) contain(cpu int) bool {
	return slices.ContainsFunc(c.sets, func(s result.CPUSet) bool { return s.Contains(cpu) })
}

// first returns the lowest of the pod's CPUs that are online, at most n.
func (c *cpus) first(n int) []int {
	var all []int
	for _, cpu := range slices.Sorted(maps.Keys(c.seen)) {
		if len(all) < n && c.contain(int(cpu)) {
			all = append(all, int(cpu))
		}
	}
	return all
}

// update adds what the CPUs did since the previous sample, of which the pod's processes used
// up to own microseconds since any time.
//
// The time that CPUs were busy is computed as the elapsed time without idle, I/O wait and steal
// time. A kernel that stops the timer tick on idle CPUs (NO_HZ) measures these, but only samples
// user and system time at ticks, which misses most of what runs for less than a tick.
func (c *cpus) update(now map[int64]procfs.CPUStat, at time.Time, own int64) {
	elapsed := at.Sub(c.at).Microseconds()
	used := own - c.own
	first := c.at.IsZero()
	before := c.seen
	c.seen, c.at, c.own = now, at, own
	if first || len(c.sets) == 0 {
		c.known = len(c.sets) > 0
		return
	}
	c.known = true
	var span result.NodeUsage
	for cpu, s := range now {
		b, ok := before[cpu]
		if !ok || !c.contain(int(cpu)) {
			continue
		}
		span.CPUTime += elapsed
		span.Idle += since(s.Idle, b.Idle)
		span.IOWait += since(s.Iowait, b.Iowait)
		span.Steal += since(s.Steal, b.Steal)
		span.HardIRQ += since(s.IRQ, b.IRQ)
		span.SoftIRQ += since(s.SoftIRQ, b.SoftIRQ)
	}
	c.other += span.CPUTime - span.Idle - span.IOWait - span.Steal - used
	result.NodeMetrics.Merge(&c.sum, &span)
	// CPU times have a resolution of 10 ms, and the pod's were read a moment earlier.
	c.sum.OtherCPU = max(c.sum.OtherCPU, c.other)
}

// since returns the difference of two times of /proc/stat, in microseconds. The kernel doesn't
// promise that they never decrease (proc_stat(5), iowait).
func since(seconds, before float64) int64 { return max(int64((seconds-before)*1e6+0.5), 0) }

func (c *cpus) report(u *result.NodeUsage) {
	if !c.known {
		return
	}
	u.CPUTime, u.Idle, u.OtherCPU, u.Steal = c.sum.CPUTime, c.sum.Idle, c.sum.OtherCPU, c.sum.Steal
	u.IOWait, u.HardIRQ, u.SoftIRQ = c.sum.IOWait, c.sum.HardIRQ, c.sum.SoftIRQ
}

// wait returns for how long tasks waited for the pod's CPUs since the first sample, in microseconds,
// or Unknown (Documentation/scheduler/sched-stats.rst).
func (c *cpus) wait(stat *procfs.Schedstat) int64 {
	if len(stat.CPUs) == 0 || !c.known {
		return result.Unknown
	}
	for _, s := range stat.CPUs {
		number, err := strconv.Atoi(s.CPUNum)
		before, ok := c.waits[s.CPUNum]
		c.waits[s.CPUNum] = s.WaitingNanoseconds
		if err == nil && ok && c.contain(number) && s.WaitingNanoseconds > before {
			c.waited += int64(s.WaitingNanoseconds - before)
		}
	}
	return c.waited / 1000
}
