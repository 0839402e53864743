package plot

import (
	"fmt"
	"strings"
)

// Caption says what a picture that stands alone is of.
type Caption struct {
	// Subject is the run or round, Verdict its verdict in words, Date when it was measured. Empty ones are omitted.
	Subject, Verdict, Date string
	// VerdictColor is Good, Bad, Unsure or Same.
	VerdictColor Color
	// Invalid hatches the picture, whose figures are no result.
	Invalid bool
}

// fileWidth is the width of the figures of a file in pixels.
const fileWidth = 968

// file is an SVG file that is being written from above.
type file struct {
	body strings.Builder
	y    float64
}

// File returns figures below each other as an SVG file with a title and a caption. It needs nothing but itself.
func File(c Caption, figures ...*Figure) string {
	const head, margin = 56, 16
	f := &file{y: head}
	title, description := figures[0].Title, ""
	for _, figure := range figures {
		if len(figures) > 1 && !figure.named() {
			f.text(0, figure.Title, 13, true, Ink)
		}
		description += " " + figure.Description
		f.figure(figure)
	}
	header := &file{y: 24}
	header.line(0, 24, clip(title, fileWidth*12/15, true), 15, true, Ink)
	x := 0.0
	for _, part := range []struct {
		text  string
		bold  bool
		color Color
	}{{c.Verdict, true, c.VerdictColor}, {strings.Trim(c.Subject+", "+c.Date, ", "), false, Muted}} {
		if part.text != "" {
			text := clip(part.text, (fileWidth-x)*12/13, part.bold)
			header.line(x, 44, text, 13, part.bold, part.color)
			x += textWidth(text, part.bold)*13/12 + 12
		}
	}
	if c.Invalid {
		fmt.Fprintf(&header.body, `<rect fill="url(#hatch-bad)" x="-%d" y="%d" width="%d" height="6"><title>not a result</title></rect>`, margin, head-4, fileWidth+2*margin)
		fmt.Fprintf(&header.body, `<text class="f-bad halo" x="%d" y="%d" font-size="15" font-weight="600" text-anchor="middle">not a result</text>`, fileWidth/2, head+18)
	}
	height := f.y + margin
	body := fmt.Sprintf(`<rect class="f-plot" width="%d" height="%s"/><g transform="translate(%d)">%s%s</g>`, fileWidth+2*margin, decimal(height), margin, f.body.String(), header.body.String())
	defs := definitions(body)
	label := strings.TrimSpace(fmt.Sprintf("%s: %s. %s.%s", title, c.Subject, c.Verdict, description))
	top := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="%s" viewBox="0 0 %d %s" width="%d" height="%s" font-size="12" fill="none" stroke-linecap="round" stroke-linejoin="round">`,
		escape(label), fileWidth+2*margin, decimal(height), fileWidth+2*margin, decimal(height))
	return top + style(defs+body) + defs + body + "</svg>\n"
}

// Badge returns a name and a verdict in its color next to each other as an SVG file, one line high.
func Badge(name, verdict string, color Color) string {
	const height, pad, most = 24, 8, 400
	name, verdict = clip(name, most, false), clip(verdict, most, true)
	left := textWidth(name, false) + 2*pad
	width := left + textWidth(verdict, true) + 2*pad
	f := &file{}
	fmt.Fprintf(&f.body, `<rect class="f-grid" width="%s" height="%d"/><rect class="f-plot s-grid" x="%s" y="0.5" width="%s" height="%d"/>`, decimal(left), height, decimal(left), decimal(width-left-0.5), height-1)
	f.line(pad, 16, name, 12, false, Ink)
	f.line(left+pad, 16, verdict, 12, true, color)
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="%s" viewBox="0 0 %s %d" width="%s" height="%d" font-size="12" fill="none">`,
		escape(name+": "+verdict), decimal(width), height, decimal(width), height) + style(f.body.String()) + f.body.String() + "</svg>\n"
}

// style returns the style element of a file.
func style(elements string) string {
	return `<style>text{font-family:system-ui,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-variant-numeric:tabular-nums}` + ownStyleSheet(elements) + "</style>"
}

// named reports whether the name of the first axis says what the figure's title says.
func (f *Figure) named() bool {
	return len(f.Columns) > 0 && f.Columns[0][0].Axis != "" && strings.HasPrefix(f.Title, f.Columns[0][0].Axis)
}

// line writes a line of text.
func (f *file) line(x, y float64, text string, size float64, bold bool, c Color) {
	if text == "" {
		return
	}
	fmt.Fprintf(&f.body, `<text class="f-%s" x="%s" y="%s"`, c, decimal(x), decimal(y))
	if size != 12 {
		fmt.Fprintf(&f.body, ` font-size="%s"`, decimal(size))
	}
	if bold {
		f.body.WriteString(` font-weight="600"`)
	}
	fmt.Fprintf(&f.body, ">%s</text>", escape(text))
}

// text writes a text in as many lines as it needs.
func (f *file) text(x float64, text string, size float64, bold bool, c Color) {
	for _, line := range wrap(text, (fileWidth-x)*12/size, bold) {
		f.y += lineHeight
		f.line(x, f.y, line, size, bold, c)
	}
}

func (f *file) figure(figure *Figure) {
	f.names(figure.Names)
	const gap = 16
	perRow := min(len(figure.Columns), 4)
	for from := 0; from < len(figure.Columns); from += perRow {
		row := figure.Columns[from:min(from+perRow, len(figure.Columns))]
		width := (fileWidth - gap*float64(perRow-1)) / float64(perRow)
		top, bottom := f.y, f.y
		for i, column := range row {
			f.y = top
			for j := range column {
				f.plot(&column[j], (width+gap)*float64(i), width)
			}
			bottom = max(bottom, f.y)
		}
		f.y = bottom
	}
	f.text(0, figure.Note, 12, false, Muted)
	f.y += gap
}

// names writes names in a row, or in as many as they need.
func (f *file) names(names []Name) {
	if len(names) == 0 {
		return
	}
	f.y += lineHeight
	x := 0.0
	for i := range names {
		text := names[i].and(clip(names[i].Text, fileWidth-22-textWidth(names[i].and(""), false), false))
		need := 22 + textWidth(text, false) + 16
		if x > 0 && x+need > fileWidth {
			x, f.y = 0, f.y+lineHeight
		}
		if names[i].sampled() {
			names[i].sample(&f.body, x, f.y-4)
		}
		f.line(x+22, f.y, text, 12, false, Ink)
		x += need
	}
	f.y += 4
}

// plot writes a plot at the left edge x.
func (f *file) plot(p *Plot, x, width float64) {
	for _, head := range []struct {
		text string
		bold bool
		c    Color
	}{{p.Title, true, Ink}, {p.Axis, false, Muted}} {
		if head.text != "" {
			for _, line := range wrap(head.text, width, head.bold) {
				f.y += lineHeight
				f.line(x, f.y, line, 12, head.bold, head.c)
			}
		}
	}
	if len(p.Rows) > 0 {
		f.rows(p, x, width)
		return
	}
	left, right := float64(axisLeft), float64(edge)
	if p.gutter() {
		right = namesWidth
	}
	w := width - left - right
	d, height := p.drawing(layout{units: w, rooms: []room{{w, right}}})
	f.body.WriteString(d.svg(fmt.Sprintf(`x="%s" y="%s"`, decimal(x+left), decimal(f.y)), height, w))
	f.y += height + 4
}

// rows writes the rows of a plot.
func (f *file) rows(p *Plot, x, width float64) {
	f.names(p.Names)
	name, texts := p.columnWidths()
	left, right := x+name+columnGap+edge, x+width
	for _, w := range texts {
		right -= w + columnGap
	}
	w := right - left
	if p.Ends[0] != "" {
		f.y += lineHeight
		f.line(left, f.y, "← "+p.Ends[0], 12, false, Muted)
		f.line(right-textWidth(p.Ends[1]+" →", false), f.y, p.Ends[1]+" →", 12, false, Muted)
		f.y += 4
	}
	l := layout{units: w, rooms: []room{{w, edge}}}
	for i := range p.Rows {
		r := &p.Rows[i]
		lines := wrap(r.Name, name, r.Bold)
		height := max(RowHeight, lineHeight*float64(len(lines)))
		middle := f.y + height/2 + 4
		for j, line := range lines {
			f.line(x, middle+lineHeight*(float64(j)-float64(len(lines)-1)/2), line, 12, r.Bold, Ink)
		}
		at := right + columnGap
		for j := range r.Texts {
			text := r.Texts[j]
			if text.Color == "" {
				text.Color = Ink
			}
			f.line(at, middle, text.Text, 12, text.Bold, text.Color)
			at += texts[j] + columnGap
		}
		f.body.WriteString(p.row(r, l).svg(fmt.Sprintf(`x="%s" y="%s"`, decimal(left), decimal(f.y+(height-RowHeight)/2)), RowHeight, w))
		f.y += height
	}
	if len(p.X.Ticks) > 0 {
		d, height := p.rowAxis(l)
		f.body.WriteString(d.svg(fmt.Sprintf(`x="%s" y="%s"`, decimal(left), decimal(f.y)), height, w))
		f.y += height
	}
}
