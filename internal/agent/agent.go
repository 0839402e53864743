package agent

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/pod"
)

// Session is what the agent needs of a pod.Session, where the methods are
// described.
type Session interface {
	Run(ctx context.Context) error
	Orders() <-chan pod.Order
	TargetAnswered(software string, documentLength int64)
	TargetSilent(reason string)
	SendServerUsage(usage *result.ServerUsage)
	Fail(reason string)
	Now() int64
	Local(at int64) time.Time
}

// Sampler reads what the server uses. At is left to the agent.
type Sampler interface {
	Read() (*result.ServerUsage, error)
}

// Run attends the session until the manager releases the agent: it asks the
// target until it answers, and from the start of the first stage on reads what
// the server uses, each second.
func Run(ctx context.Context, s Session, sampler Sampler, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()

	var next <-chan time.Time
	var nextAt time.Time
	read := func() {
		usage, err := sampler.Read()
		if err != nil {
			log.Error("can't read what the server uses", "error", err)
			s.Fail("can't read what the server uses: " + err.Error())
			return
		}
		usage.At = s.Now()
		s.SendServerUsage(usage)
	}
	for {
		select {
		case order, ok := <-s.Orders():
			if !ok {
				return <-ended
			}
			switch order := order.(type) {
			case pod.Watch:
				go watch(ctx, s, order)
			case pod.Start:
				nextAt = s.Local(order.At)
				next = time.After(time.Until(nextAt))
			case pod.Read:
				read()
			case pod.Release:
				return <-ended
			default:
				return errors.New("the manager sent the agent a client's order")
			}
		case <-next:
			read()
			for !nextAt.After(time.Now()) {
				nextAt = nextAt.Add(time.Second)
			}
			next = time.After(time.Until(nextAt))
		}
	}
}
