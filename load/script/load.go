package script

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.k6.io/k6/v2/errext/exitcodes"

	"github.com/assay-dev/assay/internal/result"
)

// span holds the start and the duration of k6's load.
type span struct {
	began time.Time
	took  time.Duration // 0 until the load has ended
}

func (s span) isOver() bool { return s.took > 0 }

// start starts k6's load at a time of the manager's clock, in microseconds since the Unix epoch.
func (c *Client) start(ctx context.Context, at int64) error {
	if !c.load.began.IsZero() || !c.state.SetupEnded {
		return errors.New("the manager sent an unexpected order to start the measurement")
	}
	local := c.session.Local(at)
	c.load.began = local
	c.background(ctx, func() func() error {
		if err := c.pipe.send(c.exited, order{Begin: wall(local)}); err != nil {
			return func() error { return err }
		}
		timer := time.NewTimer(time.Until(local))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nothing
		}
		began := time.Now()
		if err := c.api.resume(ctx); err != nil {
			return func() error { return fmt.Errorf("start k6's load: %w", err) }
		}
		return func() error {
			c.load.began = began
			c.log.Info("Started load", "delay", began.Sub(local))
			c.awaitEnd(ctx)
			return nil
		}
	})
	return nil
}

// nothing is an event that needs no handling.
func nothing() error { return nil }

// wall converts t to nanoseconds since the Unix epoch by the wall clock. It uses
// t's monotonic clock reading.
func wall(t time.Time) int64 {
	now := time.Now()
	return now.UnixNano() + t.Sub(now).Nanoseconds()
}

// awaitEnd waits for the end of k6's load.
func (c *Client) awaitEnd(ctx context.Context) {
	c.background(ctx, func() func() error {
		status, err := c.api.await(ctx, ended)
		if err != nil {
			return nothing // ctx is done
		}
		now := time.Now()
		if err := c.pipe.send(c.exited, order{End: wall(now)}); err != nil {
			return func() error { return err }
		}
		return func() error {
			c.status, c.load.took = status, max(now.Sub(c.load.began), 1)
			return c.loadEnded()
		}
	})
}

// totals returns the client's final figures. k6 must have exited.
func (c *Client) totals(status exitStatus) (*result.Totals, error) {
	totals := c.pipe.totals
	if totals == nil || totals.Script == nil {
		return nil, errors.New("k6 exited without reporting its measurement")
	}
	// Convert the times from the wall clock to the manager's clock.
	ahead := c.session.Now() - time.Now().UnixMicro()
	totals.StartedAt, totals.EndedAt = max(totals.StartedAt, c.load.began.UnixMicro())+ahead, totals.EndedAt+ahead
	totals.EndedAt = max(totals.EndedAt, totals.StartedAt)
	s := totals.Script
	s.VirtualUsers, s.RunMicroseconds = c.status.VUsMax.Int64, c.load.took.Microseconds()
	s.MarkedFailed, s.TeardownError = status.code == exitcodes.MarkedAsFailed, c.teardownError
	c.log.Info("Completed measurement", "requests", totals.Requests, "errors", totals.Errors.Total(), "metrics", len(s.Metrics))
	return totals, nil
}
