package round

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/statistics"
)

// maxLevelRows is the largest number of levels in a report for people. The tables by axes have all.
const maxLevelRows = 200

// breakingColumns are the columns of the table of breaking points.
var breakingColumns = []struct {
	metric v1alpha1.BenchmarkMetric
	name   string
}{
	{v1alpha1.MetricBreakingPointCPU, "CPU"}, {v1alpha1.MetricBreakingPointFailedRequests, "failed requests"},
	{v1alpha1.MetricBreakingPointErrorRate, "failing share"}, {v1alpha1.MetricBreakingPointLatencyP99, "p99"},
	{v1alpha1.MetricBreakingPointThroughput, "gain of throughput"},
}

// levelColumn is a column of the table of levels.
type levelColumn struct {
	metric v1alpha1.BenchmarkMetric
	name   string
}

// pageColumns come before levelColumns if users load pages.
var pageColumns = []levelColumn{
	{v1alpha1.MetricPageTimeMean, "page ms"}, {v1alpha1.MetricPageTimeP99, "page p99 ms"},
	{v1alpha1.MetricRoundsPer10Seconds, "rounds/10 s"}, {v1alpha1.MetricPageErrorRate, "failed pages %"},
}

// levelColumns are the columns of the table of levels.
var levelColumns = []levelColumn{
	{v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond), "requests/s"}, {v1alpha1.MetricBytesPerSecond, "MB/s"},
	{v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyMean), "mean ms"}, {v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP99), "p99 ms"},
	{v1alpha1.BenchmarkMetric(v1alpha1.MetricErrorRate), "failed %"}, {metricTargetCPU, "CPU %"}, {metricTargetCPUIdle, "idle %"},
}

func noneUpTo(load int64) string { return fmt.Sprintf("none up to %d", load) }

// levelNames returns the names of the levels on LevelAxis in the order of the load. All cells usually have the same.
func levelNames(r *benchmark.Round) []string {
	at := map[string]int{}
	for i := range r.Levels {
		name := levelName(r, i)
		at[name] = max(at[name], r.Levels[i].Level)
	}
	return slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(at))), func(a, b string) int { return at[a] - at[b] })
}

// levelName returns the load of a level. One that the load had before is numbered as well: "200 (level 3)".
func levelName(r *benchmark.Round, i int) string {
	l := &r.Levels[i]
	before := slices.ContainsFunc(r.Levels[:i], func(o benchmark.LevelEstimate) bool { return o.Cell == l.Cell && o.Load == l.Load })
	if before {
		return fmt.Sprintf("%d (level %d)", l.Load, l.Level+1)
	}
	return strconv.FormatInt(l.Load, 10)
}

func levelMetricsOf(r *benchmark.Round) []string {
	names := map[string]bool{}
	for i := range r.Levels {
		for m := range r.Levels[i].Medians {
			names[string(m)] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// levelEntries returns the medians of the levels of all cells.
func levelEntries(r *benchmark.Round, metric v1alpha1.BenchmarkMetric) []entry {
	entries := make([]entry, len(r.Levels))
	for i := range r.Levels {
		l := &r.Levels[i]
		e := entry{name: r.Cells[l.Cell].Name, values: map[string]string{}}
		maps.Copy(e.values, r.Cells[l.Cell].Values)
		e.values[LevelAxis] = levelName(r, i)
		if median, has := l.Medians[metric]; has {
			e.value = &median
		}
		entries[i] = e
	}
	return entries
}

// UnitOfLoad returns the unit in which the levels of a round are counted: "connections", "users" or "requests/s". The round must
// have levels.
func UnitOfLoad(r *benchmark.Round) string {
	switch {
	case r.Levels[0].PerSecond:
		return "requests/s"
	case r.Levels[0].Users:
		return "users"
	}
	return "connections"
}

// HasPages reports whether the levels of a round are of users who load pages.
func HasPages(r *benchmark.Round) bool { return len(r.Levels) > 0 && r.Levels[0].Users }

// Table is a part of a report on levels. The columns of Words come before those of Numbers.
type Table struct {
	Title, Text    string
	Words, Numbers []string
	Rows           [][]string
}

func (t *Table) write(d document) {
	if t == nil {
		return
	}
	var columns []any
	for _, name := range t.Words {
		columns = append(columns, report.Words(name))
	}
	for _, name := range t.Numbers {
		columns = append(columns, name)
	}
	d.section(t.Title)
	d.paragraph(t.Text)
	d.table(columns, t.Rows)
}

// BreakingPoints returns the loads at which each cell met its breaking points; nil if the load has no levels.
func (r *Report) BreakingPoints() *Table {
	if len(r.Levels) == 0 {
		return nil
	}
	t := &Table{Title: "Breaking points", Words: []string{"cell"}, Rows: make([][]string, len(r.Cells)), Text: fmt.Sprintf(
		"The load in %s of all clients at which the target was first overloaded, by the bounds of load.stages.stopAt or else the usual ones: "+
			"CPU above 90%% for 3 s, the first failed request, 5%% of the requests failing, 99th percentile above the threshold's bound, less than 5%% more throughput with 20%% more load.",
		UnitOfLoad(r.Round))}
	for i := range r.Cells {
		t.Rows[i] = []string{r.Cells[i].Name}
	}
	for at, c := range breakingColumns {
		t.Numbers = append(t.Numbers, c.name)
		for i := range t.Rows {
			text := "-"
			if highest := r.NoneUpTo(i, c.metric); highest > 0 {
				text = noneUpTo(highest)
			}
			t.Rows[i] = append(t.Rows[i], text)
		}
		for i := range r.Estimates {
			if e := &r.Estimates[i]; e.Metric == c.metric {
				t.Rows[e.Cell][1+at] = estimate(e)
			}
		}
	}
	return t
}

// writeLevels writes what each cell measured while a level was held.
func (r *Report) writeLevels(d document) {
	if len(r.Levels) == 0 {
		return
	}
	columns := []any{report.Words("cell"), UnitOfLoad(r.Round), "runs"}
	levelColumns := levelColumns
	if HasPages(r.Round) {
		levelColumns = slices.Concat(pageColumns, levelColumns)
	}
	for _, c := range levelColumns {
		columns = append(columns, c.name)
	}
	var rows [][]string
	for i := range r.Levels[:min(len(r.Levels), maxLevelRows)] {
		l := &r.Levels[i]
		row := []string{r.Cells[l.Cell].Name, strconv.FormatInt(l.Load, 10), strconv.Itoa(l.Runs)}
		for _, c := range levelColumns {
			text := "-"
			if median, has := l.Medians[c.metric]; has {
				text = Figure(c.metric, median)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	d.section("Levels")
	d.paragraph("Medians of the requests that completed while a level was held, over the runs that came to it. CPU and idle are in percent of what the target may use.")
	if more := len(r.Levels) - len(rows); more > 0 {
		d.paragraph(fmt.Sprintf("%d more are in the JSON and in \"kubectl assay table benchmark/%s --pivot level,AXIS\".", more, r.Benchmark))
	}
	d.table(columns, rows)
}

// Peaks returns how each cell compares with its baseline at the highest level of both; nil if none does.
func (r *Report) Peaks() *Table {
	var rows [][]string
	quickness := v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyMean)
	if HasPages(r.Round) {
		quickness = v1alpha1.MetricPageTimeMean
	}
	for cell := range r.Cells {
		baseline := r.Cells[cell].Baseline
		if baseline == benchmark.NoBaseline {
			continue
		}
		own, other := r.PeakLevels(cell, baseline)
		if own == nil {
			continue
		}
		rows = append(rows, []string{
			r.Cells[cell].Name, r.Cells[baseline].Name, strconv.FormatInt(own.Load, 10),
			times(other.Medians, own.Medians, quickness),
			change(own.Medians, other.Medians, v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond)),
			r.breakingDifference(cell, baseline),
		})
	}
	if len(rows) == 0 {
		return nil
	}
	return &Table{
		Title: "At the peak level", Words: []string{"cell", "compared with"}, Rows: rows,
		Numbers: []string{UnitOfLoad(r.Round), "times as fast", "requests/s", "load at the CPU's breaking point"},
		Text:    "Ratios of the medians at the highest level that both cells came to, without intervals: the comparison says whether a difference is more than noise.",
	}
}

// breakingDifference returns the difference of the CPU's breaking points of two cells in percent.
func (r *Report) breakingDifference(cell, baseline int) string {
	entries := cellEntries(r.Round, v1alpha1.MetricBreakingPointCPU)
	a, b := entries[baseline].value, entries[cell].value
	if a == nil || b == nil || *a <= 0 {
		return "-"
	}
	return SignedPercent(statistics.Percent(*b / *a))
}

// times returns the ratio of a figure to another: "2.40".
func times(a, b map[v1alpha1.BenchmarkMetric]float64, metric v1alpha1.BenchmarkMetric) string {
	x, y := a[metric], b[metric]
	if x <= 0 || y <= 0 {
		return "-"
	}
	return strconv.FormatFloat(x/y, 'f', 2, 64)
}

// change returns the difference of a figure from another in percent.
func change(a, b map[v1alpha1.BenchmarkMetric]float64, metric v1alpha1.BenchmarkMetric) string {
	x, hasX := a[metric]
	y, hasY := b[metric]
	if !hasX || !hasY || y <= 0 {
		return "-"
	}
	return SignedPercent(statistics.Percent(x / y))
}
