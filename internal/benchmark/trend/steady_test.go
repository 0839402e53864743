package trend

import (
	"math/rand/v2"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/internal/benchmark"
)

// TestSteadySeriesHaveNoChanges counts the series of pure noise in which a change is found.
func TestSteadySeriesHaveNoChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 0))
	found := 0
	const series = 300
	for range series {
		s := benchmark.TrendSeries{}
		var rounds []benchmark.TrendRound
		for number := range int64(15) {
			s.Medians = append(s.Medians, ptr.To(1000*(1+0.05*random.NormFloat64())))
			rounds = append(rounds, benchmark.TrendRound{Number: number + 1})
		}
		if findChanges(&s, rounds); len(s.Changes) > 0 {
			found++
		}
	}
	if found > 8 { // 3 are expected; more than 8 have a probability below 0.4%
		t.Errorf("a change in %d of %d steady series", found, series)
	}
}
