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

// TestSkip checks that what is skipped is missing from all that a span of time has.
func TestSkip(t *testing.T) {
	first := ReadLoops()
	from := burn(func() {})
	to := burn(func() { AddSchedulingLatency(time.Hour) })
	last := ReadLoops()
	all, skipped, rest := last.Since(first), to.Since(from), last.Since(first.Skip(from, to))
	if rest.UserCPU+skipped.UserCPU != all.UserCPU || rest.SystemCPU+skipped.SystemCPU != all.SystemCPU || skipped.CPU() == 0 {
		t.Errorf("of %+v, %+v is left without %+v", all, rest, skipped)
	}
	if hour := time.Hour.Microseconds(); all.SchedulingLatencyP99 < hour || rest.SchedulingLatencyP99 >= hour {
		t.Errorf("the scheduling latency is %d µs, without that of an hour %d µs", all.SchedulingLatencyP99, rest.SchedulingLatencyP99)
	}
	around, without := last.NodeSince(first), last.NodeSince(first.Skip(from, to))
	if around.CPUTime-to.NodeSince(from).CPUTime != without.CPUTime || without.CPUTime < 0 {
		t.Errorf("around all %+v, without what was skipped %+v", around, without)
	}
	if again := last.Since(first); again != all {
		t.Errorf("the first sample changed: %+v, before %+v", again, all)
	}
}

// burn uses the CPU, calls then and returns a sample.
func burn(then func()) Sample {
	began := ReadLoops()
	for {
		now := ReadLoops()
		if used := now.Since(began); used.CPU() >= 5000 {
			return now
		}
		then()
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
