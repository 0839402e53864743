package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

// part is a level of a load, or a step between two.
type part struct {
	*result.Level
	step bool
	from int64 // of a step
}

// name is the load: "400", or of a step "200 to 400".
func (p *part) name() string {
	if p.step {
		return fmt.Sprintf("%d to %d", p.from, p.Load())
	}
	return fmt.Sprint(p.Load())
}

func levelsOf(r *result.Result) []part {
	var parts []part
	for i := range r.Levels {
		parts = append(parts, part{Level: &r.Levels[i]})
	}
	return parts
}

func stepsOf(r *result.Result) []part {
	var parts []part
	for i := range r.Steps {
		parts = append(parts, part{&r.Steps[i].Level, true, r.Steps[i].From})
	}
	return parts
}

// allParts returns levels and steps in the order of time.
func allParts(r *result.Result) []part {
	parts := append(stepsOf(r), levelsOf(r)...)
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.Start, b.Start) })
	return parts
}

// UnitOfLoad returns the unit in which a load is counted.
func UnitOfLoad(r *result.Result) string {
	if r.Run.Load == result.LoadOpen {
		return "requests/s"
	}
	return r.Run.UsersOrConnections()
}

// writeLevels writes a row for each level of the load, and one for each step between levels: first what the clients
// measured, then what the target used.
func writeLevels(w *paper, r *result.Result) {
	held := heldUnit(r)
	w.printf("Requests completed while a level was held.\n\n")
	writeParts(w, held, levelsOf(r))
	if r.Run.UserConnections > 0 {
		w.printf("\nPages completed while a level was held. Hits are requests, of which a page has several.\n\n")
		w.table(levelPagesTable(held, levelsOf(r)))
	}
	if steps := stepsOf(r); len(steps) > 0 {
		w.printf("\nRequests completed during a step from one level to the next.\n\n")
		writeParts(w, held, steps)
	}
	w.printf("\nCPU is in percent of the limits; idle is the time of the CPUs that the target may use.\n\n")
	writeUsage(w, r, held, allParts(r))
	first := true
	for _, p := range allParts(r) {
		var kinds []string
		for k, n := range p.Errors.Occurred() {
			kinds = append(kinds, fmt.Sprintf("%s %d", k, n))
		}
		if len(kinds) == 0 {
			continue
		}
		if first {
			w.printf("\n")
		}
		first = false
		w.printf("Failed at %s %s: %s\n", p.name(), UnitOfLoad(r), strings.Join(kinds, ", "))
	}
}

// heldUnit returns the heading of the column of levels.
func heldUnit(r *result.Result) string {
	if r.Run.Load == result.LoadOpen {
		return "target/s"
	}
	return r.Run.UsersOrConnections()
}

func writeParts(w *paper, held string, parts []part) {
	w.table(partsTable(held, parts))
}

func partsTable(held string, parts []part) *Sheet {
	t := NewTable(Words(held), "seconds", "requests/s", "kB/s", "mean ms", "p50 ms", "p90 ms", "p99 ms", "max ms", "requests", "failed", "failed %", "dropped")
	for i := range parts {
		p := &parts[i]
		total := p.Total()
		some := total.Count > 0
		at := func(of percentile.Percentile) string { return msText(total.Percentiles[of], some) }
		t.AppendRow(table.Row{
			p.name(), p.End - p.Start, decimals(p.RequestsPerSecond(), 2), decimals(p.BytesPerSecond()/1024, 2), msText(int64(total.Mean()+0.5), some),
			at(percentile.P50), at(percentile.P90), at(percentile.P99), msText(total.Max, some),
			p.Requests, p.Errors.Total(), decimals(p.ErrorPercent(), 2), p.Dropped,
		})
	}
	return t
}

// usageColumn is a figure of what the target or a client used in a part of the load; unknown is negative.
type usageColumn struct {
	name, csv string
	of        func(l *result.Level) float64
}

func usageColumns(r *result.Result) []usageColumn {
	var columns []usageColumn
	containers := r.Containers()
	for _, c := range containers {
		columns = append(columns, usageColumn{c.Name + " CPU %", "cpu_percent_" + c.Name, func(l *result.Level) float64 {
			used := l.CPUOf(c.Name)
			if c.Name == result.ServerContainer && used == result.Unknown {
				used = l.ServerCPU // a result of an earlier version has no more
			}
			return l.CPUPercent(used, c.CPULimit)
		}})
	}
	if len(containers) > 1 {
		columns = append(columns, usageColumn{"pod CPU %", "cpu_percent_pod", func(l *result.Level) float64 { return l.PodCPUPercent(containers, r.Environment.SharedCPULimit) }})
	}
	return append(columns,
		usageColumn{"idle %", "idle_percent", func(l *result.Level) float64 {
			if l.Node == nil {
				return result.Unknown
			}
			return l.Node.CPUPercent(l.Node.Idle)
		}},
		usageColumn{"memory MiB", "memory_mib", func(l *result.Level) float64 {
			resident := l.Resident(containers)
			if resident == result.Unknown {
				return result.Unknown
			}
			return float64(resident) / (1 << 20)
		}},
		usageColumn{"client CPU %", "client_cpu_percent", func(l *result.Level) float64 { return l.CPUPercent(l.ClientCPU, r.Environment.ClientCPULimit) }},
	)
}

func writeUsage(w *paper, r *result.Result, held string, parts []part) {
	columns := usageColumns(r)
	headings := []any{Words(held)}
	for _, c := range columns {
		headings = append(headings, c.name)
	}
	t := NewTable(headings...)
	for i := range parts {
		row := table.Row{parts[i].name()}
		for _, c := range columns {
			value := c.of(parts[i].Level)
			row = append(row, orDash(value >= 0, decimals(value, 1)))
		}
		t.AppendRow(row)
	}
	w.table(t)
}

// writeBreakingPoints writes what ended the load early, if anything did, and a row for each breaking point.
func writeBreakingPoints(w *paper, r *result.Result) {
	unit := UnitOfLoad(r)
	if s := r.Stop; s != nil {
		w.printf("The load was ended after %ds, as stopAt says: %s was %s (%s) at %d %s.\n\n", s.End, BreakingPointName(&s.BreakingPoint), s.Actual, s.Bound, s.Load(), unit)
	}
	w.table(breakingPointsTable(r))
}

func breakingPointsTable(r *result.Result) *Sheet {
	t := NewTable(Words("breaking point"), Words("bound"), UnitOfLoad(r), "second", Words("during"), Words("actual"))
	for i := range r.BreakingPoints {
		p := &r.BreakingPoints[i]
		if !p.Reached {
			t.AppendRow(table.Row{BreakingPointName(p), p.Bound, "none", "-", "-", "-"})
			continue
		}
		during := "a level"
		if p.Step {
			during = "a step"
		}
		t.AppendRow(table.Row{BreakingPointName(p), p.Bound, p.Load(), p.Second, during, p.Actual})
	}
	return t
}

var breakingPointNames = map[result.BreakingPointKind]string{
	result.BreakingCPU: "CPU", result.BreakingPodCPU: "CPU of the pod", result.BreakingFailedRequests: "failed requests",
	result.BreakingErrorRate: "failing share", result.BreakingLatencyP99: "p99", result.BreakingThroughput: "gain of throughput",
}

// BreakingPointName names a breaking point: "CPU of app". One of a later version has the name of its kind.
func BreakingPointName(p *result.BreakingPoint) string {
	name := cmp.Or(breakingPointNames[p.Kind], string(p.Kind))
	if p.Container != "" {
		name += " of " + p.Container
	}
	return name
}

// breakingPointsField returns breaking points that were reached, with their loads: "CPU/app=312 ErrorRate=866".
func breakingPointsField(points []result.BreakingPoint) string {
	var texts []string
	for i := range points {
		if p := &points[i]; p.Reached {
			name := string(p.Kind)
			if p.Container != "" {
				name += "/" + p.Container
			}
			texts = append(texts, fmt.Sprintf("%s=%d", name, p.Load()))
		}
	}
	return strings.Join(texts, " ")
}
