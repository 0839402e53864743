package manager

import (
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Window returns the seconds of a run's measurement from from on that all clients have sent, as one: its percentiles are
// those of all its requests. clients is their number. It has no seconds if there are none.
func (s *Server) Window(run string, clients int, from int64) result.Second {
	r := s.known(run)
	return contained(s, r, func() result.Second { return r.window(clients, from) })
}

// window joins the entries of the series that end after from. Where entries have become longer, the first may begin
// before it.
func (r *run) window(clients int, from int64) result.Second {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.sentByAll(clients)
	var counts result.Counts
	var usage result.ClientUsage
	total := result.NewHistogram()
	begin, end := before, int64(0)
	for key, e := range r.series.entries {
		first, last := key*r.series.width, (key+1)*r.series.width
		if last <= from || last > before {
			continue
		}
		counts.Add(e.Counts)
		usage.Add(e.Usage)
		total.Merge(e.total())
		begin, end = min(begin, first), max(end, last)
	}
	if end == 0 {
		return result.Second{}
	}
	s := result.Second{Second: begin, Seconds: end - begin}
	s.SetUsage(usage)
	s.SetCounts(counts, result.PhaseTimes{})
	s.SetLatency(total)
	r.setTarget(&s, begin, end)
	return s
}

// sentByAll returns the first second of the measurement that some client hasn't sent; 0 if fewer clients are known.
// r.mu must be held.
func (r *run) sentByAll(clients int) int64 {
	if len(r.clients) < clients {
		return 0
	}
	before := int64(1) << 62
	for _, p := range r.clients {
		if p.Totals == nil {
			before = min(before, p.seconds[sessionpb.Stage_STAGE_MEASUREMENT])
		}
	}
	return before
}
