package report

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// Part is a part of the text report, as other formats write it: the same words and figures in the same order.
type Part struct {
	// Title is the heading; empty for the verdict, which comes first.
	Title string
	// Paragraphs are the texts that are none of the others.
	Paragraphs []string
	Facts      []Fact
	Tables     []*Sheet
	// Text is the part as the text report has it, without the heading.
	Text string
}

// Fact is a line with a name.
type Fact struct{ Name, Text string }

// Parts returns the parts of a result's text report.
func Parts(r *result.Result) []Part {
	var p paper
	p.writeResult(shown(r))
	return p.parts()
}

// Shown returns a copy of a result in which all texts are printable.
func Shown(r *result.Result) *result.Result { return shown(r) }

// paper takes a text report, and notes its parts.
type paper struct {
	bytes.Buffer
	noted  []Part
	begins []int // where the text of each part begins
	ends   []int // where it ends
	mark   int   // up to where the text was noted
	width  int   // of the terminal, see Sheet.Fit
}

// printf writes a text that is a paragraph, or a part of one.
func (p *paper) printf(format string, args ...any) { fmt.Fprintf(&p.Buffer, format, args...) }

// current returns the part that is being written.
func (p *paper) current() *Part {
	if len(p.noted) == 0 {
		p.noted, p.begins, p.ends = append(p.noted, Part{}), append(p.begins, 0), append(p.ends, 0)
	}
	return &p.noted[len(p.noted)-1]
}

// note notes the text since the last call as a paragraph.
func (p *paper) note() *Part {
	part := p.current()
	for _, text := range strings.Split(string(p.Bytes()[p.mark:]), "\n\n") {
		if text = strings.Trim(text, "\n"); text != "" {
			part.Paragraphs = append(part.Paragraphs, text)
		}
	}
	p.mark = p.Len()
	return part
}

// section begins a part.
func (p *paper) section(title string) {
	p.note()
	p.ends[len(p.ends)-1] = p.Len()
	p.printf("\n%s\n%s\n", title, strings.Repeat("-", len(title)))
	p.mark = p.Len()
	p.noted, p.begins, p.ends = append(p.noted, Part{Title: title}), append(p.begins, p.Len()), append(p.ends, 0)
}

// aside begins a part that has a text alone and no heading.
func (p *paper) aside(title, text string) {
	p.note()
	p.ends[len(p.ends)-1] = p.Len()
	p.printf("\n%s\n", text)
	p.mark = p.Len()
	p.noted, p.begins, p.ends = append(p.noted, Part{Title: title, Paragraphs: []string{strings.ReplaceAll(text, "\n", " ")}}), append(p.begins, p.Len()), append(p.ends, 0)
}

// line writes a line with a name, its text aligned with that of other lines.
func (p *paper) line(name, text string) {
	part := p.note()
	part.Facts = append(part.Facts, Fact{strings.TrimSuffix(name, ":"), text})
	p.printf("%s\n", strings.TrimRight(fmt.Sprintf("%-23s %s", name, text), " "))
	p.mark = p.Len()
}

// table writes a table.
func (p *paper) table(s *Sheet) {
	part := p.note()
	part.Tables = append(part.Tables, s)
	p.printf("%s\n", s.Fit(p.width))
	p.mark = p.Len()
}

// parts returns the parts.
func (p *paper) parts() []Part {
	p.note()
	p.ends[len(p.ends)-1] = p.Len()
	for i := range p.noted {
		p.noted[i].Text = strings.Trim(string(p.Bytes()[p.begins[i]:p.ends[i]]), "\n")
	}
	return p.noted
}
