package agent

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Protect keeps the server's processes from looking into the agent's. They share its process
// namespace, and usually its user, so that they could read its token at /proc/PID/root and its memory.
// Of a process that isn't dumpable the kernel shows these only to a process with CAP_SYS_PTRACE, also
// to one of the same user (PR_SET_DUMPABLE(2const), ptrace(2)), which no Pod Security Standard but
// Privileged allows.
//
// The image has the program without read permission. Of such a program a process isn't dumpable from
// its first instruction on (execve(2)). late reports that the program is readable nevertheless, so
// that others could look into the process until now.
func Protect() (late bool, err error) {
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	}
	if err != nil {
		return false, fmt.Errorf("protect the agent's process: %w", err)
	}
	return dumpable == 1, nil // 2 is root's alone
}
