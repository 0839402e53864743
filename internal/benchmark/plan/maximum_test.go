package plan_test

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/plan"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/statistics"
	"github.com/assay-dev/assay/test/benchtest"
)

// size is that of a round. stored is the number of runs that each cell is compared with; 0 if it is compared with another cell.
type size struct{ cells, metrics, blocks, levels, stored int }

// largest holds the numbers that the API server accepts at most: 16 compared metrics and 100 blocks.
var largest = size{cells.Max, 16, 100, benchmark.MaxLevels, statistics.MaxRuns}

// round returns a planner and all runs of a round whose intervals decide nothing.
func (s size) round(t testing.TB) (*plan.Planner, []benchmark.Run) {
	t.Helper()
	spec := &v1alpha1.BenchmarkSpec{
		Axes:        []v1alpha1.Axis{benchtest.Values("n", "/x", benchtest.Numbers(1, s.cells/4)...), benchtest.Options("a", "nio", "nio2", "apr", "nginx")},
		Repetitions: &v1alpha1.Repetitions{Min: ptr.To(int32(1)), Max: ptr.To(int32(s.blocks))},
		Comparison:  benchtest.Compare("nio", benchmark.MetricNames[:s.metrics]...),
	}
	if s.stored > 0 {
		spec.Comparison.Baseline = v1alpha1.Baseline{Runs: &v1alpha1.RunSelector{}}
	}
	p := benchtest.Planner(t, spec)
	random := rand.New(rand.NewPCG(1, 0))
	run := func(key benchmark.RunKey) benchmark.Run {
		r := benchmark.Run{
			RunKey: key, Name: key.Name("connectors"), Started: benchtest.Begin, Ended: benchtest.Begin.Add(time.Minute), Valid: true,
			Metrics: map[v1alpha1.BenchmarkMetric]float64{},
		}
		for _, m := range benchmark.MetricNames {
			r.Metrics[m] = benchmark.Rounded(1000 + 300*random.Float64())
		}
		for level := range s.levels {
			l := benchmark.RunLevel{Load: int64(level + 1), Metrics: make([]float32, len(result.LevelMetrics))}
			for i := range l.Metrics {
				l.Metrics[i] = random.Float32()
			}
			r.Levels = append(r.Levels, l)
		}
		return r
	}
	var runs, baseline []benchmark.Run
	for block := range s.blocks {
		for cell := range p.Cells {
			runs = append(runs, run(benchmark.RunKey{Round: p.Number, Cell: cell, Number: block}))
		}
	}
	for i := range s.stored {
		baseline = append(baseline, run(benchmark.RunKey{Number: i}))
	}
	p.Stored = map[string][]benchmark.Run{}
	for i := range p.Cells {
		if s.stored > 0 {
			p.Stored[p.Cells[i].Name] = baseline
		}
	}
	return p, runs
}

// allocated returns the bytes that a function allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestARoundGrowsLikeItsInputs doubles each dimension of a round. A step while it goes on, and its end, allocate at most about
// twice as much, and statistics keep nothing of the size of all pairs of values.
func TestARoundGrowsLikeItsInputs(t *testing.T) {
	half := size{64, 8, 24, 10, 100}
	costs := func(s size) (step, end uint64) {
		p, runs := s.round(t)
		p.Next(runs) // simulations and distributions are remembered
		step = allocated(func() {
			if next := p.Next(runs[1:]); next.Create == nil || next.Create.Cell != runs[0].Cell {
				t.Fatalf("%+v", next)
			}
		})
		end = allocated(func() {
			if next := p.Next(runs); next.End == nil || len(next.End.Evaluation.Claims) != s.cells*s.metrics {
				t.Fatalf("%+v", next)
			}
		})
		return step, end
	}
	step, end := costs(half)
	for name, double := range map[string]size{
		"cells": {128, 8, 24, 10, 100}, "metrics": {64, 16, 24, 10, 100}, "blocks": {64, 8, 48, 10, 100}, "levels": {64, 8, 24, 20, 100},
		"stored runs": {64, 8, 24, 10, 200},
	} {
		if s, e := costs(double); float64(s) > 2.3*float64(step) || float64(e) > 2.3*float64(end) {
			t.Errorf("twice the %s: a step allocates %d bytes after %d, the end %d after %d", name, s, step, e, end)
		}
	}
}

// TestTheLargestRound bounds what the largest round keeps in memory between two steps, and what a step allocates.
func TestTheLargestRound(t *testing.T) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	p, runs := largest.round(t)
	runtime.GC()
	runtime.ReadMemStats(&after)
	kept := after.HeapAlloc - before.HeapAlloc
	step := allocated(func() { p.Next(runs[1:]) })
	end := allocated(func() { p.Next(runs) })
	t.Logf("%d runs keep %d MiB, a step allocates %d KiB, the end %d MiB", len(runs), kept>>20, step>>10, end>>20)
	if kept > 128<<20 || step > 4<<20 || end > 512<<20 {
		t.Errorf("%d runs keep %d bytes, a step allocates %d, the end %d", len(runs), kept, step, end)
	}
}

// BenchmarkLargestRound measures a step of the largest round while it goes on, and its end.
func BenchmarkLargestRound(b *testing.B) {
	paired := largest
	paired.stored = 0
	inconclusive := largest // by so few blocks that others are simulated
	inconclusive.blocks = 10
	for name, s := range map[string]size{"paired": paired, "stored": largest, "inconclusive": inconclusive} {
		p, runs := s.round(b)
		for state, known := range map[string][]benchmark.Run{"step": runs[1:], "end": runs} {
			b.Run(name+"/"+state, func(b *testing.B) {
				b.ReportAllocs()
				for range b.N {
					p.Next(known)
				}
			})
		}
	}
}
