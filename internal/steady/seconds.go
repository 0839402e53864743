package steady

import "github.com/assay-dev/assay/internal/result"

const (
	// keptSeconds is the number of last seconds kept: twice the longest and most windows.
	keptSeconds = 1200
	// openSeconds is the number of seconds that stay unpacked: clients send several at a time.
	openSeconds = 4
)

// Seconds holds the last seconds of a warm-up, merged over all clients. The zero value holds none.
type Seconds struct {
	entries map[int64]*entry
	newest  int64
	open    result.Recent // histograms that are not packed
}

// entry holds what completed in a second or, where a client joined several, in those up to last.
type entry struct {
	last      int64
	succeeded int64
	total     *result.Histogram
}

// Add adds a sample second of one client. It may stand for several seconds from that one on.
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
	s.open.Use(e.total, openSeconds)
	e.total.Merge(second.Latencies[result.Total])
	if second.Second > s.newest {
		s.newest = second.Second
		for at := range s.entries {
			if at <= s.newest-keptSeconds {
				delete(s.entries, at)
			}
		}
	}
}

// Windows returns the windows that a criterion compares, of those that end before a second of the
// stage, in their order. It omits a window whose bounds a joined entry crosses.
func (s *Seconds) Windows(c Criterion, before int64) []result.WarmupWindow {
	var windows []result.WarmupWindow
	end := min(before, c.TimeoutSeconds) / c.WindowSeconds
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
