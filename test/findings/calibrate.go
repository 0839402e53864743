package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/statistics"
	"github.com/assay-dev/assay/internal/validity"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

const (
	// calibratedSeconds is the length of a run.
	calibratedSeconds = 8
	// calibrationSeed is that of the order of the levels in each block.
	calibrationSeed = 1
	// calibrationAlpha is 1 minus the confidence of the intervals.
	calibrationAlpha = 0.05
	// walkedBytes is more than the caches of a core hold.
	walkedBytes = 64 << 20
)

// calibration measures how the figures of a run follow what something else does on a CPU.
type calibration struct {
	name, about string
	run         func() *wrapper.Run
	// percents are the levels: how much of the time of a CPU something else wants. The first is 0: nothing is there.
	percents []int
	// byClient reports whether that is the CPU of client 0 instead of the target's, and walks whether it also walks
	// through memory, so that others find theirs in no cache. thrashes reports whether it is a process with too little
	// memory instead, on the CPU of client 0.
	byClient, walks, thrashes bool
	// blocks is the number of runs of each level.
	blocks int
	// metrics are names of result.Metrics.
	metrics []string
}

var calibrations = []calibration{
	{
		name: "nodebusy", about: "something else on the CPU of a target that has no time left",
		run:      func() *wrapper.Run { return calm("/fixed/0/100").Seconds(25, calibratedSeconds) },
		percents: []int{0, 5, 10, 20, 40}, blocks: statistics.MinBlocks(calibrationAlpha),
		metrics: []string{"RequestsPerSecond", "LatencyP50", "LatencyP99"},
	},
	{
		name: "nodebusy-spare", about: "something else on the CPU of a target that is asked for 4,000 requests/s, which leaves it time",
		run:      func() *wrapper.Run { return open("/fixed/0/100", 4000, calibratedSeconds, 100) },
		percents: []int{0, 5, 10, 20, 40}, blocks: statistics.MinBlocks(calibrationAlpha),
		metrics: []string{"RequestsPerSecond", "LatencyP50", "LatencyP99"},
	},
	{
		name: "slower", about: "something else that walks through memory on the CPU of the client, for 4,000 requests/s",
		run:      func() *wrapper.Run { return open("/fixed/0/100", 4000, calibratedSeconds, 100) },
		percents: []int{0, 25, 50}, byClient: true, walks: true, blocks: 8,
		metrics: []string{metricTargetCPU, metricClientCPU, "LatencyP99"},
	},
	{
		name: "memory", about: "a process on the node that waits for memory, of which it may only have 32 MiB, for 4,000 requests/s",
		run:      func() *wrapper.Run { return open("/fixed/0/100", 4000, calibratedSeconds, 100) },
		percents: []int{0, 100}, thrashes: true, blocks: 8,
		metrics: []string{metricTargetCPU, metricClientCPU, "LatencyP50", "LatencyP99"},
	},
}

const (
	metricTargetCPU = "TargetCPUPerRequest"
	metricClientCPU = "ClientCPUPerRequest"
)

// calibratedRun is a run of a calibration.
type calibratedRun struct {
	// had is how much of the time of the CPU something else used. By the result, others is how much others than the
	// target used of its CPUs, and waited for how much of the time processes of its node waited for memory. All are in
	// percent.
	had, others, waited float64
	// figures has those of the metrics. finding is the severity of NodeBusy; empty without.
	figures map[string]float64
	finding result.Severity
}

// calibrate makes the runs of a calibration, and prints each and what they say.
func calibrate(ctx context.Context, c *harness.Cluster, namespace string, of *calibration) error {
	began := time.Now()
	fmt.Printf("%s: %s\n", of.name, of.about)
	order := rand.New(rand.NewPCG(calibrationSeed, 0))
	var blocks [][]calibratedRun
	for block := range of.blocks {
		runs := make([]calibratedRun, len(of.percents))
		for _, level := range order.Perm(len(of.percents)) {
			made, err := of.make(ctx, c, namespace, fmt.Sprintf("%s-%d-%d", of.name, block+1, level), of.percents[level])
			if err != nil {
				return err
			}
			runs[level] = *made
			fmt.Printf("  block %d, %d%%: %s\n", block+1, of.percents[level], made.describe(of.metrics))
		}
		blocks = append(blocks, runs)
	}
	lines, err := of.summarize(blocks)
	if err != nil {
		return err
	}
	fmt.Printf("%s\nin %s\n", strings.Join(lines, "\n"), time.Since(began).Round(time.Second))
	return nil
}

// make makes a run while something else wants a percentage of the time of a CPU.
func (c *calibration) make(ctx context.Context, cluster *harness.Cluster, namespace, name string, percent int) (*calibratedRun, error) {
	s := scenario{run: c.run}
	spinning, thrashing := &spinner{length: spinInterval * time.Duration(percent) / 100, byClient: c.byClient}, &thrasher{}
	if c.walks {
		spinning.memory = make([]byte, walkedBytes)
	}
	var err error
	switch {
	case percent == 0:
	case c.thrashes:
		err, s.disturb = thrashing.prepare(), thrashing.disturb
	default:
		s.disturb = spinning.disturb
	}
	var measured *result.Result
	if err == nil {
		measured, err = s.make(ctx, cluster, namespace, name)
	}
	spinning.stop()
	if err := errors.Join(err, thrashing.stop()); err != nil {
		return nil, err
	}
	if measured.Server == nil || measured.NodeUsage == nil {
		return nil, errors.New("the figures of the target or of its node are unknown")
	}
	run := &calibratedRun{others: measured.NodeUsage.ProcessPercent(), waited: math.NaN(), figures: map[string]float64{}}
	if waited := measured.NodeUsage.MemoryPressure; waited != result.Unknown {
		run.waited = 100 * float64(waited) / float64(measured.DurationMicroseconds)
	}
	if begin, end := measured.Server.Begin.At, measured.Server.End.At; len(spinning.used) > 0 {
		run.had = 100 * (spinning.usedAt(end) - spinning.usedAt(begin)) / float64(end-begin)
	}
	for _, metric := range c.metrics {
		value, exists := result.Metrics[metric](measured)
		if !exists {
			return nil, fmt.Errorf("the run has no %s", metric)
		}
		run.figures[metric] = value
	}
	if i := slices.IndexFunc(measured.Findings, func(f result.Finding) bool { return f.Reason == validity.ReasonNodeBusy }); i >= 0 {
		run.finding = measured.Findings[i].Severity
	}
	return run, nil
}

// describe returns the figures of a run.
func (r *calibratedRun) describe(metrics []string) string {
	text := fmt.Sprintf("it had %.1f%%, others had %.1f%% of the target's CPUs, waits for memory %.2f%%", r.had, r.others, r.waited)
	for _, metric := range metrics {
		text += fmt.Sprintf(", %s %.5g", metric, r.figures[metric])
	}
	if r.finding != "" {
		text += ", NodeBusy " + strings.ToLower(string(r.finding))
	}
	return text
}

// summarize returns, for each level, what was imposed and the change of each metric from the undisturbed runs of the same
// blocks, with its interval. blocks have a run for each level.
func (c *calibration) summarize(blocks [][]calibratedRun) ([]string, error) {
	values := func(level int, of func(*calibratedRun) float64) []float64 {
		all := make([]float64, len(blocks))
		for i := range blocks {
			all[i] = of(&blocks[i][level])
		}
		return all
	}
	var failed error
	median := func(level int, of func(*calibratedRun) float64) statistics.Interval {
		i, err := statistics.Median(values(level, of), calibrationAlpha)
		failed = errors.Join(failed, err)
		return i
	}
	var lines []string
	for level, percent := range c.percents {
		had, others, waited := median(level, func(r *calibratedRun) float64 { return r.had }),
			median(level, func(r *calibratedRun) float64 { return r.others }), median(level, func(r *calibratedRun) float64 { return r.waited })
		found := map[result.Severity]int{}
		for i := range blocks {
			found[blocks[i][level].finding]++
		}
		line := fmt.Sprintf("%d%%: it had %.1f%%; others had %.1f%% (%.1f%% to %.1f%%) of the target's CPUs; waits for memory %.2f%% (%.2f%% to %.2f%%); NodeBusy warns in %d and invalidates %d of %d",
			percent, had.Estimate, others.Estimate, others.Low, others.High, waited.Estimate, waited.Low, waited.High, found[result.Warns], found[result.Invalidates], len(blocks))
		for _, metric := range c.metrics {
			figure := func(r *calibratedRun) float64 { return r.figures[metric] }
			if level == 0 {
				base := median(0, figure)
				line += fmt.Sprintf("; %s %.5g (%.5g to %.5g)", metric, base.Estimate, base.Low, base.High)
				continue
			}
			change, err := statistics.Paired(values(0, figure), values(level, figure))
			if err != nil {
				return nil, err
			}
			effect := change.Effect(calibrationAlpha)
			line += fmt.Sprintf("; %s %+.1f%% (%+.1f%% to %+.1f%%)", metric,
				statistics.Percent(effect.Estimate), statistics.Percent(effect.Low), statistics.Percent(effect.High))
		}
		lines = append(lines, line)
	}
	if c.walks {
		lines = append(lines, c.machineNotes(blocks)...)
	}
	return lines, failed
}

// machineNotes returns in how many comparisons of two runs `kubectl assay compare` would say that the machine was slower or
// faster: of any two undisturbed runs, and of each disturbed run with the undisturbed one of its block.
func (c *calibration) machineNotes(blocks [][]calibratedRun) []string {
	differs := func(a, b *calibratedRun) int {
		percent := func(metric string) float64 { return statistics.Percent(b.figures[metric] / a.figures[metric]) }
		if statistics.MachineDiffers(percent(metricTargetCPU), percent(metricClientCPU)) {
			return 1
		}
		return 0
	}
	noted, pairs := 0, 0
	for i := range blocks {
		for j := range i {
			noted, pairs = noted+differs(&blocks[j][0], &blocks[i][0]), pairs+1
		}
	}
	lines := []string{fmt.Sprintf("compare takes the machine for another one in %d of %d pairs of undisturbed runs", noted, pairs)}
	for level, percent := range c.percents[1:] {
		noted = 0
		for i := range blocks {
			noted += differs(&blocks[i][0], &blocks[i][level+1])
		}
		lines = append(lines, fmt.Sprintf("and in %d of %d pairs of an undisturbed run and one with %d%%", noted, len(blocks), percent))
	}
	return lines
}
