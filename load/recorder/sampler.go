package recorder

import (
	"time"

	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/load/usage"
)

// Sampler takes each whole second of a stage out of its recorder.
type Sampler struct {
	recorder *Recorder
	start    time.Time
	send     func(*result.ClientSecond)
	first    usage.Sample
	last     usage.Sample
	levels   []profile.Level
	totals   []result.LevelTotals
}

// Levels sets the levels of the load of which the sampler keeps figures: the sums of
// their seconds. It must be called before Run.
func (s *Sampler) Levels(levels []profile.Level) {
	s.levels, s.totals = levels, make([]result.LevelTotals, len(levels))
}

// LevelTotals returns the figures of the levels, in their order.
func (s *Sampler) LevelTotals() []result.LevelTotals { return s.totals }

// addToLevel adds a second to its level.
func (s *Sampler) addToLevel(second *result.ClientSecond) {
	for i, level := range s.levels {
		if second.Second < level.Start || second.Second >= level.End {
			continue
		}
		t := &s.totals[i]
		measure := result.Measure{Counts: second.Counts}
		for _, p := range result.LevelPhases {
			measure.Latencies[p] = second.Latencies[p]
		}
		t.Merge(&measure)
		t.CPU += second.Usage.CPU()
	}
}

// NewSampler returns a sampler of a stage that begins now. Its seconds are counted
// from start, which must have a monotonic clock reading and may be in the past. Each
// second is passed to send, which must neither keep it nor block.
func NewSampler(r *Recorder, start time.Time, send func(*result.ClientSecond)) *Sampler {
	if elapsed := time.Since(start); elapsed >= time.Second {
		r.skip(int64(elapsed / time.Second))
	}
	used := usage.Read()
	return &Sampler{recorder: r, start: start, send: send, first: used, last: used}
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
	used := usage.Read()
	taken := &result.ClientSecond{Second: second, Measure: *measure, Phases: measure.Latencies.Times(), Usage: used.Since(s.last), Node: used.NodeSince(s.last)}
	s.addToLevel(taken)
	s.send(taken)
	s.last = used
}
