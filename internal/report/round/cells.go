package round

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/report"
)

// usual are the metrics of the table of cells beside those that are compared.
var usual = []v1alpha1.BenchmarkMetric{
	v1alpha1.BenchmarkMetric(v1alpha1.MetricRequestsPerSecond), v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP50),
	v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP99), v1alpha1.BenchmarkMetric(v1alpha1.MetricErrorRate), v1alpha1.MetricTargetCPUPerRequest,
}

// writeCells writes the medians of each cell with their intervals.
func (r *Report) writeCells(d document) {
	if len(r.Estimates) == 0 {
		return
	}
	var metrics []v1alpha1.BenchmarkMetric
	if c := r.Spec.Comparison; c != nil {
		for _, m := range c.Metrics {
			metrics = append(metrics, m.Name)
		}
	}
	for _, m := range usual {
		if !slices.Contains(metrics, m) {
			metrics = append(metrics, m)
		}
	}
	columns := []any{report.Words("cell"), "runs"}
	rows := make([][]string, len(r.Cells))
	for i := range rows {
		rows[i] = append(slices.Repeat([]string{"-"}, 2+len(metrics)), "")[:2+len(metrics)]
		rows[i][0] = r.Cells[i].Name
	}
	for at, m := range metrics {
		columns = append(columns, heading(m))
		for i := range rows {
			if highest := r.NoneUpTo(i, m); highest > 0 {
				rows[i][2+at] = noneUpTo(highest)
			}
		}
	}
	for i := range r.Estimates {
		e := &r.Estimates[i]
		if at := slices.Index(metrics, e.Metric); at >= 0 {
			rows[e.Cell][1], rows[e.Cell][2+at] = strconv.Itoa(e.Runs), estimate(e)
		}
	}
	d.section("Cells")
	d.paragraph(fmt.Sprintf("Medians over the runs of %s, with intervals that hold the true median with a confidence of %d%% each.",
		plural(r.Blocks, "block"), r.confidence()))
	d.table(columns, rows)
}

func estimate(e *benchmark.Estimate) string {
	median, interval := EstimateTexts(e)
	if interval != "" {
		median += " (" + interval + ")"
	}
	return median
}

// writeCapacities writes the results of the capacity searches.
func (r *Report) writeCapacities(d document) {
	if len(r.Capacities) == 0 {
		return
	}
	orDash := func(exists bool, text string) string {
		if !exists {
			return "-"
		}
		return text
	}
	var rows [][]string
	for i := range r.Capacities {
		c := &r.Capacities[i]
		rows = append(rows, []string{
			r.Cells[c.Cell].Name, orDash(c.Sustained > 0, number(float64(c.Sustained))), orDash(c.Failed > 0, number(float64(c.Failed))), limits[c.Limit],
			orDash(c.AchievedPerSecond > 0, benchmark.Decimal(c.AchievedPerSecond)), orDash(c.RequestsPerDay > 0, number(c.RequestsPerDay)),
			orDash(c.BytesPerSecond > 0, benchmark.Decimal(c.BytesPerSecond/1e6)),
			orDash(c.CPUSecondsPerMillionRequests > 0, benchmark.Decimal(c.CPUSecondsPerMillionRequests)),
			orDash(c.BytesPerConnection > 0, benchmark.Decimal(c.BytesPerConnection/1024)), strconv.Itoa(c.Trials),
		})
	}
	d.section("Capacities")
	if c := r.Spec.Capacity; c != nil {
		d.paragraph(fmt.Sprintf("The largest value of %s that was sustained, and the smallest above it that was not. The other figures are those at the sustained load.", c.Path))
	}
	d.table([]any{report.Words("cell"), "sustained", "not sustained", report.Words("limit"), "achieved/s", "requests/day", "MB/s", "CPU s/million requests", "KiB/connection", "trials"}, rows)
}

var limits = map[v1alpha1.CapacityLimit]string{
	v1alpha1.LimitServer:  "the server",
	v1alpha1.LimitClients: "the clients: the server's is unknown",
	v1alpha1.LimitMaximum: "capacity.max",
	v1alpha1.LimitTrials:  "too many trials that contradict each other",
	"":                    "not complete",
}

// writeInvalid writes the runs that have no valid result.
func (r *Report) writeInvalid(d document) {
	var rows [][]string
	for i := range r.Runs {
		if run := &r.Runs[i]; !run.Valid && !run.Ended.IsZero() {
			rows = append(rows, []string{run.Name, r.Cells[run.Cell].Name, cmp.Or(run.Message, "unknown")})
		}
	}
	if len(rows) == 0 {
		return
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	d.section("Invalid runs")
	d.paragraph("Their figures are nowhere above.")
	d.table([]any{report.Words("run"), report.Words("cell"), report.Words("reason")}, rows)
}

// writeConditions writes under which conditions the runs were made, and in which order.
func (r *Report) writeConditions(d document) {
	d.section("Conditions")
	var items []string
	for _, fact := range r.Conditions() {
		items = append(items, fmt.Sprintf("%-16s %s", fact[0]+":", fact[1]))
	}
	d.list(items...)
}

// Conditions returns the conditions under which the runs were made, and their order, as names and values.
func (r *Report) Conditions() [][2]string {
	var items [][2]string
	item := func(name, value string) {
		if value != "" {
			items = append(items, [2]string{name, value})
		}
	}
	item("Trigger", string(r.Trigger))
	item("Began", moment(r.Started))
	if !r.Ended.IsZero() {
		item("Ended", moment(r.Ended)+", after "+r.Ended.Sub(r.Started).Round(time.Second).String())
	}
	item("Runs", r.counts())
	item("Order", fmt.Sprintf("randomized complete blocks, seed %d", r.Seed))
	item("Spec", r.Hash)
	for _, c := range []struct {
		name string
		of   func(*benchmark.Conditions) string
	}{
		{"Node type", func(c *benchmark.Conditions) string { return c.NodeType }},
		{"Kernel", func(c *benchmark.Conditions) string { return c.Kernel }},
		{"CPU exclusivity", func(c *benchmark.Conditions) string { return c.CPUExclusivity }},
		{"Placement", func(c *benchmark.Conditions) string { return c.Placement }},
		{"Image", func(c *benchmark.Conditions) string { return c.Image }},
	} {
		item(c.name, strings.Join(distinct(r.Runs, c.of), "; "))
	}
	if len(r.Omitted) > 0 {
		names := make([]string, len(r.Omitted))
		for i, m := range r.Omitted {
			names[i] = string(m)
		}
		item("Not stored", "figures of single runs for "+strings.Join(names, ", ")+": the artifact had no room")
	}
	if r.LevelsOmitted {
		item("Not stored", "figures of levels: the artifact had no room")
	}
	return items
}

// counts says how many runs the round made.
func (r *Report) counts() string {
	trials, invalid := 0, 0
	for i := range r.Runs {
		if r.Runs[i].Trial {
			trials++
		}
		if !r.Runs[i].Valid {
			invalid++
		}
	}
	if len(r.Runs) == 0 {
		return ""
	}
	text := fmt.Sprintf("%d in %s of %s", len(r.Runs)-trials, plural(r.Blocks, "whole block"), plural(len(r.Cells), "cell"))
	if trials > 0 {
		text += ", " + plural(trials, "trial")
	}
	text += fmt.Sprintf(", %d invalid", invalid)
	if r.ForeignRuns > 0 {
		text += fmt.Sprintf(", %s of others in between", plural(r.ForeignRuns, "run"))
	}
	return text
}

// distinct returns the values of a condition in valid runs, with the number of runs if there are several.
func distinct(runs []benchmark.Run, of func(*benchmark.Conditions) string) []string {
	count := map[string]int{}
	var values []string
	for i := range runs {
		if !runs[i].Valid {
			continue
		}
		value := of(&runs[i].Conditions)
		if count[value]++; count[value] == 1 {
			values = append(values, value)
		}
	}
	if len(values) == 1 {
		return []string{cmp.Or(values[0], "not available")}
	}
	for i, v := range values {
		values[i] = fmt.Sprintf("%s (%s)", cmp.Or(v, "not available"), plural(count[v], "run"))
	}
	return values
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
