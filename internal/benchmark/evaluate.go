package benchmark

import (
	"cmp"
	"math"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/statistics"
)

// Evaluation has what the whole blocks of a round say.
type Evaluation struct {
	// Blocks is their number.
	Blocks int `json:"blocks"`
	// Estimates are by cell, then by metric.
	Estimates []Estimate `json:"estimates,omitempty"`
	// Effects are by cell, then in the order of the comparison's metrics.
	Effects []Effect `json:"effects,omitempty"`
	// Levels are by cell, then in the order of the load.
	Levels []LevelEstimate `json:"levels,omitempty"`
}

// Estimate is a cell's median of a metric over the runs, in the units of result.Metrics.
type Estimate struct {
	Cell   int                      `json:"cell"`
	Metric v1alpha1.BenchmarkMetric `json:"metric"`
	Median float64                  `json:"median"`
	// Low and High are the ends of the confidence interval; nil where the runs don't bound it.
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
	// Runs is the number of runs that have the figure.
	Runs int `json:"runs"`
}

// Effect is the difference of a cell from its baseline in one metric, in percent of the baseline.
type Effect struct {
	Cell             int                      `json:"cell"`
	Metric           v1alpha1.BenchmarkMetric `json:"metric"`
	Role             v1alpha1.MetricRole      `json:"role"`
	Better           v1alpha1.Direction       `json:"better"`
	TolerancePercent int32                    `json:"tolerancePercent"`
	// Percent is the estimate, LowPercent and HighPercent are the ends of the confidence interval; nil if
	// unknown, or where the runs don't bound the interval.
	Percent     *float64 `json:"percent,omitempty"`
	LowPercent  *float64 `json:"lowPercent,omitempty"`
	HighPercent *float64 `json:"highPercent,omitempty"`
	// ConfidencePercent is the coverage of the interval.
	ConfidencePercent float64 `json:"confidencePercent"`
	// P is the two-sided p value against no difference.
	P float64 `json:"p"`
	// DetectablePercent is the smallest difference to the worse that a round like this one finds in 4 of 5
	// cases; nil if it is unknown, or none is large enough.
	DetectablePercent *float64            `json:"detectablePercent,omitempty"`
	Word              v1alpha1.EffectWord `json:"word"`
	// Verdict is empty for metrics that are only reported.
	Verdict v1alpha1.BenchmarkVerdict `json:"verdict,omitempty"`
	// BlocksToDecide is the number of blocks that would probably decide an inconclusive gate; 0 if it is
	// unknown or not needed.
	BlocksToDecide int `json:"blocksToDecide,omitempty"`
	// DifferentTimes reports whether the baseline was measured at another time.
	DifferentTimes bool `json:"differentTimes,omitempty"`
	// Message says why runs are incomparable; empty otherwise.
	Message string `json:"message,omitempty"`
}

// Evaluate returns the estimates and effects of the whole blocks of a round. For each new number of blocks it
// takes up to a second of CPU time to simulate what would decide an inconclusive gate; Next does so at the
// end of a round only.
func (p *Planner) Evaluate(runs []Run) Evaluation {
	l := p.ledger(runs)
	return p.evaluate(l, l.wholeBlocks())
}

func (p *Planner) evaluate(l *ledger, blocks int) Evaluation {
	e := Evaluation{Blocks: blocks}
	if blocks == 0 {
		return e
	}
	mixed := p.mixed(l)
	for cell := range p.Cells {
		if mixed[cell] != "" {
			continue
		}
		for _, metric := range metricNames {
			if estimate, ok := p.estimate(l, blocks, cell, metric); ok {
				e.Estimates = append(e.Estimates, estimate)
			}
		}
		e.Levels = append(e.Levels, l.levels(blocks, cell, p.alpha())...)
	}
	if p.Spec.Comparison != nil {
		e.Effects = p.effects(l, blocks, mixed)
	}
	return e
}

var metricNames = func() (names []v1alpha1.BenchmarkMetric) {
	for name := range result.Metrics {
		names = append(names, v1alpha1.BenchmarkMetric(name))
	}
	slices.Sort(names)
	return names
}()

func (p *Planner) estimate(l *ledger, blocks, cell int, metric v1alpha1.BenchmarkMetric) (Estimate, bool) {
	values := l.values(blocks, cell, metric)
	known := 0
	for _, v := range values {
		if !math.IsNaN(v) {
			known++
		}
	}
	if IsBreakingPoint(metric) {
		return p.breakingPoint(values, known, cell, metric)
	}
	i, err := statistics.Median(values, p.alpha())
	if err != nil || known == 0 {
		return Estimate{}, false
	}
	return Estimate{Cell: cell, Metric: metric, Median: i.Estimate, Low: finite(i.Low), High: finite(i.High), Runs: known}, true
}

// values returns a figure of a cell in each of the first blocks.
func (l *ledger) values(blocks, cell int, metric v1alpha1.BenchmarkMetric) []float64 {
	values := make([]float64, blocks)
	for i := range values {
		values[i] = figure(l.blocks[i][cell].valid(), metric)
	}
	return values
}

// figure returns a figure of a run, or NaN if it has none.
func figure(r *Run, metric v1alpha1.BenchmarkMetric) float64 {
	if v, ok := r.Figures[metric]; ok && v >= 0 && !math.IsInf(v, 0) {
		return v
	}
	return math.NaN()
}

// finite returns nil for what JSON can't say.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// confidence returns the confidence of intervals in percent, and alpha the error rate of a single one.
func (p *Planner) confidence() float64 {
	if c := p.Spec.Comparison; c != nil {
		return float64(ptr.Deref(c.ConfidencePercent, 95))
	}
	return 95
}

func (p *Planner) alpha() float64 { return statistics.Alpha(p.confidence(), 1) }

func roleOf(m *v1alpha1.ComparedMetric) v1alpha1.MetricRole { return cmp.Or(m.Role, v1alpha1.RoleGate) }

// HigherIsBetter reports whether a higher figure of a metric is an improvement, unless the spec says otherwise.
func HigherIsBetter(metric v1alpha1.BenchmarkMetric) bool {
	switch metric {
	case v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond), v1alpha1.MetricBytesPerSecond, v1alpha1.MetricPagesPerSecond, v1alpha1.MetricRoundsPer10Seconds:
		return true
	}
	return IsBreakingPoint(metric)
}

func ruleOf(m *v1alpha1.ComparedMetric) statistics.Rule {
	better := statistics.Lower
	if HigherIsBetter(m.Name) {
		better = statistics.Higher
	}
	return statistics.Rule{
		Better:           cmp.Or(statistics.Direction(m.Better), better),
		TolerancePercent: float64(ptr.Deref(m.TolerancePercent, 5)),
	}
}

// compare compares a cell with its baseline.
func (p *Planner) compare(l *ledger, blocks, cell int, metric v1alpha1.BenchmarkMetric) (statistics.Comparison, error) {
	candidate := l.values(blocks, cell, metric)
	if p.rerun() {
		return statistics.Paired(l.values(blocks, p.Cells[cell].Baseline, metric), candidate)
	}
	stored := p.Stored[p.Cells[cell].Name]
	baseline := make([]float64, len(stored))
	for i := range stored {
		baseline[i] = figure(&stored[i], metric)
	}
	return statistics.Unpaired(baseline, candidate)
}

func (p *Planner) effects(l *ledger, blocks int, mixed []string) []Effect {
	gate := statistics.Alpha(p.confidence(), p.comparisons())
	var effects []Effect
	var reported []int // positions of those that are only reported
	var comparisons []statistics.Comparison
	for cell := range p.Cells {
		if !p.compared(cell) {
			continue
		}
		message := mixed[cell]
		if message == "" && !p.rerun() {
			message = p.mixedWithStored(cell, l.blocks[0][cell].valid())
		}
		for i := range p.Spec.Comparison.Metrics {
			m := &p.Spec.Comparison.Metrics[i]
			rule := ruleOf(m)
			e := Effect{
				Cell: cell, Metric: m.Name, Role: roleOf(m), Better: v1alpha1.Direction(rule.Better),
				TolerancePercent: int32(rule.TolerancePercent), DifferentTimes: !p.rerun(), Message: message,
			}
			var c statistics.Comparison
			if message == "" {
				var err error
				if c, err = p.compare(l, blocks, cell, m.Name); err != nil {
					e.Message = err.Error() // more runs than intervals are computed of
				}
			}
			if e.Message == "" && e.Role == v1alpha1.RoleReport {
				reported = append(reported, len(effects))
			}
			effects, comparisons = append(effects, e), append(comparisons, c)
		}
	}
	p.decideReported(effects, comparisons, reported)
	for i := range effects {
		switch e := &effects[i]; {
		case e.Message != "":
			e.Word = v1alpha1.EffectIncomparable
			if e.Role == v1alpha1.RoleGate {
				e.Verdict = v1alpha1.BenchmarkInconclusive
			}
		case e.Role == v1alpha1.RoleGate:
			e.decide(comparisons[i], gate, gate)
		}
	}
	return effects
}

// decideReported decides about the effects that are only reported. Their intervals share a false discovery
// rate, and never gate.
func (p *Planner) decideReported(effects []Effect, comparisons []statistics.Comparison, reported []int) {
	ps := make([]float64, len(reported))
	for i, at := range reported {
		ps[i] = comparisons[at].P()
	}
	for i, alpha := range statistics.FalseDiscovery(ps, p.alpha()) {
		effects[reported[i]].decide(comparisons[reported[i]], alpha, p.alpha())
	}
}

// maxBlocksToDecide is the largest number of blocks that a round can have.
const maxBlocksToDecide = 100

// decide sets what a comparison says. detectable is the error rate with which other rounds would find an
// effect.
func (e *Effect) decide(c statistics.Comparison, alpha, detectable float64) {
	rule := statistics.Rule{Better: statistics.Direction(e.Better), TolerancePercent: float64(e.TolerancePercent)}
	effect := c.Effect(alpha)
	verdict, word := rule.Decide(effect)
	e.Word, e.P, e.ConfidencePercent = words[word], effect.P, 100*effect.Confidence
	e.Percent = finite(statistics.Percent(effect.Estimate))
	e.LowPercent, e.HighPercent = finite(statistics.Percent(effect.Low)), finite(statistics.Percent(effect.High))
	if effect.Confidence == 1 { // too few blocks: a ratio from 0 to infinity
		e.LowPercent, e.HighPercent = nil, nil
	}
	if least := c.MinimalEffect(detectable, rule); least > 0 {
		e.DetectablePercent = finite(math.Abs(statistics.Percent(least)))
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

// narrow reports whether the intervals of repetitions.until.metric are as narrow as it asks for: of the
// differences of all compared cells if it is one of the comparison's metrics, else of the medians of all cells.
// It doesn't depend on where an interval lies, so that stopping favors no conclusion.
func (p *Planner) narrow(l *ledger, blocks int) bool {
	until := p.Spec.Repetitions.Until
	if until == nil {
		return false
	}
	var metric *v1alpha1.ComparedMetric
	if c := p.Spec.Comparison; c != nil {
		if i := slices.IndexFunc(c.Metrics, func(m v1alpha1.ComparedMetric) bool { return m.Name == until.Metric }); i >= 0 {
			metric = &c.Metrics[i]
		}
	}
	alpha := p.alpha()
	if metric != nil && roleOf(metric) == v1alpha1.RoleGate {
		alpha = statistics.Alpha(p.confidence(), p.comparisons())
	}
	for cell := range p.Cells {
		var i statistics.Interval
		switch {
		case metric == nil:
			var err error
			if i, err = statistics.Median(l.values(blocks, cell, until.Metric), alpha); err != nil {
				return false
			}
		case p.compared(cell):
			c, err := p.compare(l, blocks, cell, until.Metric)
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
