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

// sampled is a process as it was read, and the container that it is in.
type sampled struct {
	procfs.ProcStat
	in *container
}

// process tells it from others.
func (s *sampled) process() process { return process{pid: s.PID, started: s.Starttime} }

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

// account adds up what processes have used, each once: a process that is there
// by itself, one that was waited for as part of its parent, and one that went
// without being waited for as it was seen last. What was used between two
// readings is added to the container that the process is in at the second, so
// that nothing is lost and nothing counted twice when it turns out to be in
// another container than was thought: what was counted by then stays where it
// is.
type account struct {
	seen map[process]entry
}

// update takes in what the kernel shows of all processes.
func (a *account) update(all []sampled) {
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
	// What the living gained by waiting since the last reading.
	gained := map[process]usage{}
	for p, e := range now {
		gained[p] = minus(e.children, a.seen[p].children)
		in[p].used.add(minus(e.all(), a.seen[p].all()))
	}
	for p, e := range a.seen {
		if _, lives := now[p]; lives {
			continue
		}
		heir, ok := a.heir(e, living)
		if left := minus(gained[heir], e.all()); ok && left.user >= -2*tick && left.system >= -2*tick {
			gained[heir] = left
			in[heir].used.add(minus(usage{}, e.all())) // it was counted before
		}
	}
	a.seen = now
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

// most is the larger of each figure.
func most(a, b usage) usage {
	return usage{user: max(a.user, b.user), system: max(a.system, b.system), minor: max(a.minor, b.minor), major: max(a.major, b.major)}
}
