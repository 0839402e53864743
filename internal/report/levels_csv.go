package report

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

// levelColumn is a column of the levels of a load as CSV.
type levelColumn = column[part]

func levelColumns(r *result.Result) []levelColumn {
	whole := func(n int64) string { return strconv.FormatInt(n, 10) }
	latency := func(name string, of func(s *result.Summary) int64) levelColumn {
		return levelColumn{name, func(p *part) string {
			total := p.Total()
			if total.Count == 0 {
				return ""
			}
			return msText(of(&total), true)
		}}
	}
	columns := []levelColumn{
		{"part", func(p *part) string {
			if p.step {
				return "step"
			}
			return "level"
		}},
		{"unit", func(*part) string { return UnitOfLoad(r) }},
		{"load_from", func(p *part) string {
			if p.step {
				return whole(p.from)
			}
			return whole(p.Load())
		}},
		{"load", func(p *part) string { return whole(p.Load()) }},
		{"start_seconds", func(p *part) string { return whole(p.Start) }},
		{"end_seconds", func(p *part) string { return whole(p.End) }},
		{"requests", func(p *part) string { return whole(p.Requests) }},
		{"failed", func(p *part) string { return whole(p.Errors.Total()) }},
		{"failed_percent", func(p *part) string { return decimals(p.ErrorPercent(), 4) }},
	}
	for k := range result.ErrorKinds {
		columns = append(columns, levelColumn{"failed_" + k.String(), func(p *part) string { return whole(p.Errors[k]) }})
	}
	columns = append(columns,
		levelColumn{"dropped", func(p *part) string { return whole(p.Dropped) }},
		levelColumn{"requests_per_second", func(p *part) string { return decimals(p.RequestsPerSecond(), 2) }},
		levelColumn{"bytes_per_second", func(p *part) string { return decimals(p.BytesPerSecond(), 0) }},
		latency("mean_ms", func(s *result.Summary) int64 { return int64(s.Mean() + 0.5) }),
	)
	for _, p := range percentile.Common {
		columns = append(columns, latency(strings.ToLower(p.Name())+"_ms", func(s *result.Summary) int64 { return s.Percentiles[p] }))
	}
	columns = append(columns, latency("max_ms", func(s *result.Summary) int64 { return s.Max }))
	columns = append(columns, pageColumns(r)...)
	for _, c := range usageColumns(r) {
		columns = append(columns, levelColumn{c.csv, func(p *part) string {
			value := c.of(p.Level)
			if value < 0 {
				return ""
			}
			return decimals(value, 1)
		}})
	}
	return append(columns, levelColumn{"breaking_points", func(p *part) string {
		var within []result.BreakingPoint
		for _, point := range r.BreakingPoints {
			if point.Second >= p.Start && point.Second < p.End {
				within = append(within, point)
			}
		}
		return breakingPointsField(within)
	}})
}

// errNoLevels is the error of a result that has no table of levels.
var errNoLevels = errors.New("the load has no levels: csv is for loads with stages; use csv=series or csv=percentiles")

// writeLevelsCSV writes a record for each level of the load, and for each step between levels, in the order of
// time.
func writeLevelsCSV(w io.Writer, r *result.Result) error {
	if len(r.Levels)+len(r.Steps) == 0 {
		return errNoLevels
	}
	r = shown(r)
	return WriteCSV(w, records(levelColumns(r), allParts(r)))
}
