package agent

import (
	"bytes"
	"strconv"
	"strings"
)

// allowedCPUs is the list of CPUs that a process may run on, as in "0-3,8";
// empty when it can't be read.
func (s *ProcSampler) allowedCPUs(pid string) string {
	status, err := s.file(pid, "status")
	if err != nil {
		return ""
	}
	_, after, _ := bytes.Cut(status, []byte("\nCpus_allowed_list:"))
	list, _, _ := bytes.Cut(after, []byte("\n"))
	return string(bytes.TrimSpace(list))
}

// throttleFiles say for how long the CPU limit held a container up, in control
// groups of version 2 and of version 1.
var throttleFiles = []struct {
	path, key string
	perMicro  int64
}{
	{"cpu.stat", "throttled_usec", 1},
	{"cpu/cpu.stat", "throttled_time", 1000},
	{"cpu,cpuacct/cpu.stat", "throttled_time", 1000},
}

// throttled reads for how long the CPU limit held a process's container up, in
// microseconds; -1 when that can't be read. A container sees its own control
// group below its root, into which the same user may look, and root.
func (s *ProcSampler) throttled(pid int) int64 {
	for _, file := range throttleFiles {
		text, err := s.file(strconv.Itoa(pid), "root/sys/fs/cgroup", file.path)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			value, ok := strings.CutPrefix(line, file.key+" ")
			if !ok {
				continue
			}
			if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil {
				return n / file.perMicro
			}
		}
	}
	return -1
}
