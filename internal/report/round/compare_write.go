package round

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/report"
)

var comparisonWriters = newFormats((*Comparison).write)

// ComparisonNames returns the names of all formats of comparisons in alphabetical order.
func ComparisonNames() []string { return comparisonWriters.names() }

// WriteComparison writes a comparison in the format of that name.
func WriteComparison(w io.Writer, format string, c *Comparison) error {
	return comparisonWriters.write(w, format, c)
}

// write writes the conclusions, then the effects, and what else differs.
func (c *Comparison) write(w io.Writer, d document) error {
	d.title(fmt.Sprintf("%s compared with %s: %s", c.Candidate.Name, c.Baseline.Name, c.Conclusions()))
	if c.Refusal != "" {
		d.paragraph(c.Refusal)
		for _, note := range c.Notes {
			d.paragraph("Note: " + note)
		}
		return c.writeDifferences(w, d)
	}
	d.paragraph("Measured at different times: what changed in between is part of each difference. Runs of one Benchmark, interleaved, are more certain.")
	for _, note := range c.Notes {
		d.paragraph("Note: " + note)
	}
	d.section("Differences")
	d.paragraph(fmt.Sprintf("Of the differences that are found here at most %d%% are false on average. None of them decides.", 100-c.ConfidencePercent))
	c.writeEffects(d)
	return c.writeDifferences(w, d)
}

// writeDifferences writes what differs in specs and environments.
func (c *Comparison) writeDifferences(w io.Writer, d document) error {
	writeDifferences(d, "Specs", "The specs don't differ.", c.Specs, len(c.Cells))
	writeDifferences(d, "Environments", "Nothing that is known of the environments differs.", c.Environments, len(c.Cells))
	_, err := io.WriteString(w, strings.TrimLeft(d.String(), "\n"))
	return err
}

// Conclusions counts the effects by their words.
func (c *Comparison) Conclusions() string {
	if c.Refusal != "" {
		return "not compared"
	}
	var texts []string
	for _, word := range []v1alpha1.EffectWord{v1alpha1.EffectWorse, v1alpha1.EffectBetter, v1alpha1.EffectNoDifference, v1alpha1.EffectCannotTell} {
		n := 0
		for i := range c.Effects {
			if c.Effects[i].Word == word {
				n++
			}
		}
		if n > 0 {
			texts = append(texts, fmt.Sprintf("%d %s", n, benchmark.Phrase(word)))
		}
	}
	return strings.Join(texts, ", ")
}

func (c *Comparison) writeEffects(d document) {
	several := len(c.Cells) > 1 || c.Cells[0] != ""
	columns := []any{report.Words("metric"), "baseline", "candidate", "runs", "difference", "interval", report.Words("conclusion"), "tolerance", "detectable"}
	if several {
		columns = slices.Insert(columns, 0, any(report.Words("cell")))
	}
	var rows [][]string
	for i := range c.Effects {
		e := &c.Effects[i]
		row := []string{
			heading(e.Metric), Figure(e.Metric, e.BaselineMedian), Figure(e.Metric, e.CandidateMedian), strconv.Itoa(e.BaselineRuns) + ", " + strconv.Itoa(e.CandidateRuns),
			Change(&e.Effect), Interval(&e.Effect), benchmark.Phrase(e.Word), tolerance(&e.Effect), Detectable(&e.Effect),
		}
		if several {
			row = slices.Insert(row, 0, c.Cells[e.Cell])
		}
		rows = append(rows, row)
	}
	d.table(columns, rows)
}

const (
	maxDifferences = 50
	maxValue       = 100
)

func writeDifferences(d document, title, none string, differences []Difference, cells int) {
	d.section(title)
	if len(differences) == 0 {
		d.paragraph(none)
		return
	}
	columns := []any{report.Words("path"), report.Words("baseline"), report.Words("candidate")}
	some := slices.ContainsFunc(differences, func(d Difference) bool { return len(d.Cells) > 0 && len(d.Cells) < cells })
	if some {
		columns = append(columns, report.Words("where"))
	}
	var rows [][]string
	for _, difference := range differences[:min(len(differences), maxDifferences)] {
		row := []string{difference.Path, printable.Clipped(difference.Baseline, maxValue), printable.Clipped(difference.Candidate, maxValue)}
		if some {
			row = append(row, fmt.Sprintf("in %d of %d cells, first in %s", len(difference.Cells), cells, difference.Cells[0]))
		}
		rows = append(rows, row)
	}
	if more := len(differences) - maxDifferences; more > 0 {
		d.paragraph(fmt.Sprintf("%d more are in the output as JSON.", more))
	}
	d.table(columns, rows)
}

func joined(texts []string) string { return strings.Join(texts, " ") }
