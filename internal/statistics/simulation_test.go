package statistics

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"
)

const (
	simulatedRounds  = 400
	simulatedBlocks  = 10
	simulatedMetrics = 5
	confidence       = 95.0
)

// A noise returns the metrics of consecutive runs of one variant: values[run][metric].
type noise func(random *rand.Rand, runs int) [][]float64

// noiseFile holds the metrics of identical runs on a cluster, one after the other: an array of
// objects from a metric's name to its value. "make test-benchmark" writes it.
const noiseFile = "testdata/noise.json"

// simulated names the metrics of the noise, the only one of which more is better first.
var simulated = [simulatedMetrics]string{"RequestsPerSecond", "LatencyP50", "LatencyP99", "LatencyP999", "TargetCPUPerRequest"}

// newNoise resamples the runs of noiseFile.
func newNoise(t *testing.T) noise {
	data, err := os.ReadFile(noiseFile)
	if err != nil {
		t.Fatal(err)
	}
	var runs []map[string]float64
	if err := json.Unmarshal(data, &runs); err != nil {
		t.Fatalf("%s: %v", noiseFile, err)
	}
	if len(runs) < 40 {
		t.Fatalf("%s: %d runs are too few", noiseFile, len(runs))
	}
	for i, run := range runs {
		for _, name := range simulated {
			if run[name] <= 0 {
				t.Fatalf("%s: run %d: %s is %g", noiseFile, i, name, run[name])
			}
		}
	}
	return func(random *rand.Rand, n int) [][]float64 {
		// Four neighboring runs at a time keep what they have in common.
		const neighbors = 4
		var measured [][]float64
		for len(measured) < n {
			first := random.IntN(len(runs) - neighbors + 1)
			for _, run := range runs[first : first+neighbors] {
				var values []float64
				for _, name := range simulated {
					values = append(values, run[name])
				}
				measured = append(measured, values)
			}
		}
		return measured[:n]
	}
}

// A round runs two identical variants.
type round struct {
	blocks     int
	sequential bool    // all runs of the baseline, then all of the candidate
	drift      float64 // by which the last run is worse than the first, whichever variant it is of
}

// higherIsBetter is true for metric 0, the throughput.
func higherIsBetter(metric int) bool { return metric == 0 }

// notWorse returns the region of a gate metric.
func notWorse(metric int, tolerancePercent float64) Region {
	if higherIsBetter(metric) {
		return Region{Low: 1 - tolerancePercent/100, High: inf}
	}
	return Region{High: 1 + tolerancePercent/100}
}

// worsen makes a value worse by a factor.
func worsen(value, factor float64, metric int) float64 {
	if higherIsBetter(metric) {
		return value / factor
	}
	return value * factor
}

// values returns the values of each metric in each block.
func (r round) values(random *rand.Rand, n noise) (baseline, candidate [][]float64) {
	runs := 2 * r.blocks
	baseline, candidate = make([][]float64, simulatedMetrics), make([][]float64, simulatedMetrics)
	candidateFirst := false
	for i, measured := range n(random, runs) {
		if i%2 == 0 {
			candidateFirst = random.IntN(2) == 0
		}
		isCandidate := (i%2 == 0) == candidateFirst
		if r.sequential {
			isCandidate = i >= r.blocks
		}
		for m, value := range measured {
			value = worsen(value, 1+r.drift*float64(i)/float64(runs-1), m)
			if isCandidate {
				candidate[m] = append(candidate[m], value)
			} else {
				baseline[m] = append(baseline[m], value)
			}
		}
	}
	return baseline, candidate
}

// gateFails reports whether any claim that a metric isn't worse is contradicted, as package verdict does for a round.
func gateFails(t *testing.T, baseline, candidate [][]float64, tolerancePercent float64) bool {
	t.Helper()
	for m := range baseline {
		if notWorse(m, tolerancePercent).Decide(effectOf(t, baseline[m], candidate[m]).Interval) == Contradicted {
			return true
		}
	}
	return false
}

func effectOf(t *testing.T, baseline, candidate []float64) Effect {
	t.Helper()
	return compared(t, baseline, candidate).Effect(Alpha(confidence, simulatedMetrics))
}

func compared(t *testing.T, baseline, candidate []float64) Comparison {
	t.Helper()
	c, err := Paired(baseline, candidate)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestIdenticalVariants is the A/A test. The tolerance is 0: any other contradicts even fewer.
func TestIdenticalVariants(t *testing.T) {
	const alpha = 1 - confidence/100
	n := newNoise(t)
	for name, test := range map[string]struct {
		round  round
		within bool // whether the share of contradicted rounds is within alpha
	}{
		"blocks":                            {round{blocks: simulatedBlocks}, true},
		"blocks, drift of 10%":              {round{blocks: simulatedBlocks, drift: 0.1}, true},
		"one after the other, drift of 10%": {round{blocks: simulatedBlocks, drift: 0.1, sequential: true}, false},
	} {
		random := rand.New(rand.NewPCG(10, 0))
		failed, differ := 0, 0
		for range simulatedRounds {
			baseline, candidate := test.round.values(random, n)
			if gateFails(t, baseline, candidate, 0) {
				failed++
			}
			for m := range baseline {
				if e := effectOf(t, baseline[m], candidate[m]); e.Low > 1 || e.High < 1 {
					differ++
					break
				}
			}
		}
		low, high := share(failed, simulatedRounds)
		t.Logf("%s: %d of %d failed (%.1f%% to %.1f%%), %d differ in either direction", name, failed, simulatedRounds, 100*low, 100*high, differ)
		if within := low <= alpha; within != test.within {
			t.Errorf("%s: %d of %d failed, a share of %.3f to %.3f; within %.2f: %t, want %t", name, failed, simulatedRounds, low, high, alpha, within, test.within)
		}
		if low, _ := share(differ, simulatedRounds); test.within && low > alpha {
			t.Errorf("%s: %d of %d differ", name, differ, simulatedRounds)
		}
	}
}

// TestInjectedSlowdown is the A/B test: a round publishes the minimal effect of each metric, and the
// next is worse by it.
func TestInjectedSlowdown(t *testing.T) {
	alpha := Alpha(confidence, simulatedMetrics)
	normal := func(random *rand.Rand, runs int) [][]float64 {
		measured := make([][]float64, runs)
		for i := range measured {
			for range simulatedMetrics {
				measured[i] = append(measured[i], math.Exp(0.08*random.NormFloat64()))
			}
		}
		return measured
	}
	const rounds = 5 * simulatedRounds
	for name, n := range map[string]noise{"runs": newNoise(t), "normal": normal} {
		random := rand.New(rand.NewPCG(12, 0))
		var found [simulatedMetrics]int
		var sum [simulatedMetrics]float64
		for range rounds {
			baseline, candidate := round{blocks: simulatedBlocks}.values(random, n)
			laterBaseline, laterCandidate := round{blocks: simulatedBlocks}.values(random, n)
			for m := range simulatedMetrics {
				region := notWorse(m, 5)
				minimal := compared(t, baseline[m], candidate[m]).MinimalEffect(alpha, region)
				sum[m] += Percent(minimal) / rounds
				for i := range laterCandidate[m] {
					laterCandidate[m][i] *= minimal
				}
				if region.Decide(effectOf(t, laterBaseline[m], laterCandidate[m]).Interval) == Contradicted {
					found[m]++
				}
			}
		}
		for m, found := range found {
			t.Logf("%s, metric %d: %d of %d found (%.1f%%), minimal effect %+.1f%% on average", name, m, found, rounds, 100*float64(found)/rounds, sum[m])
			if float64(found) < Power*rounds {
				t.Errorf("%s, metric %d: %d of %d found", name, m, found, rounds)
			}
		}
	}
}
