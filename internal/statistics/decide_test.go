package statistics

import "testing"

func TestDecide(t *testing.T) {
	notHigher, notLower := Region{High: 1.05}, Region{Low: 0.95, High: inf} // gate metrics with a tolerance of 5%
	lower, higher := Region{High: 1, Open: true}, Region{Low: 1, High: inf, Open: true}
	tenLower, same := Region{High: 0.9}, Region{Low: 0.95, High: 1.05}
	for name, test := range map[string]struct {
		region    Region
		low, high float64
		want      Verdict
	}{
		"slower":                           {notHigher, 1.06, 1.2, Contradicted},
		"from within to beyond":            {notHigher, 1.04, 1.2, Undecided},
		"starts at the bound":              {notHigher, 1.05, 1.2, Undecided},
		"ends at the bound":                {notHigher, 0.97, 1.05, Confirmed},
		"faster":                           {notHigher, 0.5, 0.9, Confirmed},
		"unbounded":                        {notHigher, 0, inf, Undecided},
		"less throughput":                  {notLower, 0.80, 0.94, Contradicted},
		"5% down is the bound":             {notLower, 0.80, 0.95, Undecided},
		"not 1/1.05":                       {notLower, 0.951, 1.04, Confirmed},
		"more throughput, without an end":  {notLower, 1, inf, Confirmed},
		"throughput unbounded":             {notLower, 0, inf, Undecided},
		"new errors":                       {notHigher, inf, inf, Contradicted},
		"perhaps new errors":               {notHigher, 1, inf, Undecided},
		"errors are gone":                  {notHigher, 0, 0, Confirmed},
		"throughput is gone":               {notLower, 0, 0, Contradicted},
		"rounded, at the high bound":       {notHigher, 1.05 + 1e-12, 1.05 + 1e-12, Confirmed},
		"rounded, at the low bound":        {notLower, 0.95 - 1e-12, 0.95 - 1e-12, Confirmed},
		"lower":                            {lower, 0.9, 0.999, Confirmed},
		"lower or the same":                {lower, 0.9, 1, Undecided},
		"the same isn't lower":             {lower, 1, 1, Contradicted},
		"the same or higher isn't lower":   {lower, 1, 1.2, Contradicted},
		"lower, all gone":                  {lower, 0, 0, Confirmed},
		"lower, unbounded":                 {lower, 0, inf, Undecided},
		"higher":                           {higher, 1.001, inf, Confirmed},
		"the same isn't higher":            {higher, 1, 1, Contradicted},
		"the same or higher":               {higher, 1, 1.1, Undecided},
		"10% lower":                        {tenLower, 0.8, 0.9, Confirmed},
		"perhaps 10% lower":                {tenLower, 0.8, 0.91, Undecided},
		"lower, but not 10%":               {tenLower, 0.91, 0.95, Contradicted},
		"the same":                         {same, 0.95, 1.05, Confirmed},
		"the same, but not 1":              {same, 1.01, 1.04, Confirmed},
		"perhaps the same":                 {same, 0.94, 1.04, Undecided},
		"more than the same on both sides": {same, 0.5, 2, Undecided},
		"not the same, lower":              {same, 0.9, 0.94, Contradicted},
		"not the same, higher":             {same, 1.06, inf, Contradicted},
	} {
		if got := test.region.Decide(Interval{Low: test.low, High: test.high}); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

func TestEdge(t *testing.T) {
	for name, test := range map[string]struct {
		region Region
		bound  float64
		above  bool
	}{
		"at most 5% higher":   {Region{High: 1.05}, 1.05, true},
		"not higher":          {Region{High: 1}, 1, true},
		"lower":               {Region{High: 1, Open: true}, 1, false},
		"at least 10% lower":  {Region{High: 0.9}, 0.9, false},
		"at most 5% lower":    {Region{Low: 0.95, High: inf}, 0.95, false},
		"not lower":           {Region{Low: 1, High: inf}, 1, false},
		"higher":              {Region{Low: 1, High: inf, Open: true}, 1, true},
		"at least twice":      {Region{Low: 2, High: inf}, 2, true},
		"the same within 5%":  {Region{Low: 0.95, High: 1.05}, 1.05, true},
		"nothing was claimed": {Region{Low: 1, High: 1}, 1, true},
	} {
		if bound, above := test.region.edge(); bound != test.bound || above != test.above {
			t.Errorf("%s: %g, %t", name, bound, above)
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
