package node

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/procfs"

	"github.com/assay-dev/assay/internal/result"
)

// recorded plays samples of a machine with two CPUs, testdata/first and testdata/second, which were
// taken 2.12 seconds apart.
type recorded struct {
	*Reader
	proc, sys string
	elapsed   time.Duration
}

func play(t *testing.T) *recorded {
	t.Helper()
	r := &recorded{proc: t.TempDir(), sys: t.TempDir()}
	r.show(t, "first")
	reader, err := NewReader(r.proc, r.sys)
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	reader.sockets = nil // they are this machine's
	began := time.Now()
	reader.now = func() time.Time { return began.Add(r.elapsed) }
	r.Reader = reader
	return r
}

// show makes the files of a sample those that are read.
func (r *recorded) show(t *testing.T, name string) {
	t.Helper()
	if err := os.RemoveAll(r.proc); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(r.proc, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	// procfs looks up the process that reads.
	if err := os.Rename(filepath.Join(r.proc, "self"), filepath.Join(r.proc, "7")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("7", filepath.Join(r.proc, "self")); err != nil {
		t.Fatal(err)
	}
}

func (r *recorded) write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (r *recorded) sample(t *testing.T, own int64, cpus ...string) *result.NodeUsage {
	t.Helper()
	return r.Sample(&Pod{CPUs: cpus, CPU: own})
}

// between returns the metrics between the two recorded samples, of which the pod's processes used 1 s.
func (r *recorded) between(t *testing.T, cpus ...string) *result.NodeUsage {
	t.Helper()
	first := r.sample(t, 5_000_000, cpus...)
	r.show(t, "second")
	r.elapsed = 2_120 * time.Millisecond
	second := r.sample(t, 6_000_000, cpus...)
	result.NodeMetrics.Since(second, first)
	return second
}

func TestRecordedNode(t *testing.T) {
	tests := map[string]struct {
		cpus []string
		want func(*result.NodeUsage)
	}{
		"one CPU": {[]string{"1"}, func(u *result.NodeUsage) {
			// cpu1: idle 1247312 → 1247346, softirq 95866 → 95867
			u.CPUTime, u.Idle, u.SoftIRQ = 2_120_000, 340_000, 10_000
			u.OtherCPU = 2_120_000 - 340_000 - 1_000_000
			u.PacketsProcessed = 0x15527714 - 0x15526db8
		}},
		"two containers with a CPU each": {[]string{"0", "1"}, both},
		"two that share both":            {[]string{"0-1", "0-1"}, both},
		"a list that can't be":           {[]string{"1-0", "0-1"}, both},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := &result.NodeUsage{
				RunQueueWait: result.Unknown, Frequency: result.Unknown, // this kernel has neither
				RunQueue: 5, ContextSwitches: 828083704 - 828047246,
				CPUPressure: 34746462378 - 34745769080, MemoryPressure: 0, MemoryStall: 0,
				IOPressure: 1401529137 - 1401504750, IOStall: 166791260 - 166785143,
				PacketsReceived: 1637 - 648, PacketsSent: 1626 - 640,
				SegmentsSent: 382458705 - 382457193, Established: 156, Sockets: 153 + 14, TimeWait: 362,
				AcceptQueue: result.Unknown, AcceptQueueLimit: result.Unknown,
			}
			test.want(want)
			got := play(t).between(t, test.cpus...)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func both(u *result.NodeUsage) {
	// cpu0: idle 1349049 → 1349085, iowait 8235 → 8236, steal 3176 → 3177, softirq 72176 → 72178
	u.CPUTime, u.Idle, u.IOWait, u.Steal, u.SoftIRQ = 4_240_000, 700_000, 10_000, 10_000, 30_000
	u.OtherCPU = 4_240_000 - 700_000 - 10_000 - 10_000 - 1_000_000
	u.PacketsProcessed = 0x15527714 - 0x15526db8 + 0x144503cf - 0x1444e784
}

// TestAbsentIsUnknown removes files as kernels and sandboxes do that don't have them.
func TestAbsentIsUnknown(t *testing.T) {
	always := []string{"runQueueWaitMicroseconds", "minFrequencyKilohertz", "acceptQueue", "acceptQueueLimit"}
	tests := map[string]struct {
		files   []string
		missing []string
	}{
		"nothing":     {nil, nil},
		"no pressure": {[]string{"pressure"}, []string{"cpuPressureMicroseconds", "memoryPressureMicroseconds", "memoryStallMicroseconds", "ioPressureMicroseconds", "ioStallMicroseconds"}},
		"no softnet":  {[]string{"7/net/softnet_stat"}, []string{"packetsProcessed", "packetsDropped"}},
		"no TCP":      {[]string{"7/net/snmp", "7/net/netstat", "7/net/sockstat"}, []string{"segmentsSent", "segmentsRetransmitted", "listenOverflows", "listenDrops", "sockets", "establishedSockets", "timeWaitSockets", "spuriousRetransmissions"}},
		"no network":  {[]string{"7/net/dev"}, []string{"packetsReceived", "packetsSent", "receiveDrops", "sendDrops"}},
		"no IPv6":     {[]string{"7/net/sockstat6"}, nil},
		"no stat": {[]string{"stat"}, []string{
			"cpuTimeMicroseconds", "idleMicroseconds", "otherCPUMicroseconds", "stealMicroseconds", "ioWaitMicroseconds", "hardIRQMicroseconds",
			"softIRQMicroseconds", "runQueueTasks", "contextSwitches", "packetsProcessed", "packetsDropped",
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := play(t)
			for _, file := range test.files {
				if err := os.RemoveAll(filepath.Join(r.proc, file)); err != nil {
					t.Fatal(err)
				}
			}
			got, want := r.sample(t, 0, "0").Missing(), slices.Concat(always, test.missing)
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRunQueueAndFrequency has the metrics that the recorded machine doesn't have, in the formats of
// the kernel's documentation: sched-stats.rst and cpufreq.rst.
func TestRunQueueAndFrequency(t *testing.T) {
	r := play(t)
	waits := func(zero, one string) {
		r.write(t, filepath.Join(r.proc, "schedstat"), "version 15\ntimestamp 4295000000\ncpu0 0 0 0 0 0 0 500 "+zero+" 9\ndomain0 3 0\ncpu1 0 0 0 0 0 0 500 "+one+" 9\n")
	}
	frequency := func(cpu, governor, kilohertz string) {
		policy := filepath.Join(r.sys, "devices/system/cpu", cpu, "cpufreq")
		r.write(t, filepath.Join(policy, "scaling_governor"), governor+"\n")
		r.write(t, filepath.Join(policy, "scaling_cur_freq"), kilohertz+"\n")
	}
	waits("1000000", "7000000")
	frequency("cpu0", "performance", "2800000")
	frequency("cpu1", "performance", "800000")
	if u := r.sample(t, 0, "0"); u.RunQueueWait != 0 || u.Frequency != 2_800_000 || r.Governor() != "performance" {
		t.Errorf("at first: %+v, %s", u, r.Governor())
	}
	waits("3000000", "9500000")
	if u := r.sample(t, 0, "0-1"); u.RunQueueWait != 2000+2500 || u.Frequency != 800_000 {
		t.Errorf("both CPUs: %+v", u)
	}
	frequency("cpu1", "powersave", "not a number")
	if u := r.sample(t, 0, "0-1"); u.Frequency != 2_800_000 || r.Governor() != "" {
		t.Errorf("two governors: %+v, %s", u, r.Governor())
	}
}

// TestMachine has the machine as /proc and the frequency driver describe it, and one without either.
func TestMachine(t *testing.T) {
	r := play(t)
	r.write(t, filepath.Join(r.proc, "cpuinfo"), "processor\t: 0\nmodel name\t: Some CPU @ 2.20GHz\ncpu MHz\t\t: 2200.150\n\nprocessor\t: 1\nmodel name\t: Some CPU @ 2.20GHz\ncpu MHz\t\t: 2199.998\n")
	r.write(t, filepath.Join(r.proc, "meminfo"), "MemTotal:       16384000 kB\nMemFree:         1000000 kB\n")
	want := result.Machine{CPUModel: "Some CPU @ 2.20GHz", CPUs: 2, MemoryBytes: 16_384_000 << 10, MaxFrequency: 2_200_150}
	for _, driver := range []string{"", "3500000\n"} {
		if driver != "" {
			r.write(t, filepath.Join(r.sys, "devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"), driver)
			want.MaxFrequency = 3_500_000
		}
		reader, err := NewReader(r.proc, r.sys)
		if err != nil {
			t.Fatal(err)
		}
		if got := reader.Machine(); runtime.GOARCH == "amd64" && got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		_ = reader.Close()
	}
	if got := play(t).Machine(); got != (result.Machine{}) {
		t.Errorf("%+v of a machine that says nothing", got)
	}
}

// TestCountersNeverDecrease has the pod's processes use more than the CPUs were busy, as the kernel's
// resolution of 10 ms lets it look like, I/O wait decrease, and the pod's CPUs change.
func TestCountersNeverDecrease(t *testing.T) {
	c := newCPUs()
	at := time.Unix(1000, 0)
	stat := func(idle, wait float64) map[int64]procfs.CPUStat {
		return map[int64]procfs.CPUStat{0: {Idle: idle, Iowait: wait}, 1: {Idle: 2 * idle}}
	}
	var got []result.NodeUsage
	step := func(cpus string, idle, wait float64, own int64) {
		c.set([]string{cpus})
		c.update(stat(idle, wait), at, own)
		u := result.NodeUsage{}
		c.report(&u)
		got = append(got, u)
		at = at.Add(time.Second)
	}
	step("0", 0, 0.5, 100)
	step("0", 0.25, 0.5, 700_100) // 50 ms for others
	step("0", 0.5, 0.4, 1_500_100)
	step("0", 0.75, 0.4, 2_200_100)
	step("", 0.75, 0.4, 3_000_100) // its processes have exited
	step("0-1", 0.75, 0.4, 3_000_100)
	want := []result.NodeUsage{
		{},
		{CPUTime: 1_000_000, Idle: 250_000, OtherCPU: 50_000},
		{CPUTime: 2_000_000, Idle: 500_000, OtherCPU: 50_000},
		{CPUTime: 3_000_000, Idle: 750_000, OtherCPU: 50_000},
		{CPUTime: 4_000_000, Idle: 750_000, OtherCPU: 250_000},
		{CPUTime: 6_000_000, Idle: 750_000, OtherCPU: 2_250_000},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSoftnetCountersWrap(t *testing.T) {
	r := play(t)
	first := r.sample(t, 0, "0")
	r.write(t, filepath.Join(r.proc, "7/net/softnet_stat"), "00000001 00000002 00000000 0 0 0 0 0 0 0 0\n")
	second := r.sample(t, 0, "0")
	if got := second.PacketsProcessed - first.PacketsProcessed; got != 1<<32-0x1444e784+1 || second.PacketsDropped != 2 {
		t.Errorf("%d packets, %d dropped", got, second.PacketsDropped)
	}
}

func live(t testing.TB) (*Reader, *Pod) {
	t.Helper()
	r, err := NewReader("/proc", "/sys")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	self, err := r.proc.Self()
	if err != nil {
		t.Fatal(err)
	}
	status, err := self.NewStatus()
	if err != nil {
		t.Fatal(err)
	}
	list := ""
	for i, cpu := range status.CpusAllowedList {
		if i > 0 {
			list += ","
		}
		list += strconv.FormatUint(cpu, 10)
	}
	return r, &Pod{CPUs: []string{list}}
}

func used(t testing.TB) int64 {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return (u.Utime.Nano() + u.Stime.Nano()) / 1000
}

// TestOtherCPUOfThisMachine uses CPU time and has the reader take this process for another one, and then
// for the pod's. Whatever else the machine does, the metrics must contain what was used.
func TestOtherCPUOfThisMachine(t *testing.T) {
	asOther, pod := live(t)
	asOwn, own := live(t)
	sample := func() (other, mine *result.NodeUsage, cpu int64) {
		own.CPU = used(t)
		return asOther.Sample(pod), asOwn.Sample(own), own.CPU
	}
	other, mine, before := sample()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for used(t) < before+1_000_000 {
	}
	otherEnd, mineEnd, after := sample()
	result.NodeMetrics.Since(otherEnd, other)
	result.NodeMetrics.Since(mineEnd, mine)
	burnt := float64(after - before)
	t.Logf("used %.0f µs, %+v, as its own %+v", burnt, otherEnd, mineEnd)
	if got := float64(otherEnd.OtherCPU); got < 0.95*burnt {
		t.Errorf("others used %.0f µs, at least %.0f were", got, burnt)
	}
	// The two readers look one after the other, so that each is checked by itself.
	attributed := func(u *result.NodeUsage) float64 {
		return float64(u.CPUTime - u.Idle - u.IOWait - u.Steal - u.OtherCPU)
	}
	if as, own := attributed(otherEnd), attributed(mineEnd); as != 0 || own < 0.9*burnt || own > 1.1*burnt {
		t.Errorf("%.0f µs are no others' as another process, %.0f as the pod's, %.0f were used", as, own, burnt)
	}
	if otherEnd.ContextSwitches < 1 || otherEnd.RunQueue < 1 {
		t.Errorf("%d context switches, %d tasks", otherEnd.ContextSwitches, otherEnd.RunQueue)
	}
}

// TestAcceptQueueOfThisMachine fills the accept queue of a listening socket: the kernel lets in one
// connection more than its limit, and drops further ones.
func TestAcceptQueueOfThisMachine(t *testing.T) {
	const limit = 300
	r, pod := live(t)
	if r.sockets == nil {
		t.Fatal("no sock_diag")
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(fd) }()
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, limit); err != nil {
		t.Fatal(err)
	}
	bound, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address := (&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: bound.(*syscall.SockaddrInet4).Port}).String()
	before := r.Sample(pod)
	for range limit + 1 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
	}
	full := r.Sample(pod)
	if full.AcceptQueue < limit+1 || full.AcceptQueueLimit < 1 {
		t.Errorf("%d of %d connections in the fullest accept queue, want at least %d", full.AcceptQueue, full.AcceptQueueLimit, limit+1)
	}
	found := false
	if err := r.sockets.listening(syscall.AF_INET, func(queued, allowed uint32) { found = found || queued == limit+1 && allowed == limit }); err != nil || !found {
		t.Errorf("the accept queue wasn't found: %v", err)
	}
	if full.Established < limit+1 || full.Sockets < 2*(limit+1) {
		t.Errorf("%d connections, %d sockets", full.Established, full.Sockets)
	}
	for range 5 {
		late, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = syscall.Close(late) }()
		if err := syscall.Connect(late, bound); err != syscall.EINPROGRESS {
			t.Fatalf("connect: %v", err)
		}
	}
	over := r.Sample(pod)
	if over.ListenOverflows < before.ListenOverflows+5 || over.ListenDrops < before.ListenDrops+5 {
		t.Errorf("%d overflows and %d drops, want 5 more than %d and %d", over.ListenOverflows, over.ListenDrops, before.ListenOverflows, before.ListenDrops)
	}
}

// BenchmarkSample reads all metrics of this machine. The agent does so each second.
func BenchmarkSample(b *testing.B) {
	r, pod := live(b)
	b.ReportAllocs()
	before := used(b)
	for b.Loop() {
		r.Sample(pod)
	}
	b.ReportMetric(float64(used(b)-before)/float64(b.N), "cpu-µs/op")
}
