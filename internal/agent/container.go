package agent

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// container holds what is known of one container of the target's pod.
type container struct {
	used      usage // the sum of the kernel's counters
	reported  usage // what samples report: it never decreases
	ofThreads threadUsage
	compiles  bool  // it has or had a thread that compiles Java code
	resident  int64 // the peak RSS in bytes
	first     int   // its process with the lowest PID, or 0 if it has none
}

// containers holds the containers that are sampled separately, by name. The server's always exists.
// It has the processes that are in none of the others.
type containers struct {
	byName map[string]*container
	// ids are the container IDs of the runtime.
	ids []identified
	in  map[process]*container // at the previous sample
}

type identified struct {
	id string
	in *container
}

func newContainers() containers {
	return containers{byName: map[string]*container{result.ServerContainer: {}}}
}

// set sets the containers: their names by the runtime's container IDs, without scheme. Earlier
// usage stays where it was counted. A container that is no longer named keeps its usage.
func (c *containers) set(names map[string]string) {
	c.ids = nil
	for _, id := range slices.Sorted(maps.Keys(names)) {
		name := names[id]
		if id == "" || name == "" {
			continue
		}
		if c.byName[name] == nil {
			c.byName[name] = &container{}
		}
		c.ids = append(c.ids, identified{id, c.byName[name]})
	}
}

// of returns the container of a process, given its control groups: the content of /proc/PID/cgroup.
// Runtimes put the container ID into the path of the group. The path is relative to the root of the
// hierarchy (as with version 1) or to the reader's own group (cgroup_namespaces(7)).
func (c *containers) of(cgroup []byte) *container {
	for _, known := range c.ids {
		if bytes.Contains(cgroup, []byte(known.id)) {
			return known.in
		}
	}
	return c.byName[result.ServerContainer]
}

// update records which processes are in which container. If a process has moved to another
// container, the peak RSS of the former one included the process, so it starts again.
func (c *containers) update(all []processSample) {
	for _, one := range c.byName {
		one.first = 0
	}
	now := make(map[process]*container, len(all))
	for i := range all {
		s := &all[i]
		now[s.process()] = s.in
		if before := c.in[s.process()]; before != nil && before != s.in {
			before.resident = 0
		}
		if s.in.first == 0 {
			s.in.first = s.PID
		}
	}
	c.in = now
}

func (c *containers) backends() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.byName)), func(name string) bool {
		return name == result.ServerContainer
	})
}

// allowedCPUs returns the CPUs that a process may run on, as in "0-3,8", or "" if unknown.
func (s *ProcSampler) allowedCPUs(pid string) string {
	status, err := s.file(pid, "status")
	if err != nil {
		return ""
	}
	return statusField(status, "Cpus_allowed_list")
}

// descriptorLimit returns how many open file descriptors a process may have (getrlimit(2),
// RLIMIT_NOFILE, the soft limit), or -1 if that can't be read.
func (s *ProcSampler) descriptorLimit(pid int) int64 {
	limits, err := s.file(strconv.Itoa(pid), "limits")
	if err != nil {
		return result.Unknown
	}
	_, after, _ := bytes.Cut(limits, []byte("Max open files"))
	fields := bytes.Fields(after[:min(len(after), 64)])
	if len(fields) == 0 {
		return result.Unknown
	}
	n, err := strconv.ParseInt(string(fields[0]), 10, 32)
	if err != nil {
		return result.Unknown // unlimited, which the kernel doesn't allow
	}
	return n
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
