package plan_test

import (
	"slices"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/test/benchtest"
)

// The runs of an alternating block are all created before the round waits, count only together, and are repeated together.
func TestAlternatingBlocks(t *testing.T) {
	p := benchtest.Planner(t, &v1alpha1.BenchmarkSpec{
		Axes:        []v1alpha1.Axis{benchtest.Options("a", "x", "y", "z")},
		Repetitions: &v1alpha1.Repetitions{Min: ptr.To(int32(2)), Order: v1alpha1.OrderAlternating, InvalidRuns: v1alpha1.InvalidRuns{Replace: ptr.To(int32(1))}},
	})
	var runs []benchmark.Run
	var at time.Duration
	create := func(want int, replacement int) {
		t.Helper()
		for range want {
			step := p.Next(runs)
			if step.Create == nil || step.Create.Replacement != replacement {
				t.Fatalf("%+v, want a run with the replacement number %d", step, replacement)
			}
			at += time.Second
			runs = append(runs, benchmark.Run{RunKey: step.Create.RunKey, Name: step.Create.Name, Started: benchtest.Begin.Add(at)})
		}
		if step := p.Next(runs); step.Waiting == nil || step.Create != nil {
			t.Fatalf("%+v, want to wait", step)
		}
	}
	end := func(valid func(i int) bool) {
		at += time.Minute
		for i := range runs {
			if runs[i].Ended.IsZero() {
				runs[i].Ended, runs[i].Valid = benchtest.Begin.Add(at), valid(i)
				if step := p.Next(runs); step.Create != nil && slices.ContainsFunc(runs, func(r benchmark.Run) bool { return r.Ended.IsZero() }) {
					t.Fatalf("%+v while others of the block are under way", step)
				}
			}
		}
	}
	create(3, 0)
	end(func(i int) bool { return i > 0 }) // one is invalid: the valid ones of the attempt don't count
	if step := p.Next(runs); step.Blocks != 0 {
		t.Errorf("%d blocks", step.Blocks)
	}
	create(3, 1)
	end(func(int) bool { return true })
	create(3, 0)
	end(func(int) bool { return true })
	if step := p.Next(runs); step.End == nil || step.Blocks != 2 {
		t.Errorf("%+v, want the end of 2 blocks", step)
	}
	if got := p.Progress(runs); got.Blocks != 2 || got.FinishedRuns != 9 || got.InvalidRuns != 1 {
		t.Errorf("%+v", got)
	}
	// Each cell is another variant of its block, and the blocks of attempts differ.
	names, variants := map[string]int{}, map[string]map[int32]bool{}
	for i := range runs {
		a := p.Alternation(runs[i].RunKey)
		names[a.Block]++
		if variants[a.Block] == nil {
			variants[a.Block] = map[int32]bool{}
		}
		variants[a.Block][*a.Variant] = true
	}
	if len(names) != 3 {
		t.Errorf("%v", names)
	}
	for block, n := range names {
		if n != 3 || len(variants[block]) != 3 {
			t.Errorf("block %s: %d runs, variants %v", block, n, variants[block])
		}
	}
}

// Attempts that fail are replaced as often as the spec says, whatever the number of runs that fail in each.
// TestAlternatingBlocksFail ends each run before the others of its block exist, invalid or not: attempts are bounded.
func TestAlternatingBlocksFail(t *testing.T) {
	for _, valid := range []bool{false, true} {
		p := benchtest.Planner(t, &v1alpha1.BenchmarkSpec{
			Axes:        []v1alpha1.Axis{benchtest.Options("a", "x", "y")},
			Repetitions: &v1alpha1.Repetitions{Min: ptr.To(int32(2)), Order: v1alpha1.OrderAlternating, InvalidRuns: v1alpha1.InvalidRuns{Replace: ptr.To(int32(2))}},
		})
		r := benchtest.Round{Planner: p, Measure: func(run *benchmark.Run) { run.Valid = valid }}
		end := r.Finish(t)
		if len(r.Runs) < 3 || end.End.Reason != benchmark.ReasonInvalidRuns {
			t.Errorf("valid %t: %d runs, %+v", valid, len(r.Runs), end.End)
		}
	}
}
