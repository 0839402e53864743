package recorder

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/assay-dev/assay/internal/load/usage"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
)

// Sampler takes each full second of a stage out of its recorder.
type Sampler struct {
	recorder *Recorder
	start    time.Time
	send     func(*result.ClientSecond)
	first    usage.Sample
	last     usage.Sample
	levels   levels
	steps    levels
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

// add adds a second to its level.
func (l *levels) add(second *result.ClientSecond) {
	for i, level := range l.levels {
		if second.Second < level.Start || second.Second >= level.End {
			continue
		}
		t := &l.totals[i]
		measure := result.Measure{Counts: second.Counts}
		for _, p := range result.LevelPhases {
			measure.Latencies[p] = second.Latencies[p]
		}
		t.Merge(&measure)
		t.CPU += second.Usage.CPU()
		t.Seconds++
	}
}

// NewSampler returns a sampler of a stage that begins now. Its seconds are counted
// from start, which must have a monotonic clock reading and may be in the past. Each
// second is passed to send, which must neither keep it nor block.
func NewSampler(r *Recorder, start time.Time, send func(*result.ClientSecond)) *Sampler {
	if elapsed := time.Since(start); elapsed >= time.Second {
		r.skip(int64(elapsed / time.Second))
	}
	used := r.readUsage()
	s := &Sampler{recorder: r, start: start, send: send, first: used, last: used}
	s.end.Store(math.MaxInt64)
	return s
}

// Run takes each second when it ends, until done is closed. Nothing may be recorded after that.
// Then Run takes what is left. It does not send the second after the last if that is empty.
func (s *Sampler) Run(done <-chan struct{}) {
	timer := time.NewTimer(s.untilNext())
	defer timer.Stop()
	for running := true; running; {
		select {
		case <-timer.C:
			s.sample(true)
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

func (s *Sampler) untilNext() time.Duration {
	return time.Until(s.start.Add(time.Duration(s.recorder.taken+1) * time.Second))
}

func (s *Sampler) sample(sendEmpty bool) {
	second, measure := s.recorder.take()
	if !sendEmpty && measure.Counts == (result.Counts{}) {
		return
	}
	used := s.recorder.readUsage()
	taken := &result.ClientSecond{Second: second, Measure: *measure, Phases: measure.Latencies.Times(), Usage: used.Since(s.last), Node: used.NodeSince(s.last)}
	if second < s.end.Load() {
		s.levels.add(taken)
		s.steps.add(taken)
	}
	s.send(taken)
	s.last = used
}
