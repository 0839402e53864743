// Package html writes documents as pages that need nothing but themselves: no network, and no script for anything but a
// closer look.
package html

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageCSS string
	//go:embed timeline.js
	timelineJS string
)

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"print": visible,
	"kind":  doc.Kind,
	// signed is like print, for texts of numbers: those below 0 have minus signs.
	"signed": func(text string) string { return number.Minus(visible(text)) },
	"add":    func(a, b int) int { return a + b },
	"svg":    func(d doc.Drawing) template.HTML { return template.HTML(d.SVG()) }, //nolint:gosec // see doc.Drawing
	"save": func(d doc.Drawing) template.HTML {
		if s, is := d.(saved); is {
			return template.HTML(s.mark()) //nolint:gosec // without any text
		}
		return ""
	},
	"lines": func(lines doc.Preformatted) string {
		texts := make([]string, len(lines))
		for i, line := range lines {
			texts[i] = strings.TrimRight(visible(line), " ")
		}
		return strings.Join(texts, "\n")
	},
}).Parse(pageHTML))

// ErrNoPicture means that a report has nothing to draw in a picture.
var ErrNoPicture = errors.New("nothing to draw")

// Date returns when something was measured; empty if that is unknown.
func Date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// Lines returns a text in lines that is closed at first.
func Lines(title, text string) doc.Block {
	return doc.Group{Title: title, Folded: true, Blocks: []doc.Block{doc.Preformatted(strings.Split(strings.TrimSpace(text), "\n"))}}
}

// maxRows is the number of rows up to which a table is open, and maxRowsBelowPlots that in a section with plots.
const (
	maxRows           = 50
	maxRowsBelowPlots = 12
)

// arranged returns the blocks that have anything in the order of pages: texts, plots, facts, then the tables that have the details
// of the plots. Long ones are closed, unless they are in what is closed already.
func arranged(blocks []doc.Block, closed bool) []doc.Block {
	all := doc.Shown(blocks)
	slices.SortStableFunc(all, func(a, b doc.Block) int { return rank(a) - rank(b) })
	most := maxRows
	if slices.ContainsFunc(all, func(b doc.Block) bool { return rank(b) == 1 }) {
		most = maxRowsBelowPlots
	}
	for i, b := range all {
		switch b := b.(type) {
		case *doc.Table:
			if len(b.Rows) > most && !closed {
				all[i] = doc.Group{Title: b.Caption, Folded: true, Blocks: []doc.Block{b}}
			}
		case doc.Group:
			b.Blocks = arranged(b.Blocks, closed || b.Folded)
			all[i] = b
		}
	}
	return all
}

// rank returns the place of a block in a section: 0 of texts, 1 of plots, 2 of facts, and 3 of others.
func rank(b doc.Block) int {
	switch b := b.(type) {
	case doc.Paragraph, doc.List:
		return 0
	case doc.Plot, doc.Panels:
		return 1
	case doc.Facts:
		return 2
	case doc.Group:
		if len(b.Blocks) > 0 {
			return max(1, rank(b.Blocks[0])) // a plot with its title
		}
	}
	return 3
}

// visible returns a text in which control characters are visible. The narrow no-break space before units stays.
func visible(text string) string {
	const space = "\u202f"
	parts := strings.Split(text, space)
	for i := range parts {
		parts[i] = printable.Text(parts[i])
	}
	return strings.Join(parts, space)
}

// Frame surrounds the document in a page of a server. Such a page has no script or style of its own, and no policy: the
// server sends one that allows none.
type Frame struct {
	// Bar is above the document.
	Bar template.HTML
	// Style and Script are the paths of StyleSheet and Script.
	Style, Script string
}

// StyleSheet returns the style of pages.
func StyleSheet() string { return pageCSS + plot.StyleSheet() }

// Script returns the script of pages with plots over time.
func Script() string { return timelineJS }

// Write writes a document as a page. Its head forbids it to load anything, and to run any script but the page's own, whose
// hash the head has. The same document always gives the same bytes.
func Write(w io.Writer, d *doc.Document) error { return WriteIn(w, d, nil) }

// WriteIn writes a document as a page in a frame, or as Write does if that is nil.
func WriteIn(w io.Writer, d *doc.Document, frame *Frame) error {
	style, script, series := StyleSheet(), "", seriesOf(d)
	if series != nil {
		script = timelineJS
	}
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + hash(style)
	if script != "" {
		policy += "; script-src " + hash(script)
	}
	shown := *d
	shown.Sections = slices.Clone(d.Sections)
	save := links{caption: Caption(d)}
	for i := range shown.Sections {
		shown.Sections[i].Blocks = save.in(arranged(shown.Sections[i].Blocks, false))
	}
	// None of style, script and policy has anything of a user.
	data := struct {
		doc.Document
		Series any
		Policy string
		Style  template.CSS
		Script template.JS
		Frame  *Frame
	}{shown, series, policy, template.CSS(style), template.JS(script), frame} //nolint:gosec // see above
	var text strings.Builder
	if err := page.Execute(&text, data); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return save.fill(w, d, narrow(text.String()))
}

// narrow returns a page, or a part of one, in which characters above U+00FF are references, up to its scripts, where there are none.
// Chromium holds a page without such characters with one byte each: it decodes one of 600 kB in 3 ms instead of 15.
func narrow(page string) string {
	end := strings.Index(page, "<script") // no text has it: in texts, "<" is escaped
	if end < 0 {
		end = len(page)
	}
	var b strings.Builder
	b.Grow(len(page))
	for _, r := range page[:end] {
		if r > unicode.MaxLatin1 {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteString(page[end:])
	return b.String()
}

// saved is a figure that is a link's to save as a file. The file is in the link, so that neither network nor script is needed.
type saved struct {
	doc.Drawing
	number int // of the link
}

// mark stands in a page where a link may be. No text has it: in texts, "<" is escaped.
func (s saved) mark() string { return fmt.Sprintf("<!--save %d-->", s.number) }

// links has the figures that a page can save.
type links struct {
	caption plot.Caption
	figures []*plot.Figure
}

// in returns blocks whose figures are saved.
func (l *links) in(blocks []doc.Block) []doc.Block {
	one := func(drawing doc.Drawing) doc.Drawing {
		f, is := drawing.(*plot.Figure)
		if !is || len(f.Columns) == 0 {
			return drawing
		}
		l.figures = append(l.figures, f)
		return saved{f, len(l.figures) - 1}
	}
	all := slices.Clone(blocks)
	for i, b := range all {
		switch b := b.(type) {
		case doc.Plot:
			b.Drawing = one(b.Drawing)
			all[i] = b
		case doc.Group:
			b.Blocks = l.in(b.Blocks)
			all[i] = b
		case doc.Panels:
			b.Panels, b.Folded = slices.Clone(b.Panels), slices.Clone(b.Folded)
			for _, panels := range [][]doc.Panel{b.Panels, b.Folded} {
				for j := range panels {
					panels[j].Drawing = one(panels[j].Drawing)
				}
			}
			all[i] = b
		}
	}
	return all
}

// maxLinked is the length of a page up to which its figures have links. Those without are written by -o svg alone.
const maxLinked = 600_000

// fill writes the page of a document with a link at each mark, as long as the page isn't too long.
func (l *links) fill(w io.Writer, d *doc.Document, page string) error {
	left := maxLinked - len(page)
	for i, f := range l.figures {
		before, after, found := strings.Cut(page, saved{number: i}.mark())
		if !found { // its drawing is empty
			continue
		}
		link := l.link(d, f)
		if left -= len(link); left < 0 {
			left, link = left+len(link), ""
		}
		if _, err := io.WriteString(w, before+link); err != nil {
			return err
		}
		page = after
	}
	_, err := io.WriteString(w, page)
	return err
}

// link returns the link of a figure. Quotes and ampersands of texts are escaped in the file: those that are left are of its elements.
func (l *links) link(d *doc.Document, f *plot.Figure) string {
	const mostOfName = 80
	address := strings.NewReplacer("%", "%25", "#", "%23", "<", "%3C", ">", "%3E", `"`, "'", "&", "&amp;").Replace(strings.TrimSpace(plot.File(l.caption, f)))
	words := strings.FieldsFunc(strings.ToLower(visible(d.Title+" "+f.Title)), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(words, "-")
	return narrow(fmt.Sprintf(`<a class="save" download="%s.svg" href="data:image/svg+xml;charset=utf-8,%s" aria-label="Save as SVG: %s">SVG</a>`,
		strings.Trim(name[:min(len(name), mostOfName)], "-"), address, template.HTMLEscapeString(visible(f.Title))))
}

// Caption returns what a picture of a document that stands alone says of it.
func Caption(d *doc.Document) plot.Caption {
	c := plot.Caption{
		Subject: strings.TrimSuffix(d.Title+", "+d.Subtitle, ", "), Verdict: strings.TrimSpace(d.Verdict.Text + " " + d.Verdict.Addendum.Text), VerdictColor: plot.Color(d.Verdict.Tone),
		Date: d.Date, Invalid: d.Invalid,
	}
	if d.Verdict.Addendum.Tone == doc.Bad {
		c.VerdictColor = plot.Bad
	}
	return c
}

// seriesOf returns the data of a document's panels; nil without panels.
func seriesOf(d *doc.Document) any {
	for _, s := range d.Sections {
		for _, b := range s.Blocks {
			if p, is := b.(doc.Panels); is && p.Series != nil {
				return p.Series
			}
		}
	}
	return nil
}

// hash returns the source expression of a text in a Content Security Policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
