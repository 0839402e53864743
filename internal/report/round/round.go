// Package round writes what a round of a Benchmark says, for people and for other programs: its verdict with
// effects and intervals, its cells as a table, and comparisons of other sets of runs. It only reads what package
// benchmark decided. Texts from outside are printed without what a terminal or a Markdown viewer would obey.
package round

import (
	"fmt"
	"io"

	"github.com/assay-dev/assay/internal/benchmark"
)

// Report is a round to report on.
type Report struct {
	*benchmark.Round
	// Notes say what the reader should know of the report itself, for example that figures are missing.
	Notes []string `json:"notes,omitempty"`
}

var writers = newFormats((*Report).write).with("benchstat", writeBenchstat).with("csv", writeRunsCSV).with("junit", writeJUnit)

// Names returns the names of all formats of reports in alphabetical order.
func Names() []string { return writers.names() }

// Write writes a report in the format of that name.
func Write(w io.Writer, format string, r *Report) error { return writers.write(w, format, r) }

// write writes the verdict and what it is made of, the figures of the cells, and at last the conditions.
func (r *Report) write(w io.Writer, d document) error {
	d.title(fmt.Sprintf("Benchmark %s/%s, round %d: %s", r.Namespace, r.Benchmark, r.Number, headline(r.Round)))
	d.paragraph(r.Message)
	for _, note := range r.Notes {
		d.paragraph("Note: " + note)
	}
	r.writeConclusions(d)
	r.writeEffects(d)
	r.writeCells(d)
	r.BreakingPoints().write(d)
	r.Peaks().write(d)
	r.writeLevels(d)
	r.writeCapacities(d)
	r.writeTrend(d)
	r.writeInvalid(d)
	r.writeConditions(d)
	_, err := io.WriteString(w, d.String())
	return err
}
