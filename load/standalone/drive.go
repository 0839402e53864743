package standalone

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/load/client"
	"github.com/assay-dev/assay/load/runner"
)

// ExitInterrupted is the exit code after an interrupt, as shells have it.
const ExitInterrupted = 130

// Watcher is told how far a load is. Its methods are called by one goroutine at
// a time and must not block.
type Watcher interface {
	// Begin is called when a stage begins: the warm-up or the measurement.
	Begin(warmup bool, amount session.Amount)
	// Second is called with what was counted in each second of a stage.
	Second(counts result.Counts)
}

// Outcome is what became of a load.
type Outcome struct {
	// Result is what was measured; nil when nothing was.
	Result *result.Result
	// Err is why not.
	Err error
	// Interrupted is whether a signal ended it.
	Interrupted bool
}

// Drive drives a job that Prepare was called for, and calls ended with what
// became of it; with the code that this returns the process is ended. An
// interrupt ends the measurement, a second one the process. Drive only returns
// when it can't begin. end, when it's closed, ends the measurement as well; nil
// for never.
func Drive(job *Job, watcher Watcher, end <-chan struct{}, ended func(Outcome) int) error {
	if err := client.ApplyLimits(); err != nil {
		return err
	}
	if err := job.isolate(); err != nil {
		return err
	}
	if err := runner.StayOffline(); err != nil {
		return err
	}
	var c *client.Client
	var interrupted atomic.Bool
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	s := newAlone(job, watcher, func() {
		// k6 has been set up by now. Signals aren't for it: it would drop the load.
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
		if job.Longest > 0 && job.Plan.Warmup == nil {
			time.AfterFunc(lead+job.Longest, c.Finish)
		}
	})
	users := runtime.GOMAXPROCS(0)
	c = client.New(s, users, slog.New(slog.DiscardHandler))
	c.UseDirectories(job.folder, job.Credentials)
	exit := func(o Outcome) {
		if o.Interrupted = interrupted.Load(); o.Interrupted && o.Result != nil {
			o.Result.Findings = append(o.Result.Findings, cutShort(o.Result))
		}
		code := ended(o)
		job.Clean()
		os.Exit(code)
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
		if end != nil {
			<-end
			c.Finish()
		}
	}()
	failed := make(chan error, 1)
	go func() { failed <- c.Run(context.Background()) }()
	go func() {
		select {
		case totals := <-s.totals:
			exit(Outcome{Result: job.result(totals, s)})
		case err := <-failed:
			exit(Outcome{Err: err})
		}
	}()
	return runner.Run(c, users)
}
