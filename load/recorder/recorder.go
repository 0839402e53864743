package recorder

import (
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

// Recorder keeps the outcomes of one stage. It has shards, so that connections
// seldom wait for each other, and three measures in each: of the second that is
// being taken out, of the current one, and of the one after it. An outcome
// belongs to the second in which its request ended, whenever it is recorded;
// one that comes when its second has been taken belongs to the next. Nothing is
// lost by that: the sum of all seconds is the total, exactly.
type Recorder struct {
	shards []shard
	// taken is the first second that hasn't been taken.
	taken  int64
	merged result.Measure // of the second taken last
	total  result.Measure
}

type shard struct {
	mu sync.Mutex
	// taken is the first second that hasn't been taken. Outcomes go to it or to
	// the second after it; the measure of the second before it is the taker's.
	taken    int64
	measures [3]result.Measure
	_        [64]byte // keeps neighbours off this shard's last cache line
}

// New returns an empty recorder with a number of shards, at least one.
func New(shards int) *Recorder {
	return &Recorder{shards: make([]shard, max(1, shards))}
}

// Record counts an outcome. Connections pass their number as the shard; any
// will do. It is safe for concurrent use.
func (r *Recorder) Record(connection int, o *Outcome) {
	s := &r.shards[connection%len(r.shards)]
	s.mu.Lock()
	o.addTo(s.at(o.Ended))
	s.mu.Unlock()
}

// Drop counts requests that were given up at an instant, from the stage's start
// instant, before they were made. It is safe for concurrent use.
func (r *Recorder) Drop(at time.Duration, requests int64) {
	s := &r.shards[0]
	s.mu.Lock()
	s.at(at).Dropped += requests
	s.mu.Unlock()
}

// Transfer counts bytes at an instant, from the stage's start instant, that
// aren't known to be of any one request. It is safe for concurrent use.
func (r *Recorder) Transfer(at time.Duration, sent, received int64) {
	s := &r.shards[0]
	s.mu.Lock()
	m := s.at(at)
	m.BytesSent += sent
	m.BytesReceived += received
	s.mu.Unlock()
}

// at is the measure of an instant. The shard must be locked.
func (s *shard) at(instant time.Duration) *result.Measure {
	second := min(max(int64(instant/time.Second), s.taken), s.taken+1)
	return &s.measures[second%3]
}

// skip leaves out the seconds before one. Nothing must have been recorded yet.
func (r *Recorder) skip(second int64) {
	r.taken = second
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		s.taken = second
		s.mu.Unlock()
	}
}

// take returns the number of the next second and its measure, which is good
// until the next take. Outcomes of that second that come later count for the
// next.
func (r *Recorder) take() (int64, *result.Measure) {
	second := r.taken
	r.taken++
	reset(&r.merged)
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		s.taken = r.taken
		s.mu.Unlock()
		m := &s.measures[second%3]
		r.merged.Merge(m)
		reset(m)
	}
	r.total.Merge(&r.merged)
	return second, &r.merged
}

// Total is the measure of all seconds that were taken.
func (r *Recorder) Total() *result.Measure { return &r.total }

// reset empties a measure and keeps its histograms' memory.
func reset(m *result.Measure) {
	m.Counts = result.Counts{}
	for _, h := range m.Latencies {
		if h != nil && h.Count() > 0 {
			h.Reset()
		}
	}
}
