package doctor

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/config/samples"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/plugin/ab"
	"github.com/assay-dev/assay/internal/plugin/check"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/plugin/terminal"
	"github.com/assay-dev/assay/internal/plugin/watch"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/statistics"
)

const (
	// fitName is the name of the Benchmark of two equal variants.
	fitName = "assay-fit"
	// fitBlocks is the number of its blocks.
	fitBlocks = 10
	// fitSample is the run that is measured if no manifest is named.
	fitSample = "generic"
)

// measure runs a round of two equal variants of the run in a file, or of a sample if it is empty, and returns what this cluster can decide.
func measure(ctx context.Context, flags cluster.Flags, file string, streams genericiooptions.IOStreams) ([]Check, error) {
	stdin := streams.In
	if file == "" {
		text, _ := samples.Read(fitSample)
		file, stdin = "-", io.Reader(strings.NewReader(text))
	}
	run, err := check.ReadRun(file, stdin)
	if err != nil {
		return nil, err
	}
	made, err := ab.Equal(run, fitName, fitBlocks)
	if err != nil {
		return nil, err
	}
	c, err := cluster.Connect(flags)
	if err != nil {
		return nil, err
	}
	request := time.Now().UTC().Format(time.RFC3339Nano)
	made.SetNamespace(c.Namespace)
	made.SetAnnotations(map[string]string{v1alpha1.AnnotationRunRound: request})
	// It is there already after the first time.
	if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(made), client.FieldOwner("kubectl-assay"), client.ForceOwnership); err != nil {
		return nil, cluster.Explain(err)
	}
	var verdict bytes.Buffer
	progress := streams
	progress.Out = streams.ErrOut
	if err := watch.Round(ctx, c, fitName, request, 0, progress, terminal.Plain(&verdict)); err != nil {
		_, _ = io.Copy(streams.ErrOut, &verdict)
		return nil, err
	}
	r, err := c.ReadRound(ctx, fitName, 0)
	if err != nil {
		return nil, err
	}
	return fitOf(r)
}

// fitOf returns what rounds on this cluster can decide, by a round of two equal variants.
func fitOf(r *benchmark.Round) (checks []Check, err error) {
	for _, metric := range []v1alpha1.BenchmarkMetric{ab.Throughput, ab.P99} {
		c, err := statistics.Paired(r.Values(0, metric), r.Values(1, metric))
		if err != nil {
			return nil, exit.Errorf(exit.Failed, "%s of round %d: %w", metric, r.Number, err)
		}
		checks = append(checks, fit(round.MetricName(metric), c, r.Blocks))
	}
	runs, counts := 0, map[string]int{}
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Valid {
			runs++
			for _, reason := range run.Warnings {
				counts[reason]++
			}
		}
	}
	noise := Check{Name: "noise", Status: OK, Message: fmt.Sprintf("none of %d runs has a finding", runs)}
	if len(counts) > 0 {
		reasons := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
		for i, reason := range reasons {
			reasons[i] = fmt.Sprintf("%s in %d", reason, counts[reason])
		}
		noise.Status, noise.Message = Warn, fmt.Sprintf("of %d runs these have findings: %s", runs, strings.Join(reasons, ", "))
		noise.Remedy = "\"kubectl assay report RUN\" has the evidence and the remedy of each; the runs are those of Benchmark " + fitName
	}
	return append(checks, noise), nil
}

// fit says which differences blocks find at 95% confidence in 4 of 5 rounds, if ratios of equal variants spread as in a comparison.
func fit(metric string, c statistics.Comparison, blocks int) Check {
	const confidence, one = 95, 1.01
	alpha := statistics.Alpha(confidence, 1)
	detectable := c.Detectable(alpha, blocks)
	if math.IsNaN(detectable) || math.IsInf(detectable, 0) {
		return Check{Name: metric, Status: Unknown, Message: fmt.Sprintf("%d blocks don't say what can be found", blocks)}
	}
	message := fmt.Sprintf("%d blocks find differences of %.2g%% here", blocks, statistics.Percent(detectable))
	if n, ok := c.BlocksToDetect(alpha, one); ok {
		message += fmt.Sprintf("; for 1%% you need %d", n)
	} else {
		message += fmt.Sprintf("; for 1%% you need more than %d", statistics.MaxRuns)
	}
	return Check{Name: metric, Status: OK, Message: message}
}
