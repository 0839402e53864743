package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"

	"github.com/assay-dev/assay/internal/result"
)

// userHertz is the unit of processor times in /proc: hundredths of a second on
// every architecture (proc_pid_stat(5), USER_HZ).
const userHertz = 100

// process tells a process from a later one with the same number.
type process struct {
	pid   int
	start uint64
}

// used is what a process has used of what only grows; times in microseconds.
type used struct {
	parent int

	user, system, minor, major, voluntary, involuntary int64
}

// ProcSampler reads the processes of the server from /proc, which shows all
// processes of the pod since its containers share their process namespace.
type ProcSampler struct {
	proc   procfs.FS
	folder string
	own    []byte // the agent's own cgroups

	seen        map[process]used
	ended       used // of processes that are gone
	maxResident int64
}

// NewProcSampler returns a sampler that reads a mounted proc file system.
func NewProcSampler(folder string) (*ProcSampler, error) {
	proc, err := procfs.NewFS(folder)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", folder, err)
	}
	own, err := os.ReadFile(filepath.Join(folder, "self", "cgroup"))
	if err != nil {
		return nil, fmt.Errorf("read the agent's cgroups: %w", err)
	}
	return &ProcSampler{proc: proc, folder: folder, own: own, seen: map[process]used{}}, nil
}

// Read reads what the server's processes have used since they started. What
// processes that are gone had used when they were seen last still counts.
func (s *ProcSampler) Read() (*result.ServerUsage, error) {
	processes, err := s.proc.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	u := &result.ServerUsage{Throttled: -1, AgentCPUs: s.allowedCPUs("self")}
	now := map[process]used{}
	var highWater int64
	for _, p := range processes {
		if !s.isServers(p.PID) {
			continue
		}
		stat, err := p.Stat()
		if err != nil {
			continue // it has just ended
		}
		status, err := p.NewStatus()
		if err != nil {
			continue
		}
		now[process{p.PID, stat.Starttime}] = s.usedBy(p.PID, &stat, &status)
		u.Resident += int64(status.VmRSS)
		u.Threads += int64(stat.NumThreads)
		highWater = max(highWater, int64(status.VmHWM))
		if u.CPUs == "" {
			u.CPUs, u.Throttled = s.allowedCPUs(strconv.Itoa(p.PID)), s.throttled(p.PID)
		}
		if n, err := p.FileDescriptorsLen(); err != nil || u.Descriptors < 0 {
			u.Descriptors = -1
		} else {
			u.Descriptors += int64(n)
		}
	}
	s.account(now, u)
	s.maxResident = max(s.maxResident, u.Resident, highWater)
	u.MaxResident = s.maxResident
	if u.BytesReceived, u.BytesSent, err = s.network(); err != nil {
		return nil, err
	}
	return u, nil
}

// isServers is whether a process belongs neither to the agent's container nor
// to the pod's sandbox, whose process is the first of the namespace.
func (s *ProcSampler) isServers(pid int) bool {
	if pid == 1 {
		return false
	}
	cgroup, err := os.ReadFile(filepath.Join(s.folder, strconv.Itoa(pid), "cgroup"))
	return err == nil && !bytes.Equal(cgroup, s.own)
}

func (s *ProcSampler) usedBy(pid int, stat *procfs.ProcStat, status *procfs.ProcStatus) used {
	const tick = 1_000_000 / userHertz
	x := used{
		parent: stat.PPID,
		user:   (int64(stat.UTime) + int64(stat.CUTime)) * tick,
		system: (int64(stat.STime) + int64(stat.CSTime)) * tick,
		minor:  int64(stat.MinFlt) + int64(stat.CMinFlt),
		major:  int64(stat.MajFlt) + int64(stat.CMajFlt),
	}
	x.voluntary, x.involuntary = s.switches(pid, status)
	return x
}

// switches sums over threads: the status of a process has its first thread's.
func (s *ProcSampler) switches(pid int, first *procfs.ProcStatus) (voluntary, involuntary int64) {
	threads, err := s.proc.AllThreads(pid)
	if err != nil {
		return int64(first.VoluntaryCtxtSwitches), int64(first.NonVoluntaryCtxtSwitches)
	}
	for _, thread := range threads {
		status, err := thread.NewStatus()
		if err != nil {
			continue
		}
		voluntary += int64(status.VoluntaryCtxtSwitches)
		involuntary += int64(status.NonVoluntaryCtxtSwitches)
	}
	return voluntary, involuntary
}

// account adds up what all processes have used. What a process that is gone
// had used stands in its parent's account, if that waited for it, as far as the
// kernel keeps it there: not its context switches. Without a parent among the
// server's processes it is kept here.
func (s *ProcSampler) account(now map[process]used, u *result.ServerUsage) {
	pids := make(map[int]bool, len(now))
	for p := range now {
		pids[p.pid] = true
	}
	for p, last := range s.seen {
		if _, lives := now[p]; lives {
			continue
		}
		if pids[last.parent] {
			last = used{voluntary: last.voluntary, involuntary: last.involuntary}
		}
		s.ended.add(last)
	}
	s.seen = now
	total := s.ended
	for _, x := range now {
		total.add(x)
	}
	u.UserCPU, u.SystemCPU = total.user, total.system
	u.MinorFaults, u.MajorFaults = total.minor, total.major
	u.VoluntarySwitches, u.InvoluntarySwitches = total.voluntary, total.involuntary
}

func (x *used) add(other used) {
	x.user += other.user
	x.system += other.system
	x.minor += other.minor
	x.major += other.major
	x.voluntary += other.voluntary
	x.involuntary += other.involuntary
}

// allowedCPUs is the list of CPUs that a process may run on.
func (s *ProcSampler) allowedCPUs(pid string) string {
	text, err := os.ReadFile(filepath.Join(s.folder, pid, "status"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
			return strings.TrimSpace(list)
		}
	}
	return ""
}

// throttled reads for how long the CPU limit held a process's container up, in
// microseconds; -1 when that can't be read. The container's own view of its
// cgroup is below its root, which only the same user may look into.
func (s *ProcSampler) throttled(pid int) int64 {
	cgroups := filepath.Join(s.folder, strconv.Itoa(pid), "root", "sys", "fs", "cgroup")
	for _, file := range []struct {
		name, key string
		perMicro  int64
	}{
		{"cpu.stat", "throttled_usec", 1},
		{"cpu/cpu.stat", "throttled_time", 1000},
		{"cpu,cpuacct/cpu.stat", "throttled_time", 1000},
	} {
		text, err := os.ReadFile(filepath.Join(cgroups, file.name))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) != 2 || fields[0] != file.key {
				continue
			}
			if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
				return n / file.perMicro
			}
		}
	}
	return -1
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
