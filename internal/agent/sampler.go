package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/prometheus/procfs"

	"github.com/assay-dev/assay/internal/gclog"
	"github.com/assay-dev/assay/internal/node"
	"github.com/assay-dev/assay/internal/result"
)

// tick is the unit of CPU times in /proc, in microseconds: a hundredth of a second on every
// architecture (proc_pid_stat(5), USER_HZ).
const tick = 10_000

// process identifies a process: a later one may have the same PID.
type process struct {
	pid     int
	started uint64
}

// ProcSampler samples the processes of the target's containers from /proc. It shows all processes
// of the pod, because the pod's containers share their process namespace. The target's processes
// are those that are neither in the agent's control group nor PID 1, which is the pod's sandbox.
// ProcSampler is not safe for concurrent use.
type ProcSampler struct {
	proc       procfs.FS
	directory  string
	own        []byte // the agent's control groups
	containers containers
	account    account
	threads    threads
	node       *node.Reader
	topology   topology
	gcLogs     string // directory with a directory for each container
	gc         map[string]*gclog.Reader
	buffer     []byte
}

// NewProcSampler returns a sampler that reads the proc file system mounted at directory, and the sys
// file system mounted at sys. The directory gcLogs has a directory with the garbage collection logs of each
// container that has any, by name. All processes count as the server's until SetContainers is called.
func NewProcSampler(directory, sys, gcLogs string) (*ProcSampler, error) {
	proc, err := procfs.NewFS(directory)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", directory, err)
	}
	own, err := os.ReadFile(filepath.Join(directory, "self", "cgroup"))
	if err != nil {
		return nil, fmt.Errorf("read the agent's control groups: %w", err)
	}
	around, err := node.NewReader(directory, sys)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", directory, err)
	}
	return &ProcSampler{
		proc: proc, directory: directory, own: own, containers: newContainers(), node: around, topology: newTopology(sys),
		gcLogs: gcLogs, gc: map[string]*gclog.Reader{}, buffer: make([]byte, 8<<10),
	}, nil
}

// SetContainers sets which containers are sampled separately; see session.Watch.Containers. Earlier
// usage of a process stays with the container that it was counted for.
func (s *ProcSampler) SetContainers(containers map[string]string) { s.containers.set(containers) }

// Sample returns the usage of each container's processes since they were first seen in it; the
// usage of the server's processes since they started. Processes that exited count with their last
// sample. Cumulative counters never decrease from one sample to the next. CPU times have the
// kernel's resolution of 10 ms. Context switches and compilations of a thread that started and ended between two
// samples are unknown. Network bytes are the pod's and are part of the server's usage.
func (s *ProcSampler) Sample(now func() int64) (*result.ServerSample, error) {
	processes, err := s.processes()
	if err != nil {
		return nil, err
	}
	at := now()
	// CPU times first: they must be close to the time of the sample.
	all := withStats(processes)
	s.account.update(all)
	s.containers.update(all)
	interfaces, err := s.interfaces()
	if err != nil {
		return nil, err
	}
	around := s.readNode(interfaces)
	levels := levelsOf(all)
	s.readThreads(all)
	agentCPUs := s.allowedCPUs("self")
	of := func(name string) result.ServerUsage {
		c := s.containers.byName[name]
		u := result.ServerUsage{At: at, AgentCPUs: agentCPUs, Throttled: result.Unknown, DescriptorLimit: result.Unknown}
		if l := levels[c]; l != nil {
			u.Resident, u.Threads, u.Descriptors = l.resident, l.threads, l.descriptors
		}
		c.report(&u)
		s.readGC(name, &u)
		if c.first != 0 {
			u.CPUs, u.Throttled = s.allowedCPUs(strconv.Itoa(c.first)), s.throttled(c.first)
			u.DescriptorLimit = s.descriptorLimit(c.first)
			u.Cores = s.topology.coresOf(u.CPUs)
		}
		return u
	}
	r := &result.ServerSample{Server: of(result.ServerContainer)}
	r.Server.BytesReceived, r.Server.BytesSent = traffic(interfaces)
	r.Node, r.Governor, r.Machine = around, s.node.Governor(), s.node.Machine()
	for _, name := range s.containers.backends() {
		r.Backends = append(r.Backends, result.BackendUsage{Name: name, ServerUsage: of(name)})
	}
	return r, nil
}

func (c *container) report(u *result.ServerUsage) {
	c.reported = maxUsage(c.reported, c.used)
	u.UserCPU, u.SystemCPU, u.MinorFaults, u.MajorFaults = c.reported.user, c.reported.system, c.reported.minor, c.reported.major
	u.VoluntarySwitches, u.InvoluntarySwitches = c.ofThreads.voluntary, c.ofThreads.involuntary
	u.CompilerCPU = result.Unknown
	if c.compiles {
		u.CompilerCPU = c.ofThreads.compiling
	}
	c.resident = max(c.resident, u.Resident)
	u.MaxResident = c.resident
}

// processes returns the target's processes, in ascending order of their PIDs, without their state.
func (s *ProcSampler) processes() ([]processSample, error) {
	all, err := s.proc.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	slices.SortFunc(all, func(a, b procfs.Proc) int { return a.PID - b.PID })
	var targets []processSample
	for _, p := range all {
		if p.PID == 1 {
			continue
		}
		cgroup, err := s.file(strconv.Itoa(p.PID), "cgroup")
		if err == nil && !bytes.Equal(cgroup, s.own) {
			targets = append(targets, processSample{proc: p, in: s.containers.of(cgroup)})
		}
	}
	return targets, nil
}

// withStats returns the processes with their state, except those that have just exited.
func withStats(processes []processSample) []processSample {
	all := make([]processSample, 0, len(processes))
	for _, one := range processes {
		if stat, err := one.proc.Stat(); err == nil {
			all = append(all, processSample{stat, one.proc, one.in})
		}
	}
	return all
}

// levels are gauges: RSS in bytes, threads, and open descriptors, or -1 if those can't be read.
type levels struct{ resident, threads, descriptors int64 }

// levelsOf returns the gauges of each container that has processes.
func levelsOf(all []processSample) map[*container]*levels {
	of := map[*container]*levels{}
	for i := range all {
		one := &all[i]
		l := of[one.in]
		if l == nil {
			l = &levels{}
			of[one.in] = l
		}
		l.threads += int64(one.NumThreads)
		status, err := one.proc.NewStatus()
		if err != nil { // it has just exited
			continue
		}
		l.resident += int64(status.VmRSS)
		one.in.resident = max(one.in.resident, int64(status.VmHWM))
		if l.descriptors < 0 {
			continue
		}
		n, err := one.proc.FileDescriptorsLen()
		if err != nil {
			l.descriptors = -1
			continue
		}
		l.descriptors += int64(n)
	}
	return of
}

// interfaces returns those of the pod.
func (s *ProcSampler) interfaces() (procfs.NetDev, error) {
	self, err := s.proc.Self()
	if err != nil {
		return nil, fmt.Errorf("find the agent's own process: %w", err)
	}
	interfaces, err := self.NetDev()
	if err != nil {
		return nil, fmt.Errorf("read the pod's interfaces: %w", err)
	}
	return interfaces, nil
}

// traffic returns the bytes received and sent on interfaces, except loopback.
func traffic(interfaces procfs.NetDev) (received, sent int64) {
	for name, i := range interfaces {
		if name != "lo" {
			received += int64(i.RxBytes)
			sent += int64(i.TxBytes)
		}
	}
	return received, sent
}

// readGC reads what the Java virtual machines of a container logged of garbage collections.
func (s *ProcSampler) readGC(container string, u *result.ServerUsage) {
	u.GCPauses, u.GCPause, u.GCPauseMax, u.HeapUsed = result.Unknown, result.Unknown, result.Unknown, result.Unknown
	if s.gc[container] == nil {
		s.gc[container] = gclog.NewReader(filepath.Join(s.gcLogs, container))
	}
	if logged, ok := s.gc[container].Read(); ok {
		u.GCPauses, u.GCPause, u.GCPauseMax, u.HeapUsed = logged.Pauses, logged.Paused, logged.Longest, logged.HeapUsed
	}
}

// readNode reads what happened around the target's containers.
func (s *ProcSampler) readNode(interfaces procfs.NetDev) *result.NodeUsage {
	pod := &node.Pod{Interfaces: interfaces}
	for _, c := range s.containers.byName {
		u := maxUsage(c.reported, c.used)
		pod.CPU += u.user + u.system
		if c.first != 0 {
			pod.CPUs = append(pod.CPUs, s.allowedCPUs(strconv.Itoa(c.first)))
		}
	}
	return s.node.Sample(pod)
}

// file returns a small file of /proc in the sampler's buffer, which the next call overwrites.
func (s *ProcSampler) file(parts ...string) ([]byte, error) {
	f, err := os.Open(filepath.Join(append([]string{s.directory}, parts...)...))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	n, err := f.Read(s.buffer)
	if n > 0 {
		return s.buffer[:n], nil
	}
	return nil, err
}
