package client

import (
	"runtime"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/load/driver"
	"github.com/assay-dev/assay/load/recorder"
)

// stage is a stage of the run with what is recorded of it.
type stage struct {
	*driver.Stage
	kind     sessionpb.Stage
	amount   session.Amount
	recorder *recorder.Recorder
	sampler  *recorder.Sampler
	at       time.Time // the start instant

	// toAnnounce is closed when the stage may be started; nil once that was told.
	toAnnounce <-chan struct{}
	// sampled is closed when the stage has ended and its last second was sent; nil
	// before the stage is started.
	sampled chan struct{}
}

func newStage(kind sessionpb.Stage, load *driver.Load, amount session.Amount) *stage {
	r := recorder.New(runtime.GOMAXPROCS(0))
	s := &stage{kind: kind, amount: amount, recorder: r, Stage: load.NewStage(amount, r)}
	s.toAnnounce = s.Standing()
	return s
}

// start has the stage begin at an instant and each of its seconds sent.
func (s *stage) start(at time.Time, send func(*result.ClientSecond)) {
	s.at = at
	s.sampler = recorder.NewSampler(s.recorder, at, send)
	s.sampler.Levels(s.amount.Profile.Levels())
	s.sampled = make(chan struct{})
	go s.Begin(at)
	go func() {
		s.sampler.Run(s.Done())
		close(s.sampled)
	}()
}

// span is when the first request began and the last ended: microseconds since
// the Unix epoch by the manager's clock.
func (s *stage) span(clock Session) (began, ended int64) {
	first, last, ok := s.Span()
	if !ok {
		first, last = s.at, s.at
	}
	now := clock.Now()
	return now - time.Since(first).Microseconds(), now - time.Since(last).Microseconds()
}
