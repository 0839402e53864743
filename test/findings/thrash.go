package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/harness"
)

const (
	// thrashedBytes is the length of the file that a thrasher reads, and thrashLimit the memory that its control group
	// may use: it evicts what it reads next.
	thrashedBytes = 256 << 20
	thrashLimit   = 32 << 20
	thrashGroup   = "assay-findings"
	// killLimit bounds the time until processes that were killed are gone.
	killLimit = 5 * time.Second
)

// thrasher is a process on the CPU of client 0 that reads a file over and over, with too little memory to keep it.
type thrasher struct {
	group, file string
	process     *exec.Cmd
}

// prepare creates the file and the control group, which takes a few seconds.
func (h *thrasher) prepare() (err error) {
	if h.file, err = uncachedFile(thrashedBytes); err != nil {
		return err
	}
	h.group, err = limitedGroup("/sys/fs/cgroup", thrashLimit)
	return err
}

// disturb reads from the start of a run's client on.
func (h *thrasher) disturb(ctx context.Context, c *harness.Cluster, run *v1alpha1.BenchmarkRun) error {
	pid, err := process(ctx, c, run, clientLabels(0), "client")
	if err != nil {
		return err
	}
	cpu, err := firstCPU(pid)
	if err != nil {
		return err
	}
	h.process = exec.Command("sh", "-c", `echo $$ >"$1/cgroup.procs" && while cat "$2" >/dev/null; do :; done`, "sh", h.group, h.file)
	h.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return startOn(cpu, h.process)
}

// stop ends the process and removes its file and its control group, if there are any.
func (h *thrasher) stop() error {
	var failed error
	if h.process != nil && h.process.Process != nil {
		failed = syscall.Kill(-h.process.Process.Pid, syscall.SIGKILL)
		_ = h.process.Wait() // it was killed
	}
	if h.file != "" {
		failed = errors.Join(failed, os.Remove(h.file))
	}
	if h.group == "" {
		return failed
	}
	// The group can be removed when the kernel is done with the processes that were killed.
	return errors.Join(failed, harness.Await(context.Background(), killLimit, func(context.Context) error { return os.Remove(h.group) }))
}

// uncachedFile creates a file of which the kernel has nothing in memory, and returns its path.
func uncachedFile(length int) (string, error) {
	file, err := os.CreateTemp("", "assay-findings-")
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was synced
	block := bytes.Repeat([]byte("assay"), 1<<20/5)
	for written := 0; written < length && err == nil; written += len(block) {
		_, err = file.Write(block)
	}
	if err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("write %s: %w", file.Name(), err), os.Remove(file.Name()))
	}
	return file.Name(), nil
}

// limitedGroup creates a control group with a memory limit below a mount of version 1 or 2, and returns its path.
func limitedGroup(mount string, limit int) (string, error) {
	group, file := filepath.Join(mount, thrashGroup), "memory.max"
	if _, err := os.Stat(filepath.Join(mount, "memory")); err == nil {
		group, file = filepath.Join(mount, "memory", thrashGroup), "memory.limit_in_bytes"
	}
	if err := os.Mkdir(group, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(group, file), []byte(strconv.Itoa(limit)), 0o644); err != nil {
		return "", errors.Join(fmt.Errorf("limit the memory of %s: %w", group, err), os.Remove(group))
	}
	return group, nil
}

// startOn starts a process that may run on one CPU only.
func startOn(cpu int, process *exec.Cmd) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocks it: the thread ends with its affinity, which the process inherits
		var set unix.CPUSet
		set.Set(cpu)
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			started <- fmt.Errorf("run on CPU %d: %w", cpu, err)
			return
		}
		started <- process.Start()
	}()
	return <-started
}
