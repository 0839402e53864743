package native

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReservedCPUs(t *testing.T) {
	tests := map[string]struct {
		cpus          []int
		first, second string
	}{
		"two CPUs":                {cpus: []int{0, 1}, second: "1"},
		"three":                   {cpus: []int{0, 1, 2}, second: "1,2"},
		"four":                    {cpus: []int{0, 1, 2, 3}, first: "0,1", second: "2,3"},
		"four on two cores":       {cpus: []int{0, 2, 1, 3}, first: "0,2", second: "1,3"},
		"some that are not there": {cpus: []int{0, 3, 5, 6, 7}, first: "0,3", second: "5,6,7"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := reservedCPUs(false, test.cpus); got != test.first {
				t.Errorf("first node: %q, want %q", got, test.first)
			}
			if got := reservedCPUs(true, test.cpus); got != test.second {
				t.Errorf("second node: %q, want %q", got, test.second)
			}
		})
	}
}

// The CPUs of a core are next to each other, so that the nodes share none.
func TestReadCPUs(t *testing.T) {
	dir := t.TempDir()
	for cpu, of := range map[int][2]string{0: {"0", "0"}, 1: {"0", "1"}, 2: {"1", "0"}, 3: {"1", "1"}, 4: {"0", "0"}, 5: {"0", "1"}, 10: {"1", "0"}, 11: {"1", "1"}} {
		topology := filepath.Join(dir, fmt.Sprint("cpu", cpu), "topology")
		if err := os.MkdirAll(topology, 0o755); err != nil {
			t.Fatal(err)
		}
		for i, file := range []string{"physical_package_id", "core_id"} {
			if err := os.WriteFile(filepath.Join(topology, file), []byte(of[i]+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	// An offline CPU has no topology.
	for _, other := range []string{"cpu6", "cpufreq", "cpuidle"} {
		if err := os.Mkdir(filepath.Join(dir, other), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readCPUs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{0, 4, 1, 5, 2, 10, 3, 11}, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadThisMachinesCPUs(t *testing.T) {
	if cpus, err := readCPUs("/sys/devices/system/cpu"); err != nil || len(cpus) == 0 {
		t.Errorf("%v, %v", cpus, err)
	}
}
