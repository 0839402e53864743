package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/validity"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// A published comparison of Tomcat and httpd was turned around by a slow client machine (docs/validity.md,
// ClientSaturated). In this section, the same two servers are compared by a client that can make the load and by one that
// can't. 40 connections and a service time of 2.5 or 3 ms are at most 16,000 or 13,300 requests/s. A client needs 12 µs of
// CPU time for a request and more: the whole of a tenth of a CPU for 8,300, and less than a third of 0.7 CPUs for all.
const (
	reversalConnections = 40
	reversalFast        = "/fixed/2500/100"
	reversalSlow        = "/fixed/3000/100"
	reversalBlocks      = 6 // the fewest for one metric and 95%
	strongClient        = "700m"
	starvedClient       = "100m"
	starvedReplace      = 2
	reversalLimit       = 4 * time.Minute
)

const requestsPerSecond = v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond)

// showReversal compares two servers with a strong client, and with a starved one.
func showReversal(ctx context.Context, s *stage) error {
	strong, err := s.round(ctx, reversalBenchmark(s, "strong", strongClient, 10), 1, reversalLimit)
	if err != nil {
		return err
	}
	s.noteClaims(strong)
	claim := claimOf(strong, requestsPerSecond)
	s.check("strong client", fmt.Sprintf("%s, %s, %s", describe(&claim), claim.Verdict, strong.Verdict), "Contradicted, Failed",
		claim.Verdict == v1alpha1.ClaimContradicted && strong.Verdict == v1alpha1.BenchmarkFailed)

	b := reversalBenchmark(s, "starved", starvedClient, starvedReplace)
	starved, err := s.round(ctx, b, 1, reversalLimit)
	if err != nil {
		return err
	}
	s.noteClaims(starved)
	var runs v1alpha1.BenchmarkRunList
	if err := s.List(ctx, &runs, client.InNamespace(s.namespace), client.MatchingLabels{benchmark.LabelBenchmark: b.Name}); err != nil {
		return err
	}
	reasons := invalidReasons(runs.Items)
	s.check("runs of a starved client", fmt.Sprintf("%d, not valid: %s", len(runs.Items), strings.Join(reasons, ", ")),
		fmt.Sprintf("%d, each not valid because of the client", starvedReplace+1), blamedOnClients(reasons, starvedReplace+1))
	s.check("conclusion from them", concluded(starved)+", "+starved.Reason, "Inconclusive, InvalidRuns, no claim decided", concludedNothing(starved))
	s.checkPauses()
	return nil
}

// reversalBenchmark compares the two servers with a client that has a CPU limit.
func reversalBenchmark(s *stage, name, cpu string, replace int32) *v1alpha1.Benchmark {
	b := s.newBenchmark(name, wrapper.NewRun("", "", harness.ServerImage).TargetResources("1", "256Mi").
		Clients(1, cpu, "128Mi").Path(reversalFast).Seconds(reversalConnections, 4).WarmupSeconds(1).KeepAlive(v1alpha1.Enabled))
	b.Spec.Axes = []v1alpha1.Axis{pathAxis(reversalFast, reversalSlow)}
	b.Spec.Repetitions = &v1alpha1.Repetitions{Min: ptr.To(int32(reversalBlocks)), InvalidRuns: v1alpha1.InvalidRuns{Replace: ptr.To(replace)}}
	b.Spec.Comparison = &v1alpha1.Comparison{
		Baseline: v1alpha1.Baseline{Cell: v1alpha1.CellSelector{"path": reversalFast}},
		Metrics:  []v1alpha1.ComparedMetric{{Name: requestsPerSecond}},
	}
	return b
}

// invalidReasons returns for each run that isn't valid the finding because of which.
func invalidReasons(runs []v1alpha1.BenchmarkRun) []string {
	var reasons []string
	for i := range runs {
		if valid := meta.FindStatusCondition(runs[i].Status.Conditions, v1alpha1.ConditionValid); valid != nil && valid.Status == metav1.ConditionFalse {
			reasons = append(reasons, valid.Reason)
		}
	}
	return reasons
}

// blamedOnClients reports whether there are as many reasons as runs, all of them the CPU limit of the clients.
func blamedOnClients(reasons []string, runs int) bool {
	return len(reasons) == runs && !slices.ContainsFunc(reasons, func(reason string) bool {
		return reason != validity.ReasonClientSaturated && reason != validity.ReasonClientThrottled
	})
}

// concludedNothing reports whether a round ended since its runs weren't valid, with no claim decided.
func concludedNothing(round *benchmark.Round) bool {
	return round.Verdict == v1alpha1.BenchmarkInconclusive && round.Reason == benchmark.ReasonInvalidRuns &&
		!slices.ContainsFunc(round.Claims, func(c benchmark.Claim) bool { return c.Verdict != v1alpha1.ClaimUndecided })
}
