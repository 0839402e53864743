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
	first    usage.Reading
	last     usage.Reading
	levels   []profile.Level
	totals   []result.LevelTotals
}

// Levels has the sampler keep the figures of levels of the load apart, each of
// them the sum of its seconds. It must be called before Run.
func (s *Sampler) Levels(levels []profile.Level) {
	s.levels, s.totals = levels, make([]result.LevelTotals, len(levels))
}

// LevelTotals are the figures of the levels, in their order.
func (s *Sampler) LevelTotals() []result.LevelTotals { return s.totals }

// addToLevel adds a second to the level that it is of.
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
		t.CPU += second.Usage.UserCPU + second.Usage.SystemCPU
	}
}

// NewSampler returns a sampler of a stage that begins now; its seconds are
// counted from the stage's start instant, which has a monotonic reading and may
// lie in the past. Each second is passed to send, which must neither keep it
// nor block.
func NewSampler(r *Recorder, start time.Time, send func(*result.ClientSecond)) *Sampler {
	if elapsed := time.Since(start); elapsed >= time.Second {
		r.skip(int64(elapsed / time.Second))
	}
	reading := usage.Read()
	return &Sampler{recorder: r, start: start, send: send, first: reading, last: reading}
}

// Run takes seconds as they end until done is closed, when nothing is recorded
// any more, and then what is left. With nothing counted in it, the second
// after the last isn't sent.
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
	// What is left is the second that was cut short and, when it ended unnoticed,
	// the one after it.
	s.sample(true)
	s.sample(false)
}

// Usage is what the process used from the start of the stage to the last second.
func (s *Sampler) Usage() result.ClientUsage { return s.last.Since(s.first) }

func (s *Sampler) untilNext() time.Duration {
	return time.Until(s.start.Add(time.Duration(s.recorder.taken+1) * time.Second))
}

func (s *Sampler) sample(evenEmpty bool) {
	second, measure := s.recorder.take()
	if !evenEmpty && measure.Counts == (result.Counts{}) {
		return
	}
	reading := usage.Read()
	taken := &result.ClientSecond{Second: second, Measure: *measure, Usage: reading.Since(s.last)}
	s.addToLevel(taken)
	s.send(taken)
	s.last = reading
}
