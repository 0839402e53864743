package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

func sampler(t testing.TB, directory string) *ProcSampler {
	t.Helper()
	s, err := NewProcSampler(directory, t.TempDir(), filepath.Join(directory, "gc"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func readAll(t testing.TB, s *ProcSampler) *result.ServerSample {
	t.Helper()
	s.threads.cost = 0 // or a machine that is busy with something else would have samples of threads skipped
	r, err := s.Sample(func() int64 { return 42 })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// read samples a target with one container.
func read(t testing.TB, s *ProcSampler) *result.ServerUsage {
	t.Helper()
	r := readAll(t, s)
	if len(r.Backends) > 0 {
		t.Fatalf("backends %+v", r.Backends)
	}
	return &r.Server
}

// TestSampleMatchesRusage compares a sample with the kernel's resource usage of the same
// processes shortly before, and after they exited.
func TestSampleMatchesRusage(t *testing.T) {
	directory := podProc(t)
	busy, memory := start(t, "busy 300"), start(t, "memory 64")
	show(t, directory, busy.Process.Pid)
	show(t, directory, memory.Process.Pid)
	s := sampler(t, directory)
	u := read(t, s)
	first, second := busy.end(t), memory.end(t)

	between := func(what string, got, least, most, slack int64) {
		t.Helper()
		if got < least-slack || got > most+slack {
			t.Errorf("%s: %d, want from %d to %d ± %d", what, got, least, most, slack)
		}
	}
	micros := func(a, b syscall.Timeval) int64 { return (a.Nano() + b.Nano()) / 1000 }
	between("user CPU", u.UserCPU, micros(busy.done.Utime, memory.done.Utime), micros(first.Utime, second.Utime), 2*tick)
	between("system CPU", u.SystemCPU, micros(busy.done.Stime, memory.done.Stime), micros(first.Stime, second.Stime), 2*tick)
	between("minor faults", u.MinorFaults, busy.done.Minflt+memory.done.Minflt, first.Minflt+second.Minflt, 0)
	between("major faults", u.MajorFaults, busy.done.Majflt+memory.done.Majflt, first.Majflt+second.Majflt, 0)
	between("voluntary switches", u.VoluntarySwitches, busy.done.Nvcsw+memory.done.Nvcsw, first.Nvcsw+second.Nvcsw, 0)
	between("involuntary switches", u.InvoluntarySwitches, busy.done.Nivcsw+memory.done.Nivcsw, first.Nivcsw+second.Nivcsw, 0)
	between("largest resident set", u.MaxResident, 64<<20, (first.Maxrss+second.Maxrss)<<10, 0)
	if u.Resident < 64<<20 || u.Resident > u.MaxResident {
		t.Errorf("resident set %d of at most %d", u.Resident, u.MaxResident)
	}
	if u.At != 42 || u.BytesReceived != 330 || u.BytesSent != 5500 || u.AgentCPUs != "0,2-3" {
		t.Errorf("%+v", u)
	}
	if want := allowedNow(t); u.CPUs != want {
		t.Errorf("CPUs %q, want %q", u.CPUs, want)
	}

	after := read(t, s)
	if after.UserCPU < u.UserCPU || after.SystemCPU < u.SystemCPU || after.VoluntarySwitches < u.VoluntarySwitches ||
		after.MinorFaults < u.MinorFaults || after.MaxResident != u.MaxResident {
		t.Errorf("%+v became %+v when the processes ended", u, after)
	}
	if after.Resident != 0 || after.Threads != 0 || after.CPUs != "" || after.Throttled != -1 {
		t.Errorf("without processes: %+v", after)
	}
}

// TestSampleOfCompilers samples a process with a thread named like one of HotSpot's compilers, and when it has ended.
func TestSampleOfCompilers(t *testing.T) {
	directory := podProc(t)
	busy := start(t, "busy 50")
	show(t, directory, busy.Process.Pid)
	s := sampler(t, directory)
	if u := read(t, s); u.CompilerCPU != result.Unknown {
		t.Errorf("%d µs without a compiler", u.CompilerCPU)
	}
	java := start(t, "compile 200")
	show(t, directory, java.Process.Pid)
	u := read(t, s)
	if most := u.CPU(); u.CompilerCPU < 200_000-2*tick || u.CompilerCPU > most+2*tick {
		t.Errorf("%d µs in the compiler, want from 200,000 to %d", u.CompilerCPU, most)
	}
	java.end(t)
	busy.end(t)
	if after := read(t, s); after.CompilerCPU != u.CompilerCPU {
		t.Errorf("%d µs in the compiler became %d when the process ended", u.CompilerCPU, after.CompilerCPU)
	}
}

func allowedNow(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "Cpus_allowed_list:")
	list, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(list)
}

func TestReadCountsThreadsAndFiles(t *testing.T) {
	directory := podProc(t)
	idle, many, files := start(t, "idle"), start(t, "threads 50"), start(t, "files 30")
	show(t, directory, idle.Process.Pid)
	s := sampler(t, directory)
	base := read(t, s)
	show(t, directory, many.Process.Pid)
	show(t, directory, files.Process.Pid)
	u := read(t, s)
	if got := u.Threads - base.Threads; got < 50 || got > 100 {
		t.Errorf("%d threads, want 50 and those of two Go programs", got)
	}
	if got := u.Descriptors - 3*base.Descriptors; got < 30 || got > 34 {
		t.Errorf("%d descriptors, want 30", got)
	}
}

func TestReadWithoutItsOwnNetworkFails(t *testing.T) {
	directory := podProc(t)
	s := sampler(t, directory)
	if err := os.Remove(filepath.Join(directory, "4194305/net/dev")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sample(time.Now().UnixMicro); err == nil {
		t.Error("no error")
	}
}

func TestThrottled(t *testing.T) {
	tests := map[string]struct {
		file, text string
		want       int64
	}{
		"version 2":          {"cpu.stat", "usage_usec 5\nnr_throttled 2\nthrottled_usec 1234\n", 1234},
		"version 1":          {"cpu/cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_time 5678000\n", 5678},
		"version 1, joined":  {"cpu,cpuacct/cpu.stat", "throttled_time 9000\n", 9},
		"without a limit":    {"cpu.stat", "usage_usec 5\n", -1},
		"not a number":       {"cpu.stat", "throttled_usec many\n", -1},
		"nothing to be read": {"other", "", -1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			directory := podProc(t)
			file := filepath.Join(directory, "7/root/sys/fs/cgroup", test.file)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(test.text), 0o644); err != nil {
				t.Fatal(err)
			}
			if got := sampler(t, directory).throttled(7); got != test.want {
				t.Errorf("throttled for %d µs, want %d", got, test.want)
			}
		})
	}
}

// BenchmarkSample samples containers with 200 threads, as Tomcat has, including their
// context switches and what happens around them on this machine.
func BenchmarkSample(b *testing.B) {
	for _, threads := range [][]int{{200}, {67, 67, 66}, {200, 200}} {
		b.Run(fmt.Sprint(threads), func(b *testing.B) {
			directory := podProc(b)
			showNode(b, directory)
			s := sampler(b, directory)
			names := map[string]string{}
			for i, n := range threads {
				id := strings.Repeat(strconv.Itoa(i), 64)
				names[id] = fmt.Sprint("container-", i)
				c := start(b, fmt.Sprint("threads ", n))
				showIn(b, directory, c.Process.Pid, "0::/../cri-containerd-"+id+".scope\n")
				defer runtime.KeepAlive(c)
			}
			s.SetContainers(names)
			before := usedCPU(syscall.RUSAGE_SELF)
			for b.Loop() {
				s.threads.cost = 0
				readAll(b, s)
			}
			b.ReportMetric(float64((usedCPU(syscall.RUSAGE_SELF)-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}
