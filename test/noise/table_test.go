package main

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestSummarize checks that the figures of simulated runs are those that they were made with: white noise of 10% in windows of
// 0.1 s, of which the client's CPU time per request has half the logarithm, 4% between processes and 6% between runs.
func TestSummarize(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	of := func(level float64) sample {
		noise := 0.1 * random.NormFloat64()
		return sample{int64(1e5 * math.Exp(level+noise)), 100_000, int64(3e6 * math.Exp(level+noise/2))}
	}
	var runs []*run
	for range 200 {
		level := 0.06 * random.NormFloat64()
		c := &cell{Server: "nginx"}
		for range 8 {
			process := level + 0.04*random.NormFloat64()
			var windows []sample
			for range 100 {
				windows = append(windows, of(process))
			}
			c.Processes = append(c.Processes, windows)
		}
		for range 8 {
			levels := [2]float64{level + 0.04*random.NormFloat64(), level + 0.04*random.NormFloat64() + 0.05}
			var pair []slices
			for _, o := range orders {
				var taken slices
				for _, letter := range o.order {
					taken[letter-'A'] = append(taken[letter-'A'], of(levels[letter-'A']))
				}
				pair = append(pair, taken)
			}
			c.Pairs = append(c.Pairs, pair)
		}
		runs = append(runs, &run{Cells: []*cell{c}})
	}
	f := summarize(runs)[0]
	near(t, "runs", f.runs, 0.06, 0.01)
	near(t, "processes", f.processes, 0.04, 0.005)
	for i, length := range lengths {
		near(t, "within", f.within[i], 0.1/math.Sqrt(float64(length)), 0.003)
		near(t, "r", f.r[i], -1, 0.01)
	}
	near(t, "lag 1", f.lag1[0], 0, 0.01)
	process := math.Sqrt2 * 0.04
	near(t, "ABBA in 0.5 s", f.ratios[0], math.Hypot(process, 0.1/math.Sqrt2), 0.005)
	near(t, "in turn", f.ratios[2], math.Hypot(process, 0.1), 0.005)
	near(t, "processes of pairs", root(f.apart), 0.04, 0.005)
	near(t, "adjusted", f.adjusted, process, 0.005)
	near(t, "effect", f.effect, 0.05, 0.01)
	near(t, "bias", f.bias, 0, 3*f.biasError)
}

const asCovariate = "The client's CPU time per request as a covariate leaves 2.0% of 4.0% and "

// TestConclude checks what is said to pay, and when a covariate may be used.
func TestConclude(t *testing.T) {
	for _, test := range []struct {
		apart, adjusted, bias, biasError float64
		says                             string
	}{
		{apart: 0.01, adjusted: 0.02, bias: 0.001, biasError: 0.001, says: "measured time pays more than further processes. " +
			asCovariate + "adds 0.1% ± 0.1% to the effect of 5% more work: it may be used."},
		{apart: 0.025, adjusted: 0.02, bias: 0.02, biasError: 0.001, says: "further processes pay more than measured time. " +
			asCovariate + "adds 2.0% ± 0.1% to the effect of 5% more work: it must not be used."},
		{adjusted: 0.02, bias: 0.001, biasError: 0.005, says: "more pairs would say whether it may be used."},
		{adjusted: 0.038, bias: 0.02, biasError: 0.001, says: "it doesn't pay."},
	} {
		nginx, work := &kinds[0], &kinds[len(kinds)-1]
		got := conclude([]*figures{
			{kind: nginx, ratios: [3]float64{0.04, 0.05, 0.08}, apart: square(test.apart), adjusted: test.adjusted},
			{kind: nginx, hog: 0.5, ratios: [3]float64{1, 1, 1}, adjusted: 1},
			{kind: work, bias: test.bias, biasError: test.biasError},
		}, 0)
		if got := strings.Join(strings.Fields(got), " "); !strings.Contains(got, test.says) {
			t.Errorf("%s, want %s", got, test.says)
		}
	}
}
