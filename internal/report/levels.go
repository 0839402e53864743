package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

// levels returns a row for each level of the load, and one for each step between levels, of what the clients measured and of what
// the target used, and how requests failed.
func levels(r *result.Result) doc.Section {
	if len(r.Levels) == 0 {
		return doc.Section{}
	}
	tables := []*doc.Table{levelsTable(r)}
	if r.Run.UserConnections > 0 {
		tables = append(tables, levelPagesTable(r))
	}
	if steps := stepsOf(r); len(steps) > 0 {
		tables = append(tables, partsTable("Requests completed during a step from one level to the next", r, steps))
	}
	s := doc.Section{ID: "levels", Title: "Levels", Question: "How does it take more load?"}
	for _, t := range append(tables, usageTable(r)) {
		s.Add(doc.Group{Title: t.Caption + ".", Folded: true, Blocks: []doc.Block{t}})
	}
	var failures doc.Paragraph
	for _, p := range allParts(r) {
		if kinds := joinCounts(p.Errors.Occurred(), "%s %d", ", "); kinds != "" {
			failures = append(failures, fmt.Sprintf("Failed at %s %s: %s", p.name(), UnitOfLoad(r), kinds))
		}
	}
	s.Add(failures)
	return s
}

// MostThroughput returns the place of the level with the most requests per second.
func MostThroughput(r *result.Result) (most int) {
	for i := range r.Levels {
		if r.Levels[i].RequestsPerSecond() > r.Levels[most].RequestsPerSecond() {
			most = i
		}
	}
	return most
}

// LevelsInWords says what was measured at the first level of a load with stages, at the one with the most requests per second, and at the
// last, and which breaking points were reached. unit puts a unit behind a value.
func LevelsInWords(r *result.Result, unit func(value, unit string) string) string {
	var texts []string
	for _, i := range slices.Compact(slices.Sorted(slices.Values([]int{0, MostThroughput(r), len(r.Levels) - 1}))) {
		p := &levelsOf(r)[i]
		text := number.Significant(p.RequestsPerSecond()) + " requests/s"
		if s := p.Total(); s.Count > 0 {
			text += " and a p99 of " + unit(number.Milliseconds(s.Percentiles[percentile.P99]), "ms")
		}
		texts = append(texts, text+" at "+number.Count(p.Load()))
	}
	text := fmt.Sprintf("%s of %s: %s.", number.Plural(len(r.Levels), "level"), UnitOfLoad(r), strings.Join(texts, "; "))
	if len(r.BreakingPoints) == 0 {
		return text
	}
	texts = nil
	for i := range r.BreakingPoints {
		if p := &r.BreakingPoints[i]; p.Reached {
			texts = append(texts, fmt.Sprintf("%s %s at %s %s", BreakingPointName(p), p.Actual, number.Count(p.Load()), UnitOfLoad(r)))
		}
	}
	if len(texts) == 0 {
		return text + " No breaking point was reached."
	}
	return text + " Breaking points: " + strings.Join(texts, "; ") + "."
}

func levelsTable(r *result.Result) *doc.Table {
	return partsTable("Requests completed while a level was held", r, levelsOf(r))
}

func partsTable(caption string, r *result.Result, parts []part) *doc.Table {
	fields := []doc.Field[part]{
		doc.Word(heldUnit(r), (*part).name),
		doc.Number("seconds", func(p *part) string { return whole(p.End - p.Start) }),
		doc.Number("requests/s", func(p *part) string { return decimals(p.RequestsPerSecond(), 2) }),
		doc.Number("kB/s", func(p *part) string { return decimals(p.BytesPerSecond()/1024, 2) }),
	}
	fields = append(fields, times((*part).Total, withMean(mostRead))...)
	return doc.TableOf(caption, parts, append(fields,
		doc.Number("requests", func(p *part) string { return whole(p.Requests) }),
		doc.Number("failed", func(p *part) string { return whole(p.Errors.Total()) }),
		doc.Number("failed %", func(p *part) string { return decimals(p.ErrorPercent(), 2) }),
		doc.Number("dropped", func(p *part) string { return whole(p.Dropped) }),
	)...)
}

// usageColumn is a value of what the target or a client used in a part of the load; unknown is negative.
type usageColumn struct {
	name, csv string
	of        func(l *result.Level) float64
}

func usageColumns(r *result.Result) []usageColumn {
	var columns []usageColumn
	containers := r.Containers()
	for _, c := range containers {
		columns = append(columns, usageColumn{c.Name + " CPU %", "cpu_percent_" + c.Name, func(l *result.Level) float64 { return l.CPUPercent(l.CPUOf(c.Name), c.CPULimit) }})
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

func usageTable(r *result.Result) *doc.Table {
	fields := append([]doc.Field[part]{doc.Word(heldUnit(r), (*part).name)}, usageFields(r, false, "-", func(p *part) *result.Level { return p.Level })...)
	return doc.TableOf("CPU is in percent of the limits; idle is the time of the CPUs that the target may use", allParts(r), fields...)
}

// usageFields returns the columns of usage of what has the usage of a level, with their names in CSV or in tables; unknown stands for
// what isn't known.
func usageFields[T any](r *result.Result, csv bool, unknown string, of func(*T) *result.Level) []doc.Field[T] {
	var fields []doc.Field[T]
	for _, c := range usageColumns(r) {
		name := c.name
		if csv {
			name = c.csv
		}
		fields = append(fields, doc.Number(name, func(x *T) string {
			value := c.of(of(x))
			if value < 0 {
				return unknown
			}
			return decimals(value, 1)
		}))
	}
	return fields
}

// breakingPoints returns what ended the load early, if anything did, and a row for each breaking point.
func breakingPoints(r *result.Result) doc.Section {
	if len(r.BreakingPoints) == 0 {
		return doc.Section{}
	}
	s := doc.Section{ID: "breaking-points", Title: "Breaking points", Question: "Where does it break?"}
	if e := r.Stop; e != nil {
		s.Add(doc.Paragraph{fmt.Sprintf("The load was ended after %ds, as stopAt says: %s was %s (%s) at %d %s.", e.End, BreakingPointName(&e.BreakingPoint), e.Actual, e.Bound, e.Load(), UnitOfLoad(r))})
	}
	s.Add(breakingPointsTable(r))
	return s
}

func breakingPointsTable(r *result.Result) *doc.Table {
	reached := func(of func(*result.BreakingPoint) string) func(*result.BreakingPoint) string {
		return func(p *result.BreakingPoint) string { return number.OrDash(p.Reached, of(p)) }
	}
	return doc.TableOf("Breaking points", r.BreakingPoints,
		doc.Word("breaking point", BreakingPointName),
		doc.Word("bound", func(p *result.BreakingPoint) string { return p.Bound }),
		doc.Number(UnitOfLoad(r), func(p *result.BreakingPoint) string {
			if !p.Reached {
				return "none"
			}
			return whole(p.Load())
		}),
		doc.Number("second", reached(func(p *result.BreakingPoint) string { return whole(p.Second) })),
		doc.Word("during", reached(func(p *result.BreakingPoint) string {
			if p.Step {
				return "a step"
			}
			return "a level"
		})),
		doc.Word("actual", reached(func(p *result.BreakingPoint) string { return p.Actual })),
	)
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
