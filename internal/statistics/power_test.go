package statistics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFactor compares with what is known of normal values whose spread is known exactly. With 6 pairs
// all must be beyond the bound: 1.793 is the root x of Phi(x)^6 = 0.8. The others are from a larger
// simulation. With a spread that is estimated, or heavier tails, it takes at least as much.
func TestFactor(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 0))
	const exactly = 400 // degrees of freedom
	for d, want := range map[design]float64{
		{0, 6}: 1.793, {0, 8}: 1.26, {0, 10}: 1.02, {0, 20}: 0.68, {6, 6}: 1.92, {10, 10}: 1.40, {20, 20}: 0.93,
	} {
		key := factorKey{d, exactly, 0.05}
		if got := key.distance(critical(d.tail(), 0.05), random.NormFloat64); math.Abs(got/want-1) > 0.03 {
			t.Errorf("%v: %.3f, want %.3f", d, got, want)
		}
		if got := d.factor(d.freedom(), 0.05); got < want || got > 1.4*want {
			t.Errorf("%v with an estimated spread: %.3f, want more than %.3f", d, got, want)
		}
	}
	if got := (design{0, 5}).factor(4, 0.05); !math.IsInf(got, 1) {
		t.Errorf("5 blocks can't decide, but find %g", got)
	}
}

// TestLowEnd compares with the sorted candidates.
func TestLowEnd(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 0))
	for range 200 {
		baseline, candidate := make([]float64, random.IntN(6)), make([]float64, 1+random.IntN(8))
		fill(baseline, random.NormFloat64)
		fill(candidate, random.NormFloat64)
		slices.Sort(baseline)
		slices.Sort(candidate)
		var all []float64
		for i, x := range candidate {
			for _, y := range baseline {
				all = append(all, x-y)
			}
			if len(baseline) == 0 {
				for _, y := range candidate[i:] {
					all = append(all, (x+y)/2)
				}
			}
		}
		slices.Sort(all)
		rank := 1 + random.IntN(len(all))
		if got := lowEnd(baseline, candidate, rank); math.Abs(got-all[rank-1]) > 1e-6 {
			t.Fatalf("candidate %d of %v: %g", rank, all, got)
		}
	}
}

func TestMinimalEffect(t *testing.T) {
	baseline := []float64{100, 102, 98, 101, 99, 100, 103, 97, 100, 100}
	candidate := []float64{101, 100, 99, 103, 98, 102, 101, 99, 97, 101}
	effect := func(compare func(x, y []float64) (Comparison, error), n int, r Region) float64 {
		c, err := compare(baseline[:n], candidate[:n])
		if err != nil {
			t.Fatal(err)
		}
		return c.MinimalEffect(0.05, r)
	}
	ten := effect(Paired, 10, Region{High: 1})
	if ten < 1.01 || ten > 1.04 {
		t.Errorf("10 blocks: %g", ten)
	}
	if got, want := effect(Paired, 10, Region{High: 1.05}), 1.05*ten; math.Abs(got-want) > 1e-9 {
		t.Errorf("tolerance 5%%: %g, want %g", got, want)
	}
	if got, want := effect(Paired, 10, Region{Low: 0.95, High: inf}), 0.95/ten; math.Abs(got-want) > 1e-9 {
		t.Errorf("tolerance 5%% downwards: %g, want %g", got, want)
	}
	if got := effect(Paired, 5, Region{High: 1.05}); !math.IsInf(got, 1) {
		t.Errorf("5 blocks: %g", got)
	}
	if got := effect(Paired, 5, Region{Low: 0.95, High: inf}); got != 0 {
		t.Errorf("5 blocks downwards: %g", got)
	}
	if got := effect(Unpaired, 10, Region{High: 1}); got < 1.01 || got > 1.04 {
		t.Errorf("10 runs: %g", got)
	}
	candidate[3] = nan
	if got := effect(Paired, 10, Region{High: 1.05}); !math.IsNaN(got) {
		t.Errorf("with a missing value: %g", got)
	}
}

// TestBlocksToDecide repeats rounds of the suggested number of blocks: a share Power of them must
// decide.
func TestBlocksToDecide(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 0))
	region := Region{High: 1.05}
	// draw returns blocks of a true ratio or, if exact, blocks whose estimate is that ratio.
	draw := func(n int, ratio float64, exact bool) Comparison {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = math.Exp(random.NormFloat64()/20), ratio*math.Exp(random.NormFloat64()/20)
		}
		c, err := Paired(x, y)
		if exact && err == nil {
			shift := ratio / c.Effect(0.05).Estimate
			for i := range y {
				y[i] *= shift
			}
			c, err = Paired(x, y)
		}
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const rounds, seen = 300, 8
	for _, ratio := range []float64{1, 1.10} {
		decided, sum := 0, 0
		for range rounds {
			n, ok := draw(seen, ratio, true).BlocksToDecide(0.05, region, MaxRuns)
			if !ok || n <= seen {
				t.Fatalf("ratio %g: %d blocks, %t", ratio, n, ok)
			}
			sum += n
			if region.Decide(draw(n, ratio, false).Effect(0.05).Interval) != Undecided {
				decided++
			}
		}
		t.Logf("ratio %g: %d of %d decided, with %d blocks on average", ratio, decided, rounds, sum/rounds)
		if _, high := share(decided, rounds); high < Power {
			t.Errorf("ratio %g: %d of %d decided, at most a share of %.3f", ratio, decided, rounds, high)
		}
	}

	c := draw(10, 1.05, true)
	if n, ok := c.BlocksToDecide(0.05, region, 11); ok || n <= 11 {
		t.Errorf("at the tolerance 11 blocks don't decide, but: %d %t", n, ok)
	}
	if _, ok := c.BlocksToDecide(0.05, region, 5); ok {
		t.Error("fewer blocks than seen decide")
	}
	unknown, _ := Paired([]float64{1, 1, 1, 1, 1, 1}, []float64{1, 1, nan, 2, 1, 1})
	if _, ok := unknown.BlocksToDecide(0.05, region, 50); ok {
		t.Error("a number although the spread is unknown")
	}
}
