package doc

import (
	"fmt"
	"io"
	"strings"

	"github.com/assay-dev/assay/internal/printable"
)

// EscapeMarkdown returns a text in which Markdown finds no markup, HTML, link or mention. A vertical bar becomes an
// entity, because tables escape it once more.
func EscapeMarkdown(text string) string { return markup.Replace(printable.Text(text)) }

var markup = func() *strings.Replacer {
	pairs := []string{"&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", "://", "&#58;//", "www.", "www&#46;"}
	for _, r := range "\\`*_{}[]#!~@$" {
		pairs = append(pairs, string(r), `\`+string(r))
	}
	return strings.NewReplacer(pairs...)
}()

// WriteMarkdown writes a document in GitHub's Markdown.
func WriteMarkdown(w io.Writer, d *Document) error {
	var m markdownWriter
	m.head(d)
	for i := range d.Sections {
		if s := &d.Sections[i]; s.Title != "" {
			m.heading("###", s.Title)
		}
		m.blocks(d.Sections[i].Blocks)
	}
	_, err := io.WriteString(w, strings.TrimLeft(m.out.String(), "\n"))
	return err
}

// markdownWriter writes Markdown. An empty line precedes each block.
type markdownWriter struct{ out strings.Builder }

func (m *markdownWriter) printf(format string, args ...any) { fmt.Fprintf(&m.out, format, args...) }

func (m *markdownWriter) heading(level, text string) {
	m.printf("\n%s %s\n", level, EscapeMarkdown(text))
}

// head writes what precedes the sections.
func (m *markdownWriter) head(d *Document) {
	first, lines := d.heading()
	if first != "" {
		m.heading("##", first)
	}
	m.blocks(lines)
	var items []string
	for _, s := range d.Sentences {
		items = append(items, EscapeMarkdown(s.String()))
	}
	for _, f := range d.Findings {
		items = append(items, fmt.Sprintf("%s **%s**: %s", EscapeMarkdown(f.Severity), EscapeMarkdown(f.Reason), EscapeMarkdown(f.Message)))
	}
	m.list(items)
}

func (m *markdownWriter) blocks(blocks []Block) {
	for _, b := range Shown(blocks) {
		m.block(b)
	}
}

func (m *markdownWriter) block(b Block) {
	switch b := b.(type) {
	case Paragraph:
		m.printf("\n%s\n", strings.Join(escaped(b), "\\\n")) // a backslash keeps a line break
	case List:
		m.list(escaped(b))
	case Facts:
		var items []string
		for _, f := range b.Facts {
			items = append(items, strings.TrimPrefix(f.Name+": "+f.Value, ": "))
		}
		m.list(escaped(items))
	case *Table:
		m.printf("\n%s\n", b.cleaned(EscapeMarkdown).writer().RenderMarkdown())
	case Plot:
		if b.Drawing != nil {
			m.preformatted(b.Drawing.Lines(0))
		}
	case Panels:
	case Preformatted:
		m.preformatted(b)
	case Group:
		if b.Title != "" {
			m.heading("####", b.Title)
		}
		m.blocks(b.Blocks)
	}
}

func escaped(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = EscapeMarkdown(text)
	}
	return all
}

// list writes items that are escaped.
func (m *markdownWriter) list(items []string) {
	for i, item := range items {
		if i == 0 {
			m.printf("\n")
		}
		m.printf("- %s\n", strings.Join(strings.Fields(item), " "))
	}
}

func (m *markdownWriter) preformatted(lines []string) {
	if len(lines) == 0 {
		return
	}
	m.printf("\n```text\n")
	for _, line := range lines {
		m.printf("%s\n", strings.ReplaceAll(strings.TrimRight(printable.Text(line), " "), "`", "'"))
	}
	m.printf("```\n")
}
