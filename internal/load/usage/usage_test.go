package usage

import (
	"slices"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

func TestReadingsGrow(t *testing.T) {
	first := Read()
	for began := time.Now(); time.Since(began) < 20*time.Millisecond; {
		_ = Read()
	}
	used := Read().Since(first)
	if used.UserCPU+used.SystemCPU < 1000 {
		t.Errorf("20 ms of work took %d µs of CPU", used.UserCPU+used.SystemCPU)
	}
	if used.MaxResident < 1<<20 {
		t.Errorf("a resident set of %d bytes", used.MaxResident)
	}
	if used.Throttled < -1 {
		t.Errorf("throttled for %d µs", used.Throttled)
	}
}

func sampled(throttled int64) Sample { return Sample{used: result.ClientUsage{Throttled: throttled}} }

func TestUnknownThrottlingStaysUnknown(t *testing.T) {
	if used := sampled(5).Since(sampled(-1)); used.Throttled != -1 {
		t.Errorf("throttled for %d µs", used.Throttled)
	}
	if used := sampled(5).Since(sampled(2)); used.Throttled != 3 {
		t.Errorf("throttled for %d µs", used.Throttled)
	}
}

func TestThrottledIn(t *testing.T) {
	for stat, want := range map[string]int64{
		"nr_periods 7\nnr_throttled 3\nthrottled_time 1234567\n":                              1234,
		"usage_usec 9\nuser_usec 5\nnr_periods 7\nnr_throttled 3\nthrottled_usec 1234\nx y\n": 1234,
		"usage_usec 9\nuser_usec 5\n":                                                         -1,
		"":                                                                                    -1,
	} {
		if got := throttledIn([]byte(stat)); got != want {
			t.Errorf("%q: %d, want %d", stat, got, want)
		}
	}
}

func TestStatFiles(t *testing.T) {
	const root = "/sys/fs/cgroup/"
	for membership, want := range map[string][]string{
		"0::/kubepods/pod1\n": {root + "kubepods/pod1/cpu.stat", root + "cpu.stat"},
		"3:memory:/a\n4:cpu,cpuacct:/a\n": {
			root + "cpu,cpuacct/a/cpu.stat", root + "cpu,cpuacct/cpu.stat", root + "cpu/a/cpu.stat", root + "cpu/cpu.stat",
		},
		"1:cpuset:/a\nnonsense": nil,
	} {
		if got := statFiles(membership); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", membership, got, want)
		}
	}
}

func TestAllowedCPUs(t *testing.T) {
	if AllowedCPUs() == "" {
		t.Error("no CPU is allowed")
	}
}
