package inference

import (
	"math"
	"slices"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/statistics"
)

// Evaluate returns the estimates, answers and effects of the full blocks of a round. It takes up to a second of CPU time to
// simulate what would decide a claim.
func (d *Design) Evaluate(l *blocks.Ledger) benchmark.Evaluation {
	blocks := l.Full()
	e := benchmark.Evaluation{Blocks: blocks}
	if blocks == 0 {
		return e
	}
	mixed, metrics := d.Mixed(l), slices.Concat(benchmark.MetricNames, benchmark.RequestMetrics(d.Spec))
	for cell := range d.Cells {
		if mixed[cell] != "" {
			continue
		}
		for _, metric := range metrics {
			if estimate, ok := d.estimate(l, blocks, cell, metric); ok {
				e.Estimates = append(e.Estimates, estimate)
			}
		}
		e.Levels = append(e.Levels, levels(l, blocks, cell, d.alpha())...)
	}
	e.Claims, e.ClaimErrorPercent = d.answers(l, blocks, mixed)
	if d.Spec.Comparison != nil {
		e.Effects = d.effects(l, blocks, mixed)
	}
	return e
}

func (d *Design) estimate(l *blocks.Ledger, blocks, cell int, metric v1alpha1.BenchmarkMetric) (benchmark.Estimate, bool) {
	values := l.Values(blocks, cell, metric)
	known := 0
	for _, v := range values {
		if !math.IsNaN(v) {
			known++
		}
	}
	if benchmark.IsBreakingPoint(metric) {
		return d.breakingPoint(values, known, cell, metric)
	}
	i, err := statistics.Median(values, d.alpha())
	if err != nil || known == 0 {
		return benchmark.Estimate{}, false
	}
	return benchmark.Estimate{Cell: cell, Metric: metric, Median: i.Estimate, Low: statistics.Finite(i.Low), High: statistics.Finite(i.High), Runs: known}, true
}

// compare compares a cell with another or, if that is cells.NoBaseline, with stored runs.
func (d *Design) compare(l *blocks.Ledger, blocks, cell, than int, metric v1alpha1.BenchmarkMetric, level int) (statistics.Comparison, error) {
	candidate := valuesOf(l, blocks, cell, metric, level)
	if than != cells.NoBaseline {
		return statistics.Paired(valuesOf(l, blocks, than, metric, level), candidate)
	}
	stored := d.Stored[d.Cells[cell].Name]
	baseline := make([]float64, len(stored))
	for i := range stored {
		baseline[i] = stored[i].Metric(metric)
	}
	return statistics.Unpaired(baseline, candidate)
}

// answers returns the claims with their answers, and the error rate of each in percent.
func (d *Design) answers(l *blocks.Ledger, blocks int, mixed []string) ([]benchmark.Claim, float64) {
	claims, err := d.Claims()
	if err != nil || len(claims) == 0 { // no round begins with claims that are wrong
		return nil, 0
	}
	nominal := d.nominal(len(claims), blocks)
	for i := range claims {
		c := &claims[i]
		c.Verdict = v1alpha1.ClaimUndecided
		if c.Message = mixed[c.Cell]; c.Message == "" && c.Than == cells.NoBaseline {
			c.Message = d.mixedWithStored(c.Cell, l.Blocks[0][c.Cell].Valid())
		}
		if c.Message != "" {
			continue
		}
		compared, err := d.compare(l, blocks, c.Cell, c.Than, c.Metric, c.Level)
		if err != nil {
			c.Message = err.Error() // more runs than intervals are computed of
			continue
		}
		region := c.Region()
		c.Verdict = v1alpha1.ClaimVerdict(region.Decide(set(&c.Effect, compared, nominal, region)))
		if c.Verdict == v1alpha1.ClaimUndecided && !math.IsNaN(compared.Spread()) {
			if blocks, ok := compared.BlocksToDecide(nominal, region, maxBlocksToDecide); ok {
				c.BlocksToDecide = blocks
			}
		}
	}
	return claims, 100 * nominal
}

// Decided reports whether the first blocks decide every claim, of the spec and of the gate. Stored runs are compared once, at
// the end.
func (d *Design) Decided(l *blocks.Ledger, blocks int) bool {
	claims, err := d.Claims()
	if err != nil {
		return false
	}
	nominal := d.nominal(len(claims), blocks)
	return !slices.ContainsFunc(claims, func(c benchmark.Claim) bool {
		compared, err := d.compare(l, blocks, c.Cell, c.Than, c.Metric, c.Level)
		return err != nil || c.Region().Decide(compared.Effect(nominal).Interval) == statistics.Undecided
	})
}

// effects returns the differences that are only reported. Each interval has the confidence of the Benchmark by itself.
func (d *Design) effects(l *blocks.Ledger, blocks int, mixed []string) []benchmark.Effect {
	var effects []benchmark.Effect
	for cell := range d.Cells {
		if !d.compared(cell) {
			continue
		}
		message, than := mixed[cell], cells.NoBaseline
		if d.rerun() {
			than = d.Cells[cell].Baseline
		} else if message == "" {
			message = d.mixedWithStored(cell, l.Blocks[0][cell].Valid())
		}
		for i := range d.Spec.Comparison.Metrics {
			m := &d.Spec.Comparison.Metrics[i]
			if benchmark.RoleOf(m) != v1alpha1.RoleReport {
				continue
			}
			e := benchmark.Effect{Cell: cell, Metric: benchmark.KeyOf(m), DifferentTimes: !d.rerun(), Message: message}
			if message == "" {
				if c, err := d.compare(l, blocks, cell, than, e.Metric, 0); err != nil {
					e.Message = err.Error() // more runs than intervals are computed of
				} else {
					set(&e, c, d.alpha(), anyDifference)
				}
			}
			effects = append(effects, e)
		}
	}
	return effects
}

// anyDifference is the region of effects that nobody claimed something about.
var anyDifference = statistics.Region{Low: 1, High: 1}

// maxBlocksToDecide is the largest number of blocks that a round can have.
const maxBlocksToDecide = 100

// set sets what a comparison says, and returns its interval. region is that of which an end is to be found.
func set(e *benchmark.Effect, c statistics.Comparison, alpha float64, region statistics.Region) statistics.Interval {
	effect := c.Effect(alpha)
	e.P, e.ConfidencePercent = effect.P, 100*effect.Confidence
	e.Percent = statistics.Finite(statistics.Percent(effect.Estimate))
	e.LowPercent, e.HighPercent = statistics.Finite(statistics.Percent(effect.Low)), statistics.Finite(statistics.Percent(effect.High))
	if effect.Confidence == 1 { // too few blocks: a ratio from 0 to infinity
		e.LowPercent, e.HighPercent = nil, nil
	}
	if least := c.MinimalEffect(alpha, region); least > 0 {
		e.DetectablePercent = statistics.Finite(math.Abs(statistics.Percent(least)))
	}
	return effect.Interval
}
