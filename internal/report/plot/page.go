package plot

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// Sizes in pixels.
const (
	axisLeft   = 56  // beside the axis of Y
	namesWidth = 144 // beside a plot whose lines have names, from narrowWidth on
	nameHeight = 14
	plotTop    = 12 // above a plot, where the strip of an invalid result is
	strip      = 6
	nameRoom   = 190 // the most that the names of rows take
)

// narrowWidth is the width of a plot with its texts from which on names stand beside it.
const narrowWidth = 560

// widths are the least widths in pixels for which labels are placed. The style sheet has a class for each but the first.
var widths = []float64{280, 420, narrowWidth, 840}

// layout is how wide parts of a drawing are.
type layout struct {
	units float64
	rooms []room
}

// inPage returns the layout of a plot in pages.
func (p *Plot) inPage() layout {
	if p.gutter() {
		return pageLayout(axisLeft, namesWidth-edge, namesWidth)
	}
	return pageLayout(axisLeft, 0, edge)
}

// pageLayout returns a layout for each of widths. left and, from narrowWidth on, names are the widths next to the plot, and
// right is how far labels may then reach beyond the plot.
func pageLayout(left, names, right float64) layout {
	l := layout{units: pageUnits}
	for _, least := range widths {
		r := room{plot: least - left - edge, right: edge}
		if least >= narrowWidth {
			r.plot, r.right = r.plot-names, right
		}
		l.rooms = append(l.rooms, r)
	}
	return l
}

func (p *Plot) gutter() bool { return p.Gutter || len(p.Names) > 0 }

// HTML returns the figure as part of a page that has StyleSheet. Programs that read pages aloud say the title and
// the description.
func (f *Figure) HTML() template.HTML {
	var page strings.Builder
	writeNames(&page, "", f.Names)
	begin, end := "", ""
	if len(f.Columns) > 1 {
		begin, end = "<div>", "</div>"
		page.WriteString(`<div class="columns">`)
	}
	for _, column := range f.Columns {
		page.WriteString(begin)
		for i := range column {
			column[i].html(&page)
		}
		page.WriteString(end)
	}
	page.WriteString(end)
	paragraph(&page, "axis", f.Note)
	defs := definitions(page.String())
	if defs != "" {
		defs = `<svg class="definitions" width="0" height="0">` + defs + `</svg>`
	}
	// All texts are escaped by the functions that write them.
	return template.HTML(fmt.Sprintf(`<div class="figure" role="img" aria-label="%s">%s%s</div>`, escape(f.label()), defs, page.String())) //nolint:gosec // see above
}

// SVG returns the figure for pages, and Lines none in characters: a figure is a drawing of a document.
func (f *Figure) SVG() string { return string(f.HTML()) }

// Lines is described at SVG.
func (*Figure) Lines(int) []string { return nil }

func (f *Figure) label() string {
	if f.Description == "" {
		return f.Title
	}
	return f.Title + ": " + f.Description
}

func paragraph(page *strings.Builder, class, text string) {
	if text != "" {
		fmt.Fprintf(page, `<p class="%s">%s</p>`, class, escape(text))
	}
}

// writeNames writes names with pieces of their lines in a row.
func writeNames(page *strings.Builder, class string, names []Name) {
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(page, `<p class="legend%s">`, class)
	for i := range names {
		page.WriteString("<span>")
		if names[i].sampled() {
			page.WriteString(`<svg width="16" height="10" overflow="visible">`)
			names[i].sample(page, 0, 5)
			page.WriteString("</svg>")
		}
		page.WriteString(escape(names[i].and(names[i].Text)) + "</span> ")
	}
	page.WriteString("</p>")
}

func (n *Name) sampled() bool { return n.Color != "" || n.Shape != nil }

// sample writes a piece of a line, 16 pixels wide, so that its name is known without its color.
func (n *Name) sample(to *strings.Builder, x, y float64) {
	switch {
	case n.Shape != nil:
		n.Shape.write(to, decimal(x+8), decimal(y))
	case n.Box:
		fmt.Fprintf(to, `<rect class="f-%s" x="%s" y="%s" width="10" height="10"/>`, n.Color, decimal(x+2), decimal(y-5))
	case n.Dotted:
		fmt.Fprintf(to, `<path class="s-%s" stroke-width="3" d="M%s %sh0m6 0h0m6 0h0"/>`, n.Color, decimal(x+2), decimal(y))
	default:
		fmt.Fprintf(to, `<path %s d="M%s %sh16"/>`, n.attributes(), decimal(x), decimal(y))
	}
}

func (p *Plot) html(page *strings.Builder) {
	page.WriteString(`<div class="plot">`)
	paragraph(page, "plot-title", p.Title)
	paragraph(page, "axis", p.Axis)
	if len(p.Rows) > 0 {
		p.rowsHTML(page)
		page.WriteString("</div>")
		return
	}
	class := "fit"
	if p.gutter() {
		class += " gutter"
	}
	if len(p.Names) > 1 {
		writeNames(page, " above", p.Names)
	}
	fmt.Fprintf(page, `<div class="%s">`, class)
	d, height := p.drawing(p.inPage())
	page.WriteString(d.svg(fmt.Sprintf(`data-top="%s" data-height="%s"`, decimal(d.top), decimal(d.height)), height, 0))
	page.WriteString("</div></div>")
}

// drawing returns the drawing of a plot with two axes, and its height in pixels.
func (p *Plot) drawing(l layout) (d *drawing, height float64) {
	top := float64(plotTop)
	for _, m := range p.Marks {
		if r, is := m.(Rule); is && r.Text != "" {
			top = max(top, plotTop+lineHeight*float64(r.Row+1))
		}
	}
	d = newDrawing(p.X, p.Y, top, p.Height, l)
	d.yAxis()
	below := d.xAxis(!p.XHidden, p.XName)
	if p.Invalid {
		fmt.Fprintf(&d.body, `<rect fill="url(#hatch-bad)" x="0" y="%s" width="100%%" height="%d"><title>not a result: the run is invalid</title></rect>`, decimal(d.top-strip), strip)
	}
	for _, m := range p.Marks {
		m.draw(d)
	}
	height = top + p.Height + below
	if len(p.Names) > 0 {
		height = max(height, top+nameHeight*float64(len(p.Names))+8)
		p.endNames(d)
	}
	return d, height
}

// endNames writes the names of lines at their ends.
func (p *Plot) endNames(d *drawing) {
	heights := make([]float64, len(p.Names))
	for i := range p.Names {
		heights[i] = d.down(p.Names[i].Y) + 4
	}
	left := func(i int) float64 {
		if p.Names[i].sampled() {
			return 8 + 22 // the piece of the line
		}
		return 8
	}
	texts := make([]string, len(p.Names))
	for i := range p.Names {
		texts[i] = p.Names[i].Text
	}
	texts = shortened(texts, func(i int, text string) bool {
		return textWidth(p.Names[i].and(text), p.Names[i].Bold) <= namesWidth-left(i)
	})
	bottom := max(d.top+d.height+4, d.top+nameHeight*float64(len(p.Names)))
	d.body.WriteString(`<svg class="beside" x="100%" overflow="visible">`)
	for i, y := range spread(heights, nameHeight, d.top+8, bottom) {
		n := &p.Names[i]
		x, color, weight := left(i), Muted, ""
		if n.sampled() {
			n.sample(&d.body, 8, y-4)
			color = Ink
		}
		if n.Bold {
			weight = ` font-weight="600"`
		}
		short, tip := texts[i], ""
		if short != n.Text {
			tip = "<title>" + escape(n.and(n.Text)) + "</title>"
		}
		fmt.Fprintf(&d.body, `<text class="f-%s" x="%s" y="%s"%s>%s%s</text>`, color, decimal(x), decimal(y), weight, tip, escape(n.and(short)))
	}
	d.body.WriteString("</svg>")
}

// rowsHTML writes the rows of a plot as a grid: names, marks and figures.
func (p *Plot) rowsHTML(page *strings.Builder) {
	writeNames(page, "", p.Names)
	_, texts := p.columnWidths()
	columns := len(texts)
	fmt.Fprintf(page, `<div class="rows texts%d">`, columns)
	if p.Ends[0] != "" {
		fmt.Fprintf(page, `<div class="ends"><div><span>← %s</span><span>%s →</span></div></div>`, escape(p.Ends[0]), escape(p.Ends[1]))
	}
	l := p.rowLayout()
	for i := range p.Rows {
		r := &p.Rows[i]
		class := "row-name"
		if r.Bold {
			class += " bold"
		}
		fmt.Fprintf(page, `<div class="%s">%s</div>`, class, escape(r.Name))
		for j := range columns {
			text := Text{}
			if j < len(r.Texts) {
				text = r.Texts[j]
			}
			class := fmt.Sprintf("text text%d", j+1)
			if text.Color != "" {
				class += " t-" + string(text.Color)
			}
			if text.Bold {
				class += " bold"
			}
			fmt.Fprintf(page, `<div class="%s">%s</div>`, class, escape(text.Text))
		}
		page.WriteString(`<div class="track">` + p.row(r, l).svg("", RowHeight, 0) + `</div>`)
	}
	if len(p.X.Ticks) > 0 {
		d, height := p.rowAxis(l)
		page.WriteString(`<div class="track">` + d.svg("", height, 0) + `</div>`)
	}
	page.WriteString("</div>")
}

// row returns the drawing of a row, with the marks of all rows behind it.
func (p *Plot) row(r *Row, l layout) *drawing {
	x := p.X
	if r.X != nil {
		x = *r.X
	}
	d := newDrawing(x, Pixels(RowHeight), 0, RowHeight, l)
	for _, m := range append(slices.Clone(p.Marks), r.Marks...) {
		m.draw(d)
	}
	if p.Invalid {
		fmt.Fprintf(&d.body, `<rect fill="url(#hatch-bad)" x="0" y="5" width="100%%" height="%d"><title>not a result: the run is invalid</title></rect>`, RowHeight-10)
	}
	return d
}

// rowAxis returns the axis below rows, and its height.
func (p *Plot) rowAxis(l layout) (d *drawing, height float64) {
	d = newDrawing(p.X, Pixels(1), 0, 0, l)
	return d, d.xAxis(true, p.XName)
}

// columnWidths returns about how wide names and figures of rows are.
func (p *Plot) columnWidths() (name float64, texts []float64) {
	for i := range p.Rows {
		r := &p.Rows[i]
		name = max(name, textWidth(r.Name, r.Bold))
		for j := range r.Texts {
			if j == len(texts) {
				texts = append(texts, 0)
			}
			texts[j] = max(texts[j], textWidth(r.Texts[j].Text, r.Texts[j].Bold))
		}
	}
	return min(name, nameRoom), texts
}

// columnGap is the distance of the columns of rows.
const columnGap = 12

// rowLayout returns the layout of the marks of rows in pages.
func (p *Plot) rowLayout() layout {
	name, texts := p.columnWidths()
	beside := name + columnGap
	for _, w := range texts {
		beside += w + columnGap
	}
	return pageLayout(edge, beside, edge)
}
