// Package roundpage writes what a round of a Benchmark says, and what compare says, as self-contained pages. The
// words, figures and pictures are those of packages round and chart; this package arranges them.
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
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/chart"
)

// maxSentences is the largest number of sentences of the answer; the tables have all effects.
const maxSentences = 8

// Write writes the report of a round as a page. The same report always gives the same bytes.
func Write(w io.Writer, r *round.Report) error {
	c := &html.Page{
		Title: fmt.Sprintf("Benchmark %s/%s, round %d", r.Namespace, r.Benchmark, r.Number), Subject: fmt.Sprintf("Benchmark %s/%s, round %d", r.Namespace, r.Benchmark, r.Number),
		Verdict: color(r.Verdict), Headline: r.Headline(), Notes: r.Notes,
	}
	answer(c, r)
	c.Figures = figures(r)
	if r.Verdict != v1alpha1.BenchmarkError {
		add(c, effectsSection(chart.NewForests(r), true))
	}
	if r.Spec.Comparison == nil || len(r.Cells) > fewCells {
		add(c, gridSection(r), runsSection(r)) // what answers comes first
	} else {
		add(c, runsSection(r), gridSection(r))
	}
	add(c, levelsSection(r), capacitySection(r), trendSection(r), cellsSection(r), decisionSection(r), specSection(r))
	return c.Write(w)
}

// fewCells is the largest number of cells whose runs are shown before the grid, and open.
const fewCells = 12

// add adds the sections that have anything to a page.
func add(p *html.Page, sections ...*html.Section) {
	for _, s := range sections {
		if s != nil {
			p.Sections = append(p.Sections, *s)
		}
	}
}

// answer sets what the round says in sentences.
func answer(c *html.Page, r *round.Report) {
	if r.Verdict != v1alpha1.BenchmarkError {
		sentences := r.Sentences()
		for _, s := range sentences[:min(len(sentences), maxSentences)] {
			lead := s.Lead
			if len(c.Sentences) == 0 && strings.Contains(strings.ToLower(c.Headline), strings.ToLower(lead)) {
				lead = "" // the headline has it
			}
			c.Sentences = append(c.Sentences, html.Sentence{Color: leadColor(s.Lead), Lead: lead, Text: picture.Minus(s.Text)})
		}
		if more := len(sentences) - maxSentences; more > 0 {
			c.Remarks = append(c.Remarks, fmt.Sprintf("%d more effects of the gate are below.", more))
		}
	}
	// The message of a round that was completed repeats the sentences.
	if r.Message != "" && (len(c.Sentences) == 0 || r.Reason != benchmark.ReasonCompleted) {
		c.Remarks = append(c.Remarks, r.Message)
	}
	for _, capacity := range chart.NewCapacities(r) {
		c.Remarks = append(c.Remarks, capacity.Sentence())
	}
	const listed = 8
	if more := len(c.Remarks) - listed; more > 0 {
		c.Remarks = append(c.Remarks[:listed], fmt.Sprintf("%d more are below.", more))
	}
	if text := r.CountsAsFailed(); text != "" {
		c.Remarks = append(c.Remarks, text)
	}
}

func leadColor(lead string) picture.Color {
	switch lead {
	case "Failed", "Worse":
		return picture.Bad
	case "Passed", "Better":
		return picture.Good
	case "No difference":
		return picture.Same
	}
	return picture.Unsure
}

// figures returns what the answer rests on.
func figures(r *round.Report) []html.Fact {
	valid, runs := 0, 0
	for i := range r.Runs {
		if run := &r.Runs[i]; !run.Ended.IsZero() {
			runs++
			if run.Valid {
				valid++
			}
		}
	}
	figures := []html.Fact{{Name: "blocks", Value: fmt.Sprint(r.Blocks)}, {Name: "cells", Value: fmt.Sprint(len(r.Cells))}}
	if runs > 0 {
		figures = append(figures, html.Fact{Name: "valid runs", Value: fmt.Sprintf("%d of %d", valid, runs)})
	}
	figures = append(figures, html.Fact{Name: "confidence", Value: fmt.Sprintf("%d%%", confidence(r))})
	if !r.Ended.IsZero() {
		figures = append(figures, html.Fact{Name: "ended", Value: r.Ended.UTC().Format("2006-01-02 15:04 UTC")})
	}
	return figures
}

// cellsSection has the medians of all cells in the order of the axes.
func cellsSection(r *round.Report) *html.Section {
	if len(r.Estimates) == 0 {
		return nil
	}
	var metrics []v1alpha1.BenchmarkMetric
	for i := range r.Estimates {
		if m := r.Estimates[i].Metric; !slices.Contains(metrics, m) {
			metrics = append(metrics, m)
		}
	}
	compared := chart.Metrics(r)
	slices.SortStableFunc(metrics, func(a, b v1alpha1.BenchmarkMetric) int {
		return cmp.Compare(rank(compared, a), rank(compared, b))
	})
	few := min(len(metrics), fewMetrics)
	section := &html.Section{
		ID: "cells", Title: "Cells", Question: "What are the figures of each cell?", Blocks: []html.Block{{Table: cellsTable(r, "Medians of all cells", metrics[:few])}},
		Paragraphs: []string{fmt.Sprintf("Medians over the runs of %s, with intervals that hold the true median with a confidence of %d%% each.", plural(r.Blocks, "block"), confidence(r))},
	}
	if few < len(metrics) {
		const title = "Medians of all cells in other metrics"
		section.Blocks = append(section.Blocks, html.Block{Title: title, Folded: true, Table: cellsTable(r, title, metrics[few:])})
	}
	return section
}

// fewMetrics is the number of metrics of a table that fits into a page.
const fewMetrics = 4

func cellsTable(r *round.Report, caption string, metrics []v1alpha1.BenchmarkMetric) *html.Table {
	t := &html.Table{Caption: caption, Columns: slices.Concat(html.Words("cell"), html.Numbers("runs"))}
	for i := range r.Cells {
		t.Rows = append(t.Rows, append([]string{r.Cells[i].Name, "-"}, slices.Repeat([]string{"-"}, len(metrics))...))
	}
	for _, m := range metrics {
		t.Columns = append(t.Columns, html.Numbers(round.MetricTitle(m))...)
	}
	for i := range r.Estimates {
		e := &r.Estimates[i]
		at := slices.Index(metrics, e.Metric)
		if at < 0 {
			continue
		}
		median, interval := round.EstimateTexts(e)
		if interval != "" {
			median += " (" + interval + ")"
		}
		t.Rows[e.Cell][1], t.Rows[e.Cell][2+at] = fmt.Sprint(e.Runs), median
	}
	return t
}

func rank(first []v1alpha1.BenchmarkMetric, m v1alpha1.BenchmarkMetric) int {
	if at := slices.Index(first, m); at >= 0 {
		return at
	}
	return len(first)
}

// decisionSection says how the round came to its verdict, and under which conditions.
func decisionSection(r *round.Report) *html.Section {
	facts := []html.Fact{{Name: "Reason", Value: cmp.Or(r.Reason, "-")}}
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, html.Fact{Name: name, Value: value})
		}
	}
	for _, fact := range r.Conditions() {
		add(fact[0], fact[1])
	}
	if p := r.Spec.Repetitions; p != nil && p.Until != nil {
		add("Stops early", fmt.Sprintf("after whole blocks, when the intervals of %s are within ±%d%%", round.MetricName(p.Until.Metric), p.Until.HalfWidthPercent))
	}
	if n := gates(r); n > 0 {
		add("Gate", fmt.Sprintf("%s, which share an error rate of %d%%", plural(n, "comparison"), 100-confidence(r)))
	}
	return &html.Section{
		ID: "decision", Title: "How it was decided", Question: "By which rule, and under which conditions?", Blocks: []html.Block{{Facts: facts}},
		Paragraphs: []string{"The verdict compares each interval with the tolerance. docs/statistics.md explains the method."},
	}
}

func gates(r *round.Report) int {
	n := 0
	for i := range r.Effects {
		if r.Effects[i].Role == v1alpha1.RoleGate {
			n++
		}
	}
	return n
}

// specSection has what was measured.
func specSection(r *round.Report) *html.Section {
	if len(r.Spec.Axes) == 0 && r.Hash == "" {
		return nil
	}
	text, err := yaml.Marshal(&r.Spec)
	if err != nil {
		return nil
	}
	return &html.Section{ID: "spec", Title: "Spec", Question: "What was measured?", Blocks: []html.Block{{Title: "spec, as YAML", Text: strings.TrimSpace(string(text)), Folded: true}}}
}

// date is the time of a page's subject; empty if it is unknown.
func date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
