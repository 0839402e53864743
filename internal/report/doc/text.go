package doc

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/assay-dev/assay/internal/printable"
)

// WriteText writes a document for a terminal, whose width it keeps to.
func WriteText(w io.Writer, d *Document) error {
	t := textWriter{columns: Width(w)}
	t.head(d)
	for i := range d.Sections {
		t.section(&d.Sections[i])
	}
	_, err := io.WriteString(w, t.out.String())
	return err
}

// textWriter writes text. Between blocks there is an empty line, but none within paragraphs and the lists that follow them.
type textWriter struct {
	out     strings.Builder
	columns int
	last    string // the kind of the last block since a heading
}

func (t *textWriter) line(text string) { fmt.Fprintln(&t.out, strings.TrimRight(text, " ")) }

// wrapped writes a text after what begins its first line; see Wrapped.
func (t *textWriter) wrapped(begin, content string, indent int) {
	for _, line := range Wrapped(t.columns, begin, content, indent) {
		t.line(line)
	}
}

// Wrapped returns a text after what begins its first line, broken between words for a terminal with a number of columns, of which it leaves the last
// free; 0 columns are no terminal. Further lines begin with as many spaces as indent says.
func Wrapped(columns int, begin, content string, indent int) (lines []string) {
	width := columns - 1 - indent
	if columns == 0 || width < minWrapped || text.StringWidthWithoutEscSequences(begin+content) < columns {
		return []string{begin + content}
	}
	// What begins the first line is wider or narrower than the indent: it is wrapped as if it had that width.
	first := strings.Repeat("x", max(0, text.StringWidthWithoutEscSequences(begin)-indent))
	for i, line := range strings.Split(text.WrapSoft(first+content, width), "\n") {
		if i == 0 {
			lines = append(lines, begin+strings.TrimRight(strings.TrimPrefix(line, first), " "))
			continue
		}
		lines = append(lines, strings.Repeat(" ", indent)+strings.Trim(line, " "))
	}
	return lines
}

// minWrapped is the least number of columns into which texts are broken.
const minWrapped = 20

// begin begins a block.
func (t *textWriter) begin(kind string) {
	flows := kind == "paragraph" && t.last == kind || kind == "list" && (t.last == "paragraph" || t.last == kind)
	if t.last != "" && !flows {
		t.line("")
	}
	t.last = kind
}

// head writes what precedes the sections.
func (t *textWriter) head(d *Document) {
	first, lines := d.heading()
	t.blocks(append([]Block{Paragraph{first}}, lines...))
	var items List
	for _, s := range d.Sentences {
		items = append(items, s.String())
	}
	for _, f := range d.Findings {
		items = append(items, fmt.Sprintf("%s %s: %s", f.Severity, f.Reason, f.Message))
	}
	t.blocks([]Block{items})
}

// String returns the sentence with its lead.
func (s Sentence) String() string {
	if s.Lead == "" {
		return s.Text
	}
	return s.Lead + ": " + s.Text
}

func (t *textWriter) section(s *Section) {
	if t.out.Len() > 0 {
		t.line("")
	}
	if title := printable.Text(s.Title); title != "" {
		t.line(title)
		t.line(strings.Repeat("-", len([]rune(title))))
	}
	t.last = ""
	t.blocks(s.Blocks)
}

func (t *textWriter) blocks(blocks []Block) {
	for _, b := range Shown(blocks) {
		t.block(b)
	}
}

func (t *textWriter) block(b Block) {
	switch b := b.(type) {
	case Paragraph:
		t.begin(Kind(b))
		for _, line := range b {
			t.wrapped("", printable.Text(line), 0)
		}
	case List:
		t.begin(Kind(b))
		for _, item := range b {
			t.wrapped("  ", printable.Text(item), 4)
		}
	case Facts:
		t.facts(b)
	case *Table:
		t.begin(Kind(b))
		fmt.Fprintln(&t.out, b.cleaned(printable.Text).fit(t.columns))
	case Plot:
		if b.Drawing != nil {
			t.preformatted(b.Drawing.Lines(t.columns))
		}
	case Panels:
	case Preformatted:
		t.preformatted(b)
	case Group:
		t.blocks([]Block{Paragraph{b.Title}})
		t.blocks(b.Blocks)
	}
}

func (t *textWriter) facts(b Facts) {
	indent, width := "", 23
	t.begin(Kind(b))
	if b.Listed {
		indent, width = "  ", 16
	}
	for _, f := range b.Facts {
		name := printable.Text(f.Name)
		if name != "" {
			name += ":"
		}
		t.wrapped(fmt.Sprintf("%s%-*s ", indent, width, name), printable.Text(f.Value), len(indent)+width+1)
	}
}

func (t *textWriter) preformatted(lines []string) {
	if len(lines) == 0 {
		return
	}
	t.begin("preformatted")
	for _, line := range lines {
		t.line(printable.Text(line))
	}
}
