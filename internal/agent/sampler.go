package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/prometheus/procfs"

	"github.com/assay-dev/assay/internal/result"
)

// tick is the unit of CPU times in /proc, in microseconds: a hundredth of a
// second on every architecture (proc_pid_stat(5), USER_HZ).
const tick = 10_000

// process tells a process from a later one with the same number.
type process struct {
	pid     int
	started uint64
}

// ProcSampler reads the processes of the target's containers from /proc. That
// shows all processes of the pod, since its containers share their process
// namespace: the target's are those that are neither in the agent's control
// group nor the first of the namespace, which is the pod's sandbox. Its methods
// may be called from one goroutine at a time.
type ProcSampler struct {
	proc       procfs.FS
	folder     string
	own        []byte // the agent's control groups
	containers containers
	account    account
	switches   switches
	buffer     []byte
}

// NewProcSampler returns a sampler that reads a mounted proc file system. To it
// all processes are the server's until Tell tells them apart.
func NewProcSampler(folder string) (*ProcSampler, error) {
	proc, err := procfs.NewFS(folder)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", folder, err)
	}
	own, err := os.ReadFile(filepath.Join(folder, "self", "cgroup"))
	if err != nil {
		return nil, fmt.Errorf("read the agent's control groups: %w", err)
	}
	return &ProcSampler{proc: proc, folder: folder, own: own, containers: newContainers(), buffer: make([]byte, 8<<10)}, nil
}

// Tell says which containers are sampled apart; see session.Watch.Containers.
// It may be called again with others. What a process had used by then stays
// with the container that it was counted for; what it uses from then on counts
// for its own.
func (s *ProcSampler) Tell(containers map[string]string) { s.containers.tell(containers) }

// Read reads what the processes of each container have used since they were
// first seen in it, of the server's since they started; those that are gone
// included as far as they were seen. What only grows never becomes less from one
// reading to the next. CPU times are in steps of 10 ms, as the kernel shows
// them. The context switches of a thread that came and went between two readings
// aren't known. Bytes that passed the network are the pod's, and stand with the
// server alone.
func (s *ProcSampler) Read(now func() int64) (*result.ServerSample, error) {
	pids, in, err := s.targetPIDs()
	if err != nil {
		return nil, err
	}
	at := now()
	// CPU times first, since the reading is of this instant.
	all := s.stats(pids, in)
	s.account.update(all)
	s.containers.update(all)
	received, sent, err := s.network()
	if err != nil {
		return nil, err
	}
	levels := s.levels(all)
	s.readSwitches(all)
	agentCPUs := s.allowedCPUs("self")
	of := func(name string) result.ServerUsage {
		c := s.containers.byName[name]
		u := result.ServerUsage{At: at, AgentCPUs: agentCPUs, Throttled: -1}
		if l := levels[c]; l != nil {
			u.Resident, u.Threads, u.Descriptors = l.resident, l.threads, l.descriptors
		}
		c.report(&u)
		if c.first != 0 {
			u.CPUs, u.Throttled = s.allowedCPUs(strconv.Itoa(c.first)), s.throttled(c.first)
		}
		return u
	}
	r := &result.ServerSample{Server: of(result.ServerContainer)}
	r.Server.BytesReceived, r.Server.BytesSent = received, sent
	for _, name := range s.containers.backends() {
		r.Backends = append(r.Backends, result.BackendUsage{Name: name, ServerUsage: of(name)})
	}
	return r, nil
}

// report sets what only grows, and the largest resident set.
func (c *container) report(u *result.ServerUsage) {
	c.shown = most(c.shown, c.used)
	u.UserCPU, u.SystemCPU, u.MinorFaults, u.MajorFaults = c.shown.user, c.shown.system, c.shown.minor, c.shown.major
	u.VoluntarySwitches, u.InvoluntarySwitches = c.switched.voluntary, c.switched.involuntary
	c.resident = max(c.resident, u.Resident)
	u.MaxResident = c.resident
}

// targetPIDs returns the numbers of the target's processes, in ascending order,
// and the container of each.
func (s *ProcSampler) targetPIDs() ([]int, []*container, error) {
	all, err := s.proc.AllProcs()
	if err != nil {
		return nil, nil, fmt.Errorf("list processes: %w", err)
	}
	slices.SortFunc(all, func(a, b procfs.Proc) int { return a.PID - b.PID })
	var pids []int
	var in []*container
	for _, p := range all {
		if p.PID == 1 {
			continue
		}
		cgroup, err := s.file(strconv.Itoa(p.PID), "cgroup")
		if err == nil && !bytes.Equal(cgroup, s.own) {
			pids, in = append(pids, p.PID), append(in, s.containers.of(cgroup))
		}
	}
	return pids, in, nil
}

// stats reads the processes' accounts, but of those that have just ended.
func (s *ProcSampler) stats(pids []int, in []*container) []sampled {
	all := make([]sampled, 0, len(pids))
	for i, pid := range pids {
		p, err := s.proc.Proc(pid)
		if err != nil {
			continue
		}
		if stat, err := p.Stat(); err == nil {
			all = append(all, sampled{stat, in[i]})
		}
	}
	return all
}

// levels are what goes up and down: the resident set in bytes, and the numbers
// of threads and of open descriptors, -1 when they can't be read.
type levels struct{ resident, threads, descriptors int64 }

// levels reads those of each container that has processes.
func (s *ProcSampler) levels(all []sampled) map[*container]*levels {
	of := map[*container]*levels{}
	for i := range all {
		one := &all[i]
		l := of[one.in]
		if l == nil {
			l = &levels{}
			of[one.in] = l
		}
		l.threads += int64(one.NumThreads)
		p, err := s.proc.Proc(one.PID)
		if err != nil {
			continue
		}
		if status, err := p.NewStatus(); err == nil {
			l.resident += int64(status.VmRSS)
			one.in.resident = max(one.in.resident, int64(status.VmHWM))
		}
		if l.descriptors < 0 {
			continue
		}
		n, err := p.FileDescriptorsLen()
		if err != nil {
			l.descriptors = -1
			continue
		}
		l.descriptors += int64(n)
	}
	return of
}

// network is the bytes that passed the pod's interfaces, loopback left out.
func (s *ProcSampler) network() (received, sent int64, err error) {
	self, err := s.proc.Self()
	if err != nil {
		return 0, 0, fmt.Errorf("find the agent's own process: %w", err)
	}
	devices, err := self.NetDev()
	if err != nil {
		return 0, 0, fmt.Errorf("read the pod's interfaces: %w", err)
	}
	for name, device := range devices {
		if name != "lo" {
			received += int64(device.RxBytes)
			sent += int64(device.TxBytes)
		}
	}
	return received, sent, nil
}

// file reads a small file of /proc into the sampler's buffer, which the next
// call overwrites.
func (s *ProcSampler) file(parts ...string) ([]byte, error) {
	f, err := os.Open(filepath.Join(append([]string{s.folder}, parts...)...))
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
