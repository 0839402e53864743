package trend_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/trend"
	"github.com/assay-dev/assay/test/benchtest"
)

// stairs returns the trend of 99 rounds, in which each series has a level that is higher by step every nine rounds, and the round that
// continues it.
func stairs(series, step int) (*benchmark.Trend, *benchmark.Round) {
	const rounds = benchmark.MaxTrendRounds - 1
	r := &benchmark.Round{Number: rounds + 1, Spec: v1alpha1.BenchmarkSpec{Comparison: benchtest.Compare("x", "LatencyP99")}}
	random := rand.New(rand.NewPCG(1, 0))
	level := func(round int) *float64 {
		at := float64(1000+step*(round/9)) + 10*random.Float64()
		return &at
	}
	history := &benchmark.Trend{}
	for i := range int64(rounds) {
		history.Rounds = append(history.Rounds, benchmark.TrendRound{Number: i + 1})
	}
	for cell := range series {
		name := strconv.Itoa(cell)
		r.Cells = append(r.Cells, cells.Cell{Index: cell, Name: name})
		s := benchmark.TrendSeries{Cell: name, Metric: "LatencyP99"}
		for i := range rounds {
			s.Medians = append(s.Medians, level(i))
		}
		history.Series = append(history.Series, s)
		r.Estimates = append(r.Estimates, benchmark.Estimate{Cell: cell, Metric: "LatencyP99", Median: *level(rounds)})
	}
	return history, r
}

// TestTrendsTakeBoundedTime counts the pairs of medians that the search for changes compares: with more series a trend has
// fewer rounds.
func TestTrendsTakeBoundedTime(t *testing.T) {
	for series, want := range map[int]int{1: 100, 26: 100, 27: 98, 81: 56, 256: 32} {
		got := trend.Next(stairs(series, 0))
		n := len(got.Rounds)
		if n != want || series*n*n > 32*8192 {
			t.Errorf("%d series: %d rounds, want %d", series, n, want)
		}
	}
}

// BenchmarkStairs measures the trends that take longest.
func BenchmarkStairs(b *testing.B) {
	for _, series := range []int{26, 81, cells.Max} {
		history, r := stairs(series, 1000)
		b.Run(strconv.Itoa(series), func(b *testing.B) {
			for range b.N {
				trend.Next(history, r)
			}
		})
	}
}
