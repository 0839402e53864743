package benchmark_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/benchtest"
)

// TestRunBytes compares what runs are said to take with what the heap grows by: those that were measured, with the most levels and
// without any, and those of a stored round.
func TestRunBytes(t *testing.T) {
	const count = 5000
	stored, err := benchtest.Large(t, 20).Encode(artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	measured := func(levels int) func() []benchmark.Run {
		return func() []benchmark.Run {
			runs := make([]benchmark.Run, count)
			for i := range runs {
				r := benchmark.Run{RunKey: benchmark.RunKey{Number: i}, Name: fmt.Sprintf("connectors-r1-c000-b%05d", i), Started: benchtest.Begin, Ended: benchtest.Begin.Add(time.Minute)}
				r.Metrics = make(map[v1alpha1.BenchmarkMetric]float64, len(result.Metrics))
				for _, m := range benchmark.MetricNames {
					r.Metrics[m] = float64(i)
				}
				for level := range levels {
					r.Levels = append(r.Levels, benchmark.RunLevel{Load: int64(level), Metrics: make([]float32, len(result.LevelMetrics))})
				}
				runs[i] = r
			}
			return runs
		}
	}
	for name, make := range map[string]func() []benchmark.Run{
		"levels": measured(benchmark.MaxLevels), "no levels": measured(0),
		"stored": func() []benchmark.Run {
			round, err := benchmark.DecodeRound(stored)
			if err != nil {
				t.Fatal(err)
			}
			round.Blocks = 20
			var runs []benchmark.Run
			for _, stored := range round.Stored() {
				runs = append(runs, stored...)
			}
			for i := range runs {
				runs[i].Conditions = runs[0].Conditions
			}
			return runs
		},
	} {
		make() // what is remembered
		collect()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		runs := make()
		collect()
		runtime.ReadMemStats(&after)
		said := int64(0)
		for i := range runs {
			said += runs[i].Bytes()
		}
		took := int64(after.HeapAlloc) - int64(before.HeapAlloc)
		t.Logf("%s: %d runs take %d bytes each, said are %d", name, len(runs), took/int64(len(runs)), said/int64(len(runs)))
		if said < took || said > 2*took {
			t.Errorf("%s: %d runs take %d bytes, said are %d", name, len(runs), took, said)
		}
		runtime.KeepAlive(runs)
	}
}

// collect collects garbage twice: what lies in a sync.Pool outlives one collection.
func collect() {
	runtime.GC()
	runtime.GC()
}
