package roundpage

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/chart"
)

// effectsSection has a forest plot for each metric that is compared.
func effectsSection(forests []chart.Forest, several bool) *html.Section {
	if len(forests) == 0 {
		return nil
	}
	s := &html.Section{ID: "effects", Title: "Effects", Question: "What differs, by how much, and how sure is that?", Paragraphs: []string{
		"Each dot is the estimate, each line its interval. The bracket below a line is as wide as the difference to the worse that a round like this one finds in 4 of 5 cases. A hollow dot is one that can't tell yet.",
	}}
	for i := range forests {
		f := &forests[i]
		title := round.MetricName(f.Metric)
		if f.Gate {
			title += ": decides"
		} else if several {
			title += ": reported only"
		}
		caption := f.Caption
		if f.Each {
			caption += " Each row is compared with its own baseline, which the table names."
		}
		if f.Omitted > 0 {
			caption += fmt.Sprintf(" %d more effects are only in the table below.", f.Omitted)
		}
		s.Blocks = append(s.Blocks, html.Block{Title: title, Picture: html.Draw(f.Draw), Table: effectsTable(f), Caption: caption})
	}
	return s
}

func effectsTable(f *chart.Forest) *html.Table {
	t := &html.Table{Caption: "Effects in " + round.MetricName(f.Metric), Columns: slices.Concat(html.Words("cell", "compared with"), html.Numbers("change", "interval", "tolerance", "detectable", "blocks to decide"), html.Words("conclusion", "verdict"))}
	for _, row := range f.Rows {
		if row.Effect == nil {
			continue
		}
		e := row.Effect
		blocks := "-"
		if e.BlocksToDecide > 0 {
			blocks = strconv.Itoa(e.BlocksToDecide)
		}
		t.Rows = append(t.Rows, []string{
			row.Label, row.Baseline, chart.Change(e), chart.Interval(e), fmt.Sprintf("%d%%", e.TolerancePercent), round.Detectable(e), blocks,
			benchmark.Phrase(e.Word), cmp.Or(string(e.Verdict), "-"),
		})
	}
	return t
}

// runsSection has every run as a dot, one plot for each metric.
func runsSection(r *round.Report) *html.Section {
	metrics := chart.Metrics(r)
	if len(metrics) == 0 {
		return nil
	}
	text := fmt.Sprintf("Every valid run is a mark; those of a block are joined. At the right is each cell's median over %s", plural(r.Blocks, "whole block"))
	switch {
	case len(r.Estimates) == 0:
		text = "Every valid run is a mark; those of a block are joined. No cell has a median."
	case slices.ContainsFunc(r.Estimates, func(e benchmark.Estimate) bool { return e.Low != nil && e.High != nil }):
		text += fmt.Sprintf(", with an interval that holds the true median with a confidence of %d%%.", confidence(r))
	default:
		text += fmt.Sprintf(". They are too few for an interval with a confidence of %d%%.", confidence(r))
	}
	s := &html.Section{ID: "runs", Title: "Runs", Question: "Is that the data, or one odd run?", Paragraphs: []string{text}}
	for i, m := range metrics {
		runs := chart.NewRuns(r, m)
		s.Blocks = append(s.Blocks, html.Block{Title: round.MetricTitle(m), Picture: html.Draw(runs.Draw), Table: runsTable(runs), Folded: i > 0 || len(r.Cells) > fewCells})
	}
	if invalid := invalidTable(chart.NewRuns(r, metrics[0])); invalid != nil {
		s.Blocks = append(s.Blocks, html.Block{Title: "Invalid runs: their figures are nowhere on this page", Table: invalid})
	}
	return s
}

func runsTable(runs *chart.Runs) *html.Table {
	t := &html.Table{Caption: round.MetricTitle(runs.Metric) + " of each run", Columns: slices.Concat(html.Words("cell"), html.Numbers("block"), html.Words("run"), html.Numbers(round.MetricTitle(runs.Metric)), html.Words("counts"))}
	for _, c := range runs.Cells {
		for _, d := range c.Dots {
			counts := "yes"
			if !d.Whole {
				counts = "no: not in a whole block"
			}
			t.Rows = append(t.Rows, []string{c.Label, strconv.Itoa(d.Block + 1), d.Run, picture.Significant(d.Figure), counts})
		}
	}
	return t
}

func invalidTable(runs *chart.Runs) *html.Table {
	if len(runs.Invalid) == 0 {
		return nil
	}
	t := &html.Table{Caption: "Invalid runs", Columns: slices.Concat(html.Words("run", "cell"), html.Numbers("block"), html.Words("reason", "replaced by"))}
	for _, run := range runs.Invalid {
		t.Rows = append(t.Rows, []string{run.Run, run.Cell, strconv.Itoa(run.Block + 1), run.Reason, cmp.Or(run.Replacement, "-")})
	}
	return t
}

// gridSection has a heat map and lines for each metric.
func gridSection(r *round.Report) *html.Section {
	s := &html.Section{ID: "grid", Title: "Grid", Question: "How do two axes act together?"}
	for _, m := range chart.Metrics(r) {
		for _, g := range chart.NewGrids(r, m) {
			b := html.Block{Title: g.Summary(), Picture: html.Draw(g.DrawHeatMap), Table: gridTable(&g), Folded: len(s.Blocks) > 0}
			if !g.Effect && g.Runs > 0 {
				b.Title += fmt.Sprintf(", medians of %s", plural(g.Runs, "run"))
			}
			s.Blocks = append(s.Blocks, b)
			if g.DrawLines(1000) != nil {
				s.Blocks = append(s.Blocks, html.Block{Title: g.Summary() + ", as lines", Picture: html.Draw(g.DrawLines), Folded: len(s.Blocks) > 1})
			}
		}
	}
	if len(s.Blocks) == 0 {
		return nil
	}
	return s
}

func gridTable(g *chart.Grid) *html.Table {
	t := &html.Table{Caption: g.Summary(), Columns: slices.Concat(html.Words("cell"), html.Numbers("figure", "interval"), html.Words("warnings"))}
	if g.Effect {
		t.Columns = append(t.Columns, html.Words("conclusion")...)
	}
	for i := range g.Panels {
		for _, row := range g.Panels[i].Cells {
			for _, c := range row {
				if !c.Exists {
					continue
				}
				texts := []string{c.Name, cmp.Or(c.Text, "-"), cmp.Or(c.Interval, "-"), cmp.Or(strings.Join(c.Warnings, ", "), "-")}
				if g.Effect {
					conclusion := "baseline"
					if c.Word != "" {
						conclusion = benchmark.Phrase(c.Word)
					}
					texts = append(texts, conclusion)
				}
				t.Rows = append(t.Rows, texts)
			}
		}
	}
	return t
}

// levelsSection has the levels of a load with stages.
func levelsSection(r *round.Report) *html.Section {
	l := chart.NewLevels(r)
	if l == nil {
		return nil
	}
	t := &html.Table{Caption: "Levels", Columns: slices.Concat(html.Words("metric", "column", cmp.Or(l.Axis, "cell")), html.Numbers("load, "+l.Unit, "median", "interval", "runs"))}
	for _, m := range l.Metrics {
		for column, lines := range m.Lines {
			for variant, points := range lines {
				for _, p := range points {
					interval := "-"
					if !math.IsNaN(p.Low) {
						interval = picture.Significant(p.Low) + " to " + picture.Significant(p.High)
					}
					t.Rows = append(t.Rows, []string{
						m.Name, cmp.Or(l.Columns[column], "-"), l.Variants[variant], picture.Count(int64(p.Load)), picture.Significant(p.Median), interval, strconv.Itoa(p.Runs),
					})
				}
			}
		}
	}
	s := &html.Section{
		ID: "levels", Title: "Levels", Question: "How does it take more load; where does it break?", Blocks: []html.Block{{Picture: html.Draw(l.Draw), Table: t}},
		Paragraphs: []string{fmt.Sprintf("Marks are medians over the runs, with intervals of %d%% where there are enough runs. Between the levels nothing was measured: lines only join the marks.", confidence(r))},
	}
	for _, of := range []*round.Table{r.BreakingPoints(), r.Peaks()} {
		if of == nil {
			continue
		}
		figures := &html.Table{Caption: of.Title, Columns: slices.Concat(html.Words(of.Words...), html.Numbers(of.Numbers...))}
		for _, row := range of.Rows {
			row = slices.Clone(row)
			for i := len(of.Words); i < len(row); i++ {
				row[i] = picture.Minus(row[i])
			}
			figures.Rows = append(figures.Rows, row)
		}
		s.Blocks = append(s.Blocks, html.Block{Title: of.Title, Table: figures, Caption: of.Text})
	}
	return s
}

// capacitySection has the search of each cell.
func capacitySection(r *round.Report) *html.Section {
	capacities := chart.NewCapacities(r)
	if len(capacities) == 0 {
		return nil
	}
	s := &html.Section{ID: "capacity", Title: "Capacity", Question: "What does it sustain?"}
	figures := &html.Table{Caption: "At the sustained load", Columns: slices.Concat(html.Words("cell"), html.Numbers("sustained", "not sustained", "achieved/s", "requests/day", "MB/s", "CPU s per million requests", "KiB per connection"))}
	for i := range capacities {
		c := &capacities[i]
		s.Blocks = append(s.Blocks, html.Block{Title: c.Sentence(), Picture: html.Draw(c.Draw), Table: trialsTable(c)})
		figures.Rows = append(figures.Rows, []string{
			c.Label, orDash(c.Sustained > 0, picture.Count(c.Sustained)), orDash(c.Failed > 0, picture.Count(c.Failed)), positive(c.AchievedPerSecond), positive(c.RequestsPerDay),
			positive(c.BytesPerSecond / 1e6), positive(c.CPUSecondsPerMillionRequests), positive(c.BytesPerConnection / 1024),
		})
	}
	s.Blocks = append(s.Blocks, html.Block{Title: "At the sustained load: medians of the trials that passed there", Table: figures})
	return s
}

func trialsTable(c *chart.Capacity) *html.Table {
	t := &html.Table{Caption: "Trials of " + c.Label, Columns: slices.Concat(html.Numbers("trial"), html.Words("run"), html.Numbers("load, "+c.Load), html.Words("outcome", "reason"), html.Numbers("achieved, %", "p99, ms", "sustained so far", "not sustained so far"))}
	for i, trial := range c.Trials {
		outcome := cmp.Or(string(trial.Outcome), "invalid")
		if !trial.Valid {
			outcome = "invalid"
		}
		t.Rows = append(t.Rows, []string{
			strconv.Itoa(i + 1), trial.Run, picture.Count(trial.Load), outcome, cmp.Or(trial.Reason, "-"), optional(trial.AchievedPercent), optional(trial.LatencyP99),
			orDash(trial.Lower > 0, picture.Count(trial.Lower)), orDash(trial.Upper > 0, picture.Count(trial.Upper)),
		})
	}
	return t
}

// trendSection has the medians of the last rounds.
func trendSection(r *round.Report) *html.Section {
	trends := chart.NewTrends(r)
	if len(trends) == 0 {
		return nil
	}
	s := &html.Section{ID: "trend", Title: "Trend", Question: "Did the level change over the rounds?", Paragraphs: []string{
		"Medians of earlier rounds, which are stored without their intervals; hollow: the round was inconclusive. Ticks at the axis name what changed in the conditions. The trend never decides.",
	}}
	t := &html.Table{Caption: "Trend", Columns: html.Words("cell", "metric")}
	for _, p := range trends[0].Points {
		t.Columns = append(t.Columns, html.Numbers(fmt.Sprintf("round %d", p.Round))...)
	}
	t.Columns = append(t.Columns, html.Words("changes")...)
	for _, trend := range trends {
		row := []string{trend.Label, round.MetricTitle(trend.Metric)}
		for _, p := range trend.Points {
			row = append(row, optional(p.Median))
		}
		changes := ""
		for _, p := range trend.Points {
			if p.Changed != "" {
				changes += fmt.Sprintf("Round %d has another %s. ", p.Round, p.Changed)
			}
		}
		for _, level := range trend.Levels {
			if level.Change != "" {
				changes += level.Change + ". "
			}
		}
		t.Rows = append(t.Rows, append(row, cmp.Or(changes, "none")))
	}
	s.Blocks = append(s.Blocks, html.Block{Picture: html.Draw(func(width float64) *picture.Picture { return chart.DrawTrends(trends, width) }), Table: t})
	return s
}

func orDash(known bool, text string) string {
	if !known {
		return "-"
	}
	return text
}

func optional(x *float64) string {
	if x == nil {
		return "-"
	}
	return picture.Significant(*x)
}

func positive(x float64) string { return orDash(x > 0, picture.Significant(x)) }

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func confidence(r *round.Report) int32 {
	if c := r.Spec.Comparison; c != nil && c.ConfidencePercent != nil {
		return *c.ConfidencePercent
	}
	return 95
}

// color returns the color of a verdict.
func color(v v1alpha1.BenchmarkVerdict) picture.Color {
	switch v {
	case v1alpha1.BenchmarkPassed:
		return picture.Good
	case v1alpha1.BenchmarkFailed, v1alpha1.BenchmarkError:
		return picture.Bad
	}
	return picture.Unsure
}
