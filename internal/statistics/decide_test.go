package statistics

import "testing"

func TestDecide(t *testing.T) {
	for name, test := range map[string]struct {
		low, high float64
		better    Direction
		tolerance float64
		verdict   Verdict
		word      Word
	}{
		"slower":                        {1.06, 1.2, Lower, 5, Failed, Worse},
		"from within to beyond":         {1.04, 1.2, Lower, 5, Inconclusive, CantTell},
		"starts at the tolerance":       {1.05, 1.2, Lower, 5, Inconclusive, CantTell},
		"ends at the tolerance":         {0.97, 1.05, Lower, 5, Passed, NoDifference},
		"within":                        {0.96, 1.04, Lower, 5, Passed, NoDifference},
		"within, but not 1":             {1.01, 1.04, Lower, 5, Passed, NoDifference},
		"perhaps faster":                {0.90, 1.04, Lower, 5, Passed, CantTell},
		"faster":                        {0.90, 0.94, Lower, 5, Passed, Better},
		"faster by at least 5%":         {0.90, 0.95, Lower, 5, Passed, CantTell},
		"anything":                      {0.90, 1.10, Lower, 5, Inconclusive, CantTell},
		"unbounded":                     {0, inf, Lower, 5, Inconclusive, CantTell},
		"less throughput":               {0.80, 0.94, Higher, 5, Failed, Worse},
		"5% down is the tolerance":      {0.80, 0.95, Higher, 5, Inconclusive, CantTell},
		"not 1/1.05":                    {0.951, 1.04, Higher, 5, Passed, NoDifference},
		"more throughput":               {1.06, 1.2, Higher, 5, Passed, Better},
		"perhaps more throughput":       {0.96, 1.2, Higher, 5, Passed, CantTell},
		"throughput unbounded":          {0, inf, Higher, 5, Inconclusive, CantTell},
		"no tolerance, slower":          {1.001, 1.2, Lower, 0, Failed, Worse},
		"no tolerance, not slower":      {0.9, 1, Lower, 0, Passed, CantTell},
		"no tolerance, faster":          {0.9, 0.999, Lower, 0, Passed, Better},
		"no tolerance, same":            {1, 1, Lower, 0, Passed, NoDifference},
		"no tolerance, throughput":      {0.9, 0.999, Higher, 0, Failed, Worse},
		"new errors":                    {inf, inf, Lower, 5, Failed, Worse},
		"perhaps new errors":            {1, inf, Lower, 5, Inconclusive, CantTell},
		"errors are gone":               {0, 0, Lower, 5, Passed, Better},
		"throughput is gone":            {0, 0, Higher, 5, Failed, Worse},
		"rounded, at the tolerance":     {1.05 + 1e-12, 1.05 + 1e-12, Lower, 5, Passed, NoDifference},
		"rounded, at the low tolerance": {0.95 - 1e-12, 0.95 - 1e-12, Higher, 5, Passed, NoDifference},
	} {
		verdict, word := Rule{test.better, test.tolerance}.Decide(Effect{Interval: Interval{Low: test.low, High: test.high}})
		if verdict != test.verdict || word != test.word {
			t.Errorf("%s: %s, %s; want %s, %s", name, verdict, word, test.verdict, test.word)
		}
	}
}

func TestPercent(t *testing.T) {
	for ratio, want := range map[float64]float64{1: 0, 1.5: 50, 0.75: -25, 0: -100} {
		if got := Percent(ratio); got != want {
			t.Errorf("%g: %g%%, want %g%%", ratio, got, want)
		}
	}
}
