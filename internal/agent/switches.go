package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// thread identifies a thread: a later one of its process may have the same ID.
type thread struct {
	process
	tid int
}

type switched struct{ voluntary, involuntary int64 }

// switches sums the context switches of all threads. The kernel forgets those of a thread that
// ended. Switches between two samples count for the process's container at the second sample.
type switches struct {
	seen map[thread]switched
	// sampled is the time of the latest sample, cost how long it took.
	sampled time.Time
	cost    time.Duration
}

// maxSwitchesCost is the time that a sample of the switches may take before they are sampled less
// often, so that they use at most one percent of a CPU. 200 threads take 4 ms.
const maxSwitchesCost = 10 * time.Millisecond

// readSwitches adds the context switches of all threads of the processes to their containers. If
// there are very many threads, it skips samples.
func (s *ProcSampler) readSwitches(all []processSample) {
	began := time.Now()
	if s.switches.cost <= maxSwitchesCost || began.Sub(s.switches.sampled) >= 100*s.switches.cost {
		now := make(map[thread]switched, len(s.switches.seen))
		for i := range all {
			s.readThreads(&all[i], now)
		}
		s.switches.seen = now
		s.switches.sampled, s.switches.cost = began, time.Since(began)
	}
}

func (s *ProcSampler) readThreads(of *processSample, now map[thread]switched) {
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
		n := switched{
			voluntary:   switchesIn(status, "voluntary_ctxt_switches"),
			involuntary: switchesIn(status, "nonvoluntary_ctxt_switches"),
		}
		of.in.switched.add(n.since(s.switches.seen[t]))
		now[t] = n
	}
}

func (n *switched) add(other switched) {
	n.voluntary += other.voluntary
	n.involuntary += other.involuntary
}

// since returns the switches since before. If there are fewer, n belongs to another thread.
func (n switched) since(before switched) switched {
	if n.voluntary < before.voluntary || n.involuntary < before.involuntary {
		return n
	}
	return switched{voluntary: n.voluntary - before.voluntary, involuntary: n.involuntary - before.involuntary}
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
