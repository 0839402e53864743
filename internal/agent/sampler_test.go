package agent

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/procfs"

	"github.com/assay-dev/assay/internal/result"
)

func sampler(t testing.TB, folder string) *ProcSampler {
	t.Helper()
	s, err := NewProcSampler(folder)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t testing.TB, s *ProcSampler) *result.ServerUsage {
	t.Helper()
	u, err := s.Read(func() int64 { return 42 })
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestReadAgainstTheKernelsAccount compares a reading with what the kernel says
// of the same processes shortly before, and when they have ended.
func TestReadAgainstTheKernelsAccount(t *testing.T) {
	folder := podProc(t)
	busy, memory := start(t, "busy 300"), start(t, "memory 64")
	show(t, folder, busy.Process.Pid)
	show(t, folder, memory.Process.Pid)
	s := sampler(t, folder)
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
	folder := podProc(t)
	idle, many, files := start(t, "idle"), start(t, "threads 50"), start(t, "files 30")
	show(t, folder, idle.Process.Pid)
	s := sampler(t, folder)
	base := read(t, s)
	show(t, folder, many.Process.Pid)
	show(t, folder, files.Process.Pid)
	u := read(t, s)
	if got := u.Threads - base.Threads; got < 50 || got > 100 {
		t.Errorf("%d threads, want 50 and those of two Go programs", got)
	}
	if got := u.Descriptors - 3*base.Descriptors; got < 30 || got > 34 {
		t.Errorf("%d descriptors, want 30", got)
	}
}

func TestReadWithoutItsOwnNetworkFails(t *testing.T) {
	folder := podProc(t)
	s := sampler(t, folder)
	if err := os.Remove(filepath.Join(folder, "4194305/net/dev")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(time.Now().UnixMicro); err == nil {
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
			folder := podProc(t)
			file := filepath.Join(folder, "7/root/sys/fs/cgroup", test.file)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(test.text), 0o644); err != nil {
				t.Fatal(err)
			}
			if got := sampler(t, folder).throttled(7); got != test.want {
				t.Errorf("throttled for %d µs, want %d", got, test.want)
			}
		})
	}
}

// TestAccount checks that each process is counted once, whatever becomes of it.
func TestAccount(t *testing.T) {
	stat := func(pid, parent int, started uint64, own uint, children int) procfs.ProcStat {
		return procfs.ProcStat{PID: pid, PPID: parent, Starttime: started, UTime: own, CUTime: children}
	}
	server := func(own uint, children int) procfs.ProcStat { return stat(10, 1, 1, own, children) }
	tests := map[string]struct {
		readings [][]procfs.ProcStat
		want     []int64 // ticks after each
	}{
		"one process":                       {[][]procfs.ProcStat{{server(5, 0)}, {server(7, 0)}}, []int64{5, 7}},
		"children waited for before":        {[][]procfs.ProcStat{{server(5, 100)}}, []int64{105}},
		"a worker that is waited for":       {[][]procfs.ProcStat{{server(5, 0), stat(11, 10, 2, 50, 0)}, {server(5, 60)}}, []int64{55, 65}},
		"a worker that nobody waits for":    {[][]procfs.ProcStat{{server(5, 0), stat(11, 10, 2, 50, 0)}, {server(6, 0)}, {server(7, 0)}}, []int64{55, 56, 57}},
		"one of each":                       {[][]procfs.ProcStat{{server(5, 0), stat(11, 10, 2, 50, 0), stat(12, 1, 2, 30, 0)}, {server(5, 50)}}, []int64{85, 85}},
		"a worker's worker, waited for":     {[][]procfs.ProcStat{{server(5, 0), stat(11, 10, 2, 50, 0), stat(12, 11, 3, 20, 0)}, {server(5, 75)}}, []int64{75, 80}},
		"its number is used again":          {[][]procfs.ProcStat{{server(5, 0), stat(11, 1, 2, 50, 0)}, {server(5, 0), stat(11, 1, 9, 1, 0)}}, []int64{55, 56}},
		"all end":                           {[][]procfs.ProcStat{{server(5, 3), stat(11, 10, 2, 50, 0)}, {}}, []int64{58, 58}},
		"a worker that came and was reaped": {[][]procfs.ProcStat{{server(5, 0)}, {server(5, 9)}}, []int64{5, 14}},
		"two workers, one waited for":       {[][]procfs.ProcStat{{server(0, 0), stat(11, 10, 2, 50, 0), stat(12, 10, 2, 50, 0)}, {server(0, 50)}}, []int64{100, 100}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var a account
			var got []int64
			for _, reading := range test.readings {
				a.update(reading)
				got = append(got, a.total.user/tick)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// BenchmarkRead reads a server with 200 threads, as Tomcat has.
func BenchmarkRead(b *testing.B) {
	folder := podProc(b)
	c := start(b, "threads 200")
	show(b, folder, c.Process.Pid)
	s := sampler(b, folder)
	before := usedCPU()
	for b.Loop() {
		read(b, s)
	}
	b.ReportMetric(float64((usedCPU()-before).Microseconds())/float64(b.N), "cpu-µs/op")
	runtime.KeepAlive(c)
}
