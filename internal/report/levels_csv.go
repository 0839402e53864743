package report

import (
	"errors"
	"io"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

func levelColumns(r *result.Result) []doc.Field[part] {
	columns := []doc.Field[part]{
		doc.Number("part", func(p *part) string {
			if p.step {
				return "step"
			}
			return "level"
		}),
		doc.Number("unit", func(*part) string { return UnitOfLoad(r) }),
		doc.Number("load_from", func(p *part) string {
			if p.step {
				return whole(p.from)
			}
			return whole(p.Load())
		}),
		doc.Number("load", func(p *part) string { return whole(p.Load()) }),
		doc.Number("start_seconds", func(p *part) string { return whole(p.Start) }),
		doc.Number("end_seconds", func(p *part) string { return whole(p.End) }),
		doc.Number("requests", func(p *part) string { return whole(p.Requests) }),
		doc.Number("failed", func(p *part) string { return whole(p.Errors.Total()) }),
		doc.Number("failed_percent", func(p *part) string { return decimals(p.ErrorPercent(), 4) }),
	}
	for k := range result.ErrorKinds {
		columns = append(columns, doc.Number("failed_"+k.String(), func(p *part) string { return whole(p.Errors[k]) }))
	}
	columns = append(columns,
		doc.Number("dropped", func(p *part) string { return whole(p.Dropped) }),
		doc.Number("requests_per_second", func(p *part) string { return decimals(p.RequestsPerSecond(), 2) }),
		doc.Number("bytes_per_second", func(p *part) string { return decimals(p.BytesPerSecond(), 0) }),
	)
	columns = append(append(columns, timesCSV("", (*part).Total, withMean(common))...), pageColumns(r)...)
	columns = append(columns, usageFields(r, true, "", func(p *part) *result.Level { return p.Level })...)
	return append(columns, doc.Number("breaking_points", func(p *part) string {
		var within []result.BreakingPoint
		for _, point := range r.BreakingPoints {
			if point.Second >= p.Start && point.Second < p.End {
				within = append(within, point)
			}
		}
		return breakingPointsField(within)
	}))
}

// errNoLevels is the error of a result that has no table of levels.
var errNoLevels = errors.New("the load has no levels: csv is for loads with stages; use csv=series or csv=percentiles")

// writeLevelsCSV writes a record for each level of the load, and for each step between levels, in the order of
// time.
func writeLevelsCSV(w io.Writer, r *result.Result) error {
	if len(r.Levels)+len(r.Steps) == 0 {
		return errNoLevels
	}
	r = Shown(r)
	return doc.WriteCSV(w, doc.Records(allParts(r), levelColumns(r)...))
}
