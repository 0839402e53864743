package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The program runs as the test's: a copy of it executes a command, and says what it can't do.
func TestMain(m *testing.M) {
	if os.Getenv("PIN_TEST") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestCopyExecutes(t *testing.T) {
	t.Setenv("PIN_TEST", "yes")
	file := filepath.Join(t.TempDir(), "pin")
	defer syscall.Umask(syscall.Umask(0o077))
	if output, err := exec.Command("/proc/self/exe", "copy", file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o055 != 0o055 {
		t.Fatalf("others can't execute the copy: %v, %v", info, err)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"1", "echo", "started"}, "started\n"},
		{[]string{"1", "no-such-program"}, "find the program"},
		{[]string{"0", "echo"}, `number of CPUs: must be at least 1: "0"`},
		{[]string{"1"}, "want at least 2 arguments"},
	} {
		output, _ := exec.Command(file, test.args...).CombinedOutput()
		if !strings.Contains(string(output), test.want) {
			t.Errorf("%s: %q, want %q", test.args, output, test.want)
		}
	}
}
