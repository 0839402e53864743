// Package roundpage makes pages of what a round of a Benchmark says, and of what compare says. The words, tables and
// pictures are those of packages round and chart; this package arranges them.
package roundpage

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/round"
)

const (
	// maxSentences is the largest number of sentences of the answer, and of remarks; the tables have all effects.
	maxSentences = 8
	// fewMetrics is the number of metrics of a table that fits into a page.
	fewMetrics = 4
)

// Write writes the report of a round as a page. The same report always gives the same bytes.
func Write(w io.Writer, r *round.Report) error { return html.Write(w, Document(r)) }

// Document returns the report of a round for a page.
func Document(r *round.Report) *doc.Document {
	d := &doc.Document{
		Title: fmt.Sprintf("Benchmark %s/%s, round %d", r.Namespace, r.Benchmark, r.Number), Verdict: doc.Verdict{Tone: toneOf(r.Verdict), Text: r.Headline()},
		Notes: r.Notes, Metrics: restsOn(r),
	}
	answer(d, r)
	if r.Verdict != v1alpha1.BenchmarkError {
		d.Add(effectsSection(r.EffectsByMetric(), deciding))
	}
	if r.Spec.Comparison == nil || len(r.Cells) > fewCells {
		d.Add(gridSection(r), runsSection(r)) // what answers comes first
	} else {
		d.Add(runsSection(r), gridSection(r))
	}
	d.Add(levelsSection(r), capacitySection(r), trendSection(r), cellsSection(r), decisionSection(r), specSection(r))
	return d
}

// answer sets what the round says in sentences.
func answer(d *doc.Document, r *round.Report) {
	if r.Verdict != v1alpha1.BenchmarkError {
		sentences := r.Sentences()
		d.Sentences = sentences[:min(len(sentences), maxSentences)]
		if len(sentences) > 0 && strings.Contains(strings.ToLower(d.Verdict.Text), strings.ToLower(sentences[0].Lead)) {
			sentences[0].Lead = "" // the verdict has it
		}
		if more := len(sentences) - maxSentences; more > 0 {
			d.Remarks = append(d.Remarks, fmt.Sprintf("%d more effects of the gate are below.", more))
		}
	}
	// The message of a round that was completed repeats the sentences.
	if r.Message != "" && (len(d.Sentences) == 0 || r.Reason != benchmark.ReasonCompleted) {
		d.Remarks = append(d.Remarks, r.Message)
	}
	for i := range r.Capacities {
		d.Remarks = append(d.Remarks, r.Sustains(&r.Capacities[i]))
	}
	if more := len(d.Remarks) - maxSentences; more > 0 {
		d.Remarks = append(d.Remarks[:maxSentences], fmt.Sprintf("%d more are below.", more))
	}
	if text := r.CountsAsFailed(); text != "" {
		d.Remarks = append(d.Remarks, text)
	}
}

// restsOn returns what the answer rests on.
func restsOn(r *round.Report) []doc.Fact {
	valid, runs := 0, 0
	for i := range r.Runs {
		if run := &r.Runs[i]; !run.Ended.IsZero() {
			runs++
			if run.Valid {
				valid++
			}
		}
	}
	facts := []doc.Fact{{Name: "blocks", Value: fmt.Sprint(r.Blocks)}, {Name: "cells", Value: fmt.Sprint(len(r.Cells))}}
	if runs > 0 {
		facts = append(facts, doc.Fact{Name: "valid runs", Value: fmt.Sprintf("%d of %d", valid, runs)})
	}
	facts = append(facts, doc.Fact{Name: "confidence", Value: fmt.Sprintf("%d%%", r.Confidence())})
	if ended := date(r.Ended); ended != "" {
		facts = append(facts, doc.Fact{Name: "ended", Value: ended})
	}
	return facts
}

// cellsSection has the medians of all cells, those of the metrics that pictures show first.
func cellsSection(r *round.Report) doc.Section {
	var metrics []v1alpha1.BenchmarkMetric
	for i := range r.Estimates {
		if m := r.Estimates[i].Metric; !slices.Contains(metrics, m) {
			metrics = append(metrics, m)
		}
	}
	if len(metrics) == 0 {
		return doc.Section{}
	}
	first := r.Metrics()
	rank := func(m v1alpha1.BenchmarkMetric) int {
		if at := slices.Index(first, m); at >= 0 {
			return at
		}
		return len(first)
	}
	slices.SortStableFunc(metrics, func(a, b v1alpha1.BenchmarkMetric) int { return cmp.Compare(rank(a), rank(b)) })
	few := min(len(metrics), fewMetrics)
	s := doc.Section{ID: "cells", Title: "Cells", Question: "What are the figures of each cell?", Blocks: []doc.Block{r.MediansOver(), r.Medians("Medians of all cells", metrics[:few])}}
	if few < len(metrics) {
		const title = "Medians of all cells in other metrics"
		s.Add(doc.Group{Title: title, Folded: true, Blocks: []doc.Block{r.Medians(title, metrics[few:])}})
	}
	return s
}

// decisionSection says how the round came to its verdict, and under which conditions.
func decisionSection(r *round.Report) doc.Section {
	facts := append([]doc.Fact{{Name: "Reason", Value: cmp.Or(r.Reason, "-")}}, r.Conditions()...)
	if p := r.Spec.Repetitions; p != nil && p.Until != nil {
		facts = append(facts, doc.Fact{
			Name: "Stops early", Value: fmt.Sprintf("after whole blocks, when the intervals of %s are within ±%d%%", round.MetricName(p.Until.Metric), p.Until.HalfWidthPercent),
		})
	}
	gates := 0
	for i := range r.Effects {
		if r.Effects[i].Role == v1alpha1.RoleGate {
			gates++
		}
	}
	if gates > 0 {
		facts = append(facts, doc.Fact{Name: "Gate", Value: fmt.Sprintf("%s, which share an error rate of %d%%", round.Plural(gates, "comparison"), 100-r.Confidence())})
	}
	return doc.Section{ID: "decision", Title: "How it was decided", Question: "By which rule, and under which conditions?", Blocks: []doc.Block{
		doc.Paragraph{"The verdict compares each interval with the tolerance. docs/statistics.md explains the method."}, doc.Facts{Facts: facts},
	}}
}

// specSection has what was measured.
func specSection(r *round.Report) doc.Section {
	if len(r.Spec.Axes) == 0 && r.Hash == "" {
		return doc.Section{}
	}
	text, err := yaml.Marshal(&r.Spec)
	if err != nil {
		return doc.Section{}
	}
	return doc.Section{ID: "spec", Title: "Spec", Question: "What was measured?", Blocks: []doc.Block{folded("spec, as YAML", string(text))}}
}

// folded returns a text in lines that is closed at first.
func folded(title, text string) doc.Block {
	return doc.Group{Title: title, Folded: true, Blocks: []doc.Block{doc.Preformatted(strings.Split(strings.TrimSpace(text), "\n"))}}
}

// date is the time of a page's subject; empty if it is unknown.
func date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// toneOf returns the tone of a verdict.
func toneOf(v v1alpha1.BenchmarkVerdict) doc.Tone {
	switch v {
	case v1alpha1.BenchmarkPassed:
		return doc.Good
	case v1alpha1.BenchmarkFailed, v1alpha1.BenchmarkError:
		return doc.Bad
	}
	return doc.Unsure
}
