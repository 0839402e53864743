package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// grace is how much longer than its load a tool may run.
const grace = 10 * time.Second

// sample is one run of one tool.
type sample struct {
	figures
	// cpu is the user and system time of the process and its children, peak the
	// largest resident set in bytes.
	cpu  time.Duration
	peak int64
}

// perRequest is the CPU time of a request in µs.
func (s *sample) perRequest() float64 { return s.cpu.Seconds() * 1e6 / float64(s.requests) }

// ownPerRequest is the same without the tool's start.
func (s *sample) ownPerRequest() float64 { return s.ownCPU.Seconds() * 1e6 / float64(s.requests) }

func (s *sample) rate() float64 { return float64(s.requests) / s.seconds }

// measure runs a tool on one CPU, and watch beside it unless that is nil. An error of the kind errSkipped says that the
// tool can't do the load.
func measure(ctx context.Context, t *tool, l *load, cpu int, watch func(*process)) (*sample, error) {
	args, err := t.arguments(l)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSkipped, err)
	}
	if _, err := exec.LookPath(t.program); err != nil {
		return nil, fmt.Errorf("%w: it isn't there; make bench-deps installs it", errSkipped)
	}
	ctx, cancel := context.WithTimeout(ctx, l.duration+grace+t.grace)
	defer cancel()
	command := pinned(ctx, cpu, t.program, args...)
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
		return nil, fmt.Errorf("it didn't end in time: %w", ctx.Err())
	}
	var exit *exec.ExitError
	// assay-load exits with 3 where its own CPU was the limit, as it's meant to be.
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 3) {
		return nil, fmt.Errorf("%w: %s", err, &errs)
	}
	if s.figures, err = t.parse(output.String()); err != nil {
		return nil, err
	}
	if s.requests == 0 {
		return nil, errors.New("no request succeeded")
	}
	usage := command.ProcessState.SysUsage().(*syscall.Rusage)
	s.cpu = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	return s, nil
}

var errSkipped = errors.New("skipped")

// process is one that runs.
type process struct {
	pid   int
	ended chan struct{} // closed when it has
	peak  int64         // the largest resident set in bytes, once it was watched
}

// watchPeak reads a process's memory until it has ended. It is the kernel's own
// peak that is read: wait4's would begin with this program's memory, of which a
// child is a copy until it executes another program.
func (p *process) watchPeak(every time.Duration) {
	p.watch(every, func(_, peak int64) { p.peak = peak })
}

// watch calls read with a process's resident set and its largest so far, until it
// has ended.
func (p *process) watch(every time.Duration, read func(resident, peak int64)) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-p.ended:
			return
		case <-ticker.C:
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
			if err != nil {
				return
			}
			if peak := memory(string(status), "VmHWM:"); peak > 0 {
				read(memory(string(status), "VmRSS:"), peak)
			}
		}
	}
}

// memory is a figure of /proc/PID/status in bytes; 0 when it isn't there.
func memory(status, name string) int64 {
	for line := range strings.Lines(status) {
		rest, is := strings.CutPrefix(line, name)
		if !is {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
		if err == nil {
			return kib << 10
		}
	}
	return 0
}
