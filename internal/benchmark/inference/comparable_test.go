package inference_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/benchmark/plan"
	"github.com/assay-dev/assay/test/benchtest"
)

// A round in which the runs of a cell, or of a cell and its baseline, were made under different conditions ends
// at once, unless the axes are there to change the condition.
func TestIncomparable(t *testing.T) {
	same := benchmark.Conditions{NodeType: "c5", Kernel: "6.1", Image: "sha256:1", CPUExclusivity: "Exclusive", Placement: "Apart"}
	with := func(change func(*benchmark.Conditions)) benchmark.Conditions {
		c := same
		change(&c)
		return c
	}
	kernel := with(func(c *benchmark.Conditions) { c.Kernel = "6.2" })
	node := with(func(c *benchmark.Conditions) { c.NodeType = "" })
	image := with(func(c *benchmark.Conditions) { c.Image = "sha256:2" })
	shared := with(func(c *benchmark.Conditions) { c.CPUExclusivity = "Shared" })
	together := with(func(c *benchmark.Conditions) { c.Placement = "Together" })
	plain := benchtest.Options("a", "x", "y")
	compared := benchtest.Compare("x", "LatencyP99")
	changing := func(path, x, y string) v1alpha1.Axis {
		return v1alpha1.Axis{Name: "a", Options: []v1alpha1.AxisOption{benchtest.Option("x", nil, path, x), benchtest.Option("y", nil, path, y)}}
	}
	const pin = " Let all runs have the same nodes with target.nodeSelector and clients.placement, and name images by digest."
	for name, c := range map[string]struct {
		axis       v1alpha1.Axis
		comparison *v1alpha1.Comparison
		conditions map[string]benchmark.Conditions // of runs; the same for others
		want       string                          // the message; empty if the round passes
	}{
		"all the same": {axis: plain, comparison: compared},
		"of one cell": {
			axis: plain, conditions: map[string]benchmark.Conditions{"bm-r1-c001-b02": kernel},
			want: "The runs of cell a=y can't be compared. The kernel of bm-r1-c001-b02 is 6.2, that of bm-r1-c001-b00 is 6.1." + pin,
		},
		"of two cells that aren't compared": {
			axis: plain, conditions: map[string]benchmark.Conditions{"bm-r1-c001-b00": kernel, "bm-r1-c001-b01": kernel, "bm-r1-c001-b02": kernel},
		},
		"of two cells": {
			axis: plain, comparison: compared, conditions: map[string]benchmark.Conditions{"bm-r1-c001-b00": node},
			want: "The runs of cell a=y can't be compared. The node type of bm-r1-c001-b00 is unknown, that of bm-r1-c000-b00 is c5." + pin,
		},
		"images of two cells": {
			axis: plain, comparison: compared, conditions: map[string]benchmark.Conditions{"bm-r1-c001-b00": image},
			want: "The runs of cell a=y can't be compared. The image of bm-r1-c001-b00 is sha256:2, that of bm-r1-c000-b00 is sha256:1." + pin,
		},
		"an axis of images": {
			axis: changing("/target/image", `"x"`, `"y"`), comparison: compared,
			conditions: map[string]benchmark.Conditions{"bm-r1-c001-b00": image, "bm-r1-c001-b01": image, "bm-r1-c001-b02": image},
		},
		"an axis of images, and a moving tag": {
			axis: changing("/target/image", `"x"`, `"y"`), comparison: compared, conditions: map[string]benchmark.Conditions{"bm-r1-c001-b01": image},
			want: "The runs of cell a=y can't be compared. The image of bm-r1-c001-b01 is sha256:2, that of bm-r1-c001-b00 is sha256:1." + pin,
		},
		"an axis of images, and another kernel": {
			axis: changing("/target/image", `"x"`, `"y"`), comparison: compared, conditions: map[string]benchmark.Conditions{"bm-r1-c001-b00": kernel},
			want: "The runs of cell a=y can't be compared. The kernel of bm-r1-c001-b00 is 6.2, that of bm-r1-c000-b00 is 6.1." + pin,
		},
		"an axis of CPUs": {
			axis: changing("/target/resources/cpu", `"1"`, `"1500m"`), comparison: compared,
			conditions: map[string]benchmark.Conditions{"bm-r1-c001-b00": shared, "bm-r1-c001-b01": shared, "bm-r1-c001-b02": shared},
		},
		"placement of clients in one cell": {
			axis: plain, conditions: map[string]benchmark.Conditions{"bm-r1-c001-b02": together},
			want: "The runs of cell a=y can't be compared. The placement of clients of bm-r1-c001-b02 is Together, that of bm-r1-c001-b00 is Apart." + pin,
		},
		"placement of clients in two cells": {
			axis: changing("/clients/replicas", "1", "2"), comparison: compared, conditions: map[string]benchmark.Conditions{"bm-r1-c001-b00": together},
			want: "The runs of cell a=y can't be compared. The placement of clients of bm-r1-c001-b00 is Together, that of bm-r1-c000-b00 is Apart." + pin,
		},
		"an axis of placements": {
			axis: changing("/clients", `{"placement": "Apart"}`, `{"placement": "Together"}`), comparison: compared,
			conditions: map[string]benchmark.Conditions{"bm-r1-c001-b00": together, "bm-r1-c001-b01": together, "bm-r1-c001-b02": together},
		},
		"an axis of nodes": {
			axis: changing("/target/nodeSelector", `{"a": "b"}`, `{"a": "c"}`), comparison: compared,
			conditions: map[string]benchmark.Conditions{"bm-r1-c001-b00": kernel, "bm-r1-c001-b01": kernel, "bm-r1-c001-b02": kernel},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := benchtest.Round{Planner: benchtest.Planner(t, &v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{c.axis}, Repetitions: benchtest.Repetitions(3), Comparison: c.comparison})}
			if c.comparison != nil {
				c.comparison.Metrics[0].Role = v1alpha1.RoleReport
			}
			r.Measure = func(run *benchmark.Run) {
				run.Conditions = same
				if other, ok := c.conditions[run.Name]; ok {
					run.Conditions = other
				}
			}
			step := r.Finish(t)
			if c.want == "" {
				if step.End.Verdict != "Measured" || step.Blocks != 3 {
					t.Errorf("%d blocks: %+v", step.Blocks, step.End)
				}
				return
			}
			if diff := cmp.Diff(c.want, step.End.Message); diff != "" || step.End.Verdict != "Inconclusive" || step.End.Reason != benchmark.ReasonIncomparable {
				t.Errorf("%s, %s: (-want +got)\n%s", step.End.Verdict, step.End.Reason, diff)
			}
			if _, made := c.conditions[r.Runs[len(r.Runs)-1].Name]; !made && len(r.Runs) > 2 {
				t.Errorf("the round went on after %v", benchtest.RunNames(r.Runs))
			}
		})
	}
}

// The metrics of incomparable runs are in no estimate and no effect.
func TestIncomparableIsNotEstimated(t *testing.T) {
	spec := &v1alpha1.BenchmarkSpec{Axes: []v1alpha1.Axis{benchtest.Options("a", "x", "y", "z")}, Repetitions: benchtest.Repetitions(2), Comparison: benchtest.Compare("x", "LatencyP99")}
	r := benchtest.Round{Planner: benchtest.Planner(t, spec)}
	r.Measure = func(run *benchmark.Run) {
		run.Metrics = map[v1alpha1.BenchmarkMetric]float64{"LatencyP99": 100}
		if run.Cell == 2 && run.Number == 1 {
			run.Conditions.Kernel = "6.2"
		}
	}
	for range 6 {
		r.Create(plan.Step{Create: &plan.NextRun{RunKey: benchmark.RunKey{Round: 1, Cell: len(r.Runs) % 3, Number: len(r.Runs) / 3}}})
	}
	e := r.Evaluate(blocks.NewLedger(r.Runs, r.Number, len(r.Cells), v1alpha1.OrderRandomizedBlocks))
	if len(e.Estimates) != 2 || e.Estimates[0].Cell != 0 || e.Estimates[1].Cell != 1 {
		t.Errorf("estimates %+v", e.Estimates)
	}
	if len(e.Claims) != 2 || e.Claims[0].Verdict != v1alpha1.ClaimUndecided || e.Claims[0].Message != "" || e.Claims[1].Verdict != v1alpha1.ClaimUndecided || e.Claims[1].Message == "" || e.Claims[1].Percent != nil {
		t.Errorf("claims %+v", e.Claims)
	}
}

// Stored runs must be of the same machine, not of the same image. The round is completed all the same.
func TestStoredIncomparable(t *testing.T) {
	for name, c := range map[string]struct {
		stored  benchmark.Conditions
		verdict v1alpha1.BenchmarkVerdict
		message string
	}{
		"another image":   {benchmark.Conditions{Kernel: "6.1", Image: "sha256:2", Placement: "Apart"}, "Passed", "1 claim confirmed after 6 blocks."},
		"other placement": {benchmark.Conditions{Kernel: "6.1", Placement: "Together"}, "Inconclusive", "1 of 1 claim undecided after 6 blocks: not-worse/LatencyP99/template: LatencyP99 of template must be at most 5% higher than that of the baseline, and is incomparable: The placement of clients of bm-r1-c000-b00 is Apart, that of old-1 is Together."},
		"another kernel":  {benchmark.Conditions{Kernel: "6.0", Image: "sha256:1"}, "Inconclusive", "1 of 1 claim undecided after 6 blocks: not-worse/LatencyP99/template: LatencyP99 of template must be at most 5% higher than that of the baseline, and is incomparable: The kernel of bm-r1-c000-b00 is 6.1, that of old-1 is 6.0."},
	} {
		t.Run(name, func(t *testing.T) {
			comparison := &v1alpha1.Comparison{Baseline: v1alpha1.Baseline{LastPassed: &v1alpha1.LastPassed{}}, Metrics: []v1alpha1.ComparedMetric{{Name: "LatencyP99"}}}
			r := benchtest.Round{Planner: benchtest.Planner(t, &v1alpha1.BenchmarkSpec{Repetitions: benchtest.Repetitions(6), Comparison: comparison})}
			metrics := map[v1alpha1.BenchmarkMetric]float64{"LatencyP99": 100}
			for i := range 6 {
				r.Stored = map[string][]benchmark.Run{"template": append(r.Stored["template"], benchmark.Run{Name: "old-" + string(rune('1'+i)), Ended: benchtest.Begin.Add(-time.Hour), Valid: true, Metrics: metrics, Conditions: c.stored})}
			}
			r.Measure = func(run *benchmark.Run) {
				run.Metrics, run.Conditions = metrics, benchmark.Conditions{Kernel: "6.1", Image: "sha256:1", Placement: "Apart"}
			}
			step := r.Finish(t)
			if step.End.Verdict != c.verdict || step.End.Message != c.message {
				t.Errorf("%+v", step.End)
			}
		})
	}
}
