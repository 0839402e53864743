package recorder

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/assay-dev/assay/internal/load/usage"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
)

// Sampler takes each full second of a stage out of its recorder. The seconds of a load that alternates with others are its slices. A slice is
// taken when the next one begins, so that it has the requests that outlived it; what the process uses in between belongs to none.
type Sampler struct {
	recorder *Recorder
	start    time.Time
	slices   *profile.Slices
	send     func(*result.ClientSecond)
	first    usage.Sample
	last     usage.Sample
	// ended is the usage at the end of the slice that is to be taken, or nil until that and for a load that doesn't alternate.
	ended  *usage.Sample
	levels levels
	steps  levels
	// end is the first second that is in no level, since the load was ended before its planned
	// end.
	end atomic.Int64
}

// levels are levels of a load, or steps between them, with the sums of their seconds.
type levels struct {
	levels []profile.Level
	totals []result.LevelTotals
}

func newLevels(of []profile.Level) levels {
	return levels{of, make([]result.LevelTotals, len(of))}
}

// Levels sets the profile of the load. The sampler keeps metrics of its levels, and of the steps between
// them. It must be called before Run.
func (s *Sampler) Levels(p profile.Profile) {
	s.levels, s.steps = newLevels(p.Levels()), newLevels(p.Steps())
}

// LevelTotals returns the metrics of the levels and of the steps between them, in their order.
func (s *Sampler) LevelTotals() (levels, steps []result.LevelTotals) {
	return s.levels.totals, s.steps.totals
}

// EndLevels keeps a second of the stage, and later ones, out of the metrics of levels and steps. Seconds that have
// been taken stay in. It is safe to call from any goroutine.
func (s *Sampler) EndLevels(second int64) { s.end.Store(second) }

// add adds a second to its level, but its failures to the level in which they began.
func (l *levels) add(second *result.ClientSecond, late late) {
	t := l.at(second.Second)
	if t != nil {
		measure := result.Measure{Counts: second.Counts}
		for _, p := range result.LevelPhases {
			measure.Latencies[p] = second.Latencies[p]
		}
		t.Merge(&measure)
		t.CPU += second.Usage.CPU()
		t.Seconds++
	}
	for from, c := range late {
		if began := l.at(from); began != t {
			move(t, c, -1)
			move(began, c, 1)
		}
	}
}

// at returns the metrics of the level that has a second, or nil.
func (l *levels) at(second int64) *result.LevelTotals {
	for i, level := range l.levels {
		if second >= level.Start && second < level.End {
			return &l.totals[i]
		}
	}
	return nil
}

// move adds failures to a level, or takes them from it. nil is no level.
func move(t *result.LevelTotals, c *result.Counts, sign int64) {
	if t == nil {
		return
	}
	t.Requests += sign * c.Requests
	for kind, n := range c.Errors {
		t.Errors[kind] += sign * n
	}
	t.Pages += sign * c.Pages
	t.FailedPages += sign * c.FailedPages
	t.FailedRounds += sign * c.FailedRounds
}

// NewSampler returns a sampler of a stage that begins now. Its seconds are counted
// from start, which must have a monotonic clock reading and may be in the past. slices is nil for a load that doesn't alternate. Each
// second is passed to send, which must neither keep it nor block.
func NewSampler(r *Recorder, start time.Time, slices *profile.Slices, send func(*result.ClientSecond)) *Sampler {
	if elapsed := slices.Virtual(time.Since(start)); elapsed >= time.Second {
		r.skip(int64(elapsed / time.Second))
	}
	used := r.readUsage()
	s := &Sampler{recorder: r, start: start, slices: slices, send: send, first: used, last: used}
	s.end.Store(math.MaxInt64)
	return s
}

// Run takes each second when it ends, until done is closed. Nothing may be recorded after that.
// Then Run takes what is left. It does not send the second after the last if that is empty.
func (s *Sampler) Run(done <-chan struct{}) {
	s.awaitSlice(done)
	timer := time.NewTimer(s.untilNext())
	defer timer.Stop()
	for running := true; running; {
		select {
		case <-timer.C:
			if at, next := s.bounds(); s.ended == nil && next > at {
				used := s.recorder.readUsage()
				s.ended = &used
			} else {
				s.sample(true)
			}
			timer.Reset(s.untilNext())
		case <-done:
			running = false
		}
	}
	// What is left is the incomplete second and, if that ended in the meantime, the one after it.
	s.sample(true)
	s.sample(false)
}

// Usage returns what the process used from the start of the stage to the last second.
func (s *Sampler) Usage() result.ClientUsage { return s.last.Since(s.first) }

// NodeUsage returns what happened around the process meanwhile, or nil if that is unknown.
func (s *Sampler) NodeUsage() *result.NodeUsage { return s.last.NodeSince(s.first) }

// awaitSlice waits for the first slice of a load that alternates. What the process used before doesn't count.
func (s *Sampler) awaitSlice(done <-chan struct{}) {
	elapsed := time.Since(s.start)
	if s.slices == nil || s.slices.Next(elapsed) == elapsed {
		return
	}
	timer := time.NewTimer(s.slices.Next(elapsed) - elapsed)
	defer timer.Stop()
	select {
	case <-timer.C:
		s.first = s.recorder.readUsage()
		s.last = s.first
	case <-done:
	}
}

// bounds returns when the second ends that is to be taken, and when the next one begins.
func (s *Sampler) bounds() (end, next time.Duration) {
	virtual := time.Duration(s.recorder.taken+1) * time.Second
	return s.slices.Wall(virtual-1) + 1, s.slices.Wall(virtual)
}

func (s *Sampler) untilNext() time.Duration {
	at, next := s.bounds()
	if s.ended != nil {
		at = next
	}
	return time.Until(s.start.Add(at))
}

func (s *Sampler) sample(sendEmpty bool) {
	second, measure := s.recorder.take()
	if !sendEmpty && measure.Counts == (result.Counts{}) {
		return
	}
	used := s.recorder.readUsage()
	if s.ended != nil {
		s.first, s.last = s.first.Skip(*s.ended, used), s.last.Skip(*s.ended, used)
		s.ended = nil
	}
	taken := &result.ClientSecond{Second: second, Measure: *measure, Phases: measure.Latencies.Times(), Usage: used.Since(s.last), Node: used.NodeSince(s.last)}
	if second < s.end.Load() {
		s.levels.add(taken, s.recorder.late)
		s.steps.add(taken, s.recorder.late)
	}
	s.send(taken)
	s.last = used
}
