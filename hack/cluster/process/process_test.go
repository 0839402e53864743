package process

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestFindItself(t *testing.T) {
	self, err := Find(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if self.PID != os.Getpid() || self.Start == 0 {
		t.Errorf("found %+v, want pid %d and a start time", self, os.Getpid())
	}
	if again, err := Find(os.Getpid()); err != nil || again != self {
		t.Errorf("found %+v, %v the second time, %+v before", again, err, self)
	}
}

func TestWriteAndRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	if _, err := Read(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a file: %v, want %v", err, os.ErrNotExist)
	}
	want := ID{PID: 42, Start: 1<<64 - 1}
	if err := want.Write(file); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(file); err != nil || got != want {
		t.Errorf("read %+v, %v; wrote %+v", got, err, want)
	}
	for _, content := range []string{"", "42", "forty-two 1", "42 -1"} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(file); err == nil {
			t.Errorf("read %+v from %q, want an error", got, content)
		}
	}
}

// startSleep starts a program that runs until it is stopped. After the channel is
// closed, the command's state may be read.
func startSleep(t *testing.T) (ID, *exec.Cmd, <-chan struct{}) {
	t.Helper()
	dir := t.TempDir()
	pidFile := filepath.Join(dir, "pid")
	cmd := exec.Command("sleep", "60")
	ended, err := Start(cmd, filepath.Join(dir, "log"), pidFile)
	if err != nil {
		t.Fatal(err)
	}
	id, err := Read(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = id.Stop(0) })
	return id, cmd, ended
}

func endedBy(cmd *exec.Cmd) syscall.Signal {
	return cmd.ProcessState.Sys().(syscall.WaitStatus).Signal()
}

func TestStop(t *testing.T) {
	id, cmd, ended := startSleep(t)
	if !id.Alive() {
		t.Fatal("not alive after the start")
	}
	if err := id.Stop(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	if id.Alive() {
		t.Error("alive after Stop")
	}
	<-ended
	if got := endedBy(cmd); got != syscall.SIGTERM {
		t.Errorf("ended by signal %v, want %v", got, syscall.SIGTERM)
	}
	if err := id.Stop(0); err != nil {
		t.Errorf("stopped twice: %v", err)
	}
}

// A process that reuses the pid must not be stopped.
func TestStopLeavesOthersAlone(t *testing.T) {
	id, cmd, ended := startSleep(t)
	earlier := ID{PID: id.PID, Start: id.Start - 1}
	if earlier.Alive() {
		t.Error("an earlier process of the same pid counts as alive")
	}
	if err := earlier.Stop(0); err != nil {
		t.Fatal(err)
	}
	// A process exits with the first signal that kills it. If Stop had sent one,
	// it would be another.
	if err := syscall.Kill(id.PID, syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	<-ended
	if got := endedBy(cmd); got != syscall.SIGUSR1 {
		t.Errorf("Stop sent signal %v to a process that it wasn't told to stop", got)
	}
}

func TestStartOfNothing(t *testing.T) {
	dir := t.TempDir()
	pidFile := filepath.Join(dir, "pid")
	if _, err := Start(exec.Command(filepath.Join(dir, "no-such-program")), filepath.Join(dir, "log"), pidFile); err == nil {
		t.Error("no error for a program that isn't there")
	}
	if _, err := os.Stat(pidFile); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("pid file: %v, want none", err)
	}
}
