package manager

import (
	"slices"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// wholeLength bounds the entries of a whole series: two hours of seconds.
	wholeLength = 2 * 60 * 60
	// openWholeEntries bounds those of its entries whose histogram isn't packed. Clients are seconds apart at most, unless
	// they send something again.
	openWholeEntries = 16
	// maxWholeBytes bounds what the whole series of all runs take together. The run that would exceed it joins its own
	// entries, but not to fewer than its series has.
	maxWholeBytes = 32 << 20
	// entryBytes is what an entry takes in addition to its encoded distributions.
	entryBytes = 2 << 10
	// maxJoins bounds the joins for each new entry: one takes a millisecond.
	maxJoins = 2
)

// whole is a series for the whole result, with more entries than that of the status and of the ConfigMap. It begins when
// that one joins its first seconds: until then they are the same. Beyond its bounds it joins its oldest entries, a few
// with each new second, so that entries may have different numbers of seconds.
type whole struct {
	// wanted reports that somebody will read it.
	wanted bool
	length int
	// entries are nil until it begins. They are stored by their first seconds, which are multiples of their widths.
	entries map[int64]*wholeEntry
	open    result.Recent
	// widest is the largest width, newest the newest second.
	widest, newest int64
	// next is the first second of those that are joined next, level their width.
	next, level int64
	// bytes are those that count in counters.
	bytes    int64
	counters *counters // may be nil
}

// wholeEntry is an entry of a number of seconds, which is a power of two.
type wholeEntry struct {
	entry
	width int64
}

func newWhole() whole { return whole{length: wholeLength, widest: 1, level: 2} }

// addMeasured adds the metrics of one client in one second of the measurement or several. r.mu must be held.
func (r *run) addMeasured(second *result.ClientSecond, seconds int64) {
	w := &r.whole
	if w.wanted && w.entries == nil && (r.series.width > 1 || !r.series.fits(second.Second, seconds)) {
		w.begin(&r.series)
	}
	r.series.add(second, seconds)
	if w.entries != nil {
		w.add(second, seconds)
	}
}

// begin takes the entries of a series over.
func (w *whole) begin(s *series) {
	w.entries, w.widest = make(map[int64]*wholeEntry, 2*len(s.entries)), s.width
	for key, e := range s.entries {
		w.entries[key*s.width] = &wholeEntry{e.copied(), s.width}
		w.newest = max(w.newest, key*s.width+s.width-1)
	}
	s.open = nil // all are packed
}

// copied returns a copy of the entry. It packs the histogram, whose bytes are shared and never written to.
func (e *entry) copied() entry {
	e.total().Pack()
	c, total := *e, *e.total()
	c.Latencies[result.Total], c.Node = &total, (*result.NodeUsage)(nil).Add(e.Node)
	for phase := range c.Sketches {
		c.Sketches[phase] = slices.Clone(e.Sketches[phase]) // merged in place
	}
	return c
}

// add adds the metrics of one client in one second or several. If they belong to more than one entry, the first gets all
// of them.
func (w *whole) add(second *result.ClientSecond, seconds int64) {
	width := int64(1)
	for width < seconds {
		width *= 2
	}
	e := w.find(second.Second)
	fresh := e == nil
	if fresh || e.width < width {
		e = w.join(second.Second/width*width, width)
	}
	w.open.Use(e.total(), openWholeEntries)
	e.Merge(second)
	if fresh {
		w.newest = max(w.newest, second.Second)
		w.limit()
	}
}

// find returns the entry that has a second, or nil.
func (w *whole) find(second int64) *wholeEntry {
	for width := int64(1); width <= w.widest; width *= 2 {
		if e := w.entries[second/width*width]; e != nil && e.width == width {
			return e
		}
	}
	return nil
}

// join makes one entry of all that there are from a second on, in a number of seconds. It creates one if there is none.
func (w *whole) join(from, width int64) *wholeEntry {
	var joined *wholeEntry
	for at := from; at < from+width; {
		e := w.entries[at]
		switch {
		case e == nil:
			at++
			continue
		case joined == nil:
			joined = e
		default:
			joined.Merge(&e.ClientSecond)
		}
		delete(w.entries, at)
		w.open = slices.DeleteFunc(w.open, func(h *result.Histogram) bool { return h == e.total() })
		at += e.width
	}
	if joined == nil {
		joined = &wholeEntry{}
	}
	joined.total().Pack()
	joined.width, w.entries[from] = width, joined
	w.widest = max(w.widest, width)
	return joined
}

// limit joins the oldest entries, beginning with the shortest, while there are too many.
func (w *whole) limit() {
	if len(w.entries)%16 == 0 {
		w.count()
	}
	for range maxJoins {
		if len(w.entries) <= w.length && (w.counters.wholeBytes() <= maxWholeBytes || len(w.entries) <= seriesLength) {
			return
		}
		w.joinNext()
	}
	w.count()
}

// joinNext joins the next entries of which several have place in one.
func (w *whole) joinNext() {
	for before := len(w.entries); len(w.entries) == before; w.next += w.level {
		if w.next+w.level > w.newest {
			w.next, w.level = 0, 2*w.level
			if w.level > w.newest {
				return
			}
		}
		several := 0
		for at := w.next; at < w.next+w.level && several < 2; at++ {
			if w.entries[at] != nil {
				several++
			}
		}
		if several == 2 {
			w.join(w.next, w.level)
		}
	}
}

// count makes the entries count in counters, without those of their histograms that aren't packed.
func (w *whole) count() {
	bytes := int64(0)
	for _, e := range w.entries {
		bytes += entryBytes + int64(e.total().PackedBytes())
		for _, sketch := range e.Sketches {
			bytes += int64(cap(sketch))
		}
	}
	w.counters.addWholeBytes(bytes - w.bytes)
	w.bytes = bytes
}

// drop forgets all entries. It begins again as after a restart of the manager.
func (w *whole) drop() {
	w.entries = nil
	w.count()
	*w = whole{wanted: w.wanted, length: w.length, widest: 1, level: 2, counters: w.counters}
}

// wholeSeconds returns the entries of the whole series, or of the series if that has not begun, with their histograms
// and the target's metrics. They don't change when the series does. Sessions go on while it is at work.
func (r *run) wholeSeconds() []result.Second {
	entries, all := r.wholeEntries()
	for i, e := range entries {
		second := e.second()
		second.Second, second.Seconds, second.Latency = all[i].Second, all[i].Seconds, e.total()
		second.ServerCPU, second.ServerResident, second.Server = all[i].ServerCPU, all[i].ServerResident, all[i].Server
		second.BackendCPU, second.Backends, second.Node = all[i].BackendCPU, all[i].Backends, all[i].Node
		all[i] = second
	}
	return all
}

// wholeEntries returns copies of the entries, and the target's metrics in their seconds.
func (r *run) wholeEntries() ([]entry, []result.Second) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []result.Second
	if r.whole.entries != nil {
		for from, e := range r.whole.entries {
			all = append(all, result.Second{Second: from, Seconds: e.width})
		}
	} else {
		for key := range r.series.entries {
			all = append(all, result.Second{Second: key * r.series.width, Seconds: r.series.width})
		}
	}
	slices.SortFunc(all, func(a, b result.Second) int { return int(a.Second - b.Second) })
	entries := make([]entry, len(all))
	for i := range all {
		if r.whole.entries != nil {
			entries[i] = r.whole.entries[all[i].Second].copied()
		} else {
			entries[i] = r.series.entries[all[i].Second/r.series.width].copied()
		}
	}
	r.whole.open, r.series.open = nil, nil // all are packed
	return entries, r.withTarget(all)
}
