package usage

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
)

// throttled returns the time for which the process's cgroup has been throttled, in
// microseconds; -1 if it cannot be read.
func throttled() int64 {
	file := throttlingFile()
	if file == "" {
		return -1
	}
	stat, err := os.ReadFile(file)
	if err != nil {
		return -1
	}
	return throttledIn(stat)
}

// throttlingFile returns the first cpu.stat file with the throttled time, or an empty
// string if there is none.
var throttlingFile = sync.OnceValue(func() string {
	membership, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for _, file := range statFiles(string(membership)) {
		if stat, err := os.ReadFile(file); err == nil && throttledIn(stat) >= 0 {
			return file
		}
	}
	return ""
})

// statFiles returns the paths at which cpu.stat may be, given the contents of
// /proc/self/cgroup: the path of the cgroup if the full hierarchy is mounted, the
// root if only the cgroup is, as in most containers.
func statFiles(membership string) []string {
	const root = "/sys/fs/cgroup"
	var files []string
	for line := range strings.Lines(membership) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		switch {
		case fields[0] == "0" && fields[1] == "":
			files = append(files, path.Join(root, fields[2], "cpu.stat"), path.Join(root, "cpu.stat"))
		case strings.Contains(","+fields[1]+",", ",cpu,"):
			for _, mount := range []string{fields[1], "cpu"} {
				files = append(files, path.Join(root, mount, fields[2], "cpu.stat"), path.Join(root, mount, "cpu.stat"))
			}
		}
	}
	return files
}

// throttledIn returns the throttled time of a cpu.stat file in microseconds, or -1 if it has none:
// throttled_usec in cgroup v2 (microseconds), throttled_time in v1 (nanoseconds).
func throttledIn(stat []byte) int64 {
	for line := range bytes.Lines(stat) {
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			continue
		}
		switch name {
		case "throttled_usec":
			return n
		case "throttled_time":
			return n / 1000
		}
	}
	return -1
}

// AllowedCPUs returns the CPUs that the process may run on, as in "0-3,8"; empty if
// they cannot be read.
func AllowedCPUs() string {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(status) {
		if list, ok := strings.CutPrefix(string(line), "Cpus_allowed_list:"); ok {
			return strings.TrimSpace(list)
		}
	}
	return ""
}
