// Package client implements one client of a run. It joins the session with the manager, runs the
// plan's load stage by stage, and reports what it measured. Package driver makes the requests.
package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/assay-dev/assay/internal/load/driver"
	"github.com/assay-dev/assay/internal/load/usage"
	"github.com/assay-dev/assay/internal/probe"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Session is the part of pod.Session that a client uses. The methods are documented there.
type Session interface {
	Run(ctx context.Context) error
	Orders() <-chan pod.Order
	ProbeSucceeded(probed *session.ProbeResult)
	ProbeFailed(reason string)
	Ready(cpus string)
	StageEnded(stage sessionpb.Stage)
	SendSecond(stage sessionpb.Stage, second *result.ClientSecond)
	SendTotals(totals *result.Totals)
	FailAs(kind session.FailureKind, reason string)
	At(local time.Time) int64
	Local(at int64) time.Time
}

// Client is one client in a run.
type Client struct {
	session Session
	workers int // one for each CPU
	log     *slog.Logger

	loop   Loop
	shares chan share // shares that wait for a worker

	finish     chan struct{} // closed by Finish
	finishOnce sync.Once

	tlsDirectory, credentialsDirectory string

	plan    *session.Plan
	load    *driver.Load
	current *stage // nil before Prepare and after the measurement
	totals  result.Totals
	// measured reports whether the measurement has ended.
	measured bool
}

// share is the part of a stage's connections that one worker runs.
type share struct {
	stage  *driver.Stage
	number int
}

// New returns a client.
func New(s Session, log *slog.Logger) *Client {
	return &Client{
		session: s, workers: runtime.GOMAXPROCS(0), log: log,
		loop: NewLoop(), shares: make(chan share), finish: make(chan struct{}),
		tlsDirectory: session.TLSDirectory, credentialsDirectory: session.CredentialsDirectory,
	}
}

// Run runs the session until the manager releases the client, and the load. It has already
// reported any error that it returns to the manager, if the manager could be
// reached.
func (c *Client) Run(ctx context.Context) error {
	var workers sync.WaitGroup
	defer workers.Wait()
	ended := make(chan struct{})
	defer close(ended)
	for range c.workers {
		workers.Go(func() { c.runShares(ended) })
	}
	finishing, stop := context.WithCancel(ctx)
	defer stop()
	c.loop.After(finishing, c.finish, c.interrupt)
	return c.loop.Run(ctx, failingSession{c.session, c}, c.handle, func() {
		if c.current != nil {
			c.current.Stop()
		}
	})
}

// failingSession is the session of a client that says what was under way when it failed.
type failingSession struct {
	Session
	client *Client
}

// stopTimeout is the time that a stopped stage has to end. It ends at once.
const stopTimeout = 5 * time.Second

// FailAs implements Session. When the client was stopped, it adds the unanswered requests to the reason.
func (s failingSession) FailAs(kind session.FailureKind, reason string) {
	if stage := s.client.current; kind == session.FailureStopped && stage != nil && stage.sampled != nil {
		stage.Stop()
		select {
		case <-stage.sampled:
			if m := stage.recorder.Total(); m.Unanswered > 0 {
				reason += fmt.Sprintf(", with %d requests unanswered, the oldest for %.3fs", m.Unanswered, float64(m.OldestUnanswered)/1e6)
			}
		case <-time.After(stopTimeout):
		}
	}
	s.Session.FailAs(kind, reason)
}

func (c *Client) handle(ctx context.Context, order pod.Order) error {
	switch order := order.(type) {
	case pod.Prepare:
		return c.prepare(ctx, order)
	case pod.Start:
		return c.start(ctx, order)
	case pod.End:
		c.end()
		return nil
	case pod.EndMeasurement:
		c.endMeasurement(order)
		return nil
	default:
		return fmt.Errorf("the manager sent the order %T, which clients don't handle", order)
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
	setGCPercent(c.plan)
	if len(c.plan.Probes) == 0 {
		c.logIn(ctx)
		return nil
	}
	c.loop.Background(ctx, func() func() error {
		probed, err := probe.Until(ctx, Probes(c.plan, order.Address, load.Address(), access), c.session.ProbeFailed)
		return func() error {
			if err == nil { // else ctx is done
				c.session.ProbeSucceeded(probed)
				c.logIn(ctx)
			}
			return nil
		}
	})
	return nil
}

// logIn starts the logins of all connections if the plan has a login form, and enters the
// first stage when they have succeeded. Without a form, logIn enters it at once.
func (c *Client) logIn(ctx context.Context) {
	if c.plan.Form == nil {
		c.enterFirstStage(ctx)
		return
	}
	c.log.Info("Logging in", "connections", c.plan.Connections)
	c.loop.Background(ctx, func() func() error {
		err := c.load.LogIn(ctx)
		return func() error {
			if err == nil {
				c.enterFirstStage(ctx)
			}
			return err
		}
	})
}

// enterFirstStage enters the warm-up, or the measurement if the plan has no warm-up.
func (c *Client) enterFirstStage(ctx context.Context) {
	if c.plan.Warmup != nil {
		c.enterStage(ctx, sessionpb.Stage_STAGE_WARMUP, *c.plan.Warmup)
	} else {
		c.enterStage(ctx, sessionpb.Stage_STAGE_MEASUREMENT, c.plan.Measurement)
	}
}

// enterStage makes a new stage the current one and distributes its connections
// to the workers. The stage starts when the manager orders it.
func (c *Client) enterStage(ctx context.Context, kind sessionpb.Stage, amount session.Amount) {
	s := newStage(kind, c.load, amount, c.plan.Slices, c.workers)
	c.current = s
	c.loop.After(ctx, s.ready, func() error {
		if c.current == s {
			c.reportReady()
		}
		return nil
	})
	go func() {
		for i := range c.workers {
			select {
			case c.shares <- share{s.Stage, i}:
			case <-s.Stopped():
				return
			}
		}
	}()
}

// reportReady tells the manager that the current stage is ready to start. For a
// measurement after a warm-up it reports the end of the warm-up.
func (c *Client) reportReady() {
	c.current.ready = nil
	if c.current.kind == sessionpb.Stage_STAGE_MEASUREMENT && c.plan.Warmup != nil {
		c.session.StageEnded(sessionpb.Stage_STAGE_WARMUP)
		return
	}
	cpus := usage.AllowedCPUs()
	c.log.Info("Reported ready", "connections", c.plan.Connections, "cpus", cpus)
	c.session.Ready(cpus)
}

func (c *Client) start(ctx context.Context, order pod.Start) error {
	if c.current == nil || c.current.kind != order.Stage || c.current.ready != nil || c.current.sampled != nil {
		return fmt.Errorf("the manager sent an unexpected order to start %s", order.Stage)
	}
	c.log.Info("Received start order", "stage", order.Stage.String())
	s := c.current
	s.start(c.session.Local(order.At), func(second *result.ClientSecond) {
		c.session.SendSecond(order.Stage, second)
	})
	c.loop.After(ctx, s.sampled, func() error {
		if c.current == s {
			c.endStage(ctx)
		}
		return nil
	})
	return nil
}

// end ends the warm-up. It does nothing if the warm-up has already ended.
func (c *Client) end() {
	if c.current != nil && c.current.kind == sessionpb.Stage_STAGE_WARMUP {
		c.current.End()
	}
}

// endMeasurement ends the measurement early. It does nothing unless that is under way.
func (c *Client) endMeasurement(order pod.EndMeasurement) {
	if s := c.current; s != nil && s.kind == sessionpb.Stage_STAGE_MEASUREMENT && s.sampled != nil {
		at := c.session.Local(order.At)
		c.log.Info("Received order to end the measurement", "afterSeconds", at.Sub(s.at).Seconds())
		s.endAt(at)
	}
}

// endStage collects the metrics of the stage that has ended. After the warm-up
// it enters the measurement; after the measurement it sends the totals.
func (c *Client) endStage(ctx context.Context) {
	ended := c.current
	ended.Stop()
	measure := ended.recorder.Total()
	c.log.Info("Completed stage", "stage", ended.kind.String(), "requests", measure.Requests, "errors", measure.Errors.Total())
	if ended.kind == sessionpb.Stage_STAGE_WARMUP {
		c.totals.Warmup = &measure.Counts
		began, last := ended.span(c.session)
		c.totals.WarmupMicroseconds = last - began
		c.enterStage(ctx, sessionpb.Stage_STAGE_MEASUREMENT, c.plan.Measurement)
		return
	}
	c.current, c.measured = nil, true
	c.totals.Measure, c.totals.Causes, c.totals.Arrivals = *measure, ended.recorder.Causes(), ended.Arrivals()
	c.totals.Statuses, c.totals.ByRequest = ended.recorder.Parts()
	c.totals.ContentEncodings = ended.recorder.Encodings()
	c.totals.Levels, c.totals.Steps = ended.sampler.LevelTotals()
	c.totals.Usage, c.totals.NodeUsage = ended.sampler.Usage(), ended.sampler.NodeUsage()
	c.totals.StartedAt, c.totals.EndedAt = ended.span(c.session)
	c.session.SendTotals(&c.totals)
}

// runShares runs shares of the load's stages, one after the other, until the session has ended.
func (c *Client) runShares(ended <-chan struct{}) {
	for {
		select {
		case s := <-c.shares:
			s.stage.Run(s.number, c.workers)
		case <-ended:
			return
		}
	}
}

// ErrNothingMeasured is the error that Run returns if Finish was called before
// the measurement began.
var ErrNothingMeasured = errors.New("stopped before the measurement began: there is no result")

// UseDirectories makes the client read the files for TLS and the credentials from other directories
// than a pod's. The file names are the same as in a pod. It must be called before Run.
func (c *Client) UseDirectories(tls, credentials string) {
	c.tlsDirectory, c.credentialsDirectory = tls, credentials
}

// Finish ends the measurement now. The result holds what was measured so far; requests in progress
// are counted as unanswered. Before the measurement, Finish makes Run fail with ErrNothingMeasured.
func (c *Client) Finish() { c.finishOnce.Do(func() { close(c.finish) }) }

// interrupt ends the measurement for Finish.
func (c *Client) interrupt() error {
	switch {
	case c.measured:
		return nil
	case c.current == nil, c.current.kind != sessionpb.Stage_STAGE_MEASUREMENT, c.current.sampled == nil:
		return ErrNothingMeasured
	}
	c.current.Stop()
	return nil
}
