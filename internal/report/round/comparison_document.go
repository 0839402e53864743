package round

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
)

// Document returns the comparison: the conclusions, then the effects, and what else differs.
func (c *Comparison) Document() *doc.Document {
	d := &doc.Document{Title: fmt.Sprintf("%s compared with %s", c.candidates(), c.Baseline.Name), Verdict: doc.Verdict{Tone: doc.Same, Text: c.Conclusions()}}
	var effects []ComparedEffect
	for _, one := range c.All() {
		effects = append(effects, one.Effects...)
		if one.Refusal != "" {
			d.Remarks = append(d.Remarks, one.Refusal)
		}
		for _, note := range one.Notes {
			if !slices.Contains(d.Notes, note) {
				d.Notes = append(d.Notes, note)
			}
		}
	}
	if len(effects) > 0 {
		d.Remarks = append(d.Remarks, DifferentTimes)
		d.Add(c.effectsSection(effects))
	}
	for _, one := range c.All() {
		of := ""
		if len(c.Others) > 0 {
			of = " of " + one.Candidate.Name
		}
		d.Add(differencesSection("Specs"+of, "The specs don't differ.", one.Specs, len(one.Cells)),
			differencesSection("Environments"+of, "Nothing that is known of the environments differs.", one.Environments, len(one.Cells)))
	}
	return d
}

// DifferentTimes says what a comparison can't tell.
const DifferentTimes = "Measured at different times: what changed in between is part of each difference. Runs of one Benchmark, interleaved, are more certain."

// Conclusions counts the differences with and without 0% in their intervals.
func (c *Comparison) Conclusions() string {
	all, refused, without, with := 0, 0, 0, 0
	for _, one := range c.All() {
		if one.Refusal != "" {
			refused++
		}
		for i := range one.Effects {
			all++
			switch e := &one.Effects[i]; {
			case e.LowPercent == nil && e.HighPercent == nil:
			case e.LowPercent != nil && *e.LowPercent > 0, e.HighPercent != nil && *e.HighPercent < 0:
				without++
			default:
				with++
			}
		}
	}
	if refused == len(c.Others)+1 {
		return "not compared"
	}
	text := fmt.Sprintf("%s: the intervals of %d don't contain 0%%, those of %d do, %d have none", number.Plural(all, "difference"), without, with, all-without-with)
	if refused > 0 {
		text += fmt.Sprintf("; %d of %d not compared", refused, len(c.Others)+1)
	}
	return text
}

func (c *Comparison) effectsSection(compared []ComparedEffect) doc.Section {
	fields := []doc.Field[EffectRow]{
		doc.Word("metric", func(e *EffectRow) string { return Heading(e.Metric) }), baselineMedianField, candidateMedianField, runsField,
		differenceField,
	}
	if slices.ContainsFunc(compared, func(e ComparedEffect) bool { return e.LowPercent != nil || e.HighPercent != nil }) {
		fields = append(fields, intervalField, detectableField)
	}
	switch {
	case len(c.Others) > 0:
		fields = slices.Insert(fields, 0, doc.Word("side", func(e *EffectRow) string { return e.Label }))
	case len(c.Cells) > 1 || c.Cells[0] != "":
		fields = slices.Insert(fields, 0, cellField)
	}
	effects := make([]benchmark.Effect, len(compared))
	for i := range compared {
		effects[i] = compared[i].Effect
	}
	return doc.Section{ID: "effects", Title: "Differences", Question: "What differs, by how much, and how sure is that?", Blocks: []doc.Block{
		doc.Paragraph{"None of the differences decides. " + misses(effects, slices.MaxFunc(c.All(), func(a, b *Comparison) int { return int(a.ConfidencePercent - b.ConfidencePercent) }).ConfidencePercent)},
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

// DifferencesTable returns differences between two sides, of which the second has a letter.
func (c *Comparison) DifferencesTable(caption, letter string, differences []Difference) *doc.Table {
	return differencesTable(caption, differences, len(c.Cells), "A: "+c.Baseline.Name, letter+": "+c.Candidate.Name, func(value string) string { return value })
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
