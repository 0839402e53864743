package recorder

import (
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/load/usage"
	"github.com/assay-dev/assay/internal/result"
)

// Recorder records the outcomes of one stage. It has shards, so that connections seldom wait for
// each other. Each shard has three measures: for the second that is being taken, for the current
// one, and for the one after it. An outcome belongs to the second in which its request ended,
// whenever it is recorded. If that second has been taken already, it belongs to the next. Nothing
// is lost: the sum of all seconds is exactly the total.
type Recorder struct {
	shards []shard
	// taken is the first second that has not been taken.
	taken  int64
	merged result.Measure // of the second taken last
	late   late           // of the second taken last
	total  result.Measure

	readUsage func() usage.Sample
}

type shard struct {
	mu sync.Mutex
	// taken is the first second that has not been taken. Outcomes are added to it or to
	// the second after it. The measure of the second before it belongs to take.
	taken    int64
	measures [3]result.Measure
	lates    [3]late
	causes   result.Causes
	parts    parts
	_        [64]byte // prevents false sharing with the next shard
}

// New returns an empty recorder with the given number of shards, at least one.
func New(shards int) *Recorder {
	return &Recorder{shards: make([]shard, max(1, shards)), readUsage: usage.Read}
}

// TimedByLoops says that loops time the responses, so that scheduling latencies are theirs; see
// usage.ReadLoops. It must be called before NewSampler.
func (r *Recorder) TimedByLoops() { r.readUsage = usage.ReadLoops }

// Record adds an outcome. Connections should pass their number, which selects the
// shard. It is safe for concurrent use.
func (r *Recorder) Record(connection int, o *Outcome) {
	s := &r.shards[connection%len(r.shards)]
	s.mu.Lock()
	o.addTo(s.at(o.Ended))
	if o.Error != NoError {
		o.addCause(&s.causes)
		c := s.lateAt(o.Ended, o.began())
		c.Requests++
		c.Errors[o.Error]++
	}
	s.parts.add(o)
	s.mu.Unlock()
}

// Page adds the outcome of a page. Users should pass their number, which selects the shard. It is
// safe for concurrent use.
func (r *Recorder) Page(user int, p *Page) {
	s := &r.shards[user%len(r.shards)]
	s.mu.Lock()
	p.addTo(s.at(p.Ended))
	if p.Failed {
		c := s.lateAt(p.Ended, p.Ended-p.Took)
		c.Pages++
		c.FailedPages++
		if p.EndsRound {
			c.FailedRounds++
		}
	}
	s.mu.Unlock()
}

// Drop counts requests that were dropped at a time from the stage's start. It is safe
// for concurrent use.
func (r *Recorder) Drop(at time.Duration, requests int64) {
	s := &r.shards[0]
	s.mu.Lock()
	s.at(at).Dropped += requests
	s.mu.Unlock()
}

// Unanswered counts requests that were under way, or due, when the stage was stopped at a time from its start, and the age of the
// oldest. It is safe for concurrent use.
func (r *Recorder) Unanswered(at time.Duration, requests int64, oldest time.Duration) {
	s := &r.shards[0]
	s.mu.Lock()
	m := s.at(at)
	m.Unanswered += requests
	m.OldestUnanswered = max(m.OldestUnanswered, microseconds(oldest))
	s.mu.Unlock()
}

// Transfer counts bytes that belong to no particular request, at a time from the
// stage's start. It is safe for concurrent use.
func (r *Recorder) Transfer(at time.Duration, sent, received int64) {
	s := &r.shards[0]
	s.mu.Lock()
	m := s.at(at)
	m.BytesSent += sent
	m.BytesReceived += received
	s.mu.Unlock()
}

// at returns the measure for a time. The shard must be locked.
func (s *shard) at(t time.Duration) *result.Measure { return &s.measures[s.second(t)%3] }

func (s *shard) second(t time.Duration) int64 {
	return min(max(int64(t/time.Second), s.taken), s.taken+1)
}

// late counts failed requests and pages of a second by the earlier second in which they began.
type late map[int64]*result.Counts

// lateAt returns the counts of failures that began and ended at given times; those of the same second are nowhere.
func (s *shard) lateAt(ended, began time.Duration) *result.Counts {
	from, second := max(0, int64(began/time.Second)), s.second(ended)
	if from >= second {
		return &result.Counts{}
	}
	l := &s.lates[second%3]
	if *l == nil {
		*l = late{}
	}
	return l.at(from)
}

func (l late) at(second int64) *result.Counts {
	if l[second] == nil {
		l[second] = &result.Counts{}
	}
	return l[second]
}

// skip omits the seconds before the given one. Nothing must have been recorded yet.
func (r *Recorder) skip(second int64) {
	r.taken = second
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		s.taken = second
		s.mu.Unlock()
	}
}

// take returns the number of the next second and its measure, which is valid until
// the next call. Later outcomes of that second are added to the next.
func (r *Recorder) take() (int64, *result.Measure) {
	second := r.taken
	r.taken++
	reset(&r.merged)
	r.late = late{}
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		s.taken = r.taken
		s.mu.Unlock()
		m := &s.measures[second%3]
		r.merged.Merge(m)
		reset(m)
		for from, c := range s.lates[second%3] {
			r.late.at(from).Add(*c)
		}
		s.lates[second%3] = nil
	}
	r.total.Merge(&r.merged)
	return second, &r.merged
}

// Total returns the measure of all seconds that were taken.
func (r *Recorder) Total() *result.Measure { return &r.total }

// Causes returns why requests failed. Once all seconds were taken, the causes add up to the errors of the total.
func (r *Recorder) Causes() result.Causes {
	var causes result.Causes
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		causes.Merge(&s.causes)
		s.mu.Unlock()
	}
	return causes.Limited()
}

// reset empties a measure and keeps the memory of its histograms.
func reset(m *result.Measure) {
	m.Counts = result.Counts{}
	for _, h := range m.Latencies {
		if h != nil && h.Count() > 0 {
			h.Reset()
		}
	}
}
