package script

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.k6.io/k6/v2/errext/exitcodes"

	"github.com/assay-dev/assay/internal/result"
)

// span is when k6's load was.
type span struct {
	began time.Time
	took  time.Duration // 0 while it lasts
}

func (s span) isOver() bool { return s.took > 0 }

// start has k6 begin at an instant by the manager's clock.
func (c *Client) start(ctx context.Context, at int64) error {
	if !c.load.began.IsZero() || !c.state.SetupEnded {
		return errors.New("the manager started the measurement out of turn")
	}
	local := c.session.Local(at)
	c.load.began = local
	c.later(ctx, func() func() error {
		if err := c.pipe.tell(c.gone, order{Begin: wall(local)}); err != nil {
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
			return func() error { return fmt.Errorf("k6 can't be started: %w", err) }
		}
		return func() error {
			c.load.began = began
			c.log.Info("start", "late", began.Sub(local))
			c.watch(ctx)
			return nil
		}
	})
	return nil
}

// nothing is to be done.
func nothing() error { return nil }

// wall is an instant by the wall clock, in nanoseconds since the Unix epoch.
func wall(t time.Time) int64 {
	now := time.Now()
	return now.UnixNano() + t.Sub(now).Nanoseconds()
}

// watch waits for the end of the load, which k6 tells nobody of by itself.
func (c *Client) watch(ctx context.Context) {
	c.later(ctx, func() func() error {
		status, err := c.api.await(ctx, over)
		if err != nil {
			return nothing // the context has ended
		}
		now := time.Now()
		if err := c.pipe.tell(c.gone, order{End: wall(now)}); err != nil {
			return func() error { return err }
		}
		return func() error {
			c.status, c.load.took = status, max(now.Sub(c.load.began), 1)
			return c.loadEnded()
		}
	})
}

// totals are the client's final figures. k6 has ended.
func (c *Client) totals(end exit) (*result.Totals, error) {
	totals := c.pipe.totals
	if totals == nil || totals.Script == nil {
		return nil, errors.New("k6 ended without saying what it measured")
	}
	// From the wall clock to the manager's.
	ahead := c.session.Now() - time.Now().UnixMicro()
	totals.StartedAt, totals.EndedAt = max(totals.StartedAt, c.load.began.UnixMicro())+ahead, totals.EndedAt+ahead
	totals.EndedAt = max(totals.EndedAt, totals.StartedAt)
	s := totals.Script
	s.VirtualUsers, s.RunMicroseconds = c.status.VUsMax.Int64, c.load.took.Microseconds()
	s.MarkedFailed, s.TeardownError = end.code == exitcodes.MarkedAsFailed, c.teardownError
	c.log.Info("measured", "requests", totals.Requests, "errors", totals.Errors.Total(), "metrics", len(s.Metrics))
	return totals, nil
}
