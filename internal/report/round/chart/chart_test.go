package chart_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/chart"
	"github.com/assay-dev/assay/internal/report/round/roundtest"
	"github.com/assay-dev/assay/internal/result"
)

// plotsOf returns the plots of a figure.
func plotsOf(f *plot.Figure) []plot.Plot { return slices.Concat(f.Columns...) }

// marks returns the marks of a type in a figure, those of rows included.
func marks[M plot.Mark](f *plot.Figure) (all []M) {
	add := func(marks []plot.Mark) {
		for _, m := range marks {
			if m, is := m.(M); is {
				all = append(all, m)
			}
		}
	}
	for _, p := range plotsOf(f) {
		add(p.Marks)
		for _, row := range p.Rows {
			add(row.Marks)
		}
	}
	return all
}

// figuresOf returns all figures of a round by name.
func figuresOf(r *round.Report) map[string]*plot.Figure {
	all := map[string]*plot.Figure{"trend": chart.Trend(r), "levels": chart.Levels(r)}
	for _, m := range r.ClaimsByMetric() {
		all["claims about "+m.Name()] = chart.Effects(&m)
	}
	for _, m := range r.EffectsByMetric() {
		all["effects in "+string(m.Metric)] = chart.Effects(&m)
	}
	for _, m := range r.Metrics() {
		all["runs in "+string(m)] = chart.Runs(r, m)
		if g := r.Grids(m); g != nil {
			all["grid of "+string(m)], all["effects by axes in "+string(m)], all["lines of "+string(m)] = chart.HeatMap(r, g), chart.EffectMap(r, g), chart.Lines(r, g)
		}
	}
	for i := range r.Capacities {
		all[fmt.Sprintf("capacity %d", i)] = chart.Capacity(r, &r.Capacities[i])
	}
	return all
}

// TestFigures checks that every figure is well-formed, says what it shows, and is the same each time.
func TestFigures(t *testing.T) {
	for name, r := range roundtest.All(t) {
		again := figuresOf(r)
		for of, f := range figuresOf(r) {
			if f == nil {
				continue
			}
			if f.Title == "" || f.Description == "" {
				t.Errorf("%s, %s: no title or description", name, of)
			}
			for _, p := range plotsOf(f) {
				if names := namesOf(&p); len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
					t.Errorf("%s, %s: names that can't be told apart: %q", name, of, names)
				}
			}
			if strings.Contains(string(f.HTML()), "()") {
				t.Errorf("%s, %s: a tip has an interval without ends", name, of)
			}
			for _, text := range []string{string(f.HTML()), plot.File(plot.Caption{Subject: name}, f)} {
				decoder := xml.NewDecoder(strings.NewReader(text))
				decoder.Entity = xml.HTMLEntity
				for {
					if _, err := decoder.Token(); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						t.Fatalf("%s, %s: %v in:\n%s", name, of, err, text)
					}
				}
			}
			if f.HTML() != again[of].HTML() {
				t.Errorf("%s, %s: other bytes the second time", name, of)
			}
		}
	}
}

// namesOf returns the names of a plot's lines and rows.
func namesOf(p *plot.Plot) (names []string) {
	for i := range p.Names {
		names = append(names, p.Names[i].Text)
	}
	for i := range p.Rows {
		names = append(names, p.Rows[i].Name)
	}
	return names
}

// TestEffects checks that each effect has a dot at its place, and an interval.
func TestEffects(t *testing.T) {
	r := &round.Report{Round: roundtest.Connectors(t)}
	m := r.ClaimsByMetric()[0]
	f := chart.Effects(&m)
	dots := marks[plot.Dot](f)
	if len(dots) != 3 || len(plotsOf(f)[0].Rows) != 4 || plotsOf(f)[0].Rows[0].Name != "nio" {
		t.Fatalf("%d dots, %+v", len(dots), plotsOf(f)[0].Rows)
	}
	for i := range m.Rows {
		e := &m.Rows[i]
		at := slices.IndexFunc(dots, func(d plot.Dot) bool { return d.Tip == number.Minus(e.Change()+" ("+e.Interval()+")") })
		if at < 0 || dots[at].At.X != *e.Percent || dots[at].Hollow != (e.Claim.Verdict == "Undecided") {
			t.Errorf("no dot for %s in %+v", e.Change(), dots)
		}
		if !slices.ContainsFunc(marks[plot.Interval](f), func(i plot.Interval) bool { return i.From.X == *e.LowPercent && i.To.X == *e.HighPercent }) {
			t.Errorf("no interval for %s", e.Change())
		}
	}
}

// TestEffectBeyond checks that an effect beyond the axis is an arrow, with its value beside it.
func TestEffectBeyond(t *testing.T) {
	r := roundtest.All(t)["ratios"]
	m := r.ClaimsByMetric()[0]
	f := chart.Effects(&m)
	e := &m.Rows[0]
	if dots := marks[plot.Dot](f); *e.Percent < 500 || slices.ContainsFunc(dots, func(d plot.Dot) bool { return d.Shape != plot.Right }) || plotsOf(f)[0].Rows[1].Texts[0].Text != number.Minus(e.Change()) {
		t.Errorf("%g: %+v", *e.Percent, dots)
	}
}

// TestManyRows checks that claims that are contradicted have rows if there are too many, each below its baseline.
func TestManyRows(t *testing.T) {
	r := roundtest.Failed(t)
	claim := r.Claims[0]
	r.Claims, r.Cells = nil, r.Cells[:1]
	for i := range 60 {
		r.Cells = append(r.Cells, cells.Cell{Index: i + 1, Name: fmt.Sprintf("cell-%d", i+1), Baseline: 0})
		c := claim
		c.Cell, c.Verdict = i+1, []v1alpha1.ClaimVerdict{v1alpha1.ClaimConfirmed, v1alpha1.ClaimContradicted, v1alpha1.ClaimUndecided}[i%3]
		r.Claims = append(r.Claims, c)
	}
	report := &round.Report{Round: r}
	m, table := report.ClaimsByMetric()[0], report.Document().Section("claims").Blocks[1].(*doc.Table)
	rows := plotsOf(chart.Effects(&m))[0].Rows
	if len(rows) != 1+chart.MaxRows || len(table.Rows) != 60 || !rows[0].Bold {
		t.Fatalf("%d rows, %d in the table", len(rows), len(table.Rows))
	}
	for i, want := range map[int]string{0: "Contradicted", 19: "Contradicted", 20: "Undecided", 39: "Undecided"} {
		if got := m.Rows[i].Word(); got != want {
			t.Errorf("row %d is %s", i, got)
		}
	}
}

// TestRuns checks that each valid run has a mark, and each invalid one is where it was.
func TestRuns(t *testing.T) {
	r := &round.Report{Round: roundtest.Connectors(t)}
	dots := marks[plot.Dot](chart.Runs(r, "LatencyP99"))
	if len(dots) != 40+4+1 { // runs, medians and an invalid run
		t.Fatalf("%d dots", len(dots))
	}
	for i := range r.Runs {
		run := &r.Runs[i]
		if run.Trial {
			continue
		}
		tip := run.Name + ": " + number.Significant(round.InUnit("LatencyP99", run.Metrics["LatencyP99"]))
		if !run.Valid {
			tip = run.Name + " of nio2: " + run.Message
		}
		at := slices.IndexFunc(dots, func(d plot.Dot) bool { return d.Tip == tip })
		if at < 0 || math.Round(dots[at].At.X) != float64(run.Number) || !run.Valid && (dots[at].Shape != plot.Cross || !math.IsInf(dots[at].At.Y, -1)) {
			t.Errorf("no mark %q", tip)
		}
	}
	// Runs that don't count are there, marked so.
	f := chart.Runs(&round.Report{Round: roundtest.InvalidRuns(t)}, "LatencyP99")
	rules := marks[plot.Rule](f)
	if len(rules) != 2 || rules[1].X != 1.5 || rules[1].Text != "not whole" || len(plotsOf(f)[0].X.Ticks) != 4 {
		t.Errorf("%+v", rules)
	}
}

// TestGrid checks the places, shades and steps of R2's first series.
func TestGrid(t *testing.T) {
	r := &round.Report{Round: roundtest.Sizes(t)}
	g := r.Grids("RequestsPerSecond")
	f := chart.HeatMap(r, g)
	p := plotsOf(f)[0]
	if len(p.Rows) != 7 || len(p.X.Ticks) != 6 || len(marks[plot.Rect](f)) != 42 || p.X.Ticks[5].Label != "30" {
		t.Fatalf("%+v", p)
	}
	first, last := p.Rows[0].Marks[0].(plot.Rect), p.Rows[6].Marks[5].(plot.Rect)
	if first.Color != plot.Heat(1) || last.Color != plot.Heat(0) || !strings.HasPrefix(first.Tip, "size=1 KB,threads=5: ") {
		t.Errorf("%+v, %+v", first, last)
	}
	if warned := p.Rows[4].Marks[0].(plot.Rect); !warned.Corner || !strings.Contains(warned.Tip, "NetworkLimited") || p.Rows[3].Marks[0].(plot.Rect).Corner || !strings.Contains(f.Note, "corner: warned") {
		t.Errorf("%+v, %s", warned, f.Note)
	}
	if lines := chart.Lines(r, g); lines == nil || len(plotsOf(lines)) != 7 || plotsOf(lines)[0].X.High != 30 {
		t.Error("no lines of numbers")
	}
	if chart.EffectMap(r, g) != nil {
		t.Error("effects in a metric that isn't compared")
	}
	staged := roundtest.Staged(t)
	if g := staged.Grids("RequestsPerSecond"); g == nil || chart.Lines(staged, g) != nil {
		t.Error("lines between columns that aren't numbers")
	}

	scaling := &round.Report{Round: roundtest.Scaling(t)}
	g = scaling.Grids("LatencyP99")
	lines := chart.Lines(scaling, g)
	if lines == nil || len(plotsOf(lines)) != len(g.Grids) || len(lines.Names) != len(g.Grids[0].Rows) || lines.Names[0].Text != g.Grids[0].Rows[0] ||
		lines.Names[0].Shape.Color == lines.Names[1].Shape.Color {
		t.Errorf("few rows aren't overlaid under their names: %+v", lines)
	}
	effects := chart.EffectMap(scaling, g)
	if base := marks[plot.Rect](effects)[0]; base.Text != "baseline" || !base.Outlined {
		t.Errorf("the baseline: %+v", base)
	}
	for percent, want := range map[float64]int{0: 3, 4.9: 3, -5: 3, 5.1: 4, 11: 5, 21: 6, 900: 6, -7: 2, -15: 1, -60: 0} {
		if got := chart.EffectStep(&benchmark.Effect{Percent: &percent}); got != want {
			t.Errorf("%g%% is step %d, want %d", percent, got, want)
		}
	}
	if (&round.Report{Round: roundtest.Failed(t)}).Grids("LatencyP99") != nil {
		t.Error("a grid of one axis")
	}
}

// TestGridWithoutRatio checks that a cell whose baseline is 0 shows its value, that only one without a valid result is hatched, and
// that shades are linear where a median is 0.
func TestGridWithoutRatio(t *testing.T) {
	const metric = "LatencyP99"
	r := &round.Report{Round: roundtest.Scaling(t)}
	e := &r.Claims[slices.IndexFunc(r.Claims, func(c benchmark.Claim) bool { return c.Metric == metric })].Effect
	e.Percent, e.LowPercent, e.HighPercent = nil, nil, nil
	baseline := r.Estimate(r.Cells[e.Cell].Baseline, metric)
	median := baseline.Median
	baseline.Median = 0
	hatched := func(f *plot.Figure) (rect plot.Rect, n int) {
		for _, m := range marks[plot.Rect](f) {
			if strings.HasPrefix(m.Tip, r.Cells[e.Cell].Name+": ") {
				rect = m
			}
			if m.Hatched {
				n++
			}
		}
		return rect, n
	}
	own := r.Estimate(e.Cell, metric)
	text, _ := round.EstimateTexts(own)
	f := chart.EffectMap(r, r.Grids(metric))
	if rect, n := hatched(f); n > 0 || rect.Text != text || !strings.Contains(rect.Tip, "above 0 where the baseline is 0") || !strings.Contains(f.Note, "without a ratio") {
		t.Errorf("%d hatched, %+v, %s", n, rect, f.Note)
	}
	for _, words := range []string{"no ratio", "above 0 where the baseline is 0"} { // in the forest plot
		if rows := chart.Effects(&r.ClaimsByMetric()[0]).HTML(); !strings.Contains(string(rows), words) {
			t.Errorf("no %q in %s", words, rows)
		}
	}
	baseline.Median = median
	if f := chart.HeatMap(r, r.Grids(metric)); f.Note != "log scale" {
		t.Error(f.Note)
	}
	own.Median = 0
	if f := chart.HeatMap(r, r.Grids(metric)); f.Note != "linear scale" {
		t.Error(f.Note)
	}
	r.Estimates = slices.DeleteFunc(r.Estimates, func(of benchmark.Estimate) bool { return of.Cell == e.Cell && of.Metric == metric })
	if f := chart.HeatMap(r, r.Grids(metric)); f.Note != "log scale; hatched: no valid result" {
		t.Error(f.Note)
	}
	if rect, n := hatched(chart.EffectMap(r, r.Grids(metric))); n != 1 || !rect.Hatched || rect.Text != "" {
		t.Errorf("%d hatched, %+v", n, rect)
	}
}

// TestCapacity checks that each trial has a mark, and where the bounds end.
func TestCapacity(t *testing.T) {
	r := &round.Report{Round: roundtest.Connectors(t)}
	for i := range r.Capacities {
		c := &r.Capacities[i]
		f := chart.Capacity(r, c)
		loads := plotsOf(f)[0]
		dots, lines := 0, []plot.Line{}
		for _, m := range loads.Marks {
			switch m := m.(type) {
			case plot.Dot:
				dots++
			case plot.Line:
				lines = append(lines, m)
			}
		}
		if trials := len(r.Trials(c.Cell)); dots != trials || f.Title != r.Sustains(c) {
			t.Errorf("%d dots of %d trials: %s", dots, trials, f.Title)
		}
		for j, want := range []int64{c.Sustained, c.Failed} {
			if points := lines[j].Points; points[len(points)-1].Y != float64(want) {
				t.Errorf("a bound ends at %+v, want %d", points[len(points)-1], want)
			}
		}
	}
}

// TestTrend checks the levels of a series whose level rises with round 9.
func TestTrend(t *testing.T) {
	f := chart.Trend(&round.Report{Round: roundtest.Trending(t)})
	first := plotsOf(f)[0]
	if first.Title != "p99 of nio2" {
		t.Fatalf("%+v", first)
	}
	of := plot.Of("", "", first)
	if rules := marks[plot.Rule](of); len(rules) != 1 || !strings.Contains(rules[0].Text, "% from round 9, found in round 1") {
		t.Errorf("%+v", rules)
	}
	if dots := marks[plot.Dot](of); len(dots) != 14 || !dots[4].Hollow || dots[3].Hollow {
		t.Errorf("%+v", dots)
	}
	if texts := marks[plot.Text](of); !slices.ContainsFunc(texts, func(text plot.Text) bool { return text.Text == "kernel" }) {
		t.Errorf("%+v", texts)
	}
	if none := chart.Trend(&round.Report{Round: roundtest.Failed(t)}); none != nil {
		t.Error("a trend of one round")
	}
}

// TestLevels checks the columns and overlaid values of R5's servers, and the median of a level.
func TestLevels(t *testing.T) {
	r := roundtest.Staged(t)
	f := chart.Levels(r)
	var names, titles []string
	for _, n := range f.Names {
		names = append(names, n.Text)
	}
	for _, column := range f.Columns {
		titles = append(titles, column[0].Title)
		for _, p := range column {
			if dots := marks[plot.Dot](plot.Of("", "", p)); len(dots) != 3*7 || dots[0].At.X != 50 || dots[6].At.X != 1000 {
				t.Fatalf("%s: %+v", p.Axis, dots)
			}
		}
	}
	if !slices.Equal(names, []string{"tomcat", "jetty", "undertow"}) || !slices.Equal(titles, []string{"target 1 CPU", "target 2 CPU", "target 4 CPU", "target 4 CPU TLS"}) || len(f.Columns[0]) != 4 {
		t.Errorf("%q by %q", titles, names)
	}
	if first := marks[plot.Dot](plot.Of("", "", f.Columns[0][2]))[0]; first.At.Y != 500 {
		t.Errorf("%g requests/s at 50 connections", first.At.Y)
	}
	if none := chart.Levels(&round.Report{Round: roundtest.Failed(t)}); none != nil {
		t.Error("levels of a load without stages")
	}
}

// resultOf returns a result of n requests whose latencies are spread around a median in microseconds.
func resultOf(n int, median float64) *result.Result {
	r := &result.Result{Run: result.Run{Load: result.LoadClosed}}
	h := r.Merged.Latencies.Of(result.Total)
	for i := range n {
		h.Record(int64(median / (1 - (float64(i)+0.5)/float64(n)) / 2))
	}
	return r
}

// TestPercentiles checks that a curve ends with its count and the longest latency, and that the difference ends where either
// run has fewer than 10 requests beyond.
func TestPercentiles(t *testing.T) {
	results := [2]*result.Result{resultOf(100_000, 5000), resultOf(20_000, 6000)}
	c := &round.Comparison{Baseline: round.Side{Name: "a"}, Candidate: round.Side{Name: "b"}, Results: results}
	curves, difference := chart.Percentiles(c)
	for i, d := range marks[plot.Dot](curves) {
		h := results[i].Merged.Latencies.Get(result.Total)
		if d.At.X != float64(h.Count()) || d.At.Y != float64(h.Max())/1000 {
			t.Errorf("curve %d ends at %+v", i, d.At)
		}
	}
	points := marks[plot.Line](difference)[0].Points
	last := points[len(points)-1]
	at := func(r *result.Result) float64 {
		return float64(r.Merged.Latencies.Get(result.Total).Percentile(100 * (1 - 1/last.X)))
	}
	if want := 100 * (at(results[1])/at(results[0]) - 1); last.X > 2000 || last.X < 1800 || math.Abs(last.Y-want) > 0.5 {
		t.Errorf("the difference ends at %+v, want %g%%", last, want)
	}
	c.Results = [2]*result.Result{resultOf(10, 1000), {}}
	if curves, _ := chart.Percentiles(c); curves != nil {
		t.Error("a curve without requests")
	}
}
