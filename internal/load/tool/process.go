package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"github.com/assay-dev/assay/internal/load/usage"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
)

const (
	// maxOutput bounds what is kept of a tool's output. None prints more about a load.
	maxOutput = 256 << 10
	// maxMessage bounds what errors quote of it.
	maxMessage = 500
)

// process is a tool with its arguments. No shell reads them.
type process struct {
	path, program string
	arguments     []string
	home          string
}

// ran is the outcome of a process.
type ran struct {
	output []byte
	// started is when the process was started.
	started time.Time
	// usage is the usage of the process and, of its time, of this one.
	usage result.ClientUsage
}

// find returns the path of a program.
func find(program, path string) (string, error) {
	for _, directory := range filepath.SplitList(path) {
		file := filepath.Join(directory, program)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("the image has no program %s on its PATH (%s)", program, path)
}

// run runs the process to its end. It fails if the process does, is ended by a signal, or prints too much.
func (p *process) run(ctx context.Context) (*ran, error) {
	file, err := find(p.program, p.path)
	if err != nil {
		return nil, err
	}
	runtime.LockOSThread() // Pdeathsig kills the child when the thread that started it exits
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	command := exec.CommandContext(ctx, file, p.arguments...)
	command.Dir = p.home
	command.Env = []string{"PATH=" + p.path, "HOME=" + p.home, "LC_ALL=C"}
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	command.WaitDelay = time.Second // for children of its own that keep its output open
	tooLong := errors.New("it printed too much")
	output, messages := &bounded{limit: maxOutput, exceeded: func() { cancel(tooLong) }}, &bounded{limit: maxMessage}
	command.Stdout, command.Stderr = output, messages
	before := usage.Read()
	if err := command.Start(); err != nil {
		return nil, err
	}
	r := &ran{started: time.Now()}
	peak := watchPeak(command.Process.Pid)
	err = command.Wait()
	resident := peak()
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, printable.Clipped(strings.TrimSpace(messages.kept.String()), maxMessage))
	}
	r.output = output.kept.Bytes()
	r.usage = usage.Read().Since(before)
	// Only the tool generates load: this process's runtime and memory say nothing about it.
	r.usage.SchedulingLatencyP99, r.usage.GCPause, r.usage.GCPauseMax, r.usage.MaxResident = 0, 0, 0, resident
	r.usage.UserCPU += command.ProcessState.UserTime().Microseconds()
	r.usage.SystemCPU += command.ProcessState.SystemTime().Microseconds()
	return r, nil
}

// peakInterval is the interval at which watchPeak looks.
const peakInterval = 100 * time.Millisecond

// watchPeak watches the peak resident size of a process, in bytes, until the function that it returns is called, which
// returns it. What getrusage(2) says of a child that has ended is of no use: it includes the size of this process, whose
// memory the child had until it executed its program.
func watchPeak(pid int) (end func() int64) {
	done, peak := make(chan struct{}), make(chan int64)
	go func() {
		ticker := time.NewTicker(peakInterval)
		defer ticker.Stop()
		largest := int64(0)
		for {
			if p, err := procfs.NewProc(pid); err == nil {
				if status, err := p.NewStatus(); err == nil { // otherwise it has just ended
					largest = max(largest, int64(min(status.VmHWM, math.MaxInt64)))
				}
			}
			select {
			case <-ticker.C:
			case <-done:
				peak <- largest
				return
			}
		}
	}()
	return func() int64 {
		close(done)
		return <-peak
	}
}

// bounded keeps the first bytes that are written to it.
type bounded struct {
	kept  bytes.Buffer // not embedded: its ReadFrom has no bound
	limit int
	// exceeded is called when more is written, if it is set.
	exceeded func()
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if room := b.limit - b.kept.Len(); len(p) > room {
		b.kept.Write(p[:room])
		if b.exceeded != nil {
			b.exceeded()
		}
		return len(p), nil
	}
	return b.kept.Write(p)
}
