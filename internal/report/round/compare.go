package round

import (
	"errors"
	"fmt"
	"slices"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/statistics"
)

// CompareOptions say what is compared.
type CompareOptions struct {
	// Metrics are those to compare. If empty, they are those that a round's own comparison names, and the default ones.
	Metrics []v1alpha1.BenchmarkMetric
	// ConfidencePercent is that of the intervals.
	ConfidencePercent int32
}

// ErrNoRuns means that a side of a comparison has no valid run, or that no cell is on both sides.
var ErrNoRuns = errors.New("nothing to compare")

// Compare compares two sides: rounds cell by cell, by the names of the cells, and any runs that were selected in
// another way with each of a round's cells.
func Compare(baseline, candidate Side, o CompareOptions) (*Comparison, error) {
	c := &Comparison{Baseline: baseline, Candidate: candidate, ConfidencePercent: o.ConfidencePercent}
	c.Notes = slices.Concat(baseline.Notes, candidate.Notes)
	pairs := c.pairs()
	if len(pairs) == 0 {
		return nil, fmt.Errorf("%w: %s and %s have no cell of the same name with valid runs. %s", ErrNoRuns, baseline.Name, candidate.Name, joined(c.Notes))
	}
	sets := make([]inference.Sets, len(pairs))
	for i := range pairs {
		p := &pairs[i]
		c.Cells = append(c.Cells, p.cell)
		sets[i] = inference.Sets{Cell: i, Baseline: p.baseline.Runs, Candidate: p.candidate.Runs}
	}
	c.Specs = c.merged(pairs, func(p *pair) []Difference { return differ(p.baseline.Specs, p.candidate.Specs, false) })
	c.Environments = c.merged(pairs, func(p *pair) []Difference {
		return differ(p.baseline.Environments, p.candidate.Environments, true)
	})
	if c.Refusal = refusal(baseline.Name, candidate.Name, pairs); c.Refusal != "" {
		c.Effects = []ComparedEffect{}
		return c, nil
	}
	for _, e := range inference.CompareSets(sets, metricsToCompare(&baseline, &candidate, o), o.ConfidencePercent) {
		c.Effects = append(c.Effects, compared(e, &pairs[e.Cell]))
	}
	if len(c.Effects) == 0 {
		return nil, fmt.Errorf("%w: no run has one of the metrics", ErrNoRuns)
	}
	c.noteMachines(pairs)
	c.noteFewRuns()
	return c, nil
}

// CompareAll compares sides with the first one. One that has nothing to compare says so, unless it is the only one.
func CompareAll(sides []Side, results []*result.Result, o CompareOptions) (*Comparison, error) {
	var all []*Comparison
	for i := 1; i < len(sides); i++ {
		c, err := Compare(sides[0], sides[i], o)
		switch {
		case errors.Is(err, ErrNoRuns) && len(sides) == 2:
			return NotCompared(sides[0], sides[i], err.Error()), err
		case errors.Is(err, ErrNoRuns):
			c = NotCompared(sides[0], sides[i], err.Error())
		case err != nil:
			return nil, err
		}
		c.Results = [2]*result.Result{results[0], results[i]}
		all = append(all, c)
	}
	all[0].Others = all[1:]
	return all[0], nil
}

// metricsToCompare returns the metrics: those that the candidate's comparison has or, if it names none, the baseline's, and the
// default ones.
func metricsToCompare(baseline, candidate *Side, o CompareOptions) []v1alpha1.BenchmarkMetric {
	if len(o.Metrics) > 0 {
		return o.Metrics
	}
	names := candidate.Compared
	if len(names) == 0 {
		names = baseline.Compared
	}
	names = slices.Clone(names)
	for _, m := range append(slices.Clone(defaultMetrics), v1alpha1.MetricTargetPeakMemory) {
		if !slices.Contains(names, m) {
			names = append(names, m)
		}
	}
	return names
}

func compared(e benchmark.Effect, p *pair) ComparedEffect {
	c := ComparedEffect{Effect: e}
	c.BaselineMedian, c.BaselineRuns = median(p.baseline.Runs, e.Metric)
	c.CandidateMedian, c.CandidateRuns = median(p.candidate.Runs, e.Metric)
	return c
}

// median returns the median of a metric, and of how many runs it is; 0 without any.
func median(runs []benchmark.Run, metric v1alpha1.BenchmarkMetric) (float64, int) {
	values := inference.MetricsIn(runs, metric)
	i, err := statistics.Median(values, 0.05)
	if err != nil {
		return 0, 0
	}
	return i.Estimate, len(values)
}

// merged returns the differences of all pairs, those that are the same in several cells once.
func (c *Comparison) merged(pairs []pair, differences func(*pair) []Difference) []Difference {
	all := []Difference{}
	for i := range pairs {
		for _, d := range differences(&pairs[i]) {
			at := slices.IndexFunc(all, func(other Difference) bool {
				return other.Path == d.Path && other.Baseline == d.Baseline && other.Candidate == d.Candidate
			})
			if at < 0 {
				at, all = len(all), append(all, d)
			}
			if pairs[i].cell != "" {
				all[at].Cells = append(all[at].Cells, pairs[i].cell)
			}
		}
	}
	return all
}

// noteFewRuns says how many runs intervals need, if there are too few.
func (c *Comparison) noteFewRuns() {
	least, few := 0, false
	for i := range c.Effects {
		e := &c.Effects[i]
		if e.Percent != nil && e.LowPercent == nil && e.HighPercent == nil {
			few = true
		}
		if n := min(e.BaselineRuns, e.CandidateRuns); i == 0 || n < least {
			least = n
		}
	}
	if !few {
		return
	}
	alpha := statistics.Alpha(float64(c.ConfidencePercent), 1)
	need := 2
	for statistics.MinRuns(alpha, need) > need {
		need++
	}
	text := fmt.Sprintf("%s on a side are too few for an interval: such a difference may be noise alone.", number.Plural(least, "run"))
	if least == 1 {
		text = "A single run on a side says nothing about noise: such a difference may be noise alone."
	}
	c.Notes = append(c.Notes, fmt.Sprintf("%s For %d%% confidence make at least %d runs on each side.", text, c.ConfidencePercent, need))
}
