package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// RemoveCgroup kills the processes in a cgroup and below, and removes it.
func RemoveCgroup(root string) error {
	deadline := time.Now().Add(15 * time.Second)
	for {
		if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		var dirs []string
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() {
				dirs = append(dirs, path)
			}
			return nil
		})
		if err != nil {
			return err
		}
		left := 0
		for _, dir := range slices.Backward(dirs) {
			// A frozen process handles SIGKILL only when it is thawed.
			_ = os.WriteFile(filepath.Join(dir, "freezer.state"), []byte("THAWED"), 0o644)
			for _, pid := range Processes(dir) {
				if pid > 1 && pid != os.Getpid() {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
			if err := syscall.Rmdir(dir); err != nil {
				left++
			}
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("cgroup %s is still in use", root)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Processes returns the pids of the processes in a cgroup, or none if it can't be read.
func Processes(dir string) (pids []int) {
	content, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	for _, line := range strings.Fields(string(content)) {
		if pid, err := strconv.Atoi(line); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
