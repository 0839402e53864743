package manager

import (
	"github.com/assay-dev/assay/internal/result"
)

// Live holds the figures of a measurement under way, of the seconds that all clients have sent. The zero value has
// none. It is for one run and one goroutine.
type Live struct {
	// Seconds are the entries of Server.Passed.
	Seconds []result.Second
	// Counts and Total are those of all of them, merged; Total is nil without any.
	Counts result.Counts
	Total  *result.Histogram

	width, until int64
}

// Follow updates the figures of a run's measurement. clients is the number of the run's clients. It merges only
// what is new, so that it may be called each second.
func (s *Server) Follow(run string, clients int, l *Live) {
	r := s.known(run)
	passed := s.Passed(run, clients)
	contained(s, r, func() struct{} {
		r.follow(passed, l)
		return struct{}{}
	})
}

// follow adds what the given entries have and l lacks.
func (r *run) follow(passed []result.Second, l *Live) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(passed); n == 0 || passed[n-1].Second+passed[n-1].Seconds < l.until || l.width != r.series.width {
		*l = Live{width: r.series.width}
	}
	for i := range passed {
		s := &passed[i]
		e := r.series.entries[s.Second/s.Seconds]
		if s.Seconds != r.series.width || e == nil {
			*l = Live{} // the series has changed meanwhile
			return
		}
		if s.Second < l.until {
			continue
		}
		if l.Total == nil {
			l.Total = result.NewHistogram()
		}
		l.Counts.Add(e.Counts)
		l.Total.Merge(e.total())
		l.until = s.Second + s.Seconds
	}
	l.Seconds = passed
}
