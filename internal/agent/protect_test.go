package agent

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// fileVariable names a file that a child looks for in another's root directory.
const fileVariable = "ASSAY_TEST_FILE"

// TestServerCanNotLookIntoTheAgent starts an agent and another process of the same user without
// capabilities, as in a target's pod with podSecurity Restricted.
func TestServerCanNotLookIntoTheAgent(t *testing.T) {
	for name, test := range map[string]struct {
		mode os.FileMode // of its program
		does string
		seen bool
	}{
		"like any process":           {mode: 0o755, does: "wait", seen: true},
		"protected":                  {mode: 0o755, does: "protect"},
		"of the image, before it is": {mode: 0o111, does: "wait"},
	} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			if err := os.Chmod(filepath.Dir(directory), 0o755); err != nil { // the child is another user
				t.Fatal(err)
			}
			token := filepath.Join(directory, "token")
			put(t, token, "secret")
			agent, _ := startAs(t, copied(t, directory, "agent", test.mode), test.does, token)
			_, line := startAs(t, copied(t, directory, "spy", 0o755), fmt.Sprintf("spy %d", agent.Process.Pid), token)
			var saw []string
			if err := json.Unmarshal(line, &saw); err != nil {
				t.Fatal(err)
			}
			for _, what := range []string{"environ", "root", "descriptors"} {
				if slices.Contains(saw, what) != test.seen {
					t.Errorf("%s: seen is %t", what, !test.seen)
				}
			}
			if !test.seen && len(saw) > 0 {
				t.Errorf("seen: %q", saw)
			}
		})
	}
}

// copied copies the test's program.
func copied(t *testing.T, directory, name string, mode os.FileMode) string {
	t.Helper()
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(directory, name)
	if err := errors.Join(os.WriteFile(file, program, mode), os.Chmod(file, mode)); err != nil {
		t.Fatal(err)
	}
	return file
}

// startAs starts a child as a user without capabilities, and waits for its line.
func startAs(t *testing.T, program, what, file string) (*exec.Cmd, []byte) {
	t.Helper()
	c := exec.Command(program)
	c.Env = append(os.Environ(), childVariable+"="+what, fileVariable+"="+file)
	if os.Getuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	}
	stdin, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = stdin.Close(), c.Wait() })
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	return c, line
}
