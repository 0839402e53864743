package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// thread identifies a thread: a later one of its process may have the same ID.
type thread struct {
	process
	tid int
}

// threadUsage holds counters that the kernel has for each thread: context switches, and the CPU time in
// microseconds of a thread that compiles.
type threadUsage struct{ voluntary, involuntary, compiling int64 }

// threads sums the counters of all threads. The kernel forgets those of a thread that
// ended. What is counted between two samples counts for the process's container at the second sample.
type threads struct {
	seen map[thread]threadUsage
	// sampled is the time of the latest sample, cost how long it took.
	sampled time.Time
	cost    time.Duration
}

// maxThreadsCost is the time that a sample of the threads may take before they are sampled less
// often, so that they use at most one percent of a CPU. 200 threads take 4 ms.
const maxThreadsCost = 10 * time.Millisecond

// compilers are what the names of threads that compile Java code begin with: those of HotSpot, of Graal and of
// OpenJ9. The kernel has the first 15 characters of a name.
var compilers = []string{"C1 CompilerThre", "C2 CompilerThre", "JVMCI Compiler", "JIT Compilation"}

// readThreads adds the counters of all threads of the processes to their containers. If
// there are very many threads, it skips samples.
func (s *ProcSampler) readThreads(all []processSample) {
	began := time.Now()
	if s.threads.cost <= maxThreadsCost || began.Sub(s.threads.sampled) >= 100*s.threads.cost {
		now := make(map[thread]threadUsage, len(s.threads.seen))
		for i := range all {
			s.readThreadsOf(&all[i], now)
		}
		s.threads.seen = now
		s.threads.sampled, s.threads.cost = began, time.Since(began)
	}
}

func (s *ProcSampler) readThreadsOf(of *processSample, now map[thread]threadUsage) {
	pid := strconv.Itoa(of.PID)
	tasks, err := os.Open(filepath.Join(s.directory, pid, "task"))
	if err != nil {
		return
	}
	tids, err := tasks.Readdirnames(-1)
	_ = tasks.Close()
	if err != nil {
		return
	}
	for _, tid := range tids {
		status, err := s.file(pid, "task", tid, "status")
		if err != nil {
			continue
		}
		number, _ := strconv.Atoi(tid)
		t := thread{of.process(), number}
		n := threadUsage{
			voluntary:   switchesIn(status, "voluntary_ctxt_switches"),
			involuntary: switchesIn(status, "nonvoluntary_ctxt_switches"),
		}
		if compiles(status) {
			of.in.compiles = true
			n.compiling = s.threads.seen[t].compiling // if it ends just now
			if cpu, ok := cpuOf(of, number); ok {
				n.compiling = cpu
			}
		}
		of.in.ofThreads.add(n.since(s.threads.seen[t]))
		now[t] = n
	}
}

// compiles reports whether a thread compiles Java code, given its status file.
func compiles(status []byte) bool {
	line, _, _ := bytes.Cut(status, []byte("\n"))
	name := bytes.TrimSpace(bytes.TrimPrefix(line, []byte("Name:")))
	return slices.ContainsFunc(compilers, func(prefix string) bool { return bytes.HasPrefix(name, []byte(prefix)) })
}

// cpuOf returns the CPU time of a thread in microseconds; false if it has ended.
func cpuOf(of *processSample, tid int) (int64, bool) {
	t, err := of.proc.Thread(tid)
	if err != nil {
		return 0, false
	}
	stat, err := t.Stat()
	if err != nil {
		return 0, false
	}
	return int64(stat.UTime+stat.STime) * tick, true
}

func (n *threadUsage) add(other threadUsage) {
	n.voluntary += other.voluntary
	n.involuntary += other.involuntary
	n.compiling += other.compiling
}

// since returns the usage since before. If any is less, n belongs to another thread.
func (n threadUsage) since(before threadUsage) threadUsage {
	if n.voluntary < before.voluntary || n.involuntary < before.involuntary || n.compiling < before.compiling {
		return n
	}
	return threadUsage{
		voluntary:   n.voluntary - before.voluntary,
		involuntary: n.involuntary - before.involuntary,
		compiling:   n.compiling - before.compiling,
	}
}

func switchesIn(status []byte, field string) int64 {
	n, _ := strconv.ParseInt(statusField(status, field), 10, 64)
	return n
}

// statusField returns a field of a status file, or "" if there is none.
func statusField(status []byte, name string) string {
	_, after, _ := bytes.Cut(status, []byte("\n"+name+":"))
	line, _, _ := bytes.Cut(after, []byte("\n"))
	return string(bytes.TrimSpace(line))
}
