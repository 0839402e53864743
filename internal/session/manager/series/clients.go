// Package series holds what the pods of a run used and measured, by seconds: Clients what all clients sent, Target what the
// containers of the target's pod and its node used. Its memory is bounded: beyond that, seconds are joined. Nothing in it is safe for
// concurrent use.
package series

import (
	"slices"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// MaxLength bounds the entries of a series. A series that would get longer
	// doubles the seconds of each entry.
	MaxLength = 600
	// openEntries bounds the entries whose histogram isn't packed.
	openEntries = 16
	// entryBytes estimates the memory of an entry in addition to its encoded distributions.
	entryBytes = 2 << 10
)

// Clients holds the seconds of a measurement, merged over all clients. It keeps the distributions of
// each entry, so that the percentiles of merged entries are those of all their requests.
type Clients struct {
	width   int64 // the seconds of an entry, a power of two
	entries map[int64]*entry
	open    result.Recent // histograms that aren't packed
}

// entry holds width seconds of all clients, merged. Its key is the first of them divided by width.
type entry struct {
	// ClientSecond has the histogram of the total. The distributions of the other phases stay encoded as sketches: with
	// 600 entries, a few hundred bytes each are less than the dozens of kB that counts would take.
	result.ClientSecond
	// latency and times have the percentiles of the total, and of the phases, sketch the distribution of the total, when
	// there were counted requests and the phases were timed: they are costly, and most entries don't change any more when the series is
	// read again.
	latency result.Second
	times   result.PhaseTimes
	sketch  result.Sketch // of the total
	counted int64
	timed   result.PhaseTimes
}

// NewClients returns a series without seconds.
func NewClients() *Clients {
	return &Clients{width: 1, entries: map[int64]*entry{}}
}

// Add adds the metrics of one client in one second or several. If they belong to
// more than one entry, the first gets all of them.
func (s *Clients) Add(second *result.ClientSecond, seconds int64) {
	for seconds > s.width || second.Second/s.width >= MaxLength {
		s.Double()
	}
	s.entry(second.Second / s.width).Merge(second)
}

// total returns the histogram of the total times.
func (e *entry) total() *result.Histogram { return e.Latencies.Of(result.Total) }

// entry returns an entry with its histogram. It creates the entry on first use.
func (s *Clients) entry(key int64) *entry {
	e := s.entries[key]
	if e == nil {
		e = &entry{}
		s.entries[key] = e
	}
	s.open.Use(e.total(), openEntries)
	return e
}

// Double doubles the seconds of each entry.
func (s *Clients) Double() {
	s.width *= 2
	before := s.entries
	s.entries, s.open = make(map[int64]*entry, len(before)), nil
	for key, e := range before {
		pair := s.entries[key/2]
		if pair == nil {
			pair = e
			s.entries[key/2] = e
		} else {
			pair.Merge(&e.ClientSecond)
		}
		pair.total().Pack()
	}
}

// Seconds returns the entries in their order, without the target.
func (s *Clients) Seconds() []result.Second {
	all := make([]result.Second, 0, len(s.entries))
	for key, e := range s.entries {
		second := e.second()
		second.Second, second.Seconds = key*s.width, s.width
		all = append(all, second)
	}
	slices.SortFunc(all, func(a, b result.Second) int { return int(a.Second - b.Second) })
	return all
}

// second returns the metrics of an entry, but not which seconds it has.
func (e *entry) second() (second result.Second) {
	second.SetUsage(e.Usage)
	second.ClientNode = e.Node
	if n := e.total().Count(); e.counted != n || e.timed != e.Phases {
		e.counted, e.timed = n, e.Phases
		times := e.Phases
		times.SetSketched(&e.Sketches)
		e.latency.SetCounts(e.Counts, times)
		e.latency.SetLatency(e.total())
		e.times, e.sketch = *e.latency.Phases, e.total().Sketch()
	}
	second.SetCounts(e.Counts, e.times)
	second.P50, second.P90, second.P99, second.Max = e.latency.P50, e.latency.P90, e.latency.P99, e.latency.Max
	second.Sketch = e.sketch
	return second
}

// Join returns the entries that end after from and not after before as one: its percentiles are those of all its
// requests. Where entries have become longer, the first may begin before from. It has no seconds if there are none.
func (s *Clients) Join(from, before int64) result.Second {
	var counts result.Counts
	var usage result.ClientUsage
	total := result.NewHistogram()
	begin, end := before, int64(0)
	for key, e := range s.entries {
		first, last := key*s.width, (key+1)*s.width
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
	second := result.Second{Second: begin, Seconds: end - begin}
	second.SetUsage(usage)
	second.SetCounts(counts, result.PhaseTimes{})
	second.SetLatency(total)
	return second
}

// Len returns the number of entries.
func (s *Clients) Len() int { return len(s.entries) }

// Bytes returns about how much memory the entries take.
func (s *Clients) Bytes() (bytes int) {
	for _, e := range s.entries {
		bytes += entryBytes + len(e.sketch) + e.total().Bytes()
		for _, sketch := range e.Sketches {
			bytes += cap(sketch)
		}
	}
	return bytes
}
