package round

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/report/doc"
)

// Document returns the comparison: the conclusions, then the effects, and what else differs.
func (c *Comparison) Document() *doc.Document {
	d := &doc.Document{Title: fmt.Sprintf("%s compared with %s", c.Candidate.Name, c.Baseline.Name), Verdict: doc.Verdict{Tone: doc.Same, Text: c.Conclusions()}, Notes: c.Notes}
	if c.Refusal != "" {
		d.Remarks = []string{c.Refusal}
	} else {
		d.Remarks = []string{DifferentTimes}
		d.Add(c.effectsSection())
	}
	d.Add(differencesSection("Specs", "The specs don't differ.", c.Specs, len(c.Cells)),
		differencesSection("Environments", "Nothing that is known of the environments differs.", c.Environments, len(c.Cells)))
	return d
}

// DifferentTimes says what a comparison can't tell.
const DifferentTimes = "Measured at different times: what changed in between is part of each difference. Runs of one Benchmark, interleaved, are more certain."

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
			texts = append(texts, fmt.Sprintf("%d %s", n, inference.Phrase(word)))
		}
	}
	return strings.Join(texts, ", ")
}

func (c *Comparison) effectsSection() doc.Section {
	fields := []doc.Field[EffectRow]{
		doc.Word("metric", func(e *EffectRow) string { return Heading(e.Metric) }), baselineMedianField, candidateMedianField, runsField,
		differenceField, intervalField, conclusionField, toleranceField, detectableField,
	}
	if len(c.Cells) > 1 || c.Cells[0] != "" {
		fields = slices.Insert(fields, 0, cellField)
	}
	return doc.Section{ID: "effects", Title: "Differences", Question: "What differs, by how much, and how sure is that?", Blocks: []doc.Block{
		doc.Paragraph{fmt.Sprintf("Of the differences that are found here at most %d%% are false on average. None of them decides.", 100-c.ConfidencePercent)},
		effectsTable("Medians of both sides, and their differences", c.effectRows(), fields...),
	}}
}

const (
	maxDifferences = 50
	maxValue       = 100
)

func differencesSection(title, none string, differences []Difference, cells int) doc.Section {
	s := doc.Section{Title: title}
	if len(differences) == 0 {
		s.Add(doc.Paragraph{none})
		return s
	}
	if more := len(differences) - maxDifferences; more > 0 {
		s.Add(doc.Paragraph{fmt.Sprintf("%d more are in the output as JSON.", more)})
	}
	s.Add(differencesTable("", differences[:min(len(differences), maxDifferences)], cells, "baseline", "candidate", func(value string) string { return printable.Clipped(value, maxValue) }))
	return s
}

// DifferencesTable returns differences between two sides.
func (c *Comparison) DifferencesTable(caption string, differences []Difference) *doc.Table {
	return differencesTable(caption, differences, len(c.Cells), "A: "+c.Baseline.Name, "B: "+c.Candidate.Name, func(value string) string { return value })
}

func differencesTable(caption string, differences []Difference, cells int, baseline, candidate string, show func(string) string) *doc.Table {
	fields := []doc.Field[Difference]{
		doc.Word("path", func(d *Difference) string { return d.Path }),
		doc.Word(baseline, func(d *Difference) string { return show(d.Baseline) }), doc.Word(candidate, func(d *Difference) string { return show(d.Candidate) }),
	}
	if slices.ContainsFunc(differences, func(d Difference) bool { return len(d.Cells) > 0 && len(d.Cells) < cells }) {
		fields = append(fields, doc.Word("where", func(d *Difference) string {
			return fmt.Sprintf("in %d of %d cells, first in %s", len(d.Cells), cells, d.Cells[0])
		}))
	}
	return doc.TableOf(caption, differences, fields...)
}

func joined(texts []string) string { return strings.Join(texts, " ") }
