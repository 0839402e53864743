package client

import (
	"time"

	"github.com/assay-dev/assay/internal/load/driver"
	"github.com/assay-dev/assay/internal/load/recorder"
	"github.com/assay-dev/assay/internal/profile"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// stage is a warm-up or a measurement, together with its recorder.
type stage struct {
	*driver.Stage
	kind     sessionpb.Stage
	amount   session.Amount
	slices   *profile.Slices
	recorder *recorder.Recorder
	sampler  *recorder.Sampler
	at       time.Time // start time

	// ready is closed when the stage is ready to start. It is nil after the client
	// has reported this.
	ready <-chan struct{}
	// sampled is closed when the stage has ended and its last second was sent. It is
	// nil until the stage starts.
	sampled chan struct{}
}

func newStage(kind sessionpb.Stage, load *driver.Load, amount session.Amount, slices *profile.Slices, workers int) *stage {
	r := recorder.New(workers)
	r.KeepRequests(load.NamedRequests())
	if load.Looped() {
		r.TimedByLoops()
	}
	s := &stage{kind: kind, amount: amount, slices: slices, recorder: r, Stage: load.NewStage(amount, r)}
	s.ready = s.Ready()
	return s
}

// start starts the stage at the given time and passes each of its seconds to send.
func (s *stage) start(at time.Time, send func(*result.ClientSecond)) {
	s.at = at
	s.sampler = recorder.NewSampler(s.recorder, at, s.slices, send)
	s.sampler.Levels(s.amount.Profile)
	s.sampled = make(chan struct{})
	go s.Begin(at)
	go func() {
		s.sampler.Run(s.Done())
		close(s.sampled)
	}()
}

// endAt ends the stage, which has started, at a time instead of its planned end, or now if that has
// passed. The time must be a whole number of seconds after the start time. It is virtual, if the load alternates with others.
func (s *stage) endAt(at time.Time) {
	second := at.Sub(s.at).Round(time.Second)
	end := s.at.Add(s.slices.Wall(second))
	if now := s.slices.Virtual(time.Since(s.at)); now > second {
		second = now.Truncate(time.Second) // the second under way is incomplete
	}
	s.sampler.EndLevels(int64(second / time.Second))
	time.AfterFunc(time.Until(end), s.Shorten)
}

// span returns the start of the first request and the end of the last, in microseconds since the
// Unix epoch by the manager's clock. If there was no request, both are the stage's start time.
func (s *stage) span(clock Session) (began, ended int64) {
	first, last, ok := s.Span()
	if !ok {
		first, last = s.at, s.at
	}
	return clock.At(first), clock.At(last)
}
