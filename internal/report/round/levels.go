package round

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/statistics"
)

// breakingColumns are the columns of the table of breaking points.
var breakingColumns = []metricColumn{
	{v1alpha1.MetricBreakingPointCPU, "CPU"}, {v1alpha1.MetricBreakingPointFailedRequests, "failed requests"},
	{v1alpha1.MetricBreakingPointErrorRate, "failing share"}, {v1alpha1.MetricBreakingPointLatencyP99, "p99"},
	{v1alpha1.MetricBreakingPointThroughput, "gain of throughput"},
}

// levelColumns are the columns of the table of levels. pageColumns come before them if users load pages.
var (
	levelColumns = []metricColumn{
		{v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond), "requests/s"}, {v1alpha1.MetricBytesPerSecond, "MB/s"},
		{v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyMean), "mean ms"}, {v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP99), "p99 ms"},
		{v1alpha1.BenchmarkMetric(v1alpha1.MetricErrorRate), "failed %"}, {metricTargetCPU, "CPU %"}, {metricTargetCPUIdle, "idle %"},
	}
	pageColumns = []metricColumn{
		{v1alpha1.MetricPageTimeMean, "page ms"}, {v1alpha1.MetricPageTimeP99, "page p99 ms"},
		{v1alpha1.MetricRoundsPer10Seconds, "rounds/10 s"}, {v1alpha1.MetricPageErrorRate, "failed pages %"},
	}
)

// LevelsOf returns the levels of a cell in the order of the load.
func (r *Report) LevelsOf(cell int) []*benchmark.LevelEstimate {
	var levels []*benchmark.LevelEstimate
	for i := range r.Levels {
		if l := &r.Levels[i]; l.Cell == cell {
			levels = append(levels, l)
		}
	}
	slices.SortStableFunc(levels, func(a, b *benchmark.LevelEstimate) int { return cmp.Compare(a.Load, b.Load) })
	return levels
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

// breakingPoints has the loads at which each cell met its breaking points, if the load has levels.
func (r *Report) breakingPoints() doc.Section {
	if len(r.Levels) == 0 {
		return doc.Section{}
	}
	s := doc.Section{ID: "breaking-points", Title: "Breaking points", Question: "Where does it break?", Blocks: []doc.Block{
		doc.Paragraph{fmt.Sprintf("The load in %s of all clients at which the target was first overloaded, by the bounds of load.stages.stopAt or else the usual ones: "+
			"CPU above 90%% for 3 s, the first failed request, 5%% of the requests failing, 99th percentile above the threshold's bound, less than 5%% more throughput with 20%% more load.",
			UnitOfLoad(r.Round))},
	}}
	met, highest := false, int64(0)
	for cell := range r.Cells {
		for _, c := range breakingColumns {
			met = met || r.Estimate(cell, c.metric) != nil
			highest = max(highest, r.NoneUpTo(cell, c.metric))
		}
	}
	if met || highest == 0 {
		s.Add(r.medians("Breaking points", breakingColumns, false))
	} else {
		s.Add(doc.Paragraph{fmt.Sprintf("No cell met one of them up to %s %s.", number.Count(highest), UnitOfLoad(r.Round))})
	}
	return s
}

// LevelMetrics returns the metrics in which levels are shown in pictures. Those of users who load pages are in the order
// of the project's report R5.
func (r *Report) LevelMetrics() []v1alpha1.BenchmarkMetric {
	if HasPages(r.Round) {
		return []v1alpha1.BenchmarkMetric{"PageTimeMean", "RequestsPerSecond", "RoundsPer10Seconds", "TargetCPUIdle"}
	}
	return []v1alpha1.BenchmarkMetric{"LatencyP50", "LatencyP99", "RequestsPerSecond", "TargetCPU"}
}

// LevelTitle is like AxisTitle. Each request for an element of a page is a hit.
func (r *Report) LevelTitle(metric v1alpha1.BenchmarkMetric) string {
	if metric == v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond) && HasPages(r.Round) {
		return "hits/s"
	}
	return r.AxisTitle(metric)
}

// LevelsTable has what each cell measured at each level in LevelMetrics, with intervals.
func (r *Report) LevelsTable() *doc.Table {
	return r.levelsTable(r.Levels, columnsOf(r.LevelMetrics(), r.LevelTitle), func(l *benchmark.LevelEstimate, metric v1alpha1.BenchmarkMetric, median float64) string {
		e := benchmark.Estimate{Metric: metric, Median: median}
		if bounds, bounded := l.Intervals[metric]; bounded {
			e.Low, e.High = &bounds[0], &bounds[1]
		}
		return EstimateText(&e)
	})
}

func (r *Report) levelsTable(levels []benchmark.LevelEstimate, columns []metricColumn, text func(l *benchmark.LevelEstimate, metric v1alpha1.BenchmarkMetric, median float64) string) *doc.Table {
	type level = benchmark.LevelEstimate
	fields := []doc.Field[level]{
		doc.Word("cell", func(l *level) string { return r.Cells[l.Cell].Name }), doc.Number(UnitOfLoad(r.Round), func(l *level) string { return strconv.FormatInt(l.Load, 10) }),
		doc.Number("runs", func(l *level) string { return strconv.Itoa(l.Runs) }),
	}
	for _, c := range columns {
		fields = append(fields, doc.Number(c.name, func(l *level) string {
			median, has := l.Medians[c.metric]
			if !has {
				return "-"
			}
			return text(l, c.metric, median)
		}))
	}
	return doc.TableOf("Levels", levels, fields...)
}

// peaks has how each cell compares with its baseline at the highest level of both.
func (r *Report) peaks() doc.Section {
	quickness := v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyMean)
	if HasPages(r.Round) {
		quickness = v1alpha1.MetricPageTimeMean
	}
	t := &doc.Table{Caption: "At the peak level"}
	for cell := range r.Cells {
		baseline := r.Cells[cell].Baseline
		if baseline == cells.NoBaseline {
			continue
		}
		own, other := r.PeakLevels(cell, baseline)
		if own == nil {
			continue
		}
		t.Rows = append(t.Rows, []string{
			r.Cells[cell].Name, r.Cells[baseline].Name, strconv.FormatInt(own.Load, 10),
			times(other.Medians, own.Medians, quickness),
			change(own.Medians, other.Medians, v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond)),
			r.breakingDifference(cell, baseline),
		})
	}
	if len(t.Rows) == 0 {
		return doc.Section{}
	}
	t.Columns = slices.Concat(doc.Words("cell", "compared with"), doc.Numbers(UnitOfLoad(r.Round), "times as fast", "requests/s", "load at the CPU's breaking point"))
	return doc.Section{ID: "peaks", Title: t.Caption, Question: "How do cells compare there?", Blocks: []doc.Block{
		doc.Paragraph{"Ratios of the medians at the highest level that both cells came to, without intervals: the comparison says whether a difference is more than noise."}, t,
	}}
}

// breakingDifference returns the difference of the CPU's breaking points of two cells in percent.
func (r *Report) breakingDifference(cell, baseline int) string {
	a, b := r.Estimate(baseline, v1alpha1.MetricBreakingPointCPU), r.Estimate(cell, v1alpha1.MetricBreakingPointCPU)
	if a == nil || b == nil || a.Median <= 0 {
		return "-"
	}
	return SignedPercent(statistics.Percent(b.Median / a.Median))
}

// times returns the ratio of a median to another: "2.40".
func times(a, b map[v1alpha1.BenchmarkMetric]float64, metric v1alpha1.BenchmarkMetric) string {
	x, y := a[metric], b[metric]
	if x <= 0 || y <= 0 {
		return "-"
	}
	return strconv.FormatFloat(x/y, 'f', 2, 64)
}

// change returns the difference of a median from another in percent.
func change(a, b map[v1alpha1.BenchmarkMetric]float64, metric v1alpha1.BenchmarkMetric) string {
	x, hasX := a[metric]
	y, hasY := b[metric]
	if !hasX || !hasY || y <= 0 {
		return "-"
	}
	return SignedPercent(statistics.Percent(x / y))
}
