package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/test/spy"
)

// agentUser is the user of Assay's images.
const agentUser = 65532

// spyOnAgent looks into the agent's process again and again until ctx is done, and then writes what
// it saw to standard output, where the report follows it in any case. As root it does so as the agent's user too.
func spyOnAgent(ctx context.Context) {
	if os.Getuid() == 0 {
		other := exec.CommandContext(ctx, "/proc/self/exe", "-spy-only")
		other.Stdout, other.Stderr = os.Stdout, os.Stderr
		other.Cancel = func() error { return other.Process.Signal(syscall.SIGTERM) }
		other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: agentUser, Gid: agentUser}}
		if err := other.Start(); err != nil {
			fmt.Fprintln(os.Stderr, "spy:", err)
		} else {
			defer func() { _ = other.Wait() }()
		}
	}
	looks, saw := 0, []string{}
	for ctx.Err() == nil {
		for _, pid := range agents() {
			looks++
			for _, what := range spy.Look(pid, session.TokenPath) {
				if !slices.Contains(saw, what) {
					saw = append(saw, what)
				}
			}
		}
		time.Sleep(time.Millisecond)
	}
	fmt.Printf("spy: user %d saw %q in %d looks\n", os.Getuid(), saw, looks)
}

// agents returns the process IDs of agents.
func agents() []int {
	directories, _ := filepath.Glob("/proc/[0-9]*")
	var found []int
	for _, directory := range directories {
		command, err := os.ReadFile(filepath.Join(directory, "cmdline"))
		if pid, _ := strconv.Atoi(filepath.Base(directory)); err == nil && strings.HasPrefix(string(command), "/agent\x00") {
			found = append(found, pid)
		}
	}
	return found
}
