package script

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	v1 "go.k6.io/k6/v2/api/v1"
	"go.k6.io/k6/v2/errext/exitcodes"

	"github.com/assay-dev/assay/internal/load/client"
	"github.com/assay-dev/assay/internal/load/driver/request"
	"github.com/assay-dev/assay/internal/load/k6script"
	"github.com/assay-dev/assay/internal/load/usage"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/pod"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// planFile is the file of a plan's script, in the work directory.
const planFile = "plan.js"

// PlanClient is one client in a run whose declared load k6 makes. It runs the plan as a script, with a k6 process for
// each stage, and reports the same metrics as the native driver's client.
type PlanClient struct {
	session client.Session
	log     *slog.Logger
	program string // as Client's

	workDirectory, tlsDirectory, credentialsDirectory string

	loop       client.Loop
	finish     chan struct{} // closed by Finish
	finishOnce sync.Once

	plan        *session.Plan
	address     string
	credentials *request.Credentials // nil without authentication
	env         map[string]string    // what the script's stages have in common
	current     *planStage           // nil before Prepare and after the measurement
	totals      result.Totals
	// measured reports whether the measurement has ended.
	measured bool
}

// planStage is a stage of a plan with its k6 process.
type planStage struct {
	*Client
	kind   sessionpb.Stage
	amount session.Amount
	// ready reports whether k6 is ready to begin, started whether the stage has a start time.
	ready, started bool
}

// NewPlan returns a client. The current program must act as k6 if its first argument is "k6".
func NewPlan(s client.Session, log *slog.Logger) *PlanClient {
	return &PlanClient{
		session: s, log: log, program: "/proc/self/exe", loop: client.NewLoop(), finish: make(chan struct{}),
		workDirectory: session.WorkDirectory, tlsDirectory: session.TLSDirectory, credentialsDirectory: session.CredentialsDirectory,
	}
}

// UseDirectories makes the client use other directories than a pod's: tls holds the files for TLS, and gets those that
// are written for k6; credentials holds the credentials. It must be called before Run.
func (c *PlanClient) UseDirectories(tls, credentials string) {
	c.workDirectory, c.tlsDirectory, c.credentialsDirectory = tls, tls, credentials
}

// Run runs the session until the manager releases the client. It has already reported any error
// that it returns to the manager, if the manager could be reached.
func (c *PlanClient) Run(ctx context.Context) error {
	finishing, stop := context.WithCancel(ctx)
	defer stop()
	c.loop.After(finishing, c.finish, func() error { return c.interrupt(ctx) })
	return c.loop.Run(ctx, c.session, c.handle, func() {
		if s := c.current; s != nil && s.k6.signal(os.Kill) {
			<-s.exited
		}
	})
}

// Finish ends the measurement now. The result holds what was measured so far; requests in progress
// aren't counted. Before the measurement, Finish makes Run fail with client.ErrNothingMeasured.
func (c *PlanClient) Finish() { c.finishOnce.Do(func() { close(c.finish) }) }

func (c *PlanClient) interrupt(ctx context.Context) error {
	switch s := c.current; {
	case c.measured:
		return nil
	case s == nil, s.kind != sessionpb.Stage_STAGE_MEASUREMENT, !s.started:
		return client.ErrNothingMeasured
	default:
		s.stopLoad(ctx, time.Now(), true)
		return nil
	}
}

func (c *PlanClient) handle(ctx context.Context, order pod.Order) error {
	switch order := order.(type) {
	case pod.Prepare:
		return c.prepare(ctx, order)
	case pod.Start:
		return c.start(ctx, order)
	case pod.End:
		if s := c.current; s != nil && s.kind == sessionpb.Stage_STAGE_WARMUP && s.started {
			s.stopLoad(ctx, time.Now(), true)
		}
		return nil
	case pod.EndMeasurement:
		if s := c.current; s != nil && s.kind == sessionpb.Stage_STAGE_MEASUREMENT && s.started {
			s.stopLoad(ctx, c.session.Local(order.At), true)
		}
		return nil
	}
	return fmt.Errorf("the manager sent the order %T, which clients with K6 don't handle", order)
}

// prepare writes the plan's script and launches k6 for the first stage.
func (c *PlanClient) prepare(ctx context.Context, order pod.Prepare) error {
	if c.plan != nil {
		return errors.New("the manager sent a second plan")
	}
	c.plan, c.address = order.Plan, order.Address
	if err := c.write(); err != nil {
		return err
	}
	kind, amount := sessionpb.Stage_STAGE_MEASUREMENT, c.plan.Measurement
	if c.plan.Warmup != nil {
		kind, amount = sessionpb.Stage_STAGE_WARMUP, *c.plan.Warmup
	}
	return c.launch(ctx, kind, amount)
}

// write writes the script and k6's configuration, and sets the script's environment.
func (c *PlanClient) write() error {
	p := c.plan
	l := locate(p, c.address)
	text, err := k6script.Script(p, l.environment()["ASSAY_TARGET_URL"])
	if err != nil {
		return err
	}
	s := c.k6Of()
	if err := s.configure(s.plan, c.address); err != nil {
		return err
	}
	if err := s.write(planFile, []byte(text)); err != nil {
		return err
	}
	c.env = s.environment()
	for name := range c.env {
		if strings.HasPrefix(name, "K6_") && name != "K6_INSECURE_SKIP_TLS_VERIFY" {
			delete(c.env, name) // the user's settings of k6 must not change the load
		}
	}
	c.env[k6script.URLVariable] = c.env["ASSAY_TARGET_URL"]
	if p.Streams == 0 {
		c.env["GODEBUG"] = k6script.HTTP1Setting
	}
	for _, name := range []string{k6script.CertificateVariable, k6script.KeyVariable} {
		delete(c.env, name) // k6's configuration has them
	}
	if p.Authentication == "" {
		return nil
	}
	if c.credentials, err = request.ReadCredentials(p.Authentication, c.credentialsDirectory); err != nil {
		return fmt.Errorf("load.authentication.secretName: %w", err)
	}
	c.env[k6script.AuthorizationVariable] = c.credentials.Authorization(p.Authentication)
	return nil
}

// k6Of returns a client of the plan's script, which has its k6 process, files and API, and no session.
func (c *PlanClient) k6Of() *Client {
	p := *c.plan
	p.Script = &session.Script{File: planFile, Segment: "0:1", Sequence: "0,1"}
	if a := p.Arrivals; a != nil && a.Shares > 1 {
		bound := func(i int) string { return fmt.Sprintf("%d/%d", i, a.Shares) }
		bounds := []string{"0"}
		for i := 1; i < a.Shares; i++ {
			bounds = append(bounds, bound(i))
		}
		p.Script.Segment, p.Script.Sequence = bound(a.Share)+":"+bound(a.Share+1), strings.Join(append(bounds, "1"), ",")
	}
	return &Client{
		log: c.log, program: c.program, loop: c.loop, plan: &p, address: c.address, resumed: make(chan struct{}), exited: make(chan struct{}),
		scriptDirectory: c.workDirectory, workDirectory: c.workDirectory, tlsDirectory: c.tlsDirectory,
	}
}

// launch starts k6 for a stage and makes the stage the current one. It reports the stage ready when k6 has created its virtual
// users and, before the first stage, the target's probe has succeeded.
func (c *PlanClient) launch(ctx context.Context, kind sessionpb.Stage, amount session.Amount) error {
	s := &planStage{Client: c.k6Of(), kind: kind, amount: amount}
	env := map[string]string{k6script.StageVariable: k6script.StageMeasurement}
	if kind == sessionpb.Stage_STAGE_WARMUP {
		env[k6script.StageVariable] = k6script.StageWarmup
	}
	for name, value := range c.env {
		env[name] = value
	}
	secrets := secretsIn(env, []string{k6script.AuthorizationVariable})
	if err := s.create(c.workDirectory, filepath.Join(c.workDirectory, planFile), env, secrets); err != nil {
		return err
	}
	first := c.current == nil
	c.current = s
	s.runK6(ctx, func(second *result.ClientSecond) { c.session.SendSecond(kind, second) }, func(*session.ScriptMetrics) {}, func(status exitStatus) error {
		return c.exit(ctx, s, status)
	})
	c.loop.Background(ctx, func() func() error {
		if _, err := s.api.await(ctx, paused); err != nil {
			return nothing // ctx is done
		}
		if first && len(c.plan.Probes) > 0 {
			if err := s.probeTarget(ctx, c.session, c.credentials); err != nil {
				return func() error { return err }
			}
		}
		return func() error {
			c.reportReady(s, first)
			return nil
		}
	})
	return nil
}

// reportReady tells the manager that a stage is ready to start. For a measurement after a warm-up it reports the end of the
// warm-up.
func (c *PlanClient) reportReady(s *planStage, first bool) {
	s.ready = true
	if !first {
		c.session.StageEnded(sessionpb.Stage_STAGE_WARMUP)
		return
	}
	cpus := usage.AllowedCPUs()
	c.log.Info("Reported ready", "tool", result.ToolK6, "connections", c.plan.Connections, "cpus", cpus)
	c.session.Ready(cpus)
}

// start starts a stage at its start time.
func (c *PlanClient) start(ctx context.Context, o pod.Start) error {
	s := c.current
	if s == nil || s.kind != o.Stage || !s.ready || s.started {
		return fmt.Errorf("the manager sent an unexpected order to start %s", o.Stage)
	}
	s.started = true
	load := &plannedLoad{Profile: s.amount.Profile, HTTP2: c.plan.Streams > 0}
	load.Named, load.Names = c.plan.Named()
	s.runLoad(ctx, c.session.Local(o.At), order{Load: load}, func(v1.Status) error {
		s.k6.signal(os.Interrupt) // ends k6's --linger
		return nil
	}, "stage", o.Stage.String())
	return nil
}

// exit collects the metrics of a stage whose k6 has exited. After the warm-up it launches the measurement; after the
// measurement it sends the totals.
func (c *PlanClient) exit(ctx context.Context, s *planStage, status exitStatus) error {
	if !s.load.isOver() || status.code != 0 && (!s.stopped || status.code != exitcodes.ScriptStoppedFromRESTAPI) {
		return failure(session.FailureScriptException, status, "k6 failed to run the load")
	}
	totals := s.pipe.totals
	if totals == nil {
		return errors.New("k6 exited without reporting its measurement")
	}
	c.log.Info("Completed stage", "stage", s.kind.String(), "requests", totals.Requests, "errors", totals.Errors.Total())
	if s.kind == sessionpb.Stage_STAGE_WARMUP {
		c.totals.Warmup, c.totals.WarmupMicroseconds = &totals.Counts, totals.EndedAt-totals.StartedAt
		return c.launch(ctx, sessionpb.Stage_STAGE_MEASUREMENT, c.plan.Measurement)
	}
	c.current, c.measured = nil, true
	totals.Warmup, totals.WarmupMicroseconds = c.totals.Warmup, c.totals.WarmupMicroseconds
	// Convert the times from the wall clock to the manager's clock.
	now := time.Now()
	ahead := c.session.At(now) - now.UnixMicro()
	totals.StartedAt, totals.EndedAt = totals.StartedAt+ahead, totals.EndedAt+ahead
	totals.Tool = measuredTool()
	if c.plan.Arrivals == nil {
		totals.Arrivals = nil
	} else {
		completeArrivals(totals, k6script.Due(c.plan, c.plan.Measurement), s.stopped)
	}
	c.session.SendTotals(totals)
	return nil
}

// completeArrivals adds what was to be done to the arrivals of an open load. What k6 neither made nor dropped counts as
// dropped, unless the load was ended early.
func completeArrivals(totals *result.Totals, due k6script.Arrivals, stopped bool) {
	if !stopped {
		totals.Dropped = max(totals.Dropped, due.Requests-totals.Requests)
	}
	if totals.Arrivals == nil {
		totals.Arrivals = &result.Arrivals{}
	}
	totals.Arrivals.Due = totals.Requests + totals.Dropped
	totals.Arrivals.PlannedMicroseconds = due.Length.Microseconds()
	if stopped {
		totals.Arrivals.PlannedMicroseconds = totals.EndedAt - totals.StartedAt
	}
}

// measuredTool names k6, which prints nothing: its requests are measured.
func measuredTool() *result.Tool {
	return &result.Tool{
		Name: result.ToolK6, Version: version(), Percentiles: []int64{},
		Min: result.Unknown, Mean: result.Unknown, StdDev: result.Unknown, Max: result.Unknown,
	}
}

// version returns k6's version, or an empty string if it is unknown.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, module := range info.Deps {
		if module.Path == "go.k6.io/k6/v2" {
			return strings.TrimPrefix(module.Version, "v")
		}
	}
	return ""
}
