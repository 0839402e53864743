// Package script is a client in a run of a k6 script of the user's: it has k6
// run the script by k6's own command, drives it through k6's own REST API from one barrier to the next, and gives account of it as of any
// other load.
package script

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	v1 "go.k6.io/k6/v2/api/v1"
	"go.k6.io/k6/v2/errext/exitcodes"

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/probe"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/targettls"
	"github.com/assay-dev/assay/load/usage"
)

const (
	// mostText bounds what is told of k6's messages, in bytes.
	mostText = 1000
	// userAgent is what the client calls itself when it asks whether the target
	// answers.
	userAgent = "assay-load"
)

// Session is what a client needs of a pod.Session, where the methods are
// described.
type Session interface {
	Run(ctx context.Context) error
	Orders() <-chan pod.Order
	TargetAnswered(evidence *session.Evidence)
	TargetSilent(reason string)
	Ready(cpus string)
	SendSecond(stage sessionpb.Stage, second *result.ClientSecond)
	SendTotals(totals *result.Totals)
	ScriptState(state session.ScriptState)
	Fail(reason string)
	FailAs(kind session.FailureKind, reason string)
	Now() int64
	Local(at int64) time.Time
}

// Client is one client in a run.
type Client struct {
	session                             Session
	log                                 *slog.Logger
	program                             string // that is k6 when its first argument is k6
	scriptFolder, workFolder, tlsFolder string

	events chan func() error // what is to be done about what happened
	gone   chan struct{}     // closed when k6 has ended

	plan    *session.Plan
	address string
	api     *api
	k6      *process
	pipe    *pipe
	state   session.ScriptState
	status  v1.Status
	load    span
	// setUp is whether setup() was begun, tornDown whether teardown() was.
	setUp, tornDown bool
	teardownError   string
}

// New returns a client. This program is k6 when its first argument is k6.
func New(s Session, log *slog.Logger) *Client {
	return &Client{
		session: s, log: log, program: "/proc/self/exe", events: make(chan func() error, 8), gone: make(chan struct{}),
		scriptFolder: session.ScriptFolder, workFolder: session.WorkFolder, tlsFolder: session.TLSFolder,
	}
}

// UseFolders has the script, what is written for k6, and the files for TLS lie
// in other folders than a pod's. It must be called before Run.
func (c *Client) UseFolders(script, work, tls string) {
	c.scriptFolder, c.workFolder, c.tlsFolder = script, work, tls
}

var errSessionEnded = errors.New("the session with the manager ended")

// Run attends the session until the manager releases the client. An error that
// it returns has been told to the manager, if that could be reached.
func (c *Client) Run(ctx context.Context) error {
	attended, leave := context.WithCancel(context.WithoutCancel(ctx))
	defer leave()
	ended := make(chan error, 1)
	go func() { ended <- c.session.Run(attended) }()
	err := c.obey(ctx)
	if err == nil {
		return nil
	}
	var failure *session.FailureError
	if errors.As(err, &failure) {
		c.session.FailAs(failure.Kind, err.Error())
	} else {
		c.session.Fail(err.Error())
	}
	c.abandon()
	leave()
	if sessionErr := <-ended; errors.Is(err, errSessionEnded) {
		return fmt.Errorf("%w: %w", err, sessionErr)
	}
	return err
}

// obey does what the manager orders until it releases the client.
func (c *Client) obey(ctx context.Context) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	for {
		var err error
		select {
		case order, ok := <-c.session.Orders():
			if !ok {
				return errSessionEnded
			}
			if _, released := order.(pod.Release); released {
				return nil
			}
			err = c.do(working, order)
		case happened := <-c.events:
			err = happened()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

func (c *Client) do(ctx context.Context, order pod.Order) error {
	switch order := order.(type) {
	case pod.Prepare:
		return c.prepare(ctx, order)
	case pod.SetupData:
		return c.takeSetup(ctx, order.Data)
	case pod.Start:
		switch order.Stage {
		case sessionpb.Stage_STAGE_SETUP:
			c.runSetup(ctx)
			return nil
		case sessionpb.Stage_STAGE_MEASUREMENT:
			return c.start(ctx, order.At)
		case sessionpb.Stage_STAGE_TEARDOWN:
			c.runTeardown(ctx)
			return nil
		}
	}
	return fmt.Errorf("the manager sent a client of a script the order %T", order)
}

// later does something in the background, and then what it returns.
func (c *Client) later(ctx context.Context, work func() func() error) {
	go func() {
		happened := work()
		select {
		case c.events <- happened:
		case <-ctx.Done():
		}
	}()
}

// prepare has k6 load the script, make its virtual users, and wait.
func (c *Client) prepare(ctx context.Context, order pod.Prepare) error {
	switch {
	case c.plan != nil:
		return errors.New("the manager sent a second plan")
	case order.Plan.Script == nil:
		return errors.New("the manager sent the plan of another load to a client of a script")
	}
	c.plan, c.address = order.Plan, order.Address
	if err := c.configure(c.plan, c.address); err != nil {
		return err
	}
	env := c.environment()
	secrets := secretsIn(env, c.plan.Script.Secrets)
	file := filepath.Join(c.scriptFolder, c.plan.Script.File)
	// k6 checks thresholds only where it evaluates them, which the run leaves to
	// others.
	inspection := newProcess(c.program, c.scriptFolder, env, secrets, c.log,
		"inspect", file, "--config", filepath.Join(c.workFolder, inspectionFile),
		"--execution-requirements", "--include-system-env-vars", "--no-color")
	var err error
	if c.api, err = newAPI(); err != nil {
		return err
	}
	c.k6 = newProcess(c.program, c.scriptFolder, env, secrets, c.log, c.arguments(file)...)
	to, from, err := c.k6.pipes()
	if err != nil {
		return fmt.Errorf("make pipes to k6: %w", err)
	}
	c.pipe = newPipe(to, from)
	c.later(ctx, func() func() error {
		end, err := inspection.run()
		return func() error {
			switch {
			case err != nil:
				return fmt.Errorf("k6 can't be had load the script: %w", err)
			case end.code != 0:
				return failure(session.FailureScriptInvalid, end, "k6 can't load the script")
			}
			c.launch(ctx)
			return nil
		}
	})
	return nil
}

// arguments are those of k6's run.
func (c *Client) arguments(file string) []string {
	s := c.plan.Script
	args := []string{
		"run", file, "--config", filepath.Join(c.workFolder, configurationFile),
		"--execution-segment", s.Segment, "--execution-segment-sequence", s.Sequence,
		"--paused", "--linger", "--no-setup", "--no-teardown", "--address", c.api.address,
		"--no-thresholds", "--summary-mode=disabled", "--no-usage-report", "--quiet", "--no-color",
		"--out", outputName + "=" + pipesArgument,
	}
	for _, output := range s.Outputs {
		args = append(args, "--out", output)
	}
	if len(s.Tags) > 0 { // besides those of the script, not instead of them
		args = append(args, "--features", "merge-run-tags")
	}
	return args
}

// launch starts k6, and waits until it and the target are ready.
func (c *Client) launch(ctx context.Context) {
	c.later(ctx, func() func() error {
		received := make(chan error, 1)
		go func() {
			received <- c.pipe.read(func(second *result.ClientSecond) {
				c.session.SendSecond(sessionpb.Stage_STAGE_MEASUREMENT, second)
			})
		}()
		end, err := c.k6.run()
		close(c.gone)
		readErr := <-received
		return func() error {
			if err = errors.Join(err, readErr); err != nil {
				return err
			}
			return c.ended(end)
		}
	})
	c.later(ctx, func() func() error {
		status, err := c.api.await(ctx, paused)
		if err != nil {
			return func() error { return nil } // the context has ended
		}
		if c.plan.Probe != "" {
			if err := c.ask(ctx); err != nil {
				return func() error { return err }
			}
		}
		return func() error {
			c.status = status
			cpus := usage.AllowedCPUs()
			c.log.Info("ready", "virtualUsers", status.VUsMax.Int64, "segment", c.plan.Script.Segment, "cpus", cpus)
			c.session.Ready(cpus)
			return nil
		}
	})
}

// ask asks a target that has no agent until it answers.
func (c *Client) ask(ctx context.Context) error {
	q := &probe.Question{
		Address: c.address, Path: c.plan.Probe, UserAgent: userAgent, Timeout: probe.Timeout,
		Host: session.HostHeader(c.plan.Host, c.address, c.plan.TLS != nil),
	}
	if c.plan.TLS != nil {
		var err error
		if q.TLS, err = targettls.Config(c.plan.TLS, c.address, c.tlsFolder); err != nil {
			return fmt.Errorf("TLS with the target can't be set up: %w", err)
		}
	}
	evidence, err := probe.Until(ctx, q, c.session.TargetSilent)
	if err == nil {
		c.session.TargetAnswered(evidence)
	}
	return nil // an error is the context's
}

// ended is called when k6 has ended: as it was told to, or by itself.
func (c *Client) ended(end exit) error {
	switch {
	case c.load.began.IsZero():
		return failure(session.FailureScriptInvalid, end, "k6 can't run the script")
	case end.code == exitcodes.ScriptAborted:
		return failure(session.FailureScriptAborted, end, "the script called test.abort()")
	case !c.load.isOver(), end.code != 0 && end.code != exitcodes.ThresholdsHaveFailed && end.code != exitcodes.MarkedAsFailed:
		return failure(session.FailureScriptException, end, "k6 broke off")
	}
	totals, err := c.totals(end)
	if err != nil {
		return err
	}
	c.session.SendTotals(totals)
	return nil
}

// failure is an error of k6's: what it means, and what k6 said.
func failure(kind session.FailureKind, end exit, means string) error {
	message := strings.TrimSpace(end.message)
	if message == "" {
		message = "it gave no reason"
	}
	return &session.FailureError{Kind: kind, Err: fmt.Errorf("%s (exit code %d): %s", means, end.code, printable.Clipped(message, mostText))}
}

// clipped is what k6 said as it may be told.
func (c *Client) clipped(text string) string { return printable.Clipped(c.k6.redact(text), mostText) }
