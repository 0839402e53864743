package manager

import (
	"slices"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
)

// Window returns the seconds of a run's measurement from from on that all clients have sent, as one: its percentiles are
// those of all its requests. clients is their number. It has no seconds if there are none.
func (s *Server) Window(uid string, clients int, from int64) result.Second {
	return contained(s, uid, func(r *run) result.Second { return r.window(clients, from) })
}

func (r *run) window(clients int, from int64) result.Second {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.series.Join(from, r.sentByAll(clients))
	if s.Seconds > 0 {
		r.setTarget(&s, s.Second, s.Second+s.Seconds)
	}
	return s
}

// sentByAll returns the first second of the measurement that some client hasn't sent; 0 if fewer clients are known.
// r.mu must be held.
func (r *run) sentByAll(clients int) int64 {
	if len(r.clients) < clients {
		return 0
	}
	return r.unsent(sessionpb.Stage_STAGE_MEASUREMENT, func(p *participant) bool { return p.Totals == nil })
}

// unsent returns the first second of a stage that some client of those that count hasn't sent, which is far off if none counts.
// r.mu must be held.
func (r *run) unsent(stage sessionpb.Stage, counts func(*participant) bool) int64 {
	first := int64(1) << 62
	for _, p := range r.clients {
		if counts(p) {
			first = min(first, p.seconds[stage])
		}
	}
	return first
}

// windows returns the last windows of the warm-up whose seconds all clients have sent.
func (r *run) windows(clients int, c steady.Criterion) []result.WarmupWindow {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.clients) < clients {
		return nil
	}
	return r.warmup.Windows(c, r.unsent(sessionpb.Stage_STAGE_WARMUP, func(*participant) bool { return true }))
}

// targetUsage returns what the target used in the seconds of the measurement from from to to.
func (r *run) targetUsage(from, to int64) result.TargetUsage {
	r.mu.Lock()
	defer r.mu.Unlock()
	var s result.Second
	r.setTarget(&s, from, to)
	return result.TargetUsage{Server: s.Server, Backends: s.Backends, Node: s.Node}
}

// setTarget sets the target's metrics in the seconds of the measurement from from to to. r.mu must be held.
func (r *run) setTarget(s *result.Second, from, to int64) {
	start := r.starts[sessionpb.Stage_STAGE_MEASUREMENT]
	r.target.Set(s, start+from*1_000_000, start+to*1_000_000)
}

// passedSeconds returns the entries of the series whose seconds all clients have sent.
func (r *run) passedSeconds(clients int) []result.Second {
	r.mu.Lock()
	before := r.sentByAll(clients)
	r.mu.Unlock()
	if before == 0 {
		return nil
	}
	all := r.seconds()
	return slices.DeleteFunc(all, func(s result.Second) bool { return s.Second+s.Seconds > before })
}

// seconds returns the series with the target's metrics.
func (r *run) seconds() []result.Second {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.series.Seconds()
	for i := range all {
		s := &all[i]
		r.setTarget(s, s.Second, s.Second+s.Seconds)
	}
	return all
}
