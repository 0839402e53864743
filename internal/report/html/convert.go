package html

import (
	"io"
	"strings"

	"github.com/assay-dev/assay/internal/report/doc"
)

// SVG implements doc.Drawing.
func (d *Drawing) SVG() string {
	if d.Fluid != "" {
		return string(d.Fluid)
	}
	return `<div class="wide">` + string(d.Wide) + `</div><div class="medium">` + string(d.Medium) + `</div><div class="narrow">` + string(d.Narrow) + `</div>`
}

// Lines implements doc.Drawing: only pages have the drawing.
func (*Drawing) Lines(int) []string { return nil }

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	d := &doc.Document{
		Title: p.Title, Subtitle: strings.TrimPrefix(strings.TrimPrefix(p.Subject, p.Title), ", "), Remarks: p.Remarks, Notes: p.Notes, Invalid: p.Invalid,
		Verdict: doc.Verdict{Tone: doc.Tone(p.Verdict), Text: p.Headline, Addendum: sentence(p.Addendum)}, Metrics: factsOf(p.Figures),
	}
	for _, s := range p.Sentences {
		d.Sentences = append(d.Sentences, sentence(s))
	}
	for _, f := range p.Findings {
		d.Findings = append(d.Findings, doc.Finding{Tone: doc.Tone(f.Color), Severity: f.Severity, Reason: f.Reason, Message: f.Message})
	}
	for _, s := range p.Sections {
		section := doc.Section{ID: s.ID, Title: s.Title, Question: s.Question}
		for _, text := range s.Paragraphs {
			section.Add(doc.Paragraph{text})
		}
		if t := s.Timeline; t != nil {
			section.Add(doc.Panels{Hint: t.Hint, Panels: panels(t.Panels), Folded: panels(t.Folded), FoldedTitle: "Memory, network, pauses and the nodes, on the same axis", Series: p.Series})
		}
		for _, b := range s.Blocks {
			var blocks []doc.Block
			switch {
			case b.Picture != nil && b.Table != nil:
				blocks = append(blocks, doc.Plot{Drawing: b.Picture, Table: tableOf(b.Table)})
			case b.Picture != nil:
				blocks = append(blocks, doc.Plot{Drawing: b.Picture})
			case b.Table != nil:
				blocks = append(blocks, tableOf(b.Table))
			}
			blocks = append(blocks, doc.Facts{Facts: factsOf(b.Facts)}, doc.Plot{Caption: b.Caption})
			if b.Text != "" {
				blocks = append(blocks, doc.Preformatted(strings.Split(b.Text, "\n")))
			}
			section.Add(doc.Group{Title: b.Title, Folded: b.Folded, Blocks: blocks})
		}
		d.Sections = append(d.Sections, section)
	}
	return Write(w, d)
}

func sentence(s Sentence) doc.Sentence {
	return doc.Sentence{Tone: doc.Tone(s.Color), Lead: s.Lead, Text: s.Text}
}

func factsOf(facts []Fact) (all []doc.Fact) {
	for _, f := range facts {
		all = append(all, doc.Fact(f))
	}
	return all
}

func panels(of []Panel) (all []doc.Panel) {
	for _, p := range of {
		all = append(all, doc.Panel{ID: p.ID, Name: p.Name, Drawing: p.Drawing})
	}
	return all
}

func tableOf(t *Table) *doc.Table {
	d := &doc.Table{Caption: t.Caption, Rows: t.Rows}
	for _, c := range t.Columns {
		d.Columns = append(d.Columns, doc.Column(c))
	}
	return d
}
