package agent

import (
	"strconv"
	"strings"
)

// allowedCPUs returns the CPUs that a process may run on, as in "0-3,8", or "" if unknown.
func (s *ProcSampler) allowedCPUs(pid string) string {
	status, err := s.file(pid, "status")
	if err != nil {
		return ""
	}
	return statusField(status, "Cpus_allowed_list")
}

// throttleFiles say for how long a container was throttled, with control groups of version 2 and 1.
var throttleFiles = []struct {
	path, key string
	perMicro  int64
}{
	{"cpu.stat", "throttled_usec", 1},
	{"cpu/cpu.stat", "throttled_time", 1000},
	{"cpu,cpuacct/cpu.stat", "throttled_time", 1000},
}

// throttled returns for how long the container of a process was throttled, in microseconds, or -1
// if that can't be read. It reads the container's control group below the root directory of the
// process, which only the same user and root can access.
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
