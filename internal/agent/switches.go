package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// thread tells a thread from a later one with the same number in its process.
type thread struct {
	process
	tid int
}

// switched is the numbers of context switches of a thread.
type switched struct{ voluntary, involuntary int64 }

// switches adds up context switches over all threads: the kernel shows those
// of a process by thread alone, and forgets them with it. Those between two
// readings are added to the container that the process is in at the second.
type switches struct {
	seen map[thread]switched
	// read is when they were read last, cost how long that took.
	read time.Time
	cost time.Duration
}

// costlySwitches is from when on the switches are read only so often that it
// takes one percent of a CPU. 200 threads take 4 ms.
const costlySwitches = 10 * time.Millisecond

// readSwitches adds the context switches of all threads of the processes to
// their containers; when there are very many threads, not at each reading.
func (s *ProcSampler) readSwitches(all []sampled) {
	began := time.Now()
	if s.switches.cost <= costlySwitches || began.Sub(s.switches.read) >= 100*s.switches.cost {
		now := make(map[thread]switched, len(s.switches.seen))
		for i := range all {
			s.readThreads(&all[i], now)
		}
		s.switches.seen = now
		s.switches.read, s.switches.cost = began, time.Since(began)
	}
}

// readThreads reads the context switches of a process's threads into now.
func (s *ProcSampler) readThreads(of *sampled, now map[thread]switched) {
	pid := strconv.Itoa(of.PID)
	folder, err := os.Open(filepath.Join(s.folder, pid, "task"))
	if err != nil {
		return
	}
	tids, err := folder.Readdirnames(-1)
	_ = folder.Close()
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
			voluntary:   figure(status, "\nvoluntary_ctxt_switches:"),
			involuntary: figure(status, "\nnonvoluntary_ctxt_switches:"),
		}
		of.in.switched.add(n.since(s.switches.seen[t]))
		now[t] = n
	}
}

func (n *switched) add(other switched) {
	n.voluntary += other.voluntary
	n.involuntary += other.involuntary
}

// since is the switches since a thread had before. A smaller number is that of
// another thread.
func (n switched) since(before switched) switched {
	if n.voluntary < before.voluntary || n.involuntary < before.involuntary {
		return n
	}
	return switched{voluntary: n.voluntary - before.voluntary, involuntary: n.involuntary - before.involuntary}
}

// figure is the number after a key in a status file, 0 when there is none.
func figure(status []byte, key string) int64 {
	_, after, found := bytes.Cut(status, []byte(key))
	if !found {
		return 0
	}
	line, _, _ := bytes.Cut(after, []byte("\n"))
	n, _ := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64)
	return n
}
