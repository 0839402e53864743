package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/assay-dev/assay/internal/probe"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/load/driver"
	"github.com/assay-dev/assay/load/usage"
)

// Client is one client in a run.
type Client struct {
	session Session
	users   int
	log     *slog.Logger

	shares       chan share // that want a virtual user
	answered     chan *session.Evidence
	loggedIn     chan error    // how the logins ended, where there are any
	carrierEnded chan error    // how k6 ended, should it
	released     chan struct{} // closed when the manager has released the client

	finish     chan struct{} // closed when the measurement is to end
	finishOnce sync.Once

	tlsFolder, credentialsFolder string // of the files for TLS and authentication

	plan    *session.Plan
	load    *driver.Load
	current *stage // nil before Prepare and after the measurement
	totals  result.Totals
	// cut is whether the measurement was told to end, measured whether it has.
	cut, measured bool
}

// share is a part of a stage's connections.
type share struct {
	stage  *driver.Stage
	number int
}

// New returns a client whose load is carried by a number of virtual users, each
// of which calls Carry.
func New(s Session, users int, log *slog.Logger) *Client {
	return &Client{
		session: s, users: users, log: log,
		shares: make(chan share), answered: make(chan *session.Evidence, 1), loggedIn: make(chan error, 1),
		carrierEnded: make(chan error, 1), released: make(chan struct{}), finish: make(chan struct{}),
		tlsFolder: session.TLSFolder, credentialsFolder: session.CredentialsFolder,
	}
}

// Run attends the session until the manager releases the client. An error that
// it returns has been told to the manager, if that could be reached. Virtual
// users return only when the client was released, so that k6 doesn't exit with
// success before the caller has ended the process with the error.
func (c *Client) Run(ctx context.Context) error {
	attended, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	ended := make(chan error, 1)
	go func() { ended <- c.session.Run(attended) }()

	err := c.obey(ctx)
	if c.current != nil {
		c.current.Stop()
	}
	if err == nil {
		close(c.released)
		return nil
	}
	c.session.Fail(err.Error())
	leave()
	if sessionErr := <-ended; errors.Is(err, errSessionEnded) {
		return fmt.Errorf("%w: %w", err, sessionErr)
	}
	return err
}

var errSessionEnded = errors.New("the session with the manager ended")

// obey does what the manager orders until it releases the client.
func (c *Client) obey(ctx context.Context) error {
	probing, stop := context.WithCancel(ctx)
	defer stop()
	finish := c.finish
	for {
		var standing, sampled <-chan struct{}
		if c.current != nil {
			standing, sampled = c.current.toAnnounce, c.current.sampled
		}
		select {
		case order, ok := <-c.session.Orders():
			if !ok {
				return errSessionEnded
			}
			if _, released := order.(pod.Release); released {
				return nil
			}
			if err := c.do(probing, order); err != nil {
				return err
			}
		case evidence := <-c.answered:
			c.session.TargetAnswered(evidence)
			c.logIn(probing)
		case err := <-c.loggedIn:
			if err != nil {
				return err
			}
			c.stand()
		case <-standing:
			c.announce()
		case <-sampled:
			c.endStage()
		case <-finish:
			finish = nil
			if err := c.cutShort(); err != nil {
				return err
			}
		case err := <-c.carrierEnded:
			return fmt.Errorf("k6 ended before the load did: %w", err)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (c *Client) do(ctx context.Context, order pod.Order) error {
	switch order := order.(type) {
	case pod.Prepare:
		return c.prepare(ctx, order)
	case pod.Start:
		return c.start(order)
	case pod.End:
		c.end()
		return nil
	default:
		return fmt.Errorf("the manager sent a client the order %T", order)
	}
}

func (c *Client) prepare(ctx context.Context, order pod.Prepare) error {
	if c.load != nil {
		return errors.New("the manager sent a second plan")
	}
	access, err := c.access(order)
	if err != nil {
		return err
	}
	load, err := driver.New(ctx, order.Plan, order.Address, access)
	if err != nil {
		return err
	}
	c.plan, c.load = order.Plan, load
	collectEarly(c.plan)
	if c.plan.Probe == "" {
		c.logIn(ctx)
		return nil
	}
	go func() {
		if evidence, err := probe.Until(ctx, question(order, load.Address(), access.TLS), c.session.TargetSilent); err == nil {
			c.answered <- evidence
		}
	}()
	return nil
}

// logIn takes up the first stage once all connections have logged in, if they are
// to.
func (c *Client) logIn(ctx context.Context) {
	if c.plan.Form == nil {
		c.stand()
		return
	}
	c.log.Info("logging in", "connections", c.plan.Connections)
	go func() { c.loggedIn <- c.load.LogIn(ctx) }()
}

// stand takes up the first stage.
func (c *Client) stand() {
	if c.plan.Warmup != nil {
		c.standFor(sessionpb.Stage_STAGE_WARMUP, *c.plan.Warmup)
	} else {
		c.standFor(sessionpb.Stage_STAGE_MEASUREMENT, c.plan.Measurement)
	}
}

// standFor makes a stage the current one and has the virtual users take up its
// connections.
func (c *Client) standFor(kind sessionpb.Stage, amount session.Amount) {
	s := newStage(kind, c.load, amount)
	c.current = s
	go func() {
		for i := range c.users {
			select {
			case c.shares <- share{s.Stage, i}:
			case <-s.Stopped():
				return
			}
		}
	}()
}

// announce tells the manager that the current stage may be started.
func (c *Client) announce() {
	c.current.toAnnounce = nil
	if c.current.kind == sessionpb.Stage_STAGE_MEASUREMENT && c.plan.Warmup != nil {
		c.session.StageEnded(sessionpb.Stage_STAGE_WARMUP)
		return
	}
	cpus := usage.AllowedCPUs()
	c.log.Info("ready", "connections", c.plan.Connections, "virtualUsers", c.users, "cpus", cpus)
	c.session.Ready(cpus)
}

func (c *Client) start(order pod.Start) error {
	if c.current == nil || c.current.kind != order.Stage || c.current.toAnnounce != nil || c.current.sampled != nil {
		return fmt.Errorf("the manager started %s out of turn", order.Stage)
	}
	c.log.Info("start", "stage", order.Stage.String())
	c.current.start(c.session.Local(order.At), func(second *result.ClientSecond) {
		c.session.SendSecond(order.Stage, second)
	})
	return nil
}

// end has the warm-up end, if it hasn't by itself.
func (c *Client) end() {
	if c.current != nil && c.current.kind == sessionpb.Stage_STAGE_WARMUP {
		c.current.End()
	}
}

// endStage gives account of the stage that has ended and goes on to the next.
func (c *Client) endStage() {
	ended := c.current
	select {
	case <-ended.Stopped():
		if c.cut {
			break
		}
		c.current = nil // k6 was interrupted, and its end is about to be told
		return
	default:
		ended.Stop()
	}
	measure := ended.recorder.Total()
	c.log.Info("stage ended", "stage", ended.kind.String(), "requests", measure.Requests, "errors", measure.Errors.Total())
	if ended.kind == sessionpb.Stage_STAGE_WARMUP {
		c.totals.Warmup = &measure.Counts
		began, last := ended.span(c.session)
		c.totals.WarmupMicroseconds = last - began
		c.standFor(sessionpb.Stage_STAGE_MEASUREMENT, c.plan.Measurement)
		return
	}
	c.current, c.measured = nil, true
	c.totals.Measure, c.totals.Arrivals = *measure, ended.Arrivals()
	c.totals.Levels = ended.sampler.LevelTotals()
	c.totals.Usage = ended.sampler.Usage()
	c.totals.StartedAt, c.totals.EndedAt = ended.span(c.session)
	c.session.SendTotals(&c.totals)
}

// Carry is called by each virtual user. It carries shares of the load until the
// client has been released.
func (c *Client) Carry(ctx context.Context) error {
	for {
		select {
		case s := <-c.shares:
			interrupted := context.AfterFunc(ctx, s.stage.Stop)
			s.stage.Carry(s.number, c.users)
			interrupted()
		case <-c.released:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Ended is called when k6 has ended. It returns when the client was released:
// before that, the process must not exit with k6's verdict but with Run's error.
func (c *Client) Ended(err error) {
	if err == nil {
		err = errors.New("nothing went wrong")
	}
	c.carrierEnded <- err
	<-c.released
}
