package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prometheus/procfs"
)

// thread tells a thread from a later one with the same number in its process.
type thread struct {
	process
	tid int
}

// switched is the numbers of context switches of a thread.
type switched struct{ voluntary, involuntary int64 }

// switches adds up context switches over all threads: the kernel shows those
// of a process by thread alone, and forgets them with it.
type switches struct {
	seen map[thread]switched
	gone switched
	// read is when they were read last, cost how long that took.
	read time.Time
	cost time.Duration
}

// costlySwitches is from when on the switches are read only so often that it
// takes one percent of a CPU. 200 threads take 4 ms.
const costlySwitches = 10 * time.Millisecond

// readSwitches returns the context switches of all threads of the processes,
// as they were read last when there are very many threads.
func (s *ProcSampler) readSwitches(stats []procfs.ProcStat) (voluntary, involuntary int64) {
	began := time.Now()
	if s.switches.cost <= costlySwitches || began.Sub(s.switches.read) >= 100*s.switches.cost {
		s.switches.update(s.threads(stats))
		s.switches.read, s.switches.cost = began, time.Since(began)
	}
	return s.switches.total()
}

// threads reads the context switches of each thread.
func (s *ProcSampler) threads(stats []procfs.ProcStat) map[thread]switched {
	now := make(map[thread]switched, len(s.switches.seen))
	for i := range stats {
		pid := strconv.Itoa(stats[i].PID)
		p := process{pid: stats[i].PID, started: stats[i].Starttime}
		folder, err := os.Open(filepath.Join(s.folder, pid, "task"))
		if err != nil {
			continue
		}
		tids, err := folder.Readdirnames(-1)
		_ = folder.Close()
		if err != nil {
			continue
		}
		for _, tid := range tids {
			status, err := s.file(pid, "task", tid, "status")
			if err != nil {
				continue
			}
			number, _ := strconv.Atoi(tid)
			now[thread{p, number}] = switched{
				voluntary:   figure(status, "\nvoluntary_ctxt_switches:"),
				involuntary: figure(status, "\nnonvoluntary_ctxt_switches:"),
			}
		}
	}
	return now
}

// update takes in what the kernel shows of all threads.
func (s *switches) update(now map[thread]switched) {
	for t, before := range s.seen {
		// A smaller number is that of another thread.
		if n, lives := now[t]; !lives || n.voluntary < before.voluntary || n.involuntary < before.involuntary {
			s.gone.voluntary += before.voluntary
			s.gone.involuntary += before.involuntary
		}
	}
	s.seen = now
}

// total is the switches of all threads that were ever seen.
func (s *switches) total() (voluntary, involuntary int64) {
	voluntary, involuntary = s.gone.voluntary, s.gone.involuntary
	for _, n := range s.seen {
		voluntary += n.voluntary
		involuntary += n.involuntary
	}
	return voluntary, involuntary
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
