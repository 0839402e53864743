package agent

import "github.com/prometheus/procfs"

// usage holds cumulative counters: CPU time in microseconds, and page faults.
type usage struct{ user, system, minor, major int64 }

func (u *usage) add(other usage) {
	u.user += other.user
	u.system += other.system
	u.minor += other.minor
	u.major += other.major
}

// processSample is a process, its state at a sample, and its container.
type processSample struct {
	procfs.ProcStat
	proc procfs.Proc
	in   *container
}

func (s *processSample) process() process { return process{pid: s.PID, started: s.Starttime} }

// entry holds the usage of a process and of the children that it has reaped. The kernel keeps both
// (getrusage(2), RUSAGE_SELF and RUSAGE_CHILDREN).
type entry struct {
	parent        int
	own, children usage
}

// all returns the usage of the process and of its reaped children.
func (e entry) all() usage {
	all := e.own
	all.add(e.children)
	return all
}

// account sums the usage of processes and counts each process once. A live process counts with its
// latest sample. A reaped child counts as part of its parent. A process that exited without being
// reaped counts with its last sample.
//
// Usage between two samples is added to the container of the process at the second sample. If a
// process turns out to be in another container than assumed, earlier usage stays where it was
// counted, so that none is lost or counted twice.
type account struct {
	seen map[process]entry
}

// update adds what the processes used since the previous sample to their containers.
func (a *account) update(all []processSample) {
	now := make(map[process]entry, len(all))
	living := make(map[int]process, len(all))
	in := make(map[process]*container, len(all))
	for i := range all {
		s := &all[i]
		p := s.process()
		living[s.PID], in[p] = p, s.in
		now[p] = entry{
			parent:   s.PPID,
			own:      usage{user: int64(s.UTime) * tick, system: int64(s.STime) * tick, minor: int64(s.MinFlt), major: int64(s.MajFlt)},
			children: usage{user: int64(s.CUTime) * tick, system: int64(s.CSTime) * tick, minor: int64(s.CMinFlt), major: int64(s.CMajFlt)},
		}
	}
	// What live processes gained by reaping children since the previous sample.
	gained := map[process]usage{}
	for p, e := range now {
		gained[p] = minus(e.children, a.seen[p].children)
		in[p].used.add(minus(e.all(), a.seen[p].all()))
	}
	for p, e := range a.seen {
		if _, lives := now[p]; lives {
			continue
		}
		ancestor, ok := a.liveAncestor(e, living)
		if left := minus(gained[ancestor], e.all()); ok && left.user >= -2*tick && left.system >= -2*tick {
			gained[ancestor] = left
			in[ancestor].used.add(minus(usage{}, e.all())) // it was counted before
		}
	}
	a.seen = now
}

// liveAncestor returns the nearest live ancestor, if there is one, of a process that has exited.
func (a *account) liveAncestor(e entry, living map[int]process) (process, bool) {
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

func maxUsage(a, b usage) usage {
	return usage{user: max(a.user, b.user), system: max(a.system, b.system), minor: max(a.minor, b.minor), major: max(a.major, b.major)}
}
