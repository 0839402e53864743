package round

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/statistics"
)

// maxConclusions is the largest number of effects, and of changes of level, that have sentences; the tables have all.
const maxConclusions = 6

// Document returns the report: the verdict and what it is made of, the metrics of the cells, and at last the conditions. Pages
// have the same with plots.
func (r *Report) Document() *doc.Document {
	d := &doc.Document{
		Title: fmt.Sprintf("Benchmark %s/%s, round %d", r.Namespace, r.Benchmark, r.Number), Verdict: doc.Verdict{Tone: cmp.Or(tones[r.Verdict], doc.Unsure), Text: headline(r.Round)},
		Remarks: []string{r.Message}, Notes: r.Notes,
	}
	sentences := r.Sentences()
	d.Sentences = sentences[:min(len(sentences), maxConclusions)]
	if more := len(sentences) - maxConclusions; more > 0 {
		d.Sentences = append(d.Sentences, doc.Sentence{Text: fmt.Sprintf("%d more are in the table.", more)})
	}
	if text := r.CountsAsFailed(); text != "" {
		d.Sentences = append(d.Sentences, doc.Sentence{Text: text})
	}
	d.Add(r.claimsSection(), r.explorationSection(), r.cellsSection(), r.breakingPoints(), r.peaks(), r.levelsSection(), r.capacitiesSection(), r.trendSection(), r.warningsSection(), r.invalidSection())
	d.Add(doc.Section{ID: "conditions", Title: "Conditions", Question: "Under which conditions, and in which order?", Blocks: []doc.Block{doc.Facts{Facts: r.Conditions(), Listed: true}}})
	return d
}

// invalidSection has the runs that have no valid result.
func (r *Report) invalidSection() doc.Section {
	runs := slices.DeleteFunc(slices.Clone(r.Runs), func(run benchmark.Run) bool { return run.Valid || run.Ended.IsZero() })
	if len(runs) == 0 {
		return doc.Section{}
	}
	slices.SortFunc(runs, func(a, b benchmark.Run) int { return strings.Compare(a.Name, b.Name) })
	return doc.Section{ID: "invalid", Title: "Invalid runs", Question: "Which runs don't count, and why?", Blocks: []doc.Block{
		doc.Paragraph{"Their metrics are nowhere above."},
		doc.TableOf("Invalid runs", runs, doc.Word("run", func(run *benchmark.Run) string { return run.Name }), doc.Word("cell", func(run *benchmark.Run) string { return r.Cells[run.Cell].Name }),
			doc.Word("reason", func(run *benchmark.Run) string { return cmp.Or(run.Message, "unknown") })),
	}}
}

// claimsSection has the claims, those of the gate included, with their answers.
func (r *Report) claimsSection() doc.Section {
	rows := r.claimRows()
	if len(rows) == 0 {
		return doc.Section{}
	}
	s := doc.Section{ID: "claims", Title: "Claims", Question: "What was asked, and what is the answer?", Blocks: []doc.Block{
		doc.Paragraph{r.spent() + " A round like this one finds a difference of the size in the column \"detectable\" in 4 of 5 cases."},
		effectsTable("Claims", rows, claimField, statementField, differenceField, intervalField, verdictField, detectableField, blocksField),
	}}
	for _, m := range r.ClaimsByMetric() {
		s.Add(doc.Plot{Drawing: &forest{m}})
	}
	return s
}

// spent says with which confidence claims are answered, and how many blocks it took.
func (r *Report) spent() string {
	text := fmt.Sprintf("All verdicts together are right with a confidence of %d%%.", r.Confidence())
	least, most := blocks.Bounds(&r.Spec)
	switch {
	case r.ClaimErrorPercent == 0: // the status doesn't have it, or no interval exists
	case r.Blocks >= least && least < most:
		text += fmt.Sprintf(" The round looked after each block from %d on, and ended with %d of at most %d: for all looks together to have that confidence, each interval has %s%%.",
			least, r.Blocks, most, number.Significant(100-r.ClaimErrorPercent))
	default:
		text += fmt.Sprintf(" Each interval has %s%%.", number.Significant(100-r.ClaimErrorPercent))
	}
	return text
}

// explorationSection has the effects about which nobody claimed anything.
func (r *Report) explorationSection() doc.Section {
	rows, few := r.effectRows()
	if len(r.Effects) == 0 {
		return doc.Section{}
	}
	s := doc.Section{ID: "exploration", Title: "Exploration", Question: "What else differs?"}
	if len(rows) > 0 {
		s.Add(doc.Paragraph{"No claim is about these differences: they decide nothing. " + misses(r.Effects, r.Confidence())},
			effectsTable("Exploration", rows, cellField, baselineField, metricField, differenceField, intervalField, detectableField))
	}
	if few > 0 {
		s.Add(doc.Paragraph{fmt.Sprintf("%s without an interval may be noise alone, and stand in no table. %s", number.Plural(few, "difference"), r.needs())})
	}
	return s
}

// needs says what would give an interval.
func (r *Report) needs() string {
	return fmt.Sprintf("The round has %s: with %d or more (repetitions.min), each has an interval of %d%%.",
		number.Plural(r.Blocks, "whole block"), statistics.MinBlocks(statistics.Alpha(float64(r.Confidence()), 1)), r.Confidence())
}

// misses says how many intervals of effects miss the true difference, of which each has a confidence by itself.
func misses(effects []benchmark.Effect, confidence int32) string {
	n := 0
	for i := range effects {
		if effects[i].LowPercent != nil || effects[i].HighPercent != nil {
			n++
		}
	}
	if n == 0 {
		return "None has an interval."
	}
	text := fmt.Sprintf("Each interval has a confidence of %d%% by itself: ", confidence)
	if missed := float64(n) * float64(100-confidence) / 100; missed >= 1 {
		return text + fmt.Sprintf("of %d such intervals about %s miss the true difference.", n, number.Fixed(missed, 0))
	}
	return text + fmt.Sprintf("about one such interval in %s misses the true difference.", number.Fixed(100/float64(100-confidence), 0))
}

// cellsSection has the medians of each cell in the metrics that are compared and in the default ones.
func (r *Report) cellsSection() doc.Section {
	if len(r.Estimates) == 0 {
		return doc.Section{}
	}
	metrics := r.Compared()
	for _, m := range defaultMetrics {
		if !slices.Contains(metrics, m) {
			metrics = append(metrics, m)
		}
	}
	text := fmt.Sprintf("Medians over the runs of %s, with intervals that hold the true median with a confidence of %d%% each.", number.Plural(r.Blocks, "block"), r.Confidence())
	if !slices.ContainsFunc(r.Estimates, func(e benchmark.Estimate) bool { return e.Low != nil && e.High != nil }) {
		text = "Medians without intervals: how much the next round would differ is not known. " + r.needs()
	}
	return doc.Section{ID: "cells", Title: "Cells", Question: "What are the medians of each cell?", Blocks: []doc.Block{
		doc.Paragraph{text},
		r.medians("Medians of all cells", columnsOf(metrics, Heading), true),
	}}
}

// maxLevelRows is the largest number of levels in a report for people. The tables by axes have all.
const maxLevelRows = 200

// levelsSection has what each cell measured while a level was held.
func (r *Report) levelsSection() doc.Section {
	if len(r.Levels) == 0 {
		return doc.Section{}
	}
	s := doc.Section{ID: "levels", Title: "Levels", Question: "How does it take more load?", Blocks: []doc.Block{
		doc.Paragraph{"Medians of the requests that completed while a level was held, over the runs that came to it. Failures count where the request began. CPU and idle are in percent of what the target may use."},
	}}
	shown := r.Levels[:min(len(r.Levels), maxLevelRows)]
	if more := len(r.Levels) - len(shown); more > 0 {
		s.Add(doc.Paragraph{fmt.Sprintf("%d more are in the JSON and in \"kubectl assay table benchmark/%s --pivot level,AXIS\".", more, r.Benchmark)})
	}
	columns := levelColumns
	if HasPages(r.Round) {
		columns = slices.Concat(pageColumns, columns)
	}
	s.Add(r.levelsTable(shown, columns, func(_ *benchmark.LevelEstimate, metric v1alpha1.BenchmarkMetric, median float64) string {
		return Value(metric, median)
	}))
	return s
}

// capacitiesSection has the results of the capacity searches.
func (r *Report) capacitiesSection() doc.Section {
	if len(r.Capacities) == 0 {
		return doc.Section{}
	}
	s := doc.Section{ID: "capacity", Title: "Capacities", Question: "What does it sustain?"}
	if c := r.Spec.Capacity; c != nil {
		s.Add(doc.Paragraph{fmt.Sprintf("The largest value of %s that was sustained, and the smallest above it that was not. The other metrics are those at the sustained load.", c.Path)})
	}
	s.Add(r.capacitiesTable())
	return s
}

// maxTrendColumns is the largest number of rounds in the table of the trend; pages and the JSON have all.
const maxTrendColumns = 8

// trendSection has the medians of the last rounds, and where their level changed.
func (r *Report) trendSection() doc.Section {
	if r.Trend == nil || len(r.Trend.Rounds) < minTrendRounds {
		return doc.Section{}
	}
	from := max(0, len(r.Trend.Rounds)-maxTrendColumns)
	text := fmt.Sprintf("Medians of the last %s of %d, the newest last. A change of level decides nothing.", number.Plural(len(r.Trend.Rounds)-from, "round"), len(r.Trend.Rounds))
	changes := r.TrendChanges()
	if len(changes) == 0 {
		text += " None was found."
	}
	if more := len(changes) - maxConclusions; more > 0 {
		changes = append(changes[:maxConclusions], fmt.Sprintf("%d more are in the output as JSON.", more))
	}
	return doc.Section{ID: "trend", Title: "Trend", Question: "Did the level change over the rounds?", Blocks: []doc.Block{doc.Paragraph{text}, changes, r.TrendTable(from)}}
}
