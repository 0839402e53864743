package search_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/search"
	"github.com/assay-dev/assay/test/benchtest"
)

// try searches until the end and returns the trials and the result.
func try(t *testing.T, c *v1alpha1.Capacity, outcome func(load int64) benchmark.Outcome) ([]search.Trial, search.Step) {
	t.Helper()
	var trials []search.Trial
	for {
		step := search.Next(c, trials)
		if step.Next == 0 {
			return trials, step
		}
		if step.Next < c.From || step.Next > c.Max {
			t.Fatalf("load %d is out of bounds after %v", step.Next, trials)
		}
		if len(trials) >= search.MaxTrials(c) {
			t.Fatalf("more than %d trials: %v", search.MaxTrials(c), trials)
		}
		trials = append(trials, search.Trial{step.Next, outcome(step.Next)})
	}
}

// text writes trials as "500P 1000F".
func text(trials []search.Trial) string {
	var texts []string
	for _, t := range trials {
		texts = append(texts, fmt.Sprintf("%d%c", t.Load, t.Outcome[0]))
	}
	return strings.Join(texts, " ")
}

func TestSearch(t *testing.T) {
	for name, c := range map[string]struct {
		capacity v1alpha1.Capacity
		outcome  func(load int64) benchmark.Outcome
		trials   string
		want     search.Step
	}{
		"a server": {
			v1alpha1.Capacity{From: 500, Max: 50000}, benchtest.UpTo(3000),
			"500P 2000P 8000F 8000F 4000F 4000F 2828P 3363F 3363F 3084F 3084F 2953P 3084F 2953P",
			search.Step{Sustained: 2953, Failed: 3084, Limit: v1alpha1.LimitServer},
		},
		"less than from": {
			v1alpha1.Capacity{From: 500, Max: 50000}, benchtest.UpTo(499),
			"500F 500F 500F",
			search.Step{Failed: 500, Limit: v1alpha1.LimitServer},
		},
		"more than max": {
			v1alpha1.Capacity{From: 500, Max: 3000}, benchtest.UpTo(1e6),
			"500P 2000P 3000P 3000P",
			search.Step{Sustained: 3000, Limit: v1alpha1.LimitMaximum},
		},
		"few connections": {
			v1alpha1.Capacity{From: 1, Max: 100}, benchtest.UpTo(6),
			"1P 4P 16F 16F 8F 8F 6P 7F 7F 7F 6P",
			search.Step{Sustained: 6, Failed: 7, Limit: v1alpha1.LimitServer},
		},
		"a coarse precision": {
			v1alpha1.Capacity{From: 500, Max: 50000, PrecisionPercent: ptr.To(int32(50))}, benchtest.UpTo(3000),
			"500P 2000P 8000F 8000F 4000F 4000F 2828P 4000F 2828P",
			search.Step{Sustained: 2828, Failed: 4000, Limit: v1alpha1.LimitServer},
		},
		"clients that saturate beyond the capacity": {
			v1alpha1.Capacity{From: 500, Max: 50000}, func(load int64) benchmark.Outcome {
				if load > 5000 {
					return benchmark.OutcomeSaturated
				}
				return benchtest.UpTo(3000)(load)
			},
			"500P 2000P 8000S 4000F 4000F 2828P 3363F 3363F 3084F 3084F 2953P 3084F 2953P",
			search.Step{Sustained: 2953, Failed: 3084, Limit: v1alpha1.LimitServer},
		},
		"clients that saturate before it": {
			v1alpha1.Capacity{From: 500, Max: 50000}, func(load int64) benchmark.Outcome {
				if load > 3000 {
					return benchmark.OutcomeSaturated
				}
				return benchmark.OutcomePassed
			},
			"500P 2000P 8000S 4000S 2828P 3363S 3084S 2953P 2953P",
			search.Step{Sustained: 2953, Failed: 3084, Limit: v1alpha1.LimitClients},
		},
		"clients that saturate at once": {
			v1alpha1.Capacity{From: 500, Max: 50000}, func(int64) benchmark.Outcome { return benchmark.OutcomeSaturated },
			"500S",
			search.Step{Failed: 500, Limit: v1alpha1.LimitClients},
		},
	} {
		t.Run(name, func(t *testing.T) {
			trials, got := try(t, &c.capacity, c.outcome)
			if diff := cmp.Diff(c.trials, text(trials)); diff != "" {
				t.Errorf("trials: (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A stall is tried again, a bound that was wrong falls, and the search goes on beyond it.
func TestSearchStalls(t *testing.T) {
	for name, c := range map[string]struct {
		stalls   []int // trials that fail although the server sustains their load
		from     int64
		capacity int64
		trials   string
	}{
		"once": {
			[]int{1}, 500, 3000,
			"500P 2000F 2000P 8000F 8000F 4000F 4000F 2828P 3363F 3363F 3084F 3084F 2953P 3084F 2953P",
		},
		"twice at the same load": {
			[]int{1, 2}, 500, 3000,
			"500P 2000F 2000F 1000P 1414P 1682P 1834P 1915P 2000P 2000P 8000F 8000F 2100P 4099F 4099F 2934P 3468F 3468F 3190F 3190F 3059F 3059F 3059F 2934P",
		},
		"when the lower bound is confirmed": {
			[]int{13}, 500, 3000,
			"500P 2000P 8000F 8000F 4000F 4000F 2828P 3363F 3363F 3084F 3084F 2953P 3084F 2953F 2953P 2953P",
		},
		"until the lower bound falls": {
			[]int{13, 14}, 500, 3000,
			"500P 2000P 8000F 8000F 4000F 4000F 2828P 3363F 3363F 3084F 3084F 2953P 3084F 2953F 2953F 2828P",
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			trials, got := try(t, &v1alpha1.Capacity{From: c.from, Max: 50000}, func(load int64) benchmark.Outcome {
				n++
				if slices.Contains(c.stalls, n-1) {
					return benchmark.OutcomeFailed
				}
				return benchtest.UpTo(c.capacity)(load)
			})
			if diff := cmp.Diff(c.trials, text(trials)); diff != "" {
				t.Errorf("trials: (-want +got)\n%s", diff)
			}
			if got.Limit != v1alpha1.LimitServer || got.Sustained > c.capacity {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// The server's capacity varies by 2% from trial to trial, and one trial in twenty stalls.
func TestSearchIsRobust(t *testing.T) {
	const searches = 2000
	random := rand.New(rand.NewPCG(12, 0))
	c := &v1alpha1.Capacity{From: 500, Max: 50000}
	if n := search.MaxTrials(c); n != 25 {
		t.Errorf("at most %d trials", n)
	}
	tooLow, most, unfinished := 0, 0, 0
	var ratios []float64
	for range searches {
		capacity := 1000 * math.Pow(45, random.Float64()) // up to 45000
		trials, got := try(t, c, func(load int64) benchmark.Outcome {
			if random.Float64() < 0.05 || float64(load) > capacity*(1+0.02*random.NormFloat64()) {
				return benchmark.OutcomeFailed
			}
			return benchmark.OutcomePassed
		})
		most = max(most, len(trials))
		ratio := float64(got.Sustained) / capacity
		ratios = append(ratios, ratio)
		if ratio < 0.9 {
			tooLow++
		}
		if got.Limit != v1alpha1.LimitServer {
			unfinished++
		}
	}
	slices.Sort(ratios)
	t.Logf("at most %d trials; of %d searches %d too low, %d out of trials; share of the capacity %.3f (median), %.3f to %.3f",
		most, searches, tooLow, unfinished, ratios[searches/2], ratios[0], ratios[searches-1])
	if tooLow > searches/200 {
		t.Errorf("%d searches found more than 10%% too little", tooLow)
	}
	if unfinished > searches/100 {
		t.Errorf("%d searches ran out of trials", unfinished)
	}
	if median := ratios[searches/2]; median < 0.95 || median > 1 {
		t.Errorf("the median search found %.3f of the capacity", median)
	}
}

// Whatever the trials were, and whichever release made them, a search ends within its bounds.
func TestSearchEnds(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 0))
	for range 300 {
		c := &v1alpha1.Capacity{From: 1 + random.Int64N(100), PrecisionPercent: ptr.To(1 + random.Int32N(50))}
		c.Max = c.From + 1 + random.Int64N(10_000_000)
		foreign := []search.Trial{{c.From + random.Int64N(c.Max-c.From), benchmark.OutcomeFailed}, {c.From + random.Int64N(c.Max-c.From), benchmark.OutcomePassed}}
		if a, b := search.Next(c, foreign), search.Next(c, foreign); a != b {
			t.Fatalf("%+v and %+v after %v", a, b, foreign)
		}
		trials, got := try(t, c, func(int64) benchmark.Outcome {
			return []benchmark.Outcome{benchmark.OutcomePassed, benchmark.OutcomeFailed, benchmark.OutcomeFailed, benchmark.OutcomeSaturated}[random.IntN(4)]
		})
		if got.Limit == "" || got.Sustained != 0 && got.Failed != 0 && got.Sustained >= got.Failed {
			t.Errorf("%+v after %v", got, trials)
		}
	}
}
