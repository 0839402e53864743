package html

import (
	"html/template"

	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/report/plot"
)

// Page has what a page shows. Texts are plain: the page escapes them, and control characters are visible in it.
type Page struct {
	// Title is the document's, Subject what the page is about.
	Title, Subject string
	// Verdict colors the headline: plot.Good, Bad, Unsure or Same.
	Verdict plot.Color
	// Headline is the verdict in words, with its mark. Addendum follows it in a color of its own, such as whether thresholds
	// were met; empty for none.
	Headline string
	Addendum Sentence
	// Sentences are the answer, the worst first. Remarks follow them. Notes are about the report itself.
	Sentences []Sentence
	Remarks   []string
	Notes     []string
	// Figures are the most important ones. With Invalid, they are hatched and said to be no result.
	Figures []Fact
	Invalid bool
	// Findings are the reasons to distrust the figures.
	Findings []Finding
	Sections []Section
	// Series are the data of the timeline's plots for a closer look; nil without a timeline. They become JSON.
	Series any
}

// Sentence is a sentence of the answer. Lead stands before it in the color.
type Sentence struct {
	Color      plot.Color
	Lead, Text string
}

// Fact is a text with a name.
type Fact struct{ Name, Value string }

// Finding is a reason to distrust the figures. Plots show where it happened by its number.
type Finding struct {
	Number                    int
	Severity, Reason, Message string
	Color                     plot.Color
}

// Section is a part of a page with the question that it answers.
type Section struct {
	// ID is a word: the section's place in links.
	ID, Title, Question string
	Paragraphs          []string
	Blocks              []Block
	// Timeline has plots that share the axis of time; nil if the section has none. It stands before the blocks.
	Timeline *Timeline
}

// Timeline has plots that share the axis of time, in the order from above.
type Timeline struct {
	// Hint says what the readout shows before there is a cursor.
	Hint   string
	Panels []Panel
	// Folded are the panels that are closed at first.
	Folded []Panel
}

// Panel is a plot of a timeline. ID is a word, the same as that of its data in the page's series.
type Panel struct {
	ID, Name string
	Drawing  *Drawing
}

// Block is a picture with its table, a table, a list or a text as it was written.
type Block struct {
	Title   string
	Picture *Drawing
	Table   *Table
	// Folded reports whether the block is closed at first. It needs a title.
	Folded bool
	Facts  []Fact
	// Caption says what a picture doesn't.
	Caption string
	// Text is shown as it is, in lines.
	Text string
}

// Table has columns of words or of numbers. Caption names it.
type Table struct {
	Caption string
	Columns []Column
	Rows    [][]string
}

// Column is a column of a table.
type Column struct {
	Name   string
	Number bool
}

// Words returns columns of words.
func Words(names ...string) []Column { return columns(false, names) }

// Numbers returns columns of numbers.
func Numbers(names ...string) []Column { return columns(true, names) }

func columns(number bool, names []string) []Column {
	all := make([]Column, len(names))
	for i, name := range names {
		all[i] = Column{name, number}
	}
	return all
}

// Widths of pictures in pixels: in pages of 1280, 768 and 390, and in a file of its own.
const (
	WideWidth   = 968
	MediumWidth = 680
	NarrowWidth = 326
	FileWidth   = WideWidth
)

// Drawing is a picture drawn for three widths of pages, so that letters keep their size.
type Drawing struct{ Wide, Medium, Narrow, Fluid template.HTML }

// Fit returns a figure for pages of any width; nil if it is nil.
func Fit(f *plot.Figure) *Drawing {
	if f == nil {
		return nil
	}
	return &Drawing{Fluid: f.HTML()}
}

// Draw draws a picture for all widths of pages. It returns nil if of does.
func Draw(of func(width float64) *picture.Picture) *Drawing {
	wide := of(WideWidth)
	if wide == nil {
		return nil
	}
	return &Drawing{Wide: wide.HTML(), Medium: of(MediumWidth).HTML(), Narrow: of(NarrowWidth).HTML()}
}
