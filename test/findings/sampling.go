package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/statistics"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

const (
	// sampledSeconds is the length of a run of compareSampling.
	sampledSeconds = 12
	// The agent doesn't sample from unsampledFrom after the announcement of the measurement, for unsampled.
	unsampledFrom = 500 * time.Millisecond
	unsampled     = (sampledSeconds - 1) * time.Second
	// samplingAlpha is that of the interval.
	samplingAlpha = 0.05
)

// compareSampling makes pairs of runs, in turn with the agent sampling first and last. In one of them the agent is
// stopped for nearly all of the measurement. It checks by how much sampling changes the throughput and the CPU time per
// request: each interval must include no change.
func compareSampling(ctx context.Context, c *harness.Cluster, namespace string, pairs int) error {
	var rates, costs [2][]float64 // without and with sampling
	for pair := range pairs {
		for place := range 2 {
			sampling := (pair + place) % 2
			made, err := sampledRun(sampling == 1).make(ctx, c, namespace, fmt.Sprintf("pair-%d-%d", pair, sampling))
			if err != nil {
				return err
			}
			if made.Server == nil {
				return errors.New("the target's figures are unknown")
			}
			cost := float64(made.Server.End.CPU()-made.Server.Begin.CPU()) / float64(made.Merged.Requests)
			rates[sampling], costs[sampling] = append(rates[sampling], made.RequestsPerSecond()), append(costs[sampling], cost)
			fmt.Printf("  pair %d, sampling %t: %.0f requests/s, %.2f us of CPU per request, %d seconds with the target's figures\n",
				pair+1, sampling == 1, made.RequestsPerSecond(), cost, sampledIn(made))
		}
	}
	var checks harness.Checks
	for _, metric := range []struct {
		name string
		of   [2][]float64
	}{{"requests/s", rates}, {"CPU time per request", costs}} {
		change, err := statistics.Paired(metric.of[0], metric.of[1])
		if err != nil {
			return err
		}
		interval := change.Effect(samplingAlpha)
		checks.Add("sampling changes "+metric.name, fmt.Sprintf("%+.2f%% (%+.2f%% to %+.2f%%)",
			statistics.Percent(interval.Estimate), statistics.Percent(interval.Low), statistics.Percent(interval.High)),
			"the interval includes 0", interval.Low <= 1 && interval.High >= 1)
	}
	return checks.Err()
}

// sampledRun returns a run of a Tomcat with 200 threads.
func sampledRun(sampling bool) *scenario {
	s := &scenario{run: func() *wrapper.Run {
		return tomcat(200, 100).WarmupSeconds(8).Seconds(100, sampledSeconds)
	}}
	if !sampling {
		s.disturb = func(ctx context.Context, c *harness.Cluster, run *v1alpha1.BenchmarkRun) error {
			return stopProcess(ctx, c, run, harness.TargetLabels, manifest.AgentContainer, unsampledFrom, unsampled)
		}
	}
	return s
}

// sampledIn returns the number of seconds with figures of the target.
func sampledIn(r *result.Result) int {
	n := 0
	for i := range r.Series {
		if r.Series[i].Server != nil {
			n++
		}
	}
	return n
}
