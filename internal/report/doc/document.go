// Package doc holds a report as a document: plain data that builders make of a run, a round, a comparison or several runs,
// and that writers turn into text, Markdown or, in package html, a page. It knows none of what is reported. All texts of a
// document are plain and may come from users: each writer makes them printable and escapes what would be markup.
package doc

import (
	"reflect"
	"slices"
	"strings"
)

// Document is a report.
type Document struct {
	// Title names what the report is about; empty for none. Subtitle says more of it, and Date when it was measured.
	Title, Subtitle, Date string
	Verdict               Verdict
	// Sentences are the answer, the worst first. Remarks are further sentences. Notes are about the report itself.
	Sentences []Sentence
	Remarks   []string
	Notes     []string
	// Metrics are the most important ones. Only pages have them. With Invalid, they say that they are no result.
	Metrics []Fact
	Invalid bool
	// Findings are the reasons to distrust the metrics.
	Findings []Finding
	Sections []Section
}

// Add adds the sections that have blocks.
func (d *Document) Add(sections ...Section) {
	for _, s := range sections {
		if len(s.Blocks) > 0 {
			d.Sections = append(d.Sections, s)
		}
	}
}

// Section returns the section with an ID, or nil.
func (d *Document) Section(id string) *Section {
	for i := range d.Sections {
		if d.Sections[i].ID == id {
			return &d.Sections[i]
		}
	}
	return nil
}

// heading returns the first line of text and Markdown, and the lines that follow it.
func (d *Document) heading() (first string, lines []Block) {
	parts := []string{d.Title, d.Subtitle, d.Verdict.Text}
	if d.Subtitle != "" { // too long for one line
		parts, lines = parts[:2], []Block{Paragraph{d.Verdict.Text}}
	}
	for _, remark := range d.Remarks {
		lines = append(lines, Paragraph{remark})
	}
	for _, note := range d.Notes {
		lines = append(lines, Paragraph{"Note: " + note})
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": "), lines
}

// Tone says what a text means for the reader. Pages color it.
type Tone string

// The tones; the zero value has none.
const (
	Good   Tone = "good"
	Bad    Tone = "bad"
	Unsure Tone = "unsure" // not decided
	Same   Tone = "same"   // neither better nor worse
)

// Verdict is the conclusion in words. In pages Addendum follows it in a tone of its own, such as whether thresholds were met;
// its text is empty for none.
type Verdict struct {
	Tone     Tone
	Text     string
	Addendum Sentence
}

// Sentence is a sentence of the answer. Lead stands before it in the tone; empty for none.
type Sentence struct {
	Tone       Tone
	Lead, Text string
}

// Finding is a reason to distrust what was measured. Plots show where it happened by its place in the document, from 1 on.
type Finding struct {
	Tone                      Tone
	Severity, Reason, Message string
}

// Section is a part of a document. One without a title continues the document after a gap.
type Section struct {
	// ID is the section's place in links, a word. Question is what it answers. Only pages have them.
	ID, Title, Question string
	Blocks              []Block
}

// Add adds blocks.
func (s *Section) Add(blocks ...Block) { s.Blocks = append(s.Blocks, blocks...) }

// Block is a part of a section: a Paragraph, List, Facts, *Table, Plot, Panels, Preformatted or Group. Writers leave out
// blocks that have nothing.
type Block interface{ empty() bool }

// Paragraph is a text of one or more lines.
type Paragraph []string

// List has items.
type List []string

// Fact is a text with a name. In text and Markdown, one without a name continues the one before.
type Fact struct{ Name, Value string }

// Facts are facts below each other.
type Facts struct {
	Facts []Fact
	// Listed reports whether text has them as a list, and not as lines of their own.
	Listed bool
}

// Plot is a drawing.
type Plot struct {
	Drawing Drawing
	// Table has the same metrics; nil for none. Text and Markdown leave it out.
	Table *Table
	// Caption says what the drawing doesn't. Only pages have it.
	Caption string
}

// Drawing is what a plot shows.
type Drawing interface {
	// SVG returns the drawing for pages. It is trusted: texts in it are escaped.
	SVG() string
	// Lines returns the drawing in characters, for a terminal with a number of columns, or for none if that is 0. Without
	// any, text and Markdown leave the plot out.
	Lines(columns int) []string
}

// Panels are plots that share the axis of time. Only pages have them.
type Panels struct {
	// Hint says what the readout shows before there is a cursor.
	Hint string
	// Panels are the plots from above. Folded are those that are closed at first, under a title.
	Panels, Folded []Panel
	FoldedTitle    string
	// Series are the data of the panels for a closer look. They become JSON.
	Series any
}

// Panel is one of several plots. ID is a word, the same as that of its data.
type Panel struct {
	ID      string
	Drawing Drawing
}

// Preformatted has lines that are shown as they are.
type Preformatted []string

// Group has blocks under a title of its own. Pages close one that is folded at first.
type Group struct {
	Title  string
	Folded bool
	Blocks []Block
}

// Kind returns the name of a block's type in lowercase: "paragraph".
func Kind(b Block) string { return strings.ToLower(reflect.Indirect(reflect.ValueOf(b)).Type().Name()) }

func (b Paragraph) empty() bool    { return len(b) == 0 || len(b) == 1 && b[0] == "" }
func (b List) empty() bool         { return len(b) == 0 }
func (b Facts) empty() bool        { return len(b.Facts) == 0 }
func (b *Table) empty() bool       { return b == nil }
func (b Plot) empty() bool         { return b.Drawing == nil && b.Table == nil && b.Caption == "" }
func (b Panels) empty() bool       { return len(b.Panels) == 0 }
func (b Preformatted) empty() bool { return len(b) == 0 }
func (b Group) empty() bool        { return false }

// Shown returns the blocks that have anything.
func Shown(blocks []Block) []Block {
	var all []Block
	for _, b := range blocks {
		if b != nil && !b.empty() {
			all = append(all, b)
		}
	}
	return all
}
