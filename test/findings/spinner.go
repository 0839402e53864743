package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sort"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/harness"
)

// spinInterval is the interval at which a spinner takes its CPU time down.
const spinInterval = 15 * time.Millisecond

// spinner is something else on the CPU of a run's target.
type spinner struct {
	// length is the part of each spinInterval for which it wants the CPU.
	length time.Duration
	cancel context.CancelFunc
	done   sync.WaitGroup
	// used holds its CPU time, in microseconds.
	used []stamped
}

// stamped are values that grow, at a time in microseconds since the Unix epoch.
type stamped struct {
	at     int64
	values []float64
}

// disturb spins on the first CPU of a run's target, from its start on.
func (s *spinner) disturb(ctx context.Context, c *harness.Cluster, run *v1alpha1.BenchmarkRun) error {
	pid, err := process(ctx, c, run, harness.TargetLabels, "server")
	if err != nil {
		return err
	}
	cpu, err := firstCPU(pid)
	if err != nil {
		return err
	}
	ctx, s.cancel = context.WithCancel(ctx)
	failed := make(chan error, 1)
	s.done.Go(func() { s.spin(ctx, cpu, failed) })
	return <-failed
}

// spin uses a CPU until ctx is done. It sends what keeps it from that, or nil.
func (s *spinner) spin(ctx context.Context, cpu int, failed chan<- error) {
	runtime.LockOSThread() // and never unlocks it: the thread ends with its affinity
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		failed <- fmt.Errorf("run on CPU %d: %w", cpu, err)
		return
	}
	failed <- nil
	for ctx.Err() == nil {
		begin := time.Now()
		for now := begin; now.Sub(begin) < s.length; {
			now = time.Now()
		}
		var used unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used); err != nil {
			return
		}
		s.used = append(s.used, stamped{time.Now().UnixMicro(), []float64{float64(used.Nano()) / 1000}})
		time.Sleep(spinInterval - time.Since(begin))
	}
}

// usedAt returns the CPU time in microseconds that was used until a time.
func (s *spinner) usedAt(at int64) float64 { return valuesAt(s.used, at)[0] }

func (s *spinner) stop() { stop(s.cancel, &s.done) }

func stop(cancel context.CancelFunc, done *sync.WaitGroup) {
	if cancel != nil {
		cancel()
	}
	done.Wait()
}

// valuesAt returns values at a time, on the lines between the stamps. They aren't numbers before the first and after the last.
func valuesAt(all []stamped, at int64) []float64 {
	i := sort.Search(len(all), func(i int) bool { return all[i].at >= at })
	if i == 0 || i == len(all) {
		return []float64{math.NaN(), math.NaN()}
	}
	before, after := all[i-1], all[i]
	share := float64(at-before.at) / float64(after.at-before.at)
	var values []float64
	for k := range before.values {
		values = append(values, before.values[k]+share*(after.values[k]-before.values[k]))
	}
	return values
}

// firstCPU returns the first CPU that a process may use.
func firstCPU(pid int) (int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &set); err != nil {
		return 0, fmt.Errorf("get the CPUs of process %d: %w", pid, err)
	}
	cpu := 0
	for !set.IsSet(cpu) {
		cpu++
	}
	return cpu, nil
}
