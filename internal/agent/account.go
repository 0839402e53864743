package agent

import "github.com/prometheus/procfs"

// usage is what only grows: CPU times in microseconds, and page faults.
type usage struct{ user, system, minor, major int64 }

func (u *usage) add(other usage) {
	u.user += other.user
	u.system += other.system
	u.minor += other.minor
	u.major += other.major
}

// entry is what a process has used, and what its children had that it has
// waited for; the kernel keeps both (getrusage(2), RUSAGE_SELF and
// RUSAGE_CHILDREN).
type entry struct {
	parent        int
	own, children usage
}

// all is the process's own use and its children's.
func (e entry) all() usage {
	all := e.own
	all.add(e.children)
	return all
}

// account adds up what the server's processes have used, each once: a process
// that is there by itself, one that was waited for as part of its parent, and
// one that went without being waited for as it was seen last.
type account struct {
	seen  map[process]entry
	gone  usage // of processes that nobody waited for
	total usage
}

// update takes in what the kernel shows of all processes.
func (a *account) update(stats []procfs.ProcStat) {
	now := make(map[process]entry, len(stats))
	living := make(map[int]process, len(stats))
	for i := range stats {
		s := &stats[i]
		p := process{pid: s.PID, started: s.Starttime}
		living[s.PID] = p
		now[p] = entry{
			parent:   s.PPID,
			own:      usage{user: int64(s.UTime) * tick, system: int64(s.STime) * tick, minor: int64(s.MinFlt), major: int64(s.MajFlt)},
			children: usage{user: int64(s.CUTime) * tick, system: int64(s.CSTime) * tick, minor: int64(s.CMinFlt), major: int64(s.CMajFlt)},
		}
	}
	// What the living gained by waiting since the last reading.
	gained := map[process]usage{}
	for p, e := range now {
		gain := e.children
		if before, ok := a.seen[p]; ok {
			gain = minus(gain, before.children)
		}
		gained[p] = gain
	}
	for p, e := range a.seen {
		if _, lives := now[p]; lives {
			continue
		}
		heir, ok := a.heir(e, living)
		if left := minus(gained[heir], e.all()); ok && left.user >= -2*tick && left.system >= -2*tick {
			gained[heir] = left
			continue
		}
		a.gone.add(e.all())
	}
	a.seen = now
	sum := a.gone
	for _, e := range now {
		sum.add(e.all())
	}
	a.total = usage{
		user: max(a.total.user, sum.user), system: max(a.total.system, sum.system),
		minor: max(a.total.minor, sum.minor), major: max(a.total.major, sum.major),
	}
}

// heir is the nearest living ancestor of a process that is gone.
func (a *account) heir(e entry, living map[int]process) (process, bool) {
	for range len(a.seen) {
		if p, ok := living[e.parent]; ok {
			return p, true
		}
		found := false
		for p, before := range a.seen {
			if p.pid == e.parent {
				e, found = before, true
				break
			}
		}
		if !found {
			break
		}
	}
	return process{}, false
}

func minus(a, b usage) usage {
	return usage{user: a.user - b.user, system: a.system - b.system, minor: a.minor - b.minor, major: a.major - b.major}
}
