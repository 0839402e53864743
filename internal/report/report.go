// Package report writes results, and tables of several, for people and for other programs. It only
// reads results; package validity judges them.
package report

import (
	"io"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

var (
	reports = withDistributions(doc.Formats[*result.Result]{
		"benchstat": writeBenchstat,
		"csv":       writeLevelsCSV, "csv=levels": writeLevelsCSV, "csv=percentiles": writePercentilesCSV, "csv=requests": writeRequestsCSV, "csv=series": writeSeriesCSV,
		"hgrm": writePercentileDistribution(result.Total), "json": writeJSON, "junit": writeJUnit, "markdown": writeMarkdown,
		"requests": writeSampledRequests, "text": writeText,
	})
	tables = doc.Formats[[]Row]{
		"benchstat": writeTableBenchstat, "csv": writeTableCSV, "json": writeTableJSON, "junit": writeTableJUnit,
		"markdown": writeTableMarkdown, "text": writeTableText,
	}
)

// withDistributions adds the distribution of each phase of a request.
func withDistributions(f doc.Formats[*result.Result]) doc.Formats[*result.Result] {
	for phase := range result.Phases {
		f["hgrm="+phase.String()] = writePercentileDistribution(phase)
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
