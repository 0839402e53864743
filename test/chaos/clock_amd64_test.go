package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestSetClock sets the clock of another process, whose monotonic clock must go on.
func TestSetClock(t *testing.T) {
	if os.Getenv("CHAOS_CLOCK") != "" {
		began := time.Now()
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			now := time.Now()
			fmt.Println("clock", now.Unix(), int(now.Sub(began).Hours()))
		}
		os.Exit(0)
	}
	other := exec.Command(os.Args[0], "-test.run=TestSetClock")
	other.Env = append(os.Environ(), "CHAOS_CLOCK=1")
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = other.Wait() }()
	lines := bufio.NewScanner(out)
	ask := func() (wall, elapsed int64) {
		t.Helper()
		if _, err := fmt.Fprintln(in); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			if _, err := fmt.Sscanf(strings.TrimSpace(lines.Text()), "clock %d %d", &wall, &elapsed); err == nil {
				return wall, elapsed
			}
		}
		t.Fatal("the process has ended")
		return 0, 0
	}
	ask()
	for _, seconds := range []int32{7200, -7200, 0} {
		if err := setClock(other.Process.Pid, seconds); err != nil {
			t.Fatal(err)
		}
		wall, elapsed := ask()
		if off := wall - time.Now().Unix() - int64(seconds); off < -60 || off > 60 || elapsed != 0 {
			t.Errorf("set by %ds: wrong by %ds, %d hours have passed", seconds, off, elapsed)
		}
	}
}
