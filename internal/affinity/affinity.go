// Package affinity lets a program run on some of the CPUs that it may use. It needs no privilege: a process may always narrow its own
// CPUs, and what it executes keeps them.
package affinity

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// Highest returns the n CPUs with the highest numbers of a set, and the others. Both are the set itself if it has no more than n.
func Highest(all unix.CPUSet, n int) (highest, others unix.CPUSet) {
	if all.Count() <= n {
		return all, all
	}
	others = all
	for cpu := len(all)*64 - 1; cpu >= 0 && highest.Count() < n; cpu-- {
		if all.IsSet(cpu) {
			highest.Set(cpu)
			others.Clear(cpu)
		}
	}
	return highest, others
}

// ExecOnHighest replaces this process by a program, on the n of its CPUs with the highest numbers. It returns only with an error.
func ExecOnHighest(n int, command []string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return fmt.Errorf("find the program: %w", err)
	}
	return execOn(func(all unix.CPUSet) unix.CPUSet { highest, _ := Highest(all, n); return highest }, path, command, os.Environ())
}

// LeaveHighest begins this process again without the n of its CPUs with the highest numbers, and with the given environment. It
// returns only with an error.
func LeaveHighest(n int, environment []string) error {
	return execOn(func(all unix.CPUSet) unix.CPUSet { _, others := Highest(all, n); return others }, "/proc/self/exe", os.Args, environment)
}

func execOn(choose func(unix.CPUSet) unix.CPUSet, path string, command, environment []string) error {
	runtime.LockOSThread() // the CPUs are those of a thread
	defer runtime.UnlockOSThread()
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return fmt.Errorf("read the CPUs: %w", err)
	}
	chosen := choose(all)
	if err := unix.SchedSetaffinity(0, &chosen); err != nil {
		return fmt.Errorf("set the CPUs: %w", err)
	}
	if err := unix.Exec(path, command, environment); err != nil {
		return fmt.Errorf("execute %s: %w", path, err)
	}
	return nil
}
