package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
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

// ProcSampler reads the server's processes from /proc. That shows all processes
// of the pod, since its containers share their process namespace: those of the
// server are those that are neither in the agent's control group nor the first
// of the namespace, which is the pod's sandbox.
type ProcSampler struct {
	proc     procfs.FS
	folder   string
	own      []byte // the agent's control groups
	used     account
	switches switches
	resident int64 // the largest
	buffer   []byte
}

// NewProcSampler returns a sampler that reads a mounted proc file system.
func NewProcSampler(folder string) (*ProcSampler, error) {
	proc, err := procfs.NewFS(folder)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", folder, err)
	}
	own, err := os.ReadFile(filepath.Join(folder, "self", "cgroup"))
	if err != nil {
		return nil, fmt.Errorf("read the agent's control groups: %w", err)
	}
	return &ProcSampler{proc: proc, folder: folder, own: own, buffer: make([]byte, 8<<10)}, nil
}

// Read reads what the server's processes have used since they started, those
// that are gone included as far as they were seen. What only grows never
// becomes less from one reading to the next. CPU times are in steps of 10 ms, as
// the kernel shows them. The context switches of a thread that came and went
// between two readings aren't known.
func (s *ProcSampler) Read(now func() int64) (*result.ServerUsage, error) {
	pids, err := s.serverPIDs()
	if err != nil {
		return nil, err
	}
	u := &result.ServerUsage{At: now()}
	// CPU times first, since the reading is of this instant.
	stats := s.stats(pids)
	s.used.update(stats)
	u.UserCPU, u.SystemCPU = s.used.total.user, s.used.total.system
	u.MinorFaults, u.MajorFaults = s.used.total.minor, s.used.total.major
	u.BytesReceived, u.BytesSent, err = s.network()
	if err != nil {
		return nil, err
	}
	s.levels(stats, u)
	u.VoluntarySwitches, u.InvoluntarySwitches = s.readSwitches(stats)
	u.CPUs, u.Throttled = "", -1
	if len(stats) > 0 {
		u.CPUs, u.Throttled = s.allowedCPUs(strconv.Itoa(stats[0].PID)), s.throttled(stats[0].PID)
	}
	u.AgentCPUs = s.allowedCPUs("self")
	return u, nil
}

// serverPIDs returns the numbers of the server's processes, in ascending order.
func (s *ProcSampler) serverPIDs() ([]int, error) {
	all, err := s.proc.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	var pids []int
	for _, p := range all {
		if p.PID == 1 {
			continue
		}
		cgroup, err := s.file(strconv.Itoa(p.PID), "cgroup")
		if err == nil && !bytes.Equal(cgroup, s.own) {
			pids = append(pids, p.PID)
		}
	}
	return pids, nil
}

// stats reads the processes' accounts, but of those that have just ended.
func (s *ProcSampler) stats(pids []int) []procfs.ProcStat {
	var stats []procfs.ProcStat
	for _, pid := range pids {
		p, err := s.proc.Proc(pid)
		if err != nil {
			continue
		}
		if stat, err := p.Stat(); err == nil {
			stats = append(stats, stat)
		}
	}
	return stats
}

// levels reads what goes up and down: memory, threads and descriptors.
func (s *ProcSampler) levels(stats []procfs.ProcStat, u *result.ServerUsage) {
	for i := range stats {
		stat := &stats[i]
		u.Threads += int64(stat.NumThreads)
		p, err := s.proc.Proc(stat.PID)
		if err != nil {
			continue
		}
		if status, err := p.NewStatus(); err == nil {
			u.Resident += int64(status.VmRSS)
			s.resident = max(s.resident, int64(status.VmHWM))
		}
		if u.Descriptors < 0 {
			continue
		}
		n, err := p.FileDescriptorsLen()
		if err != nil {
			u.Descriptors = -1
			continue
		}
		u.Descriptors += int64(n)
	}
	s.resident = max(s.resident, u.Resident)
	u.MaxResident = s.resident
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
