package roundpage

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/chart"
	"github.com/assay-dev/assay/internal/result"
)

// Comparison is a comparison to write.
type Comparison struct {
	*round.Comparison
	// Results are the results of two single runs; nil for rounds and sets of runs.
	Results [2]*result.Result
}

// single reports whether one run each is compared, both with a result.
func (c *Comparison) single() bool {
	return c.Refusal == "" && c.Results[0] != nil && c.Results[1] != nil
}

// WriteComparison writes a comparison as a page.
func WriteComparison(w io.Writer, c *Comparison) error {
	p := &html.Page{
		Title: fmt.Sprintf("%s compared with %s", c.Candidate.Name, c.Baseline.Name), Subject: fmt.Sprintf("%s compared with %s", c.Candidate.Name, c.Baseline.Name),
		Verdict: picture.Same, Notes: c.Notes,
	}
	switch {
	case c.Refusal != "":
		p.Verdict, p.Headline, p.Remarks = picture.Unsure, "Not compared", []string{c.Refusal}
	case c.single():
		p.Headline, p.Remarks = "One run each", singleRemarks(c)
	default:
		p.Headline = c.Conclusions()
		p.Remarks = []string{
			"Measured at different times: what changed in between is part of each difference. Runs of one Benchmark, interleaved, are more certain.",
		}
	}
	p.Figures = []html.Fact{{Name: "A, the baseline", Value: c.Baseline.Name}, {Name: "B", Value: c.Candidate.Name}, {Name: "runs", Value: runsOf(c)}}
	add(p, differencesSection(c))
	if c.Refusal == "" {
		if c.single() {
			add(p, percentilesSection(c))
			add(p, pairsSection(c))
			repeat, err := repeatSection(c)
			if err != nil {
				return err
			}
			add(p, repeat)
		} else {
			add(p, effectsSection(chart.NewComparisonForests(c.Comparison), false))
			add(p, mediansSection(c))
		}
	}
	return p.Write(w)
}

func runsOf(c *Comparison) string {
	count := func(s *round.Side) (n int) {
		for _, g := range s.Groups {
			n += len(g.Runs)
		}
		return n
	}
	return fmt.Sprintf("%d and %d", count(&c.Baseline), count(&c.Candidate))
}

// singleRemarks says what two runs say, and what they don't.
func singleRemarks(c *Comparison) []string {
	percentile := func(i int) string {
		return picture.Significant(float64(c.Results[i].Merged.Latencies.Get(result.Total).Percentile(99))/1000) + " ms"
	}
	return []string{
		fmt.Sprintf("%s answered 99%% within %s, %s within %s. One run each: this doesn't tell which is better. Repeat with a Benchmark.",
			c.Candidate.Name, percentile(1), c.Baseline.Name, percentile(0)),
	}
}

// differencesSection has what differs beside the figures.
func differencesSection(c *Comparison) *html.Section {
	s := &html.Section{ID: "differences", Title: "What differs", Question: "What can a difference be due to?"}
	n := len(c.Specs) + len(c.Environments)
	switch {
	case n == 0:
		s.Paragraphs = []string{"Nothing that is known of specs and environments differs."}
	case n > 1 && c.Refusal == "":
		s.Paragraphs = []string{fmt.Sprintf("%d things differ; the effect is of all of them together.", n)}
	}
	for _, part := range []struct {
		title string
		all   []round.Difference
		equal int
	}{
		{"Spec", c.Specs, equal(c, func(g *round.Group) round.Facts { return g.Specs }, len(c.Specs))},
		{"Environment", c.Environments, equal(c, func(g *round.Group) round.Facts { return g.Environments }, len(c.Environments))},
	} {
		if len(part.all) == 0 && part.equal == 0 {
			continue
		}
		title := fmt.Sprintf("%s: %s", part.title, plural(len(part.all), "difference"))
		if part.equal > 0 {
			title += fmt.Sprintf(", %d equal", part.equal)
		}
		b := html.Block{Title: title}
		if len(part.all) > 0 {
			b.Table = differencesTable(c, part.title, part.all)
		}
		s.Blocks = append(s.Blocks, b)
	}
	return s
}

func differencesTable(c *Comparison, title string, differences []round.Difference) *html.Table {
	t := &html.Table{Caption: title, Columns: html.Words("path", "A: "+c.Baseline.Name, "B: "+c.Candidate.Name)}
	some := slices.ContainsFunc(differences, func(d round.Difference) bool { return len(d.Cells) > 0 && len(d.Cells) < len(c.Cells) })
	if some {
		t.Columns = append(t.Columns, html.Words("where")...)
	}
	for _, d := range differences {
		row := []string{d.Path, d.Baseline, d.Candidate}
		if some {
			row = append(row, fmt.Sprintf("in %d of %d cells, first in %s", len(d.Cells), len(c.Cells), d.Cells[0]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// equal returns how many facts both sides have, without those that differ; 0 if there are several cells.
func equal(c *Comparison, of func(*round.Group) round.Facts, different int) int {
	if len(c.Baseline.Groups) != 1 || len(c.Candidate.Groups) != 1 {
		return 0
	}
	paths := map[string]bool{}
	for _, facts := range of(&c.Baseline.Groups[0]) {
		for path := range facts {
			paths[path] = true
		}
	}
	both := map[string]bool{}
	for _, facts := range of(&c.Candidate.Groups[0]) {
		for path := range facts {
			if paths[path] {
				both[path] = true
			}
		}
	}
	return max(0, len(both)-different)
}

// percentilesSection has the percentile curves of two runs, and their difference below.
func percentilesSection(c *Comparison) *html.Section {
	p := percentiles(c)
	if p == nil {
		return nil
	}
	t := &html.Table{Caption: "Percentiles", Columns: slices.Concat(html.Words("share"), html.Numbers("A, ms", "B, ms", "difference"))}
	for _, row := range chart.PercentileRows(c.Results) {
		change := "-"
		if !math.IsNaN(row.Change) {
			change = picture.Minus(round.SignedPercent(row.Change))
		}
		t.Rows = append(t.Rows, []string{strconv.FormatFloat(row.Percent, 'f', -1, 64) + "%", known(row.Values[0]), known(row.Values[1]), change})
	}
	return &html.Section{
		ID: "percentiles", Title: "Percentiles", Question: "How slow is slow, and how often?", Blocks: []html.Block{{Picture: html.Draw(p.Draw), Table: t}},
		Paragraphs: []string{"Each curve is of one merged histogram, and thin where fewer than 10 requests lie beyond. The difference ends there."},
	}
}

func percentiles(c *Comparison) *chart.Percentiles {
	if !c.single() {
		return nil
	}
	tolerance := int32(0)
	for i := range c.Effects {
		tolerance = c.Effects[i].TolerancePercent
	}
	return chart.NewPercentiles([2]string{c.Baseline.Name, c.Candidate.Name}, c.Results, tolerance)
}

func known(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return picture.Significant(x)
}

// pairsSection has the figures of two single runs, each as two dots on a line.
func pairsSection(c *Comparison) *html.Section {
	pairs := chart.NewPairs(c.Comparison)
	t := &html.Table{Caption: "Figures", Columns: append(html.Words("metric"), html.Numbers("A", "B")...)}
	for _, p := range pairs.Rows {
		t.Rows = append(t.Rows, []string{round.MetricTitle(p.Metric), picture.Significant(p.Values[0]), picture.Significant(p.Values[1])})
	}
	return &html.Section{
		ID: "figures", Title: "Figures", Question: "What else was measured?", Blocks: []html.Block{{Picture: html.Draw(pairs.Draw), Table: t}},
		Paragraphs: []string{"One run each: how much the next one would differ is not known."},
	}
}

// repeatSection has a Benchmark that repeats two runs.
func repeatSection(c *Comparison) (*html.Section, error) {
	manifest, err := c.Manifest()
	if err != nil || manifest == "" {
		return nil, err
	}
	return &html.Section{ID: "repeat", Title: "Repeat", Question: "Which of them is better?", Blocks: []html.Block{{Title: "A Benchmark of both, to copy", Text: manifest, Folded: true}}, Paragraphs: []string{
		"A Benchmark runs both in turn, in blocks, and tells a difference from noise. It needs no more than the two specs.",
	}}, nil
}

// mediansSection has the medians of both sides.
func mediansSection(c *Comparison) *html.Section {
	t := &html.Table{Caption: "Medians of both sides", Columns: slices.Concat(html.Words("cell", "metric"), html.Numbers("A", "B", "runs of A", "runs of B"))}
	for i := range c.Effects {
		e := &c.Effects[i]
		cell := c.Cells[e.Cell]
		if cell == "" {
			cell = "all runs"
		}
		t.Rows = append(t.Rows, []string{
			cell, round.MetricTitle(e.Metric), round.Figure(e.Metric, e.BaselineMedian), round.Figure(e.Metric, e.CandidateMedian),
			strconv.Itoa(e.BaselineRuns), strconv.Itoa(e.CandidateRuns),
		})
	}
	return &html.Section{ID: "medians", Title: "Medians", Question: "What are the figures of both sides?", Blocks: []html.Block{{Table: t}}}
}
