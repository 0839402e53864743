package statistics

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// TestPath holds the rank sums of growing samples against those of all ranks.
func TestPath(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 0))
	odds := make([]float64, 128)
	for i := range odds {
		odds[i] = 1
	}
	for range 50 {
		var p path
		p.weight = 1
		var values []float64 // in the order of their sizes: negative ones are those that count
		for n := range 128 {
			rank, u := random.IntN(n+1), random.Float64()
			p.add(rank, u, odds)
			sign := 1.0
			if u < 0.5 {
				sign = -1
			}
			values = append(values[:rank], append([]float64{sign}, values[rank:]...)...)
			want := 0
			for i, v := range values {
				if v < 0 {
					want += i + 1
				}
			}
			if p.sum != want || bits.OnesCount64(p.negative[0])+bits.OnesCount64(p.negative[1]) > n+1 || p.weight != 1 {
				t.Fatalf("%d values: a rank sum of %d, want %d, weight %g", n+1, p.sum, want, p.weight)
			}
		}
	}
}

// TestNominal holds what must be true of any boundaries.
func TestNominal(t *testing.T) {
	for _, k := range []looksKey{{0.05, 6, 30}, {0.005, 6, 30}, {0.05 / 4128, 10, 100}} {
		last := Nominal(k.alpha, k.least, k.most, k.most)
		if last >= k.alpha || last < k.alpha/5 {
			t.Errorf("%v: %g at the last look", k, last)
		}
		sum := 0.0
		for n := k.least; n <= k.most; n++ {
			nominal := Nominal(k.alpha, k.least, k.most, n)
			// Each is one of the signed-rank distribution, and the first spends no more than may be spent by then.
			if cut := critical(signedRank(n), nominal); nominal > 0 && (cut == 0 || nominal != 2*signedRank(n)[cut-1] || sum == 0 && nominal > k.alpha*spent(float64(n)/float64(k.most))) {
				t.Errorf("%v: %g at look %d", k, nominal, n)
			}
			sum += nominal
		}
		// The looks overlap: together they may have more than alpha, which is what the simulation is for.
		if sum <= k.alpha {
			t.Errorf("%v: the looks add up to %g", k, sum)
		}
		if got := Nominal(k.alpha, k.least, k.most, k.least-1); got != k.alpha {
			t.Errorf("%v: %g before the first look", k, got)
		}
	}
	for _, alpha := range []float64{0.05, 2.0 / 64, 0.005, 0.05 / 4128} { // looks cost nothing where one could decide at the last only
		if n := MinBlocks(alpha); Nominal(alpha, 2, n, n) == 0 || Nominal(alpha, 2, n-1, n-1) != 0 {
			t.Errorf("alpha %g, %d blocks: %g, with one less %g", alpha, n, Nominal(alpha, 2, n, n), Nominal(alpha, 2, n-1, n-1))
		}
	}
	if got := Nominal(0.05, 10, 10, 10); got != 0.05 {
		t.Errorf("one look: %g", got)
	}
}

// noises are symmetric: normal, and with heavy tails (Student's t with 2 degrees of freedom).
var noises = map[string]func(*rand.Rand) float64{
	"normal": (*rand.Rand).NormFloat64,
	"heavy": func(r *rand.Rand) float64 {
		return r.NormFloat64() / math.Sqrt(r.ExpFloat64())
	},
}

// rounds simulates rounds of m claims about logarithms with the true value shift that stop at the first look at which all are
// decided, at which a claim is that the value is below 0. It returns in how many any interval missed at any look at all, in how many
// one missed at the look at which the round ended, in how many all claims were decided, and the mean number of blocks.
func rounds(n, m, least, most int, shift float64, draw func() float64) (anyLook, atEnd, decided int, blocks float64) {
	region := Region{High: 1, Open: true}
	for range n {
		values := make([][]float64, m)
		missed, ended := false, 0
		for look := 1; look <= most; look++ {
			for i := range values {
				values[i] = append(values[i], shift+draw())
			}
			if look < least {
				continue
			}
			nominal := Nominal(Alpha(95, m), least, most, look)
			all, now := true, false
			for _, of := range values {
				logs, d := of, design{candidate: look}
				pairs, unknown := averages(logs)
				i := ranked{pairs, unknown, d.tail()}.interval(nominal, 0)
				now = now || i.Low > shift || i.High < shift
				i.Low, i.High = math.Exp(i.Low), math.Exp(i.High)
				all = all && region.Decide(i) != Undecided
			}
			missed = missed || now
			if ended == 0 && (all || look == most) {
				ended = look
				if now {
					atEnd++
				}
				if all {
					decided++
				}
			}
		}
		if missed {
			anyLook++
		}
		blocks += float64(ended) / float64(n)
	}
	return anyLook, atEnd, decided, blocks
}

// TestErrorRateAtEveryLook is the A/A test of rounds that look after each block from 6 to 30: intervals miss the true effect at any look
// at all, and so at any at which a round may end, at most as often as the error rate says.
func TestErrorRateAtEveryLook(t *testing.T) {
	for name, noise := range noises {
		for _, m := range []int{1, 10} {
			n := 1000
			random := rand.New(rand.NewPCG(8, uint64(m)))
			anyLook, atEnd, _, _ := rounds(n, m, 6, 30, 0, func() float64 { return noise(random) })
			low, high := share(anyLook, n)
			t.Logf("%s noise, %d claims: %d of %d missed at any look (%.1f%% to %.1f%%), %d at the end", name, m, anyLook, n, 100*low, 100*high, atEnd)
			if low > 0.05 || atEnd > anyLook {
				t.Errorf("%s noise, %d claims: %d of %d missed", name, m, anyLook, n)
			}
			if high < 0.02 {
				t.Errorf("%s noise, %d claims: %d of %d missed: most of the error rate isn't used", name, m, anyLook, n)
			}
		}
	}
	// Without boundaries the same looks miss far more often.
	random := rand.New(rand.NewPCG(9, 0))
	missed := 0
	for range 1000 {
		var logs []float64
		once := false
		for look := 1; look <= 30; look++ {
			logs = append(logs, random.NormFloat64())
			pairs, unknown := averages(logs)
			i := ranked{pairs, unknown, design{candidate: look}.tail()}.interval(0.05, 0)
			once = once || look >= 6 && (i.Low > 0 || i.High < 0)
		}
		if once {
			missed++
		}
	}
	if low, _ := share(missed, 1000); low < 0.1 {
		t.Errorf("%d of 1000 missed without boundaries: the test can't fail", missed)
	}
}

// TestPowerOfLooks compares rounds that may end early with those of a fixed number of blocks.
func TestPowerOfLooks(t *testing.T) {
	const n, most = 600, 30
	for _, test := range []struct {
		shift        float64 // in standard deviations of the noise
		loss, blocks float64 // at most
	}{{-0.6, 0.06, 24}, {-1, 0.02, 17}, {-2, 0.01, 13}} {
		draw := func(seed uint64) func() float64 { return rand.New(rand.NewPCG(seed, 0)).NormFloat64 }
		_, _, early, blocks := rounds(n, 1, 6, most, test.shift, draw(14))
		_, _, fixed, _ := rounds(n, 1, most, most, test.shift, draw(14))
		t.Logf("shift %g: %d of %d decided with %.1f blocks on average, %d with %d", test.shift, early, n, blocks, fixed, most)
		if float64(early) < float64(fixed)-test.loss*n || blocks > test.blocks {
			t.Errorf("shift %g: %d decided with %.1f blocks on average, %d with %d", test.shift, early, blocks, fixed, most)
		}
	}
}
