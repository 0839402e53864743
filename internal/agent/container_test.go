package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
)

const (
	serverID = "0a5a4bb3d9d5f4a3a7a1e2f6c1f0b6a8b1a7a3a4c7d64b6c9e1f3d0b2a9c8e70"
	tomcatID = "9f8e7d6c5b4a39281706f5e4d3c2b1a00f1e2d3c4b5a69788796a5b4c3d2e1f0"
)

// TestContainerOf checks the forms in which kernels and runtimes show the control
// groups of another container of the pod.
func TestContainerOf(t *testing.T) {
	v1 := func(id string) string {
		path := "/kubepods/burstable/pod5a0b/" + id
		return "12:cpu,cpuacct:" + path + "\n5:memory:" + path + "\n1:name=systemd:" + path + "\n"
	}
	tests := map[string]struct{ cgroup, want string }{
		"version 2, systemd":                   {"0::/../cri-containerd-" + tomcatID + ".scope\n", "tomcat"},
		"version 2, cgroupfs":                  {"0::/../" + tomcatID + "\n", "tomcat"},
		"version 2, a group within":            {"0::/../cri-containerd-" + tomcatID + ".scope/init.scope\n", "tomcat"},
		"version 2, from the root":             {"0::/kubepods.slice/kubepods-pod5a0b.slice/cri-containerd-" + tomcatID + ".scope\n", "tomcat"},
		"version 2, the server":                {"0::/../cri-containerd-" + serverID + ".scope\n", "server"},
		"version 2, a container nobody named":  {"0::/../cri-containerd-" + strings.Repeat("5", 64) + ".scope\n", "server"},
		"version 2, no container":              {"0::/\n", "server"},
		"version 1":                            {v1(tomcatID), "tomcat"},
		"version 1, the server":                {v1(serverID), "server"},
		"version 1, a container nobody named":  {v1(strings.Repeat("5", 64)), "server"},
		"both versions":                        {v1(tomcatID) + "0::/\n", "tomcat"},
		"a group whose name begins in the way": {v1(tomcatID[:63]), "server"},
		"nothing":                              {"", "server"},
	}
	c := newContainers()
	c.set(map[string]string{serverID: "server", tomcatID: "tomcat", "": "everything", "x": ""})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := c.of([]byte(test.cgroup)); got != c.byName[test.want] {
				t.Errorf("not in %s", test.want)
			}
		})
	}
	if diff := cmp.Diff([]string{"tomcat"}, c.backends()); diff != "" {
		t.Error(diff)
	}
}

// TestContainersBecomeKnown sets the container IDs between samples: first one, then
// both.
func TestContainersBecomeKnown(t *testing.T) {
	directory := podProc(t)
	s := sampler(t, directory)
	httpd := written{7, "0::/../cri-containerd-" + serverID + ".scope\n", 100, 4096, 5120, 2, 10, "0"}
	tomcat := written{8, "0::/../cri-containerd-" + tomcatID + ".scope\n", 1000, 40960, 51200, 30, 500, "1-2"}
	helper := written{9, tomcat.cgroup, 1, 1024, 2048, 1, 1, "1-2"}
	const cpu, kib, pod = 10_000, 1024, int64(330)
	usage := func(u result.ServerUsage) result.ServerUsage {
		u.At, u.AgentCPUs = 42, "0,2-3"
		u.GCPauses, u.GCPause, u.GCPauseMax, u.HeapUsed, u.DescriptorLimit = -1, -1, -1, -1, -1 // no logs, no file
		u.CompilerCPU = -1                                                                      // no such thread
		return u
	}
	check := func(when string, server result.ServerUsage, backends ...result.BackendUsage) {
		t.Helper()
		server.BytesReceived, server.BytesSent = pod, 5500
		sample := readAll(t, s)
		sample.Node = nil
		if diff := cmp.Diff(&result.ServerSample{Server: usage(server), Backends: backends}, sample); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	backend := func(u result.ServerUsage) result.BackendUsage {
		return result.BackendUsage{Name: "tomcat", ServerUsage: usage(u)}
	}

	httpd.show(t, directory)
	tomcat.show(t, directory)
	check("nothing told", result.ServerUsage{UserCPU: 1100 * cpu, MinorFaults: 14, Resident: 45056 * kib, MaxResident: 51200 * kib,
		VoluntarySwitches: 510, InvoluntarySwitches: 2, Threads: 32, Descriptors: 2, CPUs: "0", Throttled: 7})

	s.SetContainers(map[string]string{serverID: "server"})
	check("the server alone told", result.ServerUsage{UserCPU: 1100 * cpu, MinorFaults: 14, Resident: 45056 * kib, MaxResident: 51200 * kib,
		VoluntarySwitches: 510, InvoluntarySwitches: 2, Threads: 32, Descriptors: 2, CPUs: "0", Throttled: 7})

	// Earlier usage stays with the server. Its peak RSS included the other container.
	httpd.ticks, httpd.switchesOfOne, tomcat.ticks, tomcat.switchesOfOne = 110, 12, 1300, 600
	httpd.show(t, directory)
	tomcat.show(t, directory)
	helper.show(t, directory)
	s.SetContainers(map[string]string{serverID: "server", tomcatID: "tomcat"})
	server := result.ServerUsage{UserCPU: 1110 * cpu, MinorFaults: 14, Resident: 4096 * kib, MaxResident: 5120 * kib,
		VoluntarySwitches: 512, InvoluntarySwitches: 2, Threads: 2, Descriptors: 1, CPUs: "0", Throttled: 7}
	check("both told", server, backend(result.ServerUsage{UserCPU: 301 * cpu, MinorFaults: 7, Resident: 41984 * kib, MaxResident: 51200 * kib,
		VoluntarySwitches: 101, InvoluntarySwitches: 1, Threads: 31, Descriptors: 2, CPUs: "1-2", Throttled: 8}))

	// A container keeps its usage if it is set again, omitted or has exited.
	for _, pid := range []string{"8", "9"} {
		if err := os.RemoveAll(filepath.Join(directory, pid)); err != nil {
			t.Fatal(err)
		}
	}
	ended := backend(result.ServerUsage{UserCPU: 301 * cpu, MinorFaults: 7, MaxResident: 51200 * kib,
		VoluntarySwitches: 101, InvoluntarySwitches: 1, Throttled: -1})
	check("ended", server, ended)
	s.SetContainers(map[string]string{serverID: "server", tomcatID: "tomcat"})
	check("told again", server, ended)
	s.SetContainers(nil)
	check("not told any more", server, ended)
}

// TestSampleOfRealContainers compares samples of real processes with the kernel's
// resource usage of each.
func TestSampleOfRealContainers(t *testing.T) {
	directory := podProc(t)
	s := sampler(t, directory)
	s.SetContainers(map[string]string{serverID: "server", tomcatID: "tomcat"})
	busy, memory := start(t, "busy 200"), start(t, "memory 64")
	showIn(t, directory, busy.Process.Pid, "0::/../"+serverID+"\n")
	showIn(t, directory, memory.Process.Pid, "0::/../"+tomcatID+"\n")
	r := readAll(t, s)
	first, second := busy.end(t), memory.end(t)
	for _, test := range []struct {
		what       string
		got        result.ServerUsage
		from, done *syscall.Rusage
	}{{"server", r.Server, &busy.done, first}, {"tomcat", r.Backends[0].ServerUsage, &memory.done, second}} {
		micros := func(u *syscall.Rusage) int64 { return (u.Utime.Nano() + u.Stime.Nano()) / 1000 }
		if got := test.got.UserCPU + test.got.SystemCPU; got < micros(test.from)-2*tick || got > micros(test.done)+2*tick {
			t.Errorf("%s: %d µs of CPU time, want from %d to %d", test.what, got, micros(test.from), micros(test.done))
		}
		if got := test.got.VoluntarySwitches; got < test.from.Nvcsw || got > test.done.Nvcsw {
			t.Errorf("%s: %d voluntary switches, want from %d to %d", test.what, got, test.from.Nvcsw, test.done.Nvcsw)
		}
		if got := test.got.MinorFaults; got < test.from.Minflt || got > test.done.Minflt {
			t.Errorf("%s: %d minor faults, want from %d to %d", test.what, got, test.from.Minflt, test.done.Minflt)
		}
	}
	if r.Server.MaxResident >= 64<<20 || r.Backends[0].MaxResident < 64<<20 {
		t.Errorf("resident sets of at most %d and %d bytes", r.Server.MaxResident, r.Backends[0].MaxResident)
	}
}

// TestDescriptorLimit compares the limit with that of a real process, and reads what other processes could have.
func TestDescriptorLimit(t *testing.T) {
	directory := podProc(t)
	show(t, directory, start(t, "idle").Process.Pid)
	var own syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &own); err != nil {
		t.Fatal(err)
	}
	// Go raises its soft limit to the hard one, and lowers it for its children.
	u := read(t, sampler(t, directory))
	if u.DescriptorLimit < 1 || u.DescriptorLimit > int64(own.Max) {
		t.Errorf("a limit of %d descriptors, of at most %d", u.DescriptorLimit, own.Max)
	}
	s := sampler(t, directory)
	for text, want := range map[string]int64{
		"Limit                     Soft Limit           Hard Limit           Units     \nMax open files            1024                 524288               files     \n": 1024,
		"Max open files            unlimited            unlimited            files     \n":                                                                                 -1,
		"Max open files": -1,
		"":               -1,
	} {
		put(t, filepath.Join(directory, "9/limits"), text)
		if got := s.descriptorLimit(9); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	if got := s.descriptorLimit(10); got != -1 {
		t.Errorf("of no process: %d", got)
	}
}

// TestGarbageCollections has the logs of a Java virtual machine in one of two containers.
func TestGarbageCollections(t *testing.T) {
	directory := podProc(t)
	s := sampler(t, directory)
	s.SetContainers(map[string]string{serverID: result.ServerContainer, tomcatID: "tomcat"})
	put(t, filepath.Join(directory, "gc/tomcat/gc-8.log"), "[2000000ns][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->1M(64M) 0.963ms\n")
	r := readAll(t, s)
	if r.Server.GCPauses != -1 || r.Server.HeapUsed != -1 {
		t.Errorf("the server, without logs: %+v", r.Server)
	}
	if u := r.Backends[0]; u.GCPauses != 1 || u.GCPause != 963 || u.GCPauseMax != 963 || u.HeapUsed != 1<<20 {
		t.Errorf("%+v", u)
	}
	if u := readAll(t, s).Backends[0]; u.GCPauses != 1 || u.GCPause != 963 || u.GCPauseMax != 0 || u.HeapUsed != 1<<20 {
		t.Errorf("without another pause: %+v", u)
	}
}

// TestAroundAllContainers checks that the target's CPUs are those of all its containers, and that what these used isn't
// taken for that of others.
func TestAroundAllContainers(t *testing.T) {
	directory := podProc(t)
	s := sampler(t, directory)
	s.SetContainers(map[string]string{serverID: result.ServerContainer, tomcatID: "tomcat"})
	sample := func(ticks, softIRQs int) *result.NodeUsage {
		t.Helper()
		written{7, "0::/../cri-containerd-" + serverID + ".scope\n", ticks, 4096, 5120, 2, 10, "0"}.show(t, directory)
		written{8, "0::/../cri-containerd-" + tomcatID + ".scope\n", ticks, 40960, 51200, 30, 500, "2-3"}.show(t, directory)
		stat := "cpu  0 0 0 0 0 0 0 0 0 0\n"
		for cpu := range 5 {
			stat += fmt.Sprintf("cpu%d 0 0 0 0 0 0 %d 0 0 0\n", cpu, softIRQs<<(4*cpu))
		}
		put(t, filepath.Join(directory, "stat"), stat+"ctxt 1\nbtime 1\nprocesses 1\nprocs_running 3\n")
		return readAll(t, s).Node
	}
	sample(5, 0)
	u := sample(5, 1)
	if u.SoftIRQ != 0x1101*10_000 || u.RunQueue != 3 {
		t.Errorf("of CPUs 0, 2 and 3: %+v", u)
	}
	if u.CPUTime <= 0 || u.OtherCPU != u.CPUTime {
		t.Errorf("of three CPUs that were busy for %d µs, others used %d", u.CPUTime, u.OtherCPU)
	}
	// 200 hours of the target's CPU time.
	if later := sample(36_000_000, 1); later.CPUTime <= u.CPUTime || later.OtherCPU != u.OtherCPU {
		t.Errorf("others used %d µs more, while the target used all", later.OtherCPU-u.OtherCPU)
	}
}
