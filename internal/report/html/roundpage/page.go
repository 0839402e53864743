// Package roundpage makes pages of what a round of a Benchmark says, and of what compare says: the documents of package round with
// the plots of package chart.
package roundpage

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/chart"
)

// Write writes the report of a round as a page. The same report always gives the same bytes.
func Write(w io.Writer, r *round.Report) error { return html.Write(w, Document(r)) }

// Document returns the report of a round with its plots, and what only a page has room for.
func Document(r *round.Report) *doc.Document {
	d := r.Document()
	d.Verdict.Text, d.Metrics, d.Date = r.Headline(), restsOn(r), html.Date(r.Ended)
	if answer, _, found := strings.Cut(r.Message, ": "); found && len(d.Sentences) > 0 && r.Verdict != v1alpha1.BenchmarkError {
		d.Remarks = []string{answer + "."} // the sentences say which claims, and why
	}
	for i := range r.Capacities {
		d.Remarks = append(d.Remarks, r.Sustains(&r.Capacities[i]))
	}
	if more := len(d.Remarks) - maxRemarks; more > 0 {
		d.Remarks = append(d.Remarks[:maxRemarks], fmt.Sprintf("%d more are below.", more))
	}
	report := d.Sections
	d.Sections = nil
	var effects []doc.Section
	for i := range report {
		switch s := &report[i]; s.ID {
		case "claims":
			s.Blocks = append(s.Blocks[:2], doc.Paragraph{howEffectsAreDrawn}) // without the plots in characters
			addEffects(s, r.ClaimsByMetric())
			effects = append(effects, *s)
		case "exploration":
			if len(effects) == 0 {
				s.Add(doc.Paragraph{howEffectsAreDrawn})
			}
			addEffects(s, r.EffectsByMetric())
			effects = append(effects, *s)
		case "cells":
			if others := r.OtherMedians(); others != nil {
				s.Add(doc.Group{Title: others.Caption, Folded: true, Blocks: []doc.Block{others}})
			}
		case "levels":
			text := fmt.Sprintf("Marks have intervals of %d%% where there are enough runs. Between the levels nothing was measured: lines only join the marks.", r.Confidence())
			s.Blocks = append([]doc.Block{s.Blocks[0], doc.Paragraph{text}}, plots(chart.Levels(r), r.LevelsTable(), "")...)
		case "capacity":
			addCapacities(s, r)
		case "trend":
			addTrend(s, r)
		case "invalid":
			s.Blocks = []doc.Block{doc.Paragraph{"Their metrics are nowhere on this page."}, invalidTable(r)}
		}
	}
	if r.Verdict != v1alpha1.BenchmarkError {
		d.Add(effects...)
	}
	if f := chart.LatencyOfThroughput(r); f != nil {
		d.Add(doc.Section{ID: "load", Title: "Load", Question: "How does the latency grow with the throughput?", Blocks: plots(f, nil, "")})
	}
	if r.Spec.Comparison == nil && len(r.Spec.Claims) == 0 || len(r.Cells) > fewCells {
		d.Add(gridSection(r), runsSection(r)) // what answers comes first
	} else {
		d.Add(runsSection(r), gridSection(r))
	}
	d.Add(report[len(effects):]...)
	d.Add(decisionSection(r))
	return d
}

// restsOn returns what the answer rests on.
func restsOn(r *round.Report) []doc.Fact {
	valid, runs := 0, 0
	for i := range r.Runs {
		if run := &r.Runs[i]; !run.Ended.IsZero() {
			runs++
			if run.Valid {
				valid++
			}
		}
	}
	facts := []doc.Fact{{Name: "blocks", Value: fmt.Sprint(r.Blocks)}, {Name: "cells", Value: fmt.Sprint(len(r.Cells))}}
	if runs > 0 {
		facts = append(facts, doc.Fact{Name: "valid runs", Value: fmt.Sprintf("%d of %d", valid, runs)})
	}
	facts = append(facts, doc.Fact{Name: "confidence", Value: fmt.Sprintf("%d%%", r.Confidence())})
	if ended := html.Date(r.Ended); ended != "" {
		facts = append(facts, doc.Fact{Name: "ended", Value: ended})
	}
	return facts
}

// decisionSection says how the round came to its verdict, and what was measured.
func decisionSection(r *round.Report) doc.Section {
	facts := []doc.Fact{{Name: "Reason", Value: cmp.Or(r.Reason, "-")}}
	if least, most := blocks.Bounds(&r.Spec); least < most {
		facts = append(facts, doc.Fact{Name: "Stops early", Value: fmt.Sprintf("after whole blocks, from %d to %d, when all claims are decided", least, most)})
	}
	rule := "A claim is confirmed if its whole interval agrees with it, and contradicted if none of it does. docs/statistics.md explains the method."
	if len(r.Claims) == 0 {
		rule = "No claim was made, so that nothing had to be decided."
	}
	s := doc.Section{ID: "decision", Title: "How it was decided", Question: "By which rule, of which spec?", Blocks: []doc.Block{doc.Paragraph{rule}, doc.Facts{Facts: facts}}}
	if text, err := yaml.Marshal(&r.Spec); err == nil && (len(r.Spec.Axes) > 0 || r.Hash != "") {
		s.Add(html.Lines("spec, as YAML", string(text)))
	}
	return s
}
