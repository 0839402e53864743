package benchmark

import (
	"math"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// Blocks returns the smallest and the largest number of blocks of a round: 0 for both if it only searches for
// capacities.
func Blocks(spec *v1alpha1.BenchmarkSpec) (least, most int) {
	p := Planner{Spec: spec}
	return p.bounds()
}

// Phrase returns a conclusion in the words of reports: "better", "worse", "no difference", "can't tell yet"
// or "incomparable".
func Phrase(word v1alpha1.EffectWord) string {
	for phrase, w := range words {
		if w == word {
			return string(phrase)
		}
	}
	return "incomparable"
}

// Ranked returns effects with those of the gate first, of these the worst.
func Ranked(effects []Effect) []Effect { return ranked(effects) }

// Values returns a figure of a cell in each whole block of the round: NaN where the run doesn't have it.
func (r *Round) Values(cell int, metric v1alpha1.BenchmarkMetric) []float64 {
	values := make([]float64, r.Blocks)
	for i := range values {
		values[i] = math.NaN()
	}
	for i := range r.Runs {
		if run := &r.Runs[i]; run.counts() && run.Cell == cell && run.Number >= 0 && run.Number < r.Blocks {
			values[run.Number] = figure(run, metric)
		}
	}
	return values
}

// counts reports whether a run is a valid one of a block.
func (r *Run) counts() bool { return !r.Trial && r.Valid && !r.Ended.IsZero() }

// Percent formats a difference in percent with its sign and at most two decimals: "+12.3%".
func Percent(percent float64) string { return signed(percent) + "%" }

// Decimal formats a number with at most two decimals.
func Decimal(x float64) string { return decimal(x) }
