package standalone

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/assay-dev/assay/internal/breakingpoint"
	"github.com/assay-dev/assay/internal/load/client"
	"github.com/assay-dev/assay/internal/load/usage"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/validity"
)

// ExitInterrupted is the exit code after an interrupt, as in shells.
const ExitInterrupted = 130

// Watcher receives the progress of a load. Its methods are never called
// concurrently and must not block.
type Watcher interface {
	// Begin is called when a stage begins: the warm-up or the measurement.
	Begin(warmup bool, amount session.Amount)
	// Second is called after each second of a stage with the counts of that second.
	Second(counts result.Counts)
}

// Outcome is the outcome of a load.
type Outcome struct {
	// Result holds the measurement. It is nil if there is none.
	Result *result.Result
	// Err is the reason why there is no result, or nil if there is one.
	Err error
	// Interrupted reports whether a signal ended the load.
	Interrupted bool
}

// Drive runs the load of a job. job.Prepare must have succeeded. When the load has ended, Drive
// calls ended with the outcome and exits the process with the code that ended returns. SIGINT and
// SIGTERM end the measurement; the second signal exits the process at once. Closing end, which may
// be nil, ends the measurement as well. Drive returns only if the load can't be started.
func Drive(job *Job, watcher Watcher, end <-chan struct{}, ended func(Outcome) int) error {
	if err := client.ApplyLimits(); err != nil {
		return err
	}
	var c Client
	var interrupted atomic.Bool
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	s := newLocalSession(job, watcher, func() {
		if job.MaxDuration > 0 && job.Plan.Warmup == nil {
			time.AfterFunc(StartDelay+job.MaxDuration, func() { c.Finish() })
		}
	})
	if job.NewClient != nil {
		c = job.NewClient(s, slog.New(slog.DiscardHandler))
	} else {
		c = client.New(s, slog.New(slog.DiscardHandler))
	}
	c.UseDirectories(job.directory, job.Credentials)
	exit := func(o Outcome) {
		if o.Interrupted = interrupted.Load(); o.Interrupted && o.Result != nil {
			o.Result.Findings = append(o.Result.Findings, InterruptedFinding(o.Result))
		}
		job.Clean() // before the report, whose reader may be gone, which ends the process
		os.Exit(ended(o))
	}
	go func() {
		for range signals {
			if interrupted.Swap(true) {
				job.Clean()
				os.Exit(ExitInterrupted)
			}
			c.Finish()
		}
	}()
	go func() {
		<-end // never, if it is nil
		c.Finish()
	}()
	failed := make(chan error, 1)
	go func() { failed <- c.Run(context.Background()) }()
	select {
	case totals := <-s.totals:
		exit(Outcome{Result: job.result(totals, s)})
	case err := <-failed:
		exit(Outcome{Err: err})
	}
	return nil
}

// result returns the job's result with its findings.
func (j *Job) result(totals *result.Totals, s *localSession) *result.Result {
	r := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Run:           j.Plan.Describe(),
		Environment: result.Environment{
			TargetAddress: Target(j.URL), ConnectedAddress: j.address, ServerSoftware: j.probed.Software, DocumentLength: j.probed.DocumentLength,
			HTTP: j.probed.HTTP, TLS: j.probed.TLS, ClientCPULimit: int64(runtime.GOMAXPROCS(0)) * 1000, Machine: usage.Machine(), Assay: j.Version,
		},
		Series: s.series,
	}
	r.Run.Standalone, r.Run.RequestList, r.Run.Load = true, j.RequestList, j.Load
	r.Run.Name, r.Run.Server = j.Name, j.URL.Scheme+"://"+j.URL.Host
	r.Run.MeasurementTime = time.UnixMicro(totals.StartedAt).UTC()
	host, _ := os.Hostname() // empty if it is unknown
	r.AddClients([]result.Client{{Node: host, Totals: *totals}})
	r.AddRequests(j.Plan.RequestNames())
	if r.Warmup != nil {
		r.Warmup.Steady = s.steady
	}
	j.addLevels(r, s)
	r.Findings = validity.Judge(r, validity.Declared{
		ThinkTime: j.Plan.ThinkTime != nil, RampMicroseconds: j.Plan.Measurement.Profile.Duration().Microseconds(),
		TLSResumption: j.Plan.TLS != nil && j.Plan.TLS.Resume,
	})
	return r
}

// addLevels adds the levels and the breaking points of a load in stages to the result.
func (j *Job) addLevels(r *result.Result, s *localSession) {
	if j.Stages == nil {
		return
	}
	load, levels, steps := j.Stages.Load, j.Stages.Levels, j.Stages.Steps
	if s.stop != nil {
		r.Stop, load.End = s.stop, s.stop.End
		levels, steps = result.Reached(levels, steps, []*result.Totals{&r.Clients[0].Totals})
	}
	r.AddLevels(levels, steps)
	r.BreakingPoints = breakingpoint.Find(r.Series, &load, j.Stages.Bounds)
}

// InterruptedFinding returns the finding for a measurement that a signal ended.
func InterruptedFinding(r *result.Result) result.Finding {
	under := ""
	if n := r.Merged.Unanswered; n > 0 {
		under = fmt.Sprintf(" (%d more were under way)", n)
	}
	return result.Finding{
		Reason: "Interrupted", Severity: result.Warns,
		Message: fmt.Sprintf("The measurement was interrupted after %.3fs and %d requests%s. The result covers that time only.",
			float64(r.DurationMicroseconds)/1e6, r.Merged.Requests, under),
	}
}
