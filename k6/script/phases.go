package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	v1 "go.k6.io/k6/v2/api/v1"
	"go.k6.io/k6/v2/errext"
	"go.k6.io/k6/v2/errext/exitcodes"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// cleanUpTimeout limits teardown() after a failure. It is below the pod's termination grace period.
const cleanUpTimeout = 8 * time.Second

// runSetup runs setup() if this is the leading client. The other clients receive
// its data from the manager.
func (c *Client) runSetup(ctx context.Context) {
	if !c.plan.Script.Leads || c.setUp {
		return
	}
	c.setUp = true
	c.loop.Background(ctx, func() func() error {
		data, err := c.api.setup(ctx)
		if c.address != "" && len(data) > session.MaxSetupBytes { // a manager passes it on
			err = fmt.Errorf("setup() returned %d bytes of JSON; the maximum is %d. Return less data, and generate or read the rest in the script", len(data), session.MaxSetupBytes)
		}
		return func() error {
			if err != nil {
				return c.setupFailure(err)
			}
			c.log.Info("Completed setup()", "bytes", len(data))
			c.reportState(func(s *session.ScriptState) { s.SetupEnded, s.SetupData = true, data })
			return nil
		}
	})
}

// setupFailure returns the failure of setup(). k6's API reports test.abort() in setup() as an error
// with k6's text.
func (c *Client) setupFailure(err error) error {
	if strings.Contains(err.Error(), errext.AbortTest) {
		return &session.FailureError{Kind: session.FailureScriptAborted, Err: fmt.Errorf("the script called test.abort() in setup(): %s", c.clipped(err.Error()))}
	}
	return &session.FailureError{Kind: session.FailureScriptException, Err: fmt.Errorf("setup() failed: %s", c.clipped(err.Error()))}
}

// applySetupData passes k6 the data that setup() returned on the leading client.
func (c *Client) applySetupData(ctx context.Context, data []byte) error {
	if err := c.api.setSetupData(ctx, data); err != nil {
		return fmt.Errorf("pass setup() data to k6: %w", err)
	}
	c.reportState(func(s *session.ScriptState) { s.SetupEnded = true })
	return nil
}

// reportState changes the script's state and sends it to the manager.
func (c *Client) reportState(change func(*session.ScriptState)) {
	change(&c.state)
	c.session.ScriptState(c.state)
}

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
	c.runLoad(ctx, local, order{Interval: liveInterval(c.plan.Script).Nanoseconds(), Merged: c.plan.Script.MergedThresholds}, c.loadEnded)
	return nil
}

// runLoad sends begin to k6's output, which then records, and starts k6's load at a time. It calls over when the load has ended, and adds
// fields to what it logs.
func (c *Client) runLoad(ctx context.Context, at time.Time, begin order, over func(v1.Status) error, fields ...any) {
	c.loop.Background(ctx, func() func() error {
		begin.Begin = wall(at)
		if err := c.pipe.send(c.exited, begin); err != nil {
			return func() error { return err }
		}
		timer := time.NewTimer(time.Until(at))
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
			close(c.resumed)
			c.log.Info("Started load", append(fields, "delay", began.Sub(at))...)
			c.awaitEnd(ctx, over)
			return nil
		}
	})
}

// stop ends k6's load at a time of the manager's clock, which may have passed. k6 interrupts the
// iterations that are under way.
func (c *Client) stop(ctx context.Context, at int64) error {
	if c.load.began.IsZero() {
		return errors.New("the manager sent an unexpected order to end the measurement")
	}
	c.stopLoad(ctx, c.session.Local(at), false)
	return nil
}

// stopLoad ends k6's load at a time, unless it was ended already. Of a load with levels it tells k6's output the time before, which ends
// the metrics of the last level there.
func (c *Client) stopLoad(ctx context.Context, at time.Time, levels bool) {
	if c.stopped {
		return
	}
	c.stopped = true
	c.loop.Background(ctx, func() func() error {
		select {
		case <-c.resumed:
		case <-ctx.Done():
			return nothing
		}
		if levels {
			if err := c.pipe.send(c.exited, order{Last: wall(at)}); err != nil {
				return func() error { return err }
			}
		}
		timer := time.NewTimer(time.Until(at))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.exited:
			return nothing
		case <-ctx.Done():
			return nothing
		}
		if err := c.api.stop(ctx); err != nil {
			c.log.Warn("Failed to end load: it may have ended already", "reason", c.clipped(err.Error()))
		}
		return nothing
	})
}

// nothing is an event that needs no handling.
func nothing() error { return nil }

// wall converts t to nanoseconds since the Unix epoch by the wall clock. It uses
// t's monotonic clock reading.
func wall(t time.Time) int64 {
	now := time.Now()
	return now.UnixNano() + t.Sub(now).Nanoseconds()
}

// awaitEnd waits for the end of k6's load and then calls over.
func (c *Client) awaitEnd(ctx context.Context, over func(v1.Status) error) {
	c.loop.Background(ctx, func() func() error {
		status, err := c.api.await(ctx, ended)
		if err != nil {
			return nothing // ctx is done
		}
		now := time.Now()
		if err := c.pipe.send(c.exited, order{End: wall(now)}); err != nil {
			return func() error { return err }
		}
		return func() error {
			c.load.took = max(now.Sub(c.load.began), 1)
			return over(status)
		}
	})
}

// totals returns the client's final metrics. k6 must have exited.
func (c *Client) totals(status exitStatus) (*result.Totals, error) {
	totals := c.pipe.totals
	if totals == nil || totals.Script == nil {
		return nil, errors.New("k6 exited without reporting its measurement")
	}
	// Convert the times from the wall clock to the manager's clock.
	now := time.Now()
	ahead := c.session.At(now) - now.UnixMicro()
	totals.StartedAt, totals.EndedAt = max(totals.StartedAt, c.load.began.UnixMicro())+ahead, totals.EndedAt+ahead
	totals.EndedAt = max(totals.EndedAt, totals.StartedAt)
	s := totals.Script
	s.VirtualUsers, s.RunMicroseconds = c.status.VUsMax.Int64, c.load.took.Microseconds()
	s.MarkedFailed, s.TeardownError = status.code == exitcodes.MarkedAsFailed, c.teardownError
	s.Summarizes = c.mayExportSummary()
	s.Thrown, s.Exception = c.k6.thrown, c.clipped(c.k6.exception)
	s.Interrupted = c.k6.interrupted
	for _, causes := range totals.Causes {
		for i := range causes {
			causes[i].Text = c.clipped(causes[i].Text)
			if e := causes[i].Example; e != nil {
				e.Request = c.clipped(e.Request)
			}
		}
	}
	c.log.Info("Completed measurement", "requests", totals.Requests, "errors", totals.Errors.Total(), "metrics", len(s.Metrics))
	return totals, nil
}

// loadEnded reports the end of k6's load. k6 lingers until teardown() has run: here, or on the leading client.
func (c *Client) loadEnded(status v1.Status) error {
	c.status = status
	c.log.Info("Completed load")
	c.reportState(func(s *session.ScriptState) { s.LoadEnded = true })
	return nil
}

// runTeardown runs teardown() if this is the leading client, and then ends k6.
func (c *Client) runTeardown(ctx context.Context) {
	if !c.plan.Script.Leads {
		c.k6.signal(os.Interrupt) // ends k6's --linger
		return
	}
	if c.tornDown {
		return
	}
	c.tornDown = true
	c.loop.Background(ctx, func() func() error {
		err := c.api.teardown(ctx)
		return func() error {
			c.teardownEnded(err)
			c.k6.signal(os.Interrupt) // ends k6's --linger
			return nil
		}
	})
}

// teardownEnded records the end of teardown().
func (c *Client) teardownEnded(err error) {
	if err != nil {
		c.teardownError = c.clipped(err.Error())
	}
	c.log.Info("Completed teardown()", "error", c.teardownError)
}

// mustTearDown reports whether teardown() has to be run here although the run ends: setup() has succeeded here. As in k6,
// what a setup() that fails has left is its own business.
func (c *Client) mustTearDown() bool {
	return c.plan != nil && c.k6 != nil && !c.hasExited() && !c.tornDown && c.plan.Script.Leads && c.state.SetupEnded
}

// hasExited reports whether k6 has exited.
func (c *Client) hasExited() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// cleanUp kills k6 after a failure and returns when k6's log has been forwarded. If teardown() has to be run here,
// cleanUp first aborts the load and runs it, for at most cleanUpTimeout.
func (c *Client) cleanUp() {
	defer func() {
		if c.k6 != nil && c.k6.signal(os.Kill) {
			<-c.exited
		}
	}()
	if !c.mustTearDown() {
		return
	}
	c.tornDown = true
	ctx, cancel := context.WithTimeout(context.Background(), cleanUpTimeout)
	defer cancel()
	c.log.Info("Running teardown() after a failure")
	err := c.abortAndTearDown(ctx, !c.load.began.IsZero() && !c.load.isOver())
	if err != nil {
		c.log.Error("Failed to run teardown()", "reason", c.clipped(err.Error()))
	}
	c.teardownEnded(err)
}

// abortAndTearDown aborts k6's load, if there is one, and runs teardown().
func (c *Client) abortAndTearDown(ctx context.Context, loads bool) error {
	if loads {
		if err := c.api.stop(ctx); err != nil {
			return fmt.Errorf("end load: %w", err)
		}
		if _, err := c.api.await(ctx, ended); err != nil {
			return fmt.Errorf("end load: %w", err)
		}
	}
	return c.api.teardown(ctx)
}
