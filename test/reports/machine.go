package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// machine returns a sentence about this machine, the time and the commit of the working directory. load is the
// load average before.
func machine(at time.Time, load string) string {
	return fmt.Sprintf("Made on %s on a machine with %d CPUs (%s) and %s of memory, Linux %s, %s, Assay %s. Load average before: %s.",
		at.UTC().Format("2006-01-02 15:04 UTC"), runtime.NumCPU(), find("/proc/cpuinfo", `model name\s*: (.*)`),
		memory(), strings.TrimSpace(content("/proc/sys/kernel/osrelease")), find("/etc/os-release", `PRETTY_NAME="?([^"\n]*)`), commit(), load)
}

func memory() string {
	var kB int64
	if _, err := fmt.Sscan(find("/proc/meminfo", `MemTotal:\s*(\d+)`), &kB); err != nil {
		return "an unknown amount"
	}
	return fmt.Sprintf("%.0f GiB", float64(kB)/(1<<20))
}

func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "of an unknown commit"
	}
	return strings.TrimSpace(string(out))
}

func content(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown unknown unknown"
	}
	return string(text)
}

// find returns what the group of a pattern matches first in a file, or "unknown".
func find(path, pattern string) string {
	m := regexp.MustCompile(pattern).FindStringSubmatch(content(path))
	if m == nil {
		return "unknown"
	}
	return strings.TrimSpace(m[1])
}
