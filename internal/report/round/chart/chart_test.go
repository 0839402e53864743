package chart_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/chart"
	"github.com/assay-dev/assay/internal/report/round/roundtest"
	"github.com/assay-dev/assay/internal/result"
)

// TestForestPlaces checks that estimates are in the order of the effects, and that a change and its reverse are
// equally far from no change.
func TestForestPlaces(t *testing.T) {
	r := &round.Report{Round: roundtest.Connectors(t)}
	forest := chart.NewForests(r)[0]
	places := map[string]float64{}
	for _, e := range parse(t, string(forest.Draw(968).HTML())) {
		if e.name == "circle" {
			places[e.tip] = e.number(t, "cx")
		}
	}
	var last *benchmark.Effect
	effects := slices.Clone(r.Effects)
	slices.SortFunc(effects, func(a, b benchmark.Effect) int { return int(math.Copysign(1, *a.Percent-*b.Percent)) })
	count := 0
	for i := range effects {
		e := &effects[i]
		if e.Metric != forest.Metric {
			continue
		}
		count++
		tip := chart.Change(e) + " (" + chart.Interval(e) + ")"
		if _, drawn := places[tip]; !drawn {
			t.Errorf("no dot for %s in %v", tip, places)
		}
		if last != nil && places[tip] <= places[chart.Change(last)+" ("+chart.Interval(last)+")"] {
			t.Errorf("the dot of %s isn't right of that of %s", chart.Change(e), chart.Change(last))
		}
		last = e
	}
	if count != 3 || len(places) != count {
		t.Errorf("%d effects, %d dots", count, len(places))
	}
}

// TestForestBeyond checks that an effect beyond the axis is an arrow with its value.
func TestForestBeyond(t *testing.T) {
	forest := chart.NewForests(&round.Report{Round: roundtest.Ratios(t)})[0]
	svg := string(forest.Draw(968).HTML())
	if e := forest.Rows[1].Effect; *e.Percent < 500 || strings.Contains(svg, "<circle") || strings.Count(svg, ">"+chart.Change(e)+"<") != 2 {
		t.Errorf("%g: %s", *e.Percent, svg)
	}
}

// TestManyRows checks that the worst effects have rows if there are too many, each below its baseline.
func TestManyRows(t *testing.T) {
	r := roundtest.Failed(t)
	effect := r.Effects[0]
	r.Effects, r.Cells = nil, r.Cells[:1]
	for i := range 60 {
		percent := float64((i * 7) % 60)
		r.Cells = append(r.Cells, benchmark.Cell{Index: i + 1, Name: fmt.Sprintf("cell-%d", i+1), Baseline: 0})
		e := effect
		e.Cell, e.Percent = i+1, &percent
		r.Effects = append(r.Effects, e)
	}
	f := chart.NewForests(&round.Report{Round: r})[0]
	if len(f.Rows) != 41 || f.Omitted != 20 || f.Rows[0].Effect != nil {
		t.Fatalf("%d rows, %d omitted", len(f.Rows), f.Omitted)
	}
	for _, row := range f.Rows[1:] {
		if *row.Effect.Percent < 20 {
			t.Errorf("%s has a row: %g", row.Label, *row.Effect.Percent)
		}
	}
}

// TestRuns checks that each valid run has a mark, and each invalid one is where it was, with its replacement.
func TestRuns(t *testing.T) {
	r := &round.Report{Round: roundtest.Connectors(t)}
	runs := chart.NewRuns(r, "LatencyP99")
	dots := 0
	for _, c := range runs.Cells {
		dots += len(c.Dots)
	}
	if dots != 40 || runs.Blocks != 10 || runs.Whole != 10 || len(runs.Invalid) != 1 {
		t.Fatalf("%d dots, %d of %d blocks, invalid: %+v", dots, runs.Whole, runs.Blocks, runs.Invalid)
	}
	if i := runs.Invalid[0]; i.Run != "connectors-r3-c001-b04" || i.Block != 4 || i.Replacement != "connectors-r3-c001-b04-i1" || i.Cell != "nio2" {
		t.Errorf("%+v", i)
	}
	tips := map[string]bool{}
	for _, e := range parse(t, string(runs.Draw(968).HTML())) {
		tips[e.tip] = true
	}
	for _, c := range runs.Cells {
		for _, d := range c.Dots {
			if !tips[d.Run+": "+picture.Significant(d.Figure)] {
				t.Errorf("no mark of %s", d.Run)
			}
		}
	}

	// Runs that don't count are there, marked so.
	runs = chart.NewRuns(&round.Report{Round: roundtest.InvalidRuns(t)}, "LatencyP99")
	if runs.Whole != 2 || runs.Blocks != 3 || len(runs.Invalid) != 4 {
		t.Errorf("%d of %d blocks whole, %d invalid", runs.Whole, runs.Blocks, len(runs.Invalid))
	}
}

// TestGrid checks the places, shades and steps of R2's first series.
func TestGrid(t *testing.T) {
	r := &round.Report{Round: roundtest.Sizes(t)}
	grids := chart.NewGrids(r, "RequestsPerSecond")
	if len(grids) != 1 || grids[0].Effect {
		t.Fatalf("%d grids", len(grids))
	}
	g := grids[0]
	panel := g.Panels[0]
	if len(panel.Rows) != 7 || len(panel.Columns) != 6 || panel.X[5] != 30 || panel.Cells[0][0].Name != "size=1 KB,threads=5" || *panel.Cells[0][0].Figure != g.High || *panel.Cells[6][5].Figure != g.Low {
		t.Errorf("%+v", panel)
	}
	if warned := panel.Cells[4][0].Warnings; !slices.Equal(warned, []string{"NetworkLimited"}) || len(panel.Cells[3][0].Warnings) > 0 || !strings.Contains(string(g.DrawHeatMap(968).HTML()), "corner: warned") {
		t.Errorf("warnings %q, %q", warned, panel.Cells[3][0].Warnings)
	}
	if g.Step(g.Low, 6) != 0 || g.Step(g.High, 6) != 5 || g.Step(math.Sqrt(g.Low*g.High)*1.01, 6) != 3 {
		t.Error("the shades aren't on a log scale")
	}
	if lines := g.DrawLines(968); lines == nil {
		t.Error("no lines of numbers")
	}

	effects := chart.NewGrids(&round.Report{Round: roundtest.Scaling(t)}, "LatencyP99")
	if len(effects) != 2 || !effects[1].Effect {
		t.Fatalf("%d grids", len(effects))
	}
	e := effects[1] // of p99, with a tolerance of 5%
	for percent, want := range map[float64]int{0: 3, 4.9: 3, -5: 3, 5.1: 4, 11: 5, 21: 6, 900: 6, -7: 2, -15: 1, -60: 0} {
		if got := e.EffectStep(percent); got != want {
			t.Errorf("%g%% is step %d, want %d", percent, got, want)
		}
	}
	if base := e.Panels[0].Cells[0][0]; base.Figure != nil || base.Word != "" {
		t.Errorf("the baseline has an effect: %+v", base)
	}
	if lines := e.DrawLines(968); lines != nil {
		t.Error("lines of effects")
	}
	if none := chart.NewGrids(&round.Report{Round: roundtest.Failed(t)}, "LatencyP99"); none != nil {
		t.Error("a grid of one axis")
	}
}

// TestCapacity checks the bounds after each trial: they end at the result.
func TestCapacity(t *testing.T) {
	r := &round.Report{Round: roundtest.Connectors(t)}
	capacities := chart.NewCapacities(r)
	if len(capacities) != 4 {
		t.Fatalf("%d searches", len(capacities))
	}
	for i, want := range []string{
		"nio sustains 11,815/s, fails at 12,338/s.", "nio2 sustains 9,935/s, fails at 10,375/s.", "apr sustains 14,672/s, fails at 15,322/s.",
		"nginx sustains at least 4,000/s. At 4,177/s the clients were the limit: give them more CPU, or use more of them.",
	} {
		c := capacities[i]
		last := c.Trials[len(c.Trials)-1]
		if got := c.Sentence(); got != want || last.Lower != c.Sustained || last.Upper != c.Failed || len(c.Trials) != r.Capacities[i].Trials {
			t.Errorf("%s; %d trials, last %+v, want %s", got, len(c.Trials), last, want)
		}
		for _, trial := range c.Trials[1:] {
			if trial.Upper > 0 && trial.Lower >= trial.Upper {
				t.Errorf("bounds %d and %d", trial.Lower, trial.Upper)
			}
		}
	}
}

// TestTrend checks the levels of a series whose level rises with round 9.
func TestTrend(t *testing.T) {
	trends := chart.NewTrends(&round.Report{Round: roundtest.Trending(t)})
	if len(trends) < 2 || trends[0].Label != "nio2" || len(trends[0].Levels) != 2 || len(trends[1].Levels) != 0 {
		t.Fatalf("%+v", trends)
	}
	first, second := trends[0].Levels[0], trends[0].Levels[1]
	if first.Last != 7 || second.First != 8 || second.Last != 13 || !strings.Contains(second.Change, "% from round 9, found in round 1") || second.Median < first.Median*1.1 {
		t.Errorf("%+v", trends[0].Levels)
	}
	if points := trends[0].Points; !points[4].Inconclusive || points[3].Inconclusive || points[11].Changed != "kernel" || points[12].Changed != "" {
		t.Errorf("%+v", points)
	}
	if none := chart.NewTrends(&round.Report{Round: roundtest.Failed(t)}); none != nil {
		t.Error("a trend of one round")
	}
}

// TestLevels checks the columns and overlaid values of R5's servers, and the median of a level.
func TestLevels(t *testing.T) {
	l := chart.NewLevels(roundtest.Staged(t))
	if !slices.Equal(l.Variants, []string{"tomcat", "jetty", "undertow"}) || !slices.Equal(l.Columns, []string{"target 1 CPU", "target 2 CPU", "target 4 CPU", "target 4 CPU TLS"}) || len(l.Metrics) != 4 {
		t.Fatalf("%q by %q", l.Columns, l.Variants)
	}
	for _, m := range l.Metrics {
		for _, column := range m.Lines {
			for _, points := range column {
				if len(points) != 7 || points[0].Load != 50 || points[6].Load != 1000 || points[0].Runs != 6 || points[6].Low > points[6].Median || points[6].High < points[6].Median {
					t.Fatalf("%s: %+v", m.Name, points)
				}
			}
		}
	}
	if first := l.Metrics[2].Lines[0][0][0]; first.Median != 500 {
		t.Errorf("%g requests/s at 50 connections", first.Median)
	}
	if none := chart.NewLevels(&round.Report{Round: roundtest.Failed(t)}); none != nil {
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

// TestPercentiles checks that a curve ends with its count, is thin where fewer than 10 requests lie beyond, and that the
// difference ends there.
func TestPercentiles(t *testing.T) {
	results := [2]*result.Result{resultOf(100_000, 5000), resultOf(20_000, 6000)}
	p := chart.NewPercentiles([2]string{"a", "b"}, results, 5)
	for i, n := range []float64{100_000, 20_000} {
		points := p.Curves[i].Points
		last := points[len(points)-1]
		if math.Abs(last.OneIn-n) > 1 || last.Milliseconds != float64(results[i].Merged.Latencies.Get(result.Total).Max())/1000 {
			t.Errorf("curve %d ends at one in %g: %g ms", i, last.OneIn, last.Milliseconds)
		}
		for _, at := range points {
			if at.Thin != (at.OneIn > n/10) {
				t.Fatalf("one in %g of %g: thin %t", at.OneIn, n, at.Thin)
			}
		}
	}
	last := p.Differences[len(p.Differences)-1]
	at := func(r *result.Result) float64 { return float64(r.Merged.Latencies.Get(result.Total).Percentile(99.95)) }
	if want := 100 * (at(results[1])/at(results[0]) - 1); math.Abs(last.OneIn-2000) > 1e-6 || math.Abs(last.Percent-want) > 0.5 {
		t.Errorf("the difference ends at %+v, want %g%%", last, want)
	}
	rows := chart.PercentileRows(results)
	if row := rows[len(rows)-1]; row.Percent != 99.99 || !math.IsNaN(row.Change) || math.IsNaN(row.Values[1]) {
		t.Errorf("%+v", row)
	}
	if chart.NewPercentiles([2]string{"a", "b"}, [2]*result.Result{resultOf(10, 1000), {}}, 5) != nil {
		t.Error("a curve without requests")
	}
	for _, width := range widths {
		for name, drawn := range map[string]*picture.Picture{"both": p.Draw(width), "curves": p.DrawCurves(width), "differences": p.DrawDifferences(width)} {
			checkTexts(t, fmt.Sprintf("%s at %g", name, width), drawn, texts(t, parse(t, string(drawn.HTML()))))
		}
	}
}
