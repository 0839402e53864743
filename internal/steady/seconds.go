package steady

import (
	"slices"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// keptSeconds is how many seconds are kept, the last ones: twice what the longest
	// and most windows take.
	keptSeconds = 1200
	// openSeconds is how many of them are kept unpacked, as clients send several at
	// a time.
	openSeconds = 4
)

// Seconds are the last seconds of a warm-up, merged over all clients. The zero
// value has none.
type Seconds struct {
	entries map[int64]*entry
	newest  int64
	open    []int64 // those that aren't packed, the last used last
}

// entry is what ended in one second or, where a client had to join some, in those
// until last.
type entry struct {
	last      int64
	succeeded int64
	total     *result.Histogram
}

// Add adds what one client did in one second, or in several from that one on.
func (s *Seconds) Add(second *result.ClientSecond, seconds int64) {
	if second.Second <= s.newest-keptSeconds {
		return
	}
	if s.entries == nil {
		s.entries = map[int64]*entry{}
	}
	e := s.entries[second.Second]
	if e == nil {
		e = &entry{total: result.NewHistogram()}
		s.entries[second.Second] = e
	}
	e.last = max(e.last, second.Second+seconds-1)
	e.succeeded += second.Succeeded()
	e.total.Merge(second.Latencies[result.Total])
	s.use(second.Second)
	if second.Second > s.newest {
		s.newest = second.Second
		for at := range s.entries {
			if at <= s.newest-keptSeconds {
				delete(s.entries, at)
			}
		}
	}
}

// use keeps a second unpacked, in place of the one that wasn't used for longest.
func (s *Seconds) use(second int64) {
	if i := slices.Index(s.open, second); i >= 0 {
		s.open = slices.Delete(s.open, i, i+1)
	} else if len(s.open) == openSeconds {
		if e := s.entries[s.open[0]]; e != nil {
			_ = e.total.Pack() // it fails only by an error in the code, and then stays large
		}
		s.open = slices.Delete(s.open, 0, 1)
	}
	s.open = append(s.open, second)
}

// Windows returns the windows that a criterion compares, of those that end before
// a second, in their order. They are counted from the stage's start. One of
// which a part isn't known apart from its neighbours is left out.
func (s *Seconds) Windows(c Criterion, before int64) []result.WarmupWindow {
	var windows []result.WarmupWindow
	end := min(before, c.LimitSeconds) / c.WindowSeconds
	for n := max(0, end-c.Windows); n < end; n++ {
		if w, ok := s.window(n*c.WindowSeconds, c.WindowSeconds); ok {
			windows = append(windows, w)
		}
	}
	return windows
}

func (s *Seconds) window(from, width int64) (result.WarmupWindow, bool) {
	total := result.NewHistogram()
	w := result.WarmupWindow{Second: from, Seconds: width}
	known := false
	if from <= s.newest-keptSeconds {
		return w, false
	}
	for at, e := range s.entries {
		if at < from && e.last >= from || at >= from && at < from+width && e.last >= from+width {
			return w, false
		}
		if at >= from && at < from+width {
			known = true
			w.Succeeded += e.succeeded
			total.Merge(e.total)
		}
	}
	w.P99 = total.Percentile(99)
	return w, known
}
