package report

import (
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

// figure is a figure of a time: its names in tables and in CSV, and its value in microseconds.
type figure struct {
	name, csv string
	of        func(*result.Summary) int64
}

// mostRead are the figures of tables with many columns, common those of others.
var mostRead, common = figures(percentile.P50, percentile.P90, percentile.P99), figures(percentile.Common...)

// figures returns percentiles of a time, and its maximum.
func figures(percentiles ...percentile.Percentile) []figure {
	var all []figure
	for _, p := range percentiles {
		all = append(all, figure{"p" + p.String(), strings.ToLower(p.Name()), func(s *result.Summary) int64 { return s.Percentiles[p] }})
	}
	return append(all, figure{"max", "max", func(s *result.Summary) int64 { return s.Max }})
}

// withMean returns the mean before other figures.
func withMean(others []figure) []figure {
	return append([]figure{{"mean", "mean", func(s *result.Summary) int64 { return int64(s.Mean() + 0.5) }}}, others...)
}

// times returns columns of a table with figures of a time in milliseconds; "-" stands for a time that didn't occur.
func times[T any](of func(*T) result.Summary, figures []figure) (fields []doc.Field[T]) {
	for _, f := range figures {
		fields = append(fields, timeField(f.name+" ms", "-", of, f))
	}
	return fields
}

// timesCSV is like times for CSV, with a prefix of the names. A time that didn't occur is empty.
func timesCSV[T any](prefix string, of func(*T) result.Summary, figures []figure) (fields []doc.Field[T]) {
	for _, f := range figures {
		fields = append(fields, timeField(prefix+f.csv+"_ms", "", of, f))
	}
	return fields
}

func timeField[T any](name, unknown string, of func(*T) result.Summary, f figure) doc.Field[T] {
	return doc.Number(name, func(x *T) string {
		s := of(x)
		if s.Count == 0 {
			return unknown
		}
		return Milliseconds(f.of(&s))
	})
}
