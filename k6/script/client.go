// Package script implements one client of a run whose load is a k6 script. It runs the script with
// the k6 command in a process of its own, controls that process through k6's REST API, and reports
// the same metrics as for other loads. An output extension in k6's process collects the metrics.
package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "go.k6.io/k6/v2/api/v1"
	"go.k6.io/k6/v2/errext/exitcodes"

	"github.com/assay-dev/assay/internal/load/client"
	"github.com/assay-dev/assay/internal/load/driver"
	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/load/usage"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/probe"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// maxMessageBytes is the maximum length of a message of k6 in an error.
const maxMessageBytes = 1000

// Session is the part of pod.Session that a client uses. The methods are documented there.
type Session interface {
	client.Session
	ScriptState(state session.ScriptState)
	ScriptMetrics(metrics *session.ScriptMetrics, limit int)
	SendSummary(summary *result.ScriptSummary)
	FailAs(kind session.FailureKind, reason string)
}

// Client is one client in a run.
type Client struct {
	session Session
	log     *slog.Logger
	program string // a program that acts as k6 if its first argument is "k6"

	scriptDirectory, workDirectory, tlsDirectory string

	loop    client.Loop
	resumed chan struct{} // closed when k6's load has begun
	exited  chan struct{} // closed when k6 has exited

	plan    *session.Plan
	address string
	api     *api
	k6      *process
	pipe    *pipe
	state   session.ScriptState
	status  v1.Status
	load    span
	// setUp reports whether setup() was started, tornDown whether teardown() was.
	setUp, tornDown bool
	// stopped reports whether the manager has ended the load early.
	stopped       bool
	teardownError string
}

// New returns a client. The current program must act as k6 if its first argument is "k6".
func New(s Session, log *slog.Logger) *Client {
	return &Client{
		session: s, log: log, program: "/proc/self/exe", loop: client.NewLoop(),
		resumed: make(chan struct{}), exited: make(chan struct{}),
		scriptDirectory: session.ScriptDirectory, workDirectory: session.WorkDirectory, tlsDirectory: session.TLSDirectory,
	}
}

// UseDirectories makes the client use other directories than a pod's: script holds the script, work
// the files that are written for k6, and tls the files for TLS. It must be called before Run.
func (c *Client) UseDirectories(script, work, tls string) {
	c.scriptDirectory, c.workDirectory, c.tlsDirectory = script, work, tls
}

// Run runs the session until the manager releases the client. It has already reported any error
// that it returns to the manager, if the manager could be reached.
func (c *Client) Run(ctx context.Context) error {
	return c.loop.Run(ctx, c.session, c.handle, c.cleanUp)
}

func (c *Client) handle(ctx context.Context, order pod.Order) error {
	switch order := order.(type) {
	case pod.Prepare:
		return c.prepare(ctx, order)
	case pod.SetupData:
		return c.applySetupData(ctx, order.Data)
	case pod.Summarize:
		c.summarize(ctx, order.Data)
		return nil
	case pod.EndMeasurement:
		return c.stop(ctx, order.At)
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
	return fmt.Errorf("the manager sent the order %T, which clients of a script don't handle", order)
}

// prepare checks the script with k6's archive command and then launches k6.
func (c *Client) prepare(ctx context.Context, order pod.Prepare) error {
	switch {
	case c.plan != nil:
		return errors.New("the manager sent a second plan")
	case order.Plan.Script == nil:
		return errors.New("the manager sent a plan without a script to a client of a script")
	}
	c.plan, c.address = order.Plan, order.Address
	if err := c.configure(c.plan, c.address); err != nil {
		return err
	}
	env := c.environment()
	secrets := secretsIn(env, c.plan.Script.Secrets)
	file := filepath.Join(c.scriptDirectory, c.plan.Script.File)
	// "k6 run --no-thresholds" doesn't check thresholds, but "k6 archive" does, and it derives the options as "k6 run" does.
	// What both log is logged once: by "k6 run".
	check := newProcess(c.program, "", env, secrets, slog.New(slog.DiscardHandler),
		"archive", file, "--config", filepath.Join(c.workDirectory, configurationFile), "--archive-out", os.DevNull,
		"--include-system-env-vars", "--no-color")
	if err := c.create("", file, env, secrets); err != nil {
		return err
	}
	c.loop.Background(ctx, func() func() error {
		status, err := check.run()
		return func() error {
			switch {
			case err != nil:
				return fmt.Errorf("run k6 archive: %w", err)
			case status.code == exitcodes.InvalidConfig: // "k6 run" finds everything else
				return failure(session.FailureScriptInvalid, status, "k6 failed to load the script")
			}
			c.launch(ctx)
			return nil
		}
	})
	return nil
}

// create makes k6's process for a script, which runs in the given directory, with its API and its pipes.
func (c *Client) create(directory, file string, env map[string]string, secrets []string) (err error) {
	if c.api, err = newAPI(); err != nil {
		return err
	}
	c.k6 = newProcess(c.program, directory, env, secrets, c.log, c.arguments(file, env)...)
	to, from, err := c.k6.pipes()
	if err != nil {
		return fmt.Errorf("create pipes to k6: %w", err)
	}
	c.pipe = newPipe(to, from)
	return nil
}

// arguments returns the arguments of "k6 run" in the environment env.
func (c *Client) arguments(file string, env map[string]string) []string {
	s := c.plan.Script
	args := []string{
		"run", file, "--config", filepath.Join(c.workDirectory, configurationFile),
		"--paused", "--linger", "--no-setup", "--no-teardown", "--address", c.api.address,
		"--no-thresholds", "--summary-mode=disabled", "--no-usage-report", "--no-color",
		"--out", outputName + "=" + pipesArgument,
	}
	if clients(s) > 1 {
		args = append(args, "--execution-segment", s.Segment, "--execution-segment-sequence", s.Sequence)
	}
	outputs := s.Outputs
	if more := env["K6_OUT"]; more != "" { // the flag --out overrides it
		outputs = append(slices.Clone(outputs), strings.Split(more, ",")...)
	}
	for _, output := range outputs {
		args = append(args, "--out", output)
	}
	if len(s.Tags) > 0 { // add the tags to the script's instead of replacing them
		args = append(args, "--features", "merge-run-tags")
	}
	return args
}

// launch starts k6 and reports the client ready when k6 has created its virtual
// users and the target's probe has succeeded.
func (c *Client) launch(ctx context.Context) {
	c.runK6(ctx, func(second *result.ClientSecond) {
		c.session.SendSecond(sessionpb.Stage_STAGE_MEASUREMENT, second)
	}, func(metrics *session.ScriptMetrics) {
		c.session.ScriptMetrics(metrics, liveLimit(c.plan.Script))
	}, c.k6Exited)
	c.loop.Background(ctx, func() func() error {
		status, err := c.api.await(ctx, paused)
		if err != nil {
			return nothing // ctx is done
		}
		if len(c.plan.Probes) > 0 {
			if err := c.probeTarget(ctx, c.session, nil); err != nil {
				return func() error { return err }
			}
		}
		return func() error {
			c.status = status
			cpus := usage.AllowedCPUs()
			c.log.Info("Reported ready", "virtualUsers", status.VUsMax.Int64, "segment", c.plan.Script.Segment, "cpus", cpus)
			c.session.Ready(cpus)
			return nil
		}
	})
}

// runK6 runs k6 and passes on the seconds and the metrics so far that its output reports. It calls exited when k6 has exited.
func (c *Client) runK6(ctx context.Context, second func(*result.ClientSecond), metrics func(*session.ScriptMetrics), exited func(exitStatus) error) {
	c.loop.Background(ctx, func() func() error {
		received := make(chan error, 1)
		go func() { received <- c.pipe.read(second, metrics) }()
		status, err := c.k6.run()
		close(c.exited)
		readErr := <-received
		return func() error {
			if err = errors.Join(err, readErr); err != nil {
				return err
			}
			return exited(status)
		}
	})
}

// probeTarget probes a target that has no agent until the probe succeeds. credentials are nil without authentication.
func (c *Client) probeTarget(ctx context.Context, s client.Session, credentials *request.Credentials) error {
	config, err := client.TLSConfig(c.plan, c.address, c.tlsDirectory)
	if err != nil {
		return err
	}
	if probed, err := probe.Until(ctx, client.Probes(c.plan, c.address, c.address, driver.Access{TLS: config, Credentials: credentials}), s.ProbeFailed); err == nil {
		s.ProbeSucceeded(probed)
	}
	return nil // probe.Until only returns ctx's error
}

// k6Exited sends the totals when k6 has exited, or returns a failure if k6 exited
// early or with an error.
func (c *Client) k6Exited(status exitStatus) error {
	switch {
	case c.load.began.IsZero():
		return failure(session.FailureScriptInvalid, status, "k6 failed to load the script")
	case status.code == exitcodes.ScriptAborted:
		return failure(session.FailureScriptAborted, status, "the script called test.abort()")
	case !c.load.isOver() || !c.completed(status.code):
		return failure(session.FailureScriptException, status, "k6 aborted")
	}
	totals, err := c.totals(status)
	if err != nil {
		return err
	}
	c.session.SendTotals(totals)
	return nil
}

// completed reports whether k6 exits with the code after a load that has a result.
func (c *Client) completed(code exitcodes.ExitCode) bool {
	switch code {
	case 0, exitcodes.ThresholdsHaveFailed, exitcodes.MarkedAsFailed:
		return true
	case exitcodes.ScriptStoppedFromRESTAPI:
		return c.stopped
	}
	return false
}

// failure returns an error with what happened, k6's exit code and its last error message.
func failure(kind session.FailureKind, status exitStatus, what string) error {
	message := cmp.Or(strings.TrimSpace(status.message), "k6 logged no error")
	return &session.FailureError{Kind: kind, Err: fmt.Errorf("%s (exit code %d): %s", what, status.code, printable.Clipped(message, maxMessageBytes))}
}

// clipped returns a message of k6 without secrets and control characters, and not
// longer than maxMessageBytes.
func (c *Client) clipped(text string) string {
	return printable.Clipped(c.k6.redact(text), maxMessageBytes)
}
