package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

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
}

// readSwitches returns the context switches of all threads of the processes.
func (s *ProcSampler) readSwitches(stats []procfs.ProcStat) (voluntary, involuntary int64) {
	now := make(map[thread]switched, len(s.switches.seen))
	for i := range stats {
		pid := strconv.Itoa(stats[i].PID)
		p := process{pid: stats[i].PID, started: stats[i].Starttime}
		folder, err := os.Open(filepath.Join(s.folder, pid, "task"))
		if err != nil {
			continue
		}
		tids, err := folder.Readdirnames(-1)
		folder.Close()
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
	for t, before := range s.switches.seen {
		// A smaller number is that of another thread.
		if n, lives := now[t]; !lives || n.voluntary < before.voluntary {
			s.switches.gone.voluntary += before.voluntary
			s.switches.gone.involuntary += before.involuntary
		}
	}
	s.switches.seen = now
	voluntary, involuntary = s.switches.gone.voluntary, s.switches.gone.involuntary
	for _, n := range now {
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
