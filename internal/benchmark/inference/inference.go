package inference

import (
	"cmp"
	"math"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/statistics"
)

// Evaluate returns the estimates and effects of the full blocks of a round. It takes up to a second of CPU time to
// simulate what would decide an inconclusive gate.
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

func ruleOf(m *v1alpha1.ComparedMetric) statistics.Rule {
	better := statistics.Lower
	if benchmark.HigherIsBetter(m.Name) {
		better = statistics.Higher
	}
	return statistics.Rule{
		Better:           cmp.Or(statistics.Direction(m.Better), better),
		TolerancePercent: float64(ptr.Deref(m.TolerancePercent, 5)),
	}
}

// compare compares a cell with its baseline.
func (d *Design) compare(l *blocks.Ledger, blocks, cell int, metric v1alpha1.BenchmarkMetric) (statistics.Comparison, error) {
	candidate := l.Values(blocks, cell, metric)
	if d.rerun() {
		return statistics.Paired(l.Values(blocks, d.Cells[cell].Baseline, metric), candidate)
	}
	stored := d.Stored[d.Cells[cell].Name]
	baseline := make([]float64, len(stored))
	for i := range stored {
		baseline[i] = stored[i].Metric(metric)
	}
	return statistics.Unpaired(baseline, candidate)
}

func (d *Design) effects(l *blocks.Ledger, blocks int, mixed []string) []benchmark.Effect {
	gate := statistics.Alpha(d.confidence(), d.comparisons())
	var effects []benchmark.Effect
	var reported []int // positions of those that are only reported
	var comparisons []statistics.Comparison
	for cell := range d.Cells {
		if !d.compared(cell) {
			continue
		}
		message := mixed[cell]
		if message == "" && !d.rerun() {
			message = d.mixedWithStored(cell, l.Blocks[0][cell].Valid())
		}
		for i := range d.Spec.Comparison.Metrics {
			m := &d.Spec.Comparison.Metrics[i]
			rule := ruleOf(m)
			e := benchmark.Effect{
				Cell: cell, Metric: benchmark.KeyOf(m), Role: benchmark.RoleOf(m), Better: v1alpha1.Direction(rule.Better),
				TolerancePercent: int32(rule.TolerancePercent), DifferentTimes: !d.rerun(), Message: message,
			}
			var c statistics.Comparison
			if message == "" {
				var err error
				if c, err = d.compare(l, blocks, cell, e.Metric); err != nil {
					e.Message = err.Error() // more runs than intervals are computed of
				}
			}
			if e.Message == "" && e.Role == v1alpha1.RoleReport {
				reported = append(reported, len(effects))
			}
			effects, comparisons = append(effects, e), append(comparisons, c)
		}
	}
	d.decideReported(effects, comparisons, reported)
	for i := range effects {
		switch e := &effects[i]; {
		case e.Message != "":
			e.Word = v1alpha1.EffectIncomparable
			if e.Role == v1alpha1.RoleGate {
				e.Verdict = v1alpha1.BenchmarkInconclusive
			}
		case e.Role == v1alpha1.RoleGate:
			decide(e, comparisons[i], gate, gate)
		}
	}
	return effects
}

// decideReported decides about the effects that are only reported. Their intervals share a false discovery
// rate, and never gate.
func (d *Design) decideReported(effects []benchmark.Effect, comparisons []statistics.Comparison, reported []int) {
	ps := make([]float64, len(reported))
	for i, at := range reported {
		ps[i] = comparisons[at].P()
	}
	for i, alpha := range statistics.FalseDiscovery(ps, d.alpha()) {
		decide(&effects[reported[i]], comparisons[reported[i]], alpha, d.alpha())
	}
}

// maxBlocksToDecide is the largest number of blocks that a round can have.
const maxBlocksToDecide = 100

// decide sets what a comparison says. detectable is the error rate with which other rounds would find an
// effect.
func decide(e *benchmark.Effect, c statistics.Comparison, alpha, detectable float64) {
	rule := statistics.Rule{Better: statistics.Direction(e.Better), TolerancePercent: float64(e.TolerancePercent)}
	effect := c.Effect(alpha)
	verdict, word := rule.Decide(effect)
	e.Word, e.P, e.ConfidencePercent = words[word], effect.P, 100*effect.Confidence
	e.Percent = statistics.Finite(statistics.Percent(effect.Estimate))
	e.LowPercent, e.HighPercent = statistics.Finite(statistics.Percent(effect.Low)), statistics.Finite(statistics.Percent(effect.High))
	if effect.Confidence == 1 { // too few blocks: a ratio from 0 to infinity
		e.LowPercent, e.HighPercent = nil, nil
	}
	if least := c.MinimalEffect(detectable, rule); least > 0 {
		e.DetectablePercent = statistics.Finite(math.Abs(statistics.Percent(least)))
	}
	if e.Role != v1alpha1.RoleGate {
		return
	}
	e.Verdict = verdicts[verdict]
	if verdict == statistics.Inconclusive && !math.IsNaN(c.Spread()) {
		if blocks, ok := c.BlocksToDecide(alpha, rule, maxBlocksToDecide); ok {
			e.BlocksToDecide = blocks
		}
	}
}

var words = map[statistics.Word]v1alpha1.EffectWord{
	statistics.Better:       v1alpha1.EffectBetter,
	statistics.Worse:        v1alpha1.EffectWorse,
	statistics.NoDifference: v1alpha1.EffectNoDifference,
	statistics.CantTell:     v1alpha1.EffectCannotTell,
}

var verdicts = map[statistics.Verdict]v1alpha1.BenchmarkVerdict{
	statistics.Passed:       v1alpha1.BenchmarkPassed,
	statistics.Failed:       v1alpha1.BenchmarkFailed,
	statistics.Inconclusive: v1alpha1.BenchmarkInconclusive,
}

// Narrow reports whether the intervals of repetitions.until.metric are as narrow as it asks for: of the
// differences of all compared cells if it is one of the comparison's metrics, else of the medians of all cells.
// It doesn't depend on where an interval lies, so that stopping favors no conclusion.
func (d *Design) Narrow(l *blocks.Ledger, blocks int) bool {
	until := d.Spec.Repetitions.Until
	if until == nil {
		return false
	}
	key := benchmark.MetricKey(until.Metric, until.Request)
	var metric *v1alpha1.ComparedMetric
	if c := d.Spec.Comparison; c != nil {
		if i := slices.IndexFunc(c.Metrics, func(m v1alpha1.ComparedMetric) bool { return benchmark.KeyOf(&m) == key }); i >= 0 {
			metric = &c.Metrics[i]
		}
	}
	alpha := d.alpha()
	if metric != nil && benchmark.RoleOf(metric) == v1alpha1.RoleGate {
		alpha = statistics.Alpha(d.confidence(), d.comparisons())
	}
	for cell := range d.Cells {
		var i statistics.Interval
		switch {
		case metric == nil:
			var err error
			if i, err = statistics.Median(l.Values(blocks, cell, key), alpha); err != nil {
				return false
			}
		case d.compared(cell):
			c, err := d.compare(l, blocks, cell, key)
			if err != nil {
				return false
			}
			i = c.Effect(alpha).Interval
		default:
			continue
		}
		if i.HalfWidthPercent() > float64(until.HalfWidthPercent) {
			return false
		}
	}
	return true
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
