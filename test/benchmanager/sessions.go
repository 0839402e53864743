package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// The bounds of the case sessions.
const (
	maxCores          = 0.7
	maxResident int64 = 200 << 20
	maxDelay          = 2 * time.Second
	// settling is the part of a measurement at its beginning whose CPU time isn't counted.
	settling = 2 * time.Second
)

// newRun returns a run of clients that send the given number of seconds.
func newRun(name, lane string, clients, seconds int) *v1alpha1.BenchmarkRun {
	return wrapper.NewRun(namespace, name, "server:1").Lane(lane).Clients(int32(clients), "100m", "64Mi").Seconds(10, int32(seconds)).Obj()
}

// measureSessions measures the manager while many clients send a sample second per second.
func measureSessions(ctx context.Context, s *settings, checks *harness.Checks) (err error) {
	seconds, each := int(s.measurement.Seconds()), s.clients/s.runs
	step("sessions: start the API server")
	c, err := startCluster(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p, err := c.startManager(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	f := newWorkload(seconds)
	k, err := c.startKubelet(ctx, p, f)
	if err != nil {
		return err
	}
	step("sessions: create %d runs of %d clients", s.runs, each)
	var runs []*v1alpha1.BenchmarkRun
	for i := range s.runs {
		run := newRun(fmt.Sprintf("run-%d", i), fmt.Sprintf("lane-%d", i), each, seconds)
		if err := c.Create(ctx, run); err != nil {
			return err
		}
		runs = append(runs, run)
	}
	if err := c.await(ctx, k, p, func() (bool, error) { return f.hasStarted(), nil }); err != nil {
		return fmt.Errorf("wait for the measurement: %w", err)
	}
	joined, err := p.used()
	if err != nil {
		return err
	}
	step("sessions: measure for %s (the manager has used %s of CPU time and %s)", s.measurement, joined.cpu.Round(time.Millisecond), mebibytes(joined.peak))
	loaded, err := c.load(ctx, s, p, s.measurement-2*settling)
	if err != nil {
		return err
	}
	for _, run := range runs {
		if err := c.await(ctx, k, p, func() (bool, error) { return c.succeeded(ctx, run) }); err != nil {
			return fmt.Errorf("wait for the end of run %s: %w", run.Name, err)
		}
	}
	end, err := p.used()
	if err != nil {
		return err
	}
	counted, _, err := c.calls(0)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	step("sessions: %d seconds merged; %d attempts to connect were repeated (%v)", len(f.delays), f.retries, f.lastRetry)
	if len(f.delays) < s.clients*(seconds-1) {
		return fmt.Errorf("only %d of %d seconds were acknowledged", len(f.delays), s.clients*seconds)
	}
	what := fmt.Sprintf("%d clients in %d runs, %s", s.clients, s.runs, s.measurement)
	harness.AtMost(checks, what+": CPU during the measurement", loaded, maxCores, cores)
	harness.AtMost(checks, "peak RSS", end.peak, maxResident, mebibytes)
	checks.Value("peak RSS before the measurement", mebibytes(joined.peak))
	checks.Value("CPU time of the whole run", end.cpu.Round(10*time.Millisecond).String())
	checks.Value("end of a second to merged and acknowledged, median", duration(quantile(f.delays, 0.5)))
	checks.Value("the same, p99", duration(quantile(f.delays, 0.99)))
	harness.AtMost(checks, "the same, longest", slices.Max(f.delays), maxDelay, duration)
	checks.Value("API calls per client", count(float64(counted.total())/float64(s.clients)))
	checks.Value("by kind, per run", counted.per(s.runs))
	return nil
}

// load returns how many CPUs the manager uses for some time from now on, after it has settled.
func (c *cluster) load(ctx context.Context, s *settings, p *process, length time.Duration) (float64, error) {
	harness.Sleep(ctx, settling)
	before, err := p.used()
	if err != nil {
		return 0, err
	}
	if s.profile != "" {
		err = p.profile(ctx, s.profile, length)
	} else {
		harness.Sleep(ctx, length)
	}
	if err := errors.Join(err, ctx.Err()); err != nil {
		return 0, err
	}
	after, err := p.used()
	return after.cores(before), err
}

// await waits until something is so, a pod fails or the manager ends.
func (c *cluster) await(ctx context.Context, k *kubelet, p *process, is func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	for {
		if k != nil {
			if err := k.failed(); err != nil {
				return err
			}
		}
		if done, err := is(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.ended:
			return errors.New("the manager ended")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// succeeded reports whether a run has finished, and reads it. It is an error if the run failed.
func (c *cluster) succeeded(ctx context.Context, run *v1alpha1.BenchmarkRun) (bool, error) {
	if err := c.Get(ctx, client.ObjectKeyFromObject(run), run); err != nil {
		return false, err
	}
	if !meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) {
		return false, nil
	}
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded); c.Reason != v1alpha1.ReasonCompleted {
		return false, fmt.Errorf("run %s ended with %s: %s", run.Name, c.Reason, c.Message)
	}
	return true, nil
}
