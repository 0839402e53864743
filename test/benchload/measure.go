package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"github.com/assay-dev/assay/test/harness"
)

// extraTime is the time by which a tool may exceed the duration of its load.
const extraTime = 10 * time.Second

// sample is the result of one run of one tool.
type sample struct {
	metrics
	// cpu is the user and system time of the process and its children. peak is the peak RSS
	// in bytes.
	cpu  time.Duration
	peak int64
	// switches and faults are the numbers of context switches and page faults of the process and its children.
	switches, faults int64
}

// perThousand returns n events as a number for a thousand requests.
func (s *sample) perThousand(n int64) float64 { return 1000 * float64(n) / float64(s.requests) }

// perRequest returns the CPU time per request in µs.
func (s *sample) perRequest() float64 { return s.cpu.Seconds() * 1e6 / float64(s.requests) }

// loadPerRequest is like perRequest, without the tool's startup.
func (s *sample) loadPerRequest() float64 { return s.loadCPU.Seconds() * 1e6 / float64(s.requests) }

func (s *sample) rate() float64 { return float64(s.requests) / s.seconds }

// measure runs a tool on one CPU. Meanwhile it calls watch, unless that is nil. The error
// is errSkipped if the tool can't make the load.
func measure(ctx context.Context, t *tool, l *load, cpu int, watch func(*process)) (*sample, error) {
	if l.rate > 0 && !t.openLoad {
		return nil, fmt.Errorf("%w: has no open load", errSkipped)
	}
	args, err := t.arguments(l)
	if err != nil {
		return nil, err
	}
	if _, err := exec.LookPath(t.program); err != nil {
		return nil, fmt.Errorf("%w: not found (install it with make bench-deps)", errSkipped)
	}
	ctx, cancel := context.WithTimeout(ctx, l.duration+extraTime)
	defer cancel()
	command := harness.Pinned(ctx, strconv.Itoa(cpu), t.program, args...)
	var output, errs bytes.Buffer
	command.Stdout, command.Stderr = &output, &errs
	command.Env = append(os.Environ(), t.environment...)
	if err := command.Start(); err != nil {
		return nil, err
	}
	p := &process{pid: command.Process.Pid, ended: make(chan struct{})}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if watch != nil {
			watch(p)
		}
	}()
	err = command.Wait()
	close(p.ended)
	<-watched
	s := &sample{peak: p.peak}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("wait for the tool to exit: %w", ctx.Err())
	}
	var exit *exec.ExitError
	// assay-load exits with 3 if its own CPU was the limit, as is intended here.
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 3) {
		return nil, fmt.Errorf("%w: %s", err, &errs)
	}
	if s.metrics, err = t.parse(output.String()); err != nil {
		return nil, err
	}
	if s.requests == 0 {
		return nil, errors.New("no request succeeded")
	}
	usage := command.ProcessState.SysUsage().(*syscall.Rusage)
	s.cpu = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	s.switches, s.faults = usage.Nvcsw+usage.Nivcsw, usage.Minflt+usage.Majflt
	return s, nil
}

var errSkipped = errors.New("skipped")

// process is a running process.
type process struct {
	pid   int
	ended chan struct{} // closed when the process has exited
	peak  int64         // peak RSS in bytes, set by watchPeak
}

// watchPeak reads the peak RSS of a process until it exits. It uses the kernel's VmHWM.
// The peak that wait4 returns starts with the memory of this program, which the child is
// a copy of until it executes the tool.
func (p *process) watchPeak(every time.Duration) {
	p.watch(every, func(_, peak int64) { p.peak = peak })
}

// watch calls read with the RSS of a process and its peak so far, until it exits.
func (p *process) watch(every time.Duration, read func(resident, peak int64)) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-p.ended:
			return
		case <-ticker.C:
			proc, err := procfs.NewProc(p.pid)
			if err != nil {
				return
			}
			status, err := proc.NewStatus()
			if err != nil {
				return
			}
			if status.VmHWM > 0 { // a zombie has none
				read(int64(status.VmRSS), int64(status.VmHWM))
			}
		}
	}
}
