package script

import (
	"context"
	"fmt"
	"os"
	"time"

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
	c.background(ctx, func() func() error {
		data, err := c.api.setup(ctx)
		return func() error {
			if err != nil {
				return &session.FailureError{Kind: session.FailureScriptException, Err: fmt.Errorf("setup() failed: %s", c.clipped(err.Error()))}
			}
			c.log.Info("Completed setup()", "bytes", len(data))
			c.reportState(func(s *session.ScriptState) { s.SetupEnded, s.SetupData = true, data })
			return nil
		}
	})
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

// loadEnded reports the end of k6's load. It ends k6 unless this is the leading
// client, whose k6 still has to run teardown().
func (c *Client) loadEnded() error {
	c.log.Info("Completed load")
	c.reportState(func(s *session.ScriptState) { s.LoadEnded = true })
	if !c.plan.Script.Leads {
		c.k6.signal(os.Interrupt) // ends k6's --linger
	}
	return nil
}

// runTeardown runs teardown() if this is the leading client, and then ends k6.
func (c *Client) runTeardown(ctx context.Context) {
	if !c.plan.Script.Leads || c.tornDown {
		return
	}
	c.tornDown = true
	c.background(ctx, func() func() error {
		err := c.api.teardown(ctx)
		return func() error {
			if err != nil {
				c.teardownError = c.clipped(err.Error())
			}
			c.log.Info("Completed teardown()", "error", c.teardownError)
			c.k6.signal(os.Interrupt) // ends k6's --linger
			return nil
		}
	})
}

// cleanUp kills k6 after a failure and returns when k6's log has been forwarded. If setup() was
// started here, cleanUp first aborts the load and runs teardown(), for at most cleanUpTimeout.
func (c *Client) cleanUp() {
	defer func() {
		if c.k6 != nil && c.k6.signal(os.Kill) {
			<-c.exited
		}
	}()
	if c.plan == nil || !c.plan.Script.Leads || !c.setUp || c.tornDown {
		return
	}
	c.tornDown = true
	ctx, cancel := context.WithTimeout(context.Background(), cleanUpTimeout)
	defer cancel()
	if !c.load.began.IsZero() && !c.load.isOver() {
		if err := c.api.stop(ctx); err != nil {
			return // k6 has exited
		}
		if _, err := c.api.await(ctx, ended); err != nil {
			return
		}
	}
	c.log.Info("Running teardown() after a failure")
	if err := c.api.teardown(ctx); err != nil {
		c.log.Error("Failed to run teardown()", "reason", c.clipped(err.Error()))
	}
}
