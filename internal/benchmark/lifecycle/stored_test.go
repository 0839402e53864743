package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/search"
	"github.com/assay-dev/assay/test/benchtest"
)

// incompressible makes the parts of a round of which no two have the same numbers.
type incompressible struct{ *rand.Rand }

// text returns n random characters of names.
func (r incompressible) text(n int) string {
	const characters = "abcdefghijklmnopqrstuvwxyz0123456789"
	var b strings.Builder
	for range n {
		b.WriteByte(characters[r.IntN(len(characters))])
	}
	return b.String()
}

func (r incompressible) number() *float64 { return ptr.To(-1000 * r.Float64()) }

// spec returns a spec of 2 to the power of axes cells with names as long as they may be, as many bytes as a spec may have, and a
// comparison of metrics of which some decide.
func (r incompressible) spec(t *testing.T, axes, compared, gate int, capacity bool) *v1alpha1.BenchmarkSpec {
	t.Helper()
	spec := &v1alpha1.BenchmarkSpec{Comparison: benchtest.Compare("", benchmark.MetricNames[:compared]...)}
	spec.Comparison.Baseline = v1alpha1.Baseline{LastPassed: &v1alpha1.LastPassed{}}
	for i := range spec.Comparison.Metrics {
		spec.Comparison.Metrics[i].Role = v1alpha1.RoleGate
		if i >= gate {
			spec.Comparison.Metrics[i].Role = v1alpha1.RoleReport
		}
	}
	for range axes {
		spec.Axes = append(spec.Axes, benchtest.Values("a"+r.text(62), "/x", `"`+r.text(63)+`"`, `"`+r.text(63)+`"`))
	}
	if capacity {
		spec.Capacity = &v1alpha1.Capacity{Path: "/x", From: 1, Max: 10_000_000, PrecisionPercent: ptr.To(int32(1))}
	}
	spec.Repetitions = &v1alpha1.Repetitions{Min: ptr.To(int32(100)), InvalidRuns: v1alpha1.InvalidRuns{Replace: ptr.To(int32(100))}}
	spec.Template.Metadata.Annotations = map[string]string{"a": ""}
	encoded, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	spec.Template.Metadata.Annotations["a"] = r.text(lifecycle.MaxSpec - len(encoded))
	return spec
}

// round returns a round of the spec with all that it can have.
func (r incompressible) round(t *testing.T, spec *v1alpha1.BenchmarkSpec) *benchmark.Round {
	t.Helper()
	all, err := cells.Of(spec)
	if err != nil {
		t.Fatal(err)
	}
	round := &benchmark.Round{Spec: *spec, Cells: all, Message: r.text(4 << 10)}
	at := benchtest.Begin
	add := func(run benchmark.Run) {
		run.Round, run.Name, run.Started = 1, run.RunKey.Name(strings.Repeat("b", 34)), at
		at = at.Add(time.Duration(50+r.IntN(100)) * time.Second)
		run.Ended = at
		at = at.Add(time.Duration(r.IntN(3)) * time.Second)
		run.Conditions = benchmark.Conditions{NodeType: "c5.large, 64 × AMD EPYC 7763 64-Core Processor and sixty letters in all, 512 GiB", Kernel: "6.1.0-40-amd64", CPUExclusivity: "Exclusive", Image: "tomcat@sha256:" + strings.Repeat("0123456789abcdef", 4)}
		if r.IntN(2) == 0 {
			run.Warnings = []string{"NetworkLimited"}
		}
		run.Metrics = map[v1alpha1.BenchmarkMetric]float64{}
		for _, m := range benchmark.MetricNames {
			run.Metrics[m] = benchmark.Rounded(1000 * r.Float64())
		}
		round.Runs = append(round.Runs, run)
	}
	for block := range int(*spec.Repetitions.Min) {
		for cell := range all {
			add(benchmark.Run{RunKey: benchmark.RunKey{Cell: cell, Number: block}, Valid: true})
		}
	}
	for i := range int(*spec.Repetitions.InvalidRuns.Replace) {
		add(benchmark.Run{RunKey: benchmark.RunKey{Replacement: i}, Message: r.text(200)})
	}
	for cell := range all {
		for _, m := range benchmark.MetricNames {
			round.Estimates = append(round.Estimates, benchmark.Estimate{Cell: cell, Metric: m, Median: benchmark.Rounded(*r.number()), Low: ptr.To(benchmark.Rounded(*r.number())), High: ptr.To(benchmark.Rounded(*r.number())), Runs: 100})
		}
		for i := range spec.Comparison.Metrics {
			m := &spec.Comparison.Metrics[i]
			e := benchmark.Effect{Cell: cell, Metric: m.Name, Percent: r.number(), LowPercent: r.number(), HighPercent: r.number(), ConfidencePercent: 99.87, P: r.Float64(), DetectablePercent: r.number()}
			if m.Role == v1alpha1.RoleReport {
				round.Effects = append(round.Effects, e)
				continue
			}
			round.Claims = append(round.Claims, benchmark.Claim{Name: fmt.Sprintf("not-worse/%s/%s", m.Name, all[cell].Name), Than: -1, Is: v1alpha1.ClaimLower, BoundPercent: -5, Gate: true,
				Effect: e, Verdict: v1alpha1.ClaimUndecided, BlocksToDecide: r.IntN(100)})
		}
		if spec.Capacity == nil {
			continue
		}
		round.Capacities = append(round.Capacities, benchmark.Capacity{Cell: cell, Sustained: r.Int64N(1e7), Failed: r.Int64N(1e7), Limit: v1alpha1.LimitTrials, Trials: 39, AchievedPerSecond: *r.number(),
			RequestsPerDay: *r.number(), BytesPerSecond: *r.number(), CPUSecondsPerMillionRequests: *r.number(), BytesPerConnection: *r.number()})
		for trial := range search.MaxTrials(spec.Capacity) {
			load := r.Int64N(1e7)
			add(benchmark.Run{RunKey: benchmark.RunKey{Cell: cell, Trial: true, Number: trial}, Valid: true, Load: load, Outcome: benchmark.OutcomeFailed, Achieved: benchmark.Rounded(1e6 * r.Float64()),
				Message: fmt.Sprintf("LatencyP99 is %.1fms, must be below 10ms; %.2f requests/s were started of %d", 100*r.Float64(), 1e6*r.Float64(), load)})
		}
	}
	return round
}

// TestTheLargestRoundIsStored makes the largest rounds that are accepted, of numbers that can't be compressed, and stores them. One more
// block isn't accepted.
func TestTheLargestRoundIsStored(t *testing.T) {
	for name, test := range map[string]struct {
		axes, compared, gate int
		capacity             bool
		least                int // blocks that must be accepted
	}{
		"one metric decides":  {8, 1, 1, false, 100},
		"16 metrics decide":   {8, 16, 16, false, 14},
		"16 metrics, 1 gate":  {8, 16, 1, false, 79},
		"64 cells":            {6, 16, 16, false, 100},
		"capacity of 8 cells": {3, 16, 16, true, 100},
		"capacity":            {8, 1, 1, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := incompressible{rand.New(rand.NewPCG(1, 2))}
			spec := r.spec(t, test.axes, test.compared, test.gate, test.capacity)
			blocks := spec.Repetitions.Min
			refusal := error(nil)
			for ; *blocks > 0; *blocks-- {
				err := lifecycle.CheckSize(spec, 1<<test.axes)
				if err == nil {
					break
				}
				refusal = err
			}
			if int(*blocks) < test.least {
				t.Fatalf("only %d blocks are accepted: %v", *blocks, refusal)
			}
			if want := "spec.repetitions: "; *blocks < 100 && !strings.HasPrefix(refusal.Error(), fmt.Sprintf("%s%d blocks", want, *blocks+1)) {
				t.Errorf("%v", refusal)
			}
			round := r.round(t, spec)
			encoded, err := round.EncodeForm(benchmark.Forms-1, artifact.ConfigMapLimit)
			if err != nil {
				t.Fatalf("%d blocks: %v", *blocks, err)
			}
			if _, err := benchmark.DecodeRound(encoded); err != nil {
				t.Errorf("%d blocks: %v", *blocks, err)
			}
			t.Logf("%d blocks, %d runs take %d bytes of %d", *blocks, len(round.Runs), len(encoded), artifact.ConfigMapLimit)
		})
	}
}
