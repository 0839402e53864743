// Package report writes results, and tables of several, for people and for other programs. It only
// reads results; package validity judges them.
package report

import (
	"io"
	"reflect"

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

var (
	reports = withPhases(doc.Formats[*result.Result]{
		"benchstat": writeBenchstat,
		"csv":       writeLevelsCSV, "csv=levels": writeLevelsCSV, "csv=percentiles": writePercentilesCSV, "csv=series": writeSeriesCSV,
		"gnuplot": writeGnuplot, "gnuplot=percentiles": writePercentilesData, "gnuplot=requests": writeRequestsData, "gnuplot=series": writeSeriesData,
		"hgrm": writePercentileDistribution(result.Total), "hlog": writeHistogramLog,
		"json": writeJSON, "junit": writeJUnit, "markdown": writeMarkdown, "text": writeText,
	}, "hgrm", writePercentileDistribution)
	tables = doc.Formats[[]Row]{
		"benchstat": writeTableBenchstat, "csv": writeTableCSV, "json": writeTableJSON, "junit": writeTableJUnit,
		"markdown": writeTableMarkdown, "text": writeTableText,
	}
)

// withPhases adds a part of a format for each phase of a request.
func withPhases(f doc.Formats[*result.Result], format string, write func(result.Phase) func(io.Writer, *result.Result) error) doc.Formats[*result.Result] {
	for phase := range result.Phases {
		f[format+"="+phase.String()] = write(phase)
	}
	return f
}

// NeedsLevels reports whether a format only has the levels of a load with stages. Write returns an error for the
// result of any other load.
func NeedsLevels(format string) bool { return format == "csv" || format == "csv=levels" }

// Names returns the names of all formats of reports in alphabetical order.
func Names() []string { return reports.Names() }

// TableNames returns the names of all formats of tables in alphabetical order.
func TableNames() []string { return tables.Names() }

// Write writes a result in the format of that name.
func Write(w io.Writer, format string, r *result.Result) error { return reports.Write(w, format, r) }

// WriteTable writes rows as a table in the format of that name.
func WriteTable(w io.Writer, format string, rows []Row) error {
	return tables.Write(w, format, Shown(rows))
}

// Shown returns a copy of x in which all texts are printable. Texts from outside,
// such as a Server header, may hold what a terminal obeys rather than shows.
func Shown[T any](x T) T { return cleaned(reflect.ValueOf(x), printable.Text).Interface().(T) }

// cleaned returns a copy of a value in which clean was applied to the texts of exported fields, and to the keys of
// maps. Values without such fields, such as histograms, are copied as they are.
func cleaned(v reflect.Value, clean func(string) string) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch v.Kind() {
	case reflect.String:
		c.SetString(clean(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			c.Set(reflect.New(v.Type().Elem()))
			c.Elem().Set(cleaned(v.Elem(), clean))
		}
	case reflect.Slice:
		if !v.IsNil() {
			c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			c.Index(i).Set(cleaned(v.Index(i), clean))
		}
	case reflect.Map:
		if !v.IsNil() {
			c.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		}
		for key, value := range v.Seq2() {
			c.SetMapIndex(cleaned(key, clean), cleaned(value, clean))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := c.Field(i); field.CanSet() {
				field.Set(cleaned(v.Field(i), clean))
			}
		}
	}
	return c
}
