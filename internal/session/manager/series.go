package manager

import (
	"slices"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
)

const (
	// seriesLength bounds the entries of a series. A series that would get longer
	// doubles the seconds of each entry.
	seriesLength = 600
	// openEntries bounds the entries whose histogram isn't packed.
	openEntries = 16
)

// series holds the seconds of a measurement, merged over all clients. It keeps the distributions of
// each entry, so that the percentiles of merged entries are those of all their requests.
type series struct {
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

func newSeries() series {
	return series{width: 1, entries: map[int64]*entry{}}
}

// fits reports whether seconds are within the series, so that it can take them without joining others.
func (s *series) fits(second, seconds int64) bool {
	return seconds <= s.width && second/s.width < seriesLength
}

// add adds the metrics of one client in one second or several. If they belong to
// more than one entry, the first gets all of them.
func (s *series) add(second *result.ClientSecond, seconds int64) {
	for !s.fits(second.Second, seconds) {
		s.double()
	}
	s.entry(second.Second / s.width).Merge(second)
}

// total returns the histogram of the total times.
func (e *entry) total() *result.Histogram { return e.Latencies.Of(result.Total) }

// entry returns an entry with its histogram. It creates the entry on first use.
func (s *series) entry(key int64) *entry {
	e := s.entries[key]
	if e == nil {
		e = &entry{}
		s.entries[key] = e
	}
	s.open.Use(e.total(), openEntries)
	return e
}

func (s *series) double() {
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

// seconds returns the entries in their order, without the target.
func (s *series) seconds() []result.Second {
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

// windows returns the last windows of the warm-up whose seconds all clients have sent.
func (r *run) windows(clients int, c steady.Criterion) []result.WarmupWindow {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.clients) < clients {
		return nil
	}
	before := int64(1) << 62
	for _, p := range r.clients {
		before = min(before, p.seconds[sessionpb.Stage_STAGE_WARMUP])
	}
	return r.warmup.Windows(c, before)
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
	from, to = start+from*1_000_000, start+to*1_000_000
	server, known := r.usage.samples.between(from, to)
	s.SetServer(&server, known)
	for name, backend := range r.backends {
		used, known := backend.samples.between(from, to)
		s.SetBackend(name, &used, known)
	}
	if node, known := r.node.between(from, to); known {
		s.Node = &node
	}
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
	all := r.series.seconds()
	for i := range all {
		s := &all[i]
		r.setTarget(s, s.Second, s.Second+s.Seconds)
	}
	return all
}
