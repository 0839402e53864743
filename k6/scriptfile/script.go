// Package scriptfile runs a k6 script without a cluster, for `assay-load run SCRIPT`. It uses the same
// client as a client pod.
package scriptfile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/assay-dev/assay/internal/load/client"
	"github.com/assay-dev/assay/internal/load/standalone"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
	"github.com/assay-dev/assay/k6/script"
)

// Script is a k6 script that one client runs as a whole.
type Script struct {
	// Path is the path of the script's file.
	Path string
	// URL is the target's URL, which the script finds in its environment as in a client pod. It is nil
	// if the script has URLs of its own.
	URL *url.URL
	// Env holds environment variables, in addition to those of this process. k6 reads its options from
	// both: K6_VUS, K6_DURATION, …
	Env map[string]string
	// Version is the version of this program.
	Version string
}

// errInterrupted is the cause of a script's end before its load has begun.
var errInterrupted = errors.New("interrupted before the load began")

// Run runs the script and returns its outcome. log receives what the script and k6 log. The program of
// this process must act as k6 if its first argument is "k6". SIGINT and SIGTERM end the load, after
// which teardown() runs; the second signal exits the process at once.
func (s *Script) Run(log *slog.Logger, watcher standalone.Watcher) standalone.Outcome {
	directory, err := os.MkdirTemp("", "assay-load-")
	if err != nil {
		return standalone.Outcome{Err: err}
	}
	clean := func() { _ = os.RemoveAll(directory) } // a leftover temporary directory doesn't affect the result
	defer clean()
	path, err := filepath.Abs(s.Path)
	if err != nil {
		return standalone.Outcome{Err: err}
	}
	if err := errors.Join(client.ApplyLimits(), s.setEnvironment()); err != nil {
		return standalone.Outcome{Err: err}
	}
	joined := newSession(filepath.Base(path), watcher)
	c := script.New(joined, log)
	c.UseDirectories(filepath.Dir(path), directory, directory)

	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var interrupted atomic.Bool
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
			}
			if interrupted.Swap(true) {
				clean()
				os.Exit(standalone.ExitInterrupted) // the kernel kills k6 with its parent
			}
			if !joined.end() {
				cancel(errInterrupted)
			}
		}
	}()
	err = c.Run(ctx)
	o := standalone.Outcome{Err: err, Interrupted: interrupted.Load()}
	if err == nil {
		o.Result = s.result(joined)
		if o.Interrupted {
			o.Result.Findings = append(o.Result.Findings, standalone.InterruptedFinding(o.Result))
		}
	}
	return o
}

// setEnvironment sets the environment variables that k6 and the script inherit.
func (s *Script) setEnvironment() error {
	env := map[string]string{}
	if s.URL != nil {
		env["ASSAY_TARGET_URL"] = s.server()
		env["ASSAY_TARGET_HOST"], env["ASSAY_TARGET_PORT"] = s.URL.Hostname(), standalone.Port(s.URL)
		env["BASE_URL"] = s.server()
	}
	maps.Copy(env, s.Env)
	for name, value := range env {
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("set environment variable %s: %w", name, err)
		}
	}
	return nil
}

// server describes the target.
func (s *Script) server() string {
	if s.URL == nil {
		return "the servers of the script"
	}
	return s.URL.Scheme + "://" + s.URL.Host
}

// result returns the script's result with its findings.
func (s *Script) result(joined *scriptSession) *result.Result {
	r := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Run:           joined.plan.Describe(),
		Environment:   result.Environment{DocumentLength: -1, ClientCPULimit: int64(runtime.GOMAXPROCS(0)) * 1000, Assay: s.Version},
		Series:        joined.series,
	}
	if s.URL != nil {
		r.Environment.TargetAddress = standalone.Target(s.URL)
	}
	r.Run.Standalone, r.Run.Load, r.Run.Server = true, result.LoadScript, s.server()
	r.Run.Name = strings.TrimSuffix(joined.plan.Script.File, filepath.Ext(joined.plan.Script.File))
	r.Run.MeasurementTime = time.UnixMicro(joined.totals.StartedAt).UTC()
	host, _ := os.Hostname() // empty if it is unknown
	r.AddClients([]result.Client{{Node: host, Totals: *joined.totals}})
	r.AddRequests(nil)
	r.AddScript()
	r.SetAbort(joined.abort)
	r.SetSummary(joined.summary)
	r.Findings = validity.Judge(r, validity.Declared{})
	return r
}
