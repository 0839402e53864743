// Package node reads what happens around the processes of a pod: on their CPUs, on the node, and in
// the pod's network namespace. It reads only /proc, /sys and sock_diag and needs no privilege. What
// the processes themselves use is read elsewhere.
package node

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/assay-dev/assay/internal/result"
)

// Pod describes the processes whose surroundings a Reader reads.
type Pod struct {
	// CPUs lists the CPUs that they may run on, as in "0-3,8": one list for each container, or
	// several with the same CPUs.
	CPUs []string
	// CPU is their CPU time since any time, in microseconds. It never decreases.
	CPU int64
	// Interfaces are those of the pod's network namespace; nil to have the reader read them.
	Interfaces procfs.NetDev
}

// Reader reads the metrics of result.NodeUsage. It is not safe for concurrent use.
type Reader struct {
	proc      procfs.FS
	namespace procfs.FS // /proc/self, with the files of the network namespace in net
	sys       string
	now       func() time.Time

	cpus     cpus
	softnet  softnet
	sockets  *sockDiag // nil if there is none
	governor string
	machine  result.Machine
}

// NewReader returns a reader of the proc file system mounted at proc and the sys file system
// mounted at sys. The process must be in the pod's network namespace.
func NewReader(proc, sys string) (*Reader, error) {
	fs, err := procfs.NewFS(proc)
	if err != nil {
		return nil, err
	}
	namespace, err := procfs.NewFS(filepath.Join(proc, "self"))
	if err != nil {
		return nil, err
	}
	r := &Reader{proc: fs, namespace: namespace, sys: sys, now: time.Now, cpus: newCPUs(), softnet: softnet{seen: map[uint32]procfs.SoftnetStat{}}}
	r.readMachine()
	if sockets, err := newSockDiag(); err == nil {
		r.sockets = sockets
	}
	return r, nil
}

// Close closes what the reader keeps open.
func (r *Reader) Close() error {
	if r.sockets == nil {
		return nil
	}
	return r.sockets.close()
}

// Machine returns the node's machine as it was when the reader was made.
func (r *Reader) Machine() result.Machine { return r.machine }

func (r *Reader) readMachine() {
	m := &r.machine
	if cpus, err := r.proc.CPUInfo(); err == nil && len(cpus) > 0 {
		m.CPUs, m.CPUModel = int64(len(cpus)), cpus[0].ModelName
		for i := range cpus {
			m.MaxFrequency = max(m.MaxFrequency, int64(1000*cpus[i].CPUMHz))
		}
	}
	if memory, err := r.proc.Meminfo(); err == nil && memory.MemTotalBytes != nil {
		m.MemoryBytes = int64(*memory.MemTotalBytes)
	}
	if kilohertz, err := strconv.ParseInt(textOf(filepath.Join(r.sys, "devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")), 10, 64); err == nil && kilohertz > 0 {
		m.MaxFrequency = kilohertz
	}
}

// Governor returns the frequency governor of the pod's CPUs at the last sample, or "" if it is
// unknown or they don't have the same.
func (r *Reader) Governor() string { return r.governor }

// Sample returns the metrics up to now. Counters are since any time and never decrease. What can't
// be read is Unknown.
func (r *Reader) Sample(pod *Pod) *result.NodeUsage {
	u := result.UnknownNode()
	r.readCPUs(u, pod)
	r.readPressure(u)
	r.readFrequency(u)
	r.readSoftnet(u)
	r.readNetwork(u, pod.Interfaces)
	r.readSockets(u)
	return u
}

func (r *Reader) readCPUs(u *result.NodeUsage, pod *Pod) {
	at := r.now()
	stat, err := r.proc.Stat()
	if err != nil {
		return
	}
	u.ContextSwitches, u.RunQueue = int64(stat.ContextSwitches), int64(stat.ProcessesRunning)
	r.cpus.set(pod.CPUs)
	r.cpus.update(stat.CPU, at, pod.CPU)
	r.cpus.report(u)
	if waits, err := r.proc.Schedstat(); err == nil {
		u.RunQueueWait = r.cpus.wait(waits)
	}
}

// readPressure reads pressure stall information (Documentation/accounting/psi.rst). The kernel may
// be built or started without it.
func (r *Reader) readPressure(u *result.NodeUsage) {
	for _, resource := range []struct {
		name       string
		some, full *int64
	}{
		{"cpu", &u.CPUPressure, nil}, // a node's CPUs are never all stalled
		{"memory", &u.MemoryPressure, &u.MemoryStall},
		{"io", &u.IOPressure, &u.IOStall},
	} {
		pressure, err := r.proc.PSIStatsForResource(resource.name)
		if err != nil {
			continue
		}
		if pressure.Some != nil {
			*resource.some = int64(pressure.Some.Total)
		}
		if pressure.Full != nil && resource.full != nil {
			*resource.full = int64(pressure.Full.Total)
		}
	}
}

// maxFrequencies bounds the CPUs whose frequency is read: on some kernels each takes an interrupt
// of that CPU.
const maxFrequencies = 4

// readFrequency reads what the frequency driver says (Documentation/admin-guide/pm/cpufreq.rst),
// which virtual machines don't have.
func (r *Reader) readFrequency(u *result.NodeUsage) {
	r.governor = ""
	for i, cpu := range r.cpus.first(maxFrequencies) {
		policy := filepath.Join(r.sys, "devices/system/cpu", "cpu"+strconv.Itoa(cpu), "cpufreq")
		governor := textOf(filepath.Join(policy, "scaling_governor"))
		if i == 0 {
			r.governor = governor
		} else if governor != r.governor {
			r.governor = ""
		}
		kilohertz, err := strconv.ParseInt(textOf(filepath.Join(policy, "scaling_cur_freq")), 10, 64)
		if err != nil || kilohertz <= 0 {
			continue
		}
		if u.Frequency == result.Unknown || kilohertz < u.Frequency {
			u.Frequency = kilohertz
		}
	}
}

// textOf returns a file of one line, or "" if it can't be read.
func textOf(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// union returns the sets of several lists. A list that can't be read is omitted.
func union(lists []string) []result.CPUSet {
	var sets []result.CPUSet
	for _, list := range lists {
		if set, err := result.ParseCPUs(list); err == nil && set.Size() > 0 {
			sets = append(sets, set)
		}
	}
	return sets
}
