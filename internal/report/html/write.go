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

// Write writes a document as a page. Its head forbids it to load anything, and to run any script but the page's own, whose
// hash the head has. The same document always gives the same bytes.
func Write(w io.Writer, d *doc.Document) error {
	style, script, series := pageCSS+plot.StyleSheet(), "", seriesOf(d)
	if series != nil {
		script = timelineJS
	}
	policy := "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " + hash(style)
	if script != "" {
		policy += "; script-src " + hash(script)
	}
	shown := *d
	shown.Sections = slices.Clone(d.Sections)
	for i := range shown.Sections {
		shown.Sections[i].Blocks = arranged(shown.Sections[i].Blocks, false)
	}
	// None of style, script and policy has anything of a user.
	data := struct {
		doc.Document
		Series any
		Policy string
		Style  template.CSS
		Script template.JS
	}{shown, series, policy, template.CSS(style), template.JS(script)} //nolint:gosec // see above
	if err := page.Execute(w, data); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
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
