package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// The server of this section takes a random time for each request, whose mean is known exactly: uniform
// between half and one and a half times the mean, which gives it a standard deviation of 0.29 of the mean. It
// doesn't burn CPU time, so that the truth doesn't depend on clock rates and neighbors.
//
// Latencies have a constant in addition: network, client, and a timer that fires late, together c of about
// 0.5 ms. The true effect on the mean latency is therefore not 10% but 10% * S/(S+c): 9.9% with a service
// time S of 40 ms, 0.1 points less.
//
// That must be small compared with half the width of the interval, or else a perfect measurement would exclude
// the 10%. A run of 16 connections and 4 s has 1600 requests, so that its mean varies by 0.29/sqrt(1600) =
// 0.7% by construction, and a ratio of two by 1.0%: with 8 blocks the interval reaches about 1.5 points to each
// side, ten times the bias and far from the tolerance of 5%. Beside a neighbor that uses a CPU
// in bursts 8 blocks decided only 5 of 8 rounds: a round may have 20, and ends as soon as it is decided, after 11 at the earliest there.
//
// The confidence is 99% rather than 95%, since three intervals of 95% all hold the truth in only 86 of 100
// cases, of 99% in 97.
const (
	serviceMicroseconds = 40_000
	slowerPercent       = 10
	slowerBlocks        = 8
	slowerMostBlocks    = 20
	slowerConfidence    = 99
	slowerLimit         = 8 * time.Minute
)

const meanLatency = v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyMean)

// showSlower compares a server with one whose service time is 10% longer.
func showSlower(ctx context.Context, s *stage) error {
	b := slowerBenchmark(s)
	for number := range int64(s.rounds) {
		round, err := s.round(ctx, b, number+1, slowerLimit)
		if err != nil {
			return err
		}
		s.noteClaims(round)
		if base := baseline(round); base > 0 {
			s.Note("mean latency of the faster server %.2f ms, so that %.2f%% is to be expected", base/1000, expectedPercent(base))
		}
		claim := claimOf(round, meanLatency)
		s.check(fmt.Sprintf("round %d of %d", number+1, s.rounds),
			fmt.Sprintf("%s, %s, %s after %d blocks", describe(&claim), claim.Verdict, round.Verdict, round.Blocks),
			fmt.Sprintf("Contradicted, Failed, holds %d%%", slowerPercent), foundSlower(&claim) && round.Verdict == v1alpha1.BenchmarkFailed)
	}
	s.checkPauses()
	return nil
}

func slowerBenchmark(s *stage) *v1alpha1.Benchmark {
	b := s.newBenchmark("slower", wrapper.NewRun("", "", harness.ServerImage).TargetResources("300m", "128Mi").
		Clients(1, "500m", "128Mi").Path(randomPath(0)).Seconds(16, 4).WarmupSeconds(1).KeepAlive(v1alpha1.Enabled))
	b.Spec.Axes = []v1alpha1.Axis{pathAxis(randomPath(0), randomPath(slowerPercent))}
	b.Spec.Repetitions = &v1alpha1.Repetitions{Min: ptr.To(int32(slowerBlocks)), Max: ptr.To(int32(slowerMostBlocks)), Order: v1alpha1.OrderAlternating, InvalidRuns: v1alpha1.InvalidRuns{Replace: ptr.To(int32(10))}}
	b.Spec.ConfidencePercent = ptr.To(int32(slowerConfidence))
	b.Spec.Comparison = &v1alpha1.Comparison{
		Baseline: v1alpha1.Baseline{Cell: v1alpha1.CellSelector{"path": randomPath(0)}},
		Metrics: []v1alpha1.ComparedMetric{
			{Name: meanLatency},
			{Name: v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP50), Role: v1alpha1.RoleReport},
			{Name: v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond), Role: v1alpha1.RoleReport},
		},
	}
	return b
}

// randomPath returns the path with the service time, longer by some percent.
func randomPath(percent int) string {
	return fmt.Sprintf("/random/%d/100", serviceMicroseconds*(100+percent)/100)
}

// pathAxis returns an axis of the path that the clients request.
func pathAxis(paths ...string) v1alpha1.Axis {
	axis := v1alpha1.Axis{Name: "path", Path: "/load/requests/0/path"}
	for _, path := range paths {
		axis.Values = append(axis.Values, apiextensionsv1.JSON{Raw: fmt.Appendf(nil, "%q", path)})
	}
	return axis
}

// claimOf returns the claim about a metric of a round of two cells. One that doesn't exist has no verdict.
func claimOf(round *benchmark.Round, metric v1alpha1.BenchmarkMetric) benchmark.Claim {
	i := slices.IndexFunc(round.Claims, func(c benchmark.Claim) bool { return c.Metric == metric })
	if i < 0 {
		return benchmark.Claim{}
	}
	return round.Claims[i]
}

// foundSlower reports whether the claim that a cell isn't slower is contradicted, and the interval holds the true difference of the
// service times.
func foundSlower(c *benchmark.Claim) bool {
	return c.Verdict == v1alpha1.ClaimContradicted && c.LowPercent != nil && c.HighPercent != nil && *c.LowPercent <= slowerPercent && *c.HighPercent >= slowerPercent
}

// baseline returns the median of the mean latency of the faster server, in microseconds; 0 if it is unknown.
func baseline(round *benchmark.Round) float64 {
	for _, e := range round.Estimates {
		if e.Metric == meanLatency && round.Cells[e.Cell].Baseline == cells.NoBaseline {
			return e.Median
		}
	}
	return 0
}

// expectedPercent returns by how much the slower server's latency is longer, given the latency of the faster one
// in microseconds. What a latency has beyond the service time is the same for both.
func expectedPercent(latency float64) float64 {
	return slowerPercent * serviceMicroseconds / latency
}
