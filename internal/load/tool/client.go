// Package tool implements one client of a run whose load is made by another load generator, such as
// ab: a program in the client's image. The client runs it as a process of its own, once for the warm-up
// and once for the measurement, and reports what it printed. It measures nothing itself but the CPU
// time and the memory of that process.
package tool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/assay-dev/assay/internal/load/client"
	"github.com/assay-dev/assay/internal/load/driver"
	"github.com/assay-dev/assay/internal/load/usage"
	"github.com/assay-dev/assay/internal/probe"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Client is one client in a run.
type Client struct {
	session client.Session
	log     *slog.Logger

	workDirectory string
	// path is where programs are searched, as in the environment variable PATH.
	path string

	loop    client.Loop
	plan    *session.Plan
	address string
	tool    generator
	// running is the stage that is under way, or 0.
	running sessionpb.Stage
	warmup  *metrics
	result  *metrics
}

// New returns a client. Programs are searched in the directories of path, which are separated by colons.
func New(s client.Session, path string, log *slog.Logger) *Client {
	return &Client{session: s, log: log, path: path, workDirectory: session.WorkDirectory, loop: client.NewLoop()}
}

// UseDirectory makes the client write its files to another directory than a pod's. It must be called
// before Run.
func (c *Client) UseDirectory(work string) { c.workDirectory = work }

// Run runs the session until the manager releases the client. It has already reported any error
// that it returns to the manager, if the manager could be reached.
func (c *Client) Run(ctx context.Context) error {
	return c.loop.Run(ctx, c.session, c.handle, func() {})
}

func (c *Client) handle(ctx context.Context, order pod.Order) error {
	switch order := order.(type) {
	case pod.Prepare:
		return c.prepare(ctx, order)
	case pod.Start:
		return c.start(ctx, order)
	}
	return fmt.Errorf("the manager sent the order %T, which clients with a tool don't handle", order)
}

// prepare finds the tool and probes the target if the plan says so. The client is ready then.
func (c *Client) prepare(ctx context.Context, order pod.Prepare) error {
	if c.plan != nil {
		return errors.New("the manager sent a second plan")
	}
	tool, known := generators[order.Plan.Tool]
	if !known {
		return fmt.Errorf("the manager sent a plan for the tool %q, which this client doesn't know", order.Plan.Tool)
	}
	c.plan, c.address, c.tool = order.Plan, order.Address, tool
	if _, err := find(tool.program, c.path); err != nil {
		return fmt.Errorf("clients.tool.image: %w", err)
	}
	go func() {
		if len(c.plan.Probes) > 0 {
			probed, err := probe.Until(ctx, client.Probes(c.plan, c.address, c.address, driver.Access{}), c.session.ProbeFailed)
			if err != nil { // ctx is done
				return
			}
			c.session.ProbeSucceeded(probed)
		}
		cpus := usage.AllowedCPUs()
		c.log.Info("Reported ready", "tool", c.plan.Tool, "connections", c.plan.Connections, "cpus", cpus)
		c.session.Ready(cpus)
	}()
	return nil
}

// start runs the tool for a stage at the stage's start time.
func (c *Client) start(ctx context.Context, order pod.Start) error {
	var amount session.Amount
	into := &c.result
	switch {
	case c.plan == nil || c.running != 0 || c.result != nil:
		return fmt.Errorf("the manager sent an unexpected order to start %s", order.Stage)
	case order.Stage == sessionpb.Stage_STAGE_WARMUP && c.plan.Warmup != nil && c.warmup == nil:
		amount, into = *c.plan.Warmup, &c.warmup
	case order.Stage == sessionpb.Stage_STAGE_MEASUREMENT && (c.plan.Warmup == nil || c.warmup != nil):
		amount = c.plan.Measurement
	default:
		return fmt.Errorf("the manager sent an unexpected order to start %s", order.Stage)
	}
	c.running = order.Stage
	at := c.session.Local(order.At)
	c.loop.Background(ctx, func() func() error {
		f, err := c.runTool(ctx, at, amount)
		return func() error {
			if *into = f; err == nil {
				c.endStage()
			}
			return err
		}
	})
	return nil
}

// runTool waits for a time and then runs the tool.
func (c *Client) runTool(ctx context.Context, at time.Time, amount session.Amount) (*metrics, error) {
	work := load{plan: c.plan, amount: amount, url: "http://" + c.address + c.plan.Requests[0].Path, directory: c.workDirectory}
	arguments, err := c.tool.arguments(&work)
	if err != nil {
		return nil, err
	}
	p := process{path: c.path, program: c.tool.program, arguments: arguments, home: c.workDirectory}
	select {
	case <-time.After(time.Until(at)):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c.log.Info("Started tool", "program", c.tool.program, "arguments", arguments)
	ran, err := p.run(ctx)
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", c.tool.program, err)
	}
	f, err := c.tool.parse(&work, ran.output)
	if err != nil {
		return nil, fmt.Errorf("read the output of %s: %w", c.tool.program, err)
	}
	f.totals.StartedAt = c.session.At(ran.started)
	f.totals.EndedAt = f.totals.StartedAt + f.microseconds
	f.totals.Usage = ran.usage
	c.log.Info("Completed stage", "requests", f.totals.Requests, "errors", f.totals.Errors.Total())
	return f, nil
}

// endStage reports the end of the stage under way.
func (c *Client) endStage() {
	ended := c.running
	c.running = 0
	if ended == sessionpb.Stage_STAGE_WARMUP {
		c.session.StageEnded(ended)
		return
	}
	totals := &c.result.totals
	if c.warmup != nil {
		totals.Warmup, totals.WarmupMicroseconds = &c.warmup.totals.Counts, c.warmup.microseconds
	}
	c.session.SendTotals(totals)
}
