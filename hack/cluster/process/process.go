// Package process starts detached programs and finds them later. It identifies a process by its pid
// and start time, so that a reused pid is never mistaken for it.
package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// ID identifies a process until the machine reboots.
type ID struct {
	PID int
	// Start is the start time in clock ticks since boot, field 22 of /proc/PID/stat.
	Start uint64
}

// Find returns the ID of the running process with this pid. A zombie counts as exited.
func Find(pid int) (ID, error) {
	found, err := procfs.NewProc(pid)
	if err != nil {
		return ID{}, err
	}
	stat, err := found.Stat()
	if err == nil && (stat.State == "Z" || stat.State == "X") {
		err = os.ErrProcessDone
	}
	if err != nil {
		return ID{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return ID{PID: pid, Start: stat.Starttime}, nil
}

// Alive reports whether the process is running.
func (id ID) Alive() bool {
	found, err := Find(id.PID)
	return err == nil && found == id
}

// Stop sends SIGTERM, and SIGKILL if the process is running after the grace period.
// It returns when the process has exited.
func (id ID) Stop(grace time.Duration) error {
	if !id.Alive() {
		return nil
	}
	// A stopped process doesn't handle SIGTERM.
	_ = syscall.Kill(id.PID, syscall.SIGCONT)
	_ = syscall.Kill(id.PID, syscall.SIGTERM)
	if id.gone(grace) {
		return nil
	}
	_ = syscall.Kill(id.PID, syscall.SIGKILL)
	if id.gone(10 * time.Second) {
		return nil
	}
	return fmt.Errorf("process %d is running after SIGKILL", id.PID)
}

func (id ID) gone(within time.Duration) bool {
	for deadline := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		if !id.Alive() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

// Write writes the ID to a file.
func (id ID) Write(file string) error {
	next := file + ".new"
	if err := os.WriteFile(next, fmt.Appendf(nil, "%d %d\n", id.PID, id.Start), 0o644); err != nil {
		return err
	}
	return os.Rename(next, file)
}

// Read reads an ID from a file. The process may have exited. The error is
// os.ErrNotExist if there is no such file.
func Read(file string) (ID, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return ID{}, err
	}
	var id ID
	if _, err := fmt.Sscan(string(content), &id.PID, &id.Start); err != nil {
		return ID{}, fmt.Errorf("pid file %s: %w", file, err)
	}
	return id, nil
}

// Start starts a command in a new session, so that it outlives the caller and its
// terminal. It appends the command's output to the log file and writes its ID to
// the pid file. The returned channel is closed when the command exits.
func Start(cmd *exec.Cmd, logFile, pidFile string) (<-chan struct{}, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	id, err := Find(cmd.Process.Pid)
	if err != nil {
		return ended, fmt.Errorf("%s exited at once, see %s", filepath.Base(cmd.Path), logFile)
	}
	return ended, id.Write(pidFile)
}
