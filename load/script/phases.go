package script

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/assay-dev/assay/internal/session"
)

// lastTeardown bounds teardown() of a run that has failed: the pod is stopped
// soon.
const lastTeardown = 8 * time.Second

// runSetup has the client that leads run setup(); the others are given its data.
func (c *Client) runSetup(ctx context.Context) {
	if !c.plan.Script.Leads || c.setUp {
		return
	}
	c.setUp = true
	c.later(ctx, func() func() error {
		data, err := c.api.setup(ctx)
		return func() error {
			if err != nil {
				return &session.FailureError{Kind: session.FailureScriptException, Err: fmt.Errorf("setup() failed: %s", c.clipped(err.Error()))}
			}
			c.log.Info("setup() ended", "bytes", len(data))
			c.tell(func(s *session.ScriptState) { s.SetupEnded, s.SetupData = true, data })
			return nil
		}
	})
}

// takeSetup gives k6 what setup() returned to the client that leads.
func (c *Client) takeSetup(ctx context.Context, data []byte) error {
	if err := c.api.setSetup(ctx, data); err != nil {
		return fmt.Errorf("k6 can't be given what setup() returned: %w", err)
	}
	c.tell(func(s *session.ScriptState) { s.SetupEnded = true })
	return nil
}

func (c *Client) tell(change func(*session.ScriptState)) {
	change(&c.state)
	c.session.ScriptState(c.state)
}

// loadEnded is called when k6's load has ended. The client that leads has yet to
// run teardown().
func (c *Client) loadEnded() error {
	c.log.Info("load ended")
	c.tell(func(s *session.ScriptState) { s.LoadEnded = true })
	if !c.plan.Script.Leads {
		c.k6.signal(os.Interrupt) // which ends what it waits for
	}
	return nil
}

// runTeardown has the client that leads run teardown().
func (c *Client) runTeardown(ctx context.Context) {
	if !c.plan.Script.Leads || c.tornDown {
		return
	}
	c.tornDown = true
	c.later(ctx, func() func() error {
		err := c.api.teardown(ctx)
		return func() error {
			if err != nil {
				c.teardownError = c.clipped(err.Error())
			}
			c.log.Info("teardown() ended", "error", c.teardownError)
			c.k6.signal(os.Interrupt) // which ends what it waits for
			return nil
		}
	})
}

// abandon ends k6 in a run that has failed, and returns when all that it logged
// has been passed on. What setup() did is undone, if there is time.
func (c *Client) abandon() {
	defer func() {
		if c.k6 != nil && c.k6.signal(os.Kill) {
			<-c.gone
		}
	}()
	if c.plan == nil || !c.plan.Script.Leads || !c.setUp || c.tornDown {
		return
	}
	c.tornDown = true
	ctx, cancel := context.WithTimeout(context.Background(), lastTeardown)
	defer cancel()
	if !c.load.began.IsZero() && !c.load.isOver() {
		if err := c.api.stop(ctx); err != nil {
			return // k6 has ended
		}
		if _, err := c.api.await(ctx, over); err != nil {
			return
		}
	}
	c.log.Info("running teardown() of a run that has failed")
	if err := c.api.teardown(ctx); err != nil {
		c.log.Error("teardown() failed", "reason", c.clipped(err.Error()))
	}
}
