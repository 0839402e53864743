package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"k8s.io/utils/cpuset"
)

// withThreads makes a sys file system with the given sibling lists by CPU.
func withThreads(t *testing.T, siblings map[int]string) string {
	t.Helper()
	sys := t.TempDir()
	for cpu, list := range siblings {
		directory := filepath.Join(sys, "devices/system/cpu", "cpu"+strconv.Itoa(cpu), "topology")
		if err := os.MkdirAll(directory, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(directory, "thread_siblings_list"), []byte(list+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return sys
}

func TestCoresOf(t *testing.T) {
	const none = "/nonexistent"
	two := withThreads(t, map[int]string{0: "0,4", 1: "1,5", 2: "2,6", 3: "3,7", 4: "0,4", 5: "1,5", 6: "2,6", 7: "3,7"})
	next := withThreads(t, map[int]string{0: "0-1", 1: "0-1", 2: "2-3", 3: "2-3"})
	one := withThreads(t, map[int]string{0: "0", 1: "1"})
	broken := withThreads(t, map[int]string{0: "?", 1: ""})
	for _, test := range []struct{ sys, cpus, want string }{
		{two, "1", "1,5"}, {two, "1-2", "1-2,5-6"}, {two, "1,5", "1,5"}, {two, "0-7", "0-7"},
		{next, "1", "0-1"}, {next, "0,2", "0-3"},
		{one, "0-1", "0-1"}, {one, "1", "1"},
		{one, "1-3", "1"}, // the others are offline
		{two, "", ""}, {two, "a", ""}, {none, "0", ""}, {broken, "0-1", ""},
	} {
		of := newTopology(test.sys)
		if got := of.coresOf(test.cpus); got != test.want {
			t.Errorf("CPUs %q: cores with %q, want %q", test.cpus, got, test.want)
		}
	}
}

// TestCoresAreReadOnce checks that samples don't read the topology again, and that what is kept is bounded.
func TestCoresAreReadOnce(t *testing.T) {
	sys := withThreads(t, map[int]string{1: "1,5"})
	of := newTopology(sys)
	of.coresOf("1")
	if err := os.RemoveAll(sys); err != nil {
		t.Fatal(err)
	}
	if got := of.coresOf("1"); got != "1,5" {
		t.Errorf("cores with %q", got)
	}
	for cpu := range 100 {
		of.coresOf(fmt.Sprint(cpu))
	}
	if len(of.cores) > maxTopologies {
		t.Errorf("%d lists are kept", len(of.cores))
	}
}

// TestCoresOfThisMachine checks that the machine's cores have its online CPUs, each in one core.
func TestCoresOfThisMachine(t *testing.T) {
	text, err := os.ReadFile("/sys/devices/system/cpu/online")
	if err != nil {
		t.Fatal(err)
	}
	online, err := cpuset.Parse(string(text[:len(text)-1]))
	if err != nil {
		t.Fatal(err)
	}
	of := newTopology("/sys")
	if got := of.coresOf(online.String()); got != online.String() {
		t.Errorf("the cores of CPUs %s have CPUs %s", online, got)
	}
	for _, cpu := range online.List() {
		core, err := cpuset.Parse(of.coresOf(strconv.Itoa(cpu)))
		if err != nil || !core.Contains(cpu) {
			t.Errorf("the core of CPU %d has CPUs %s, %v", cpu, core, err)
		}
		for _, sibling := range core.List() {
			if got := of.coresOf(strconv.Itoa(sibling)); got != core.String() {
				t.Errorf("the core of CPU %d has CPUs %s, that of its sibling %d has %s", cpu, core, sibling, got)
			}
		}
	}
}
