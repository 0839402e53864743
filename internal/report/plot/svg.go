package plot

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// pageUnits is the width of the part of a plot that is stretched to the width of a page: lines and areas. In a file it is that in pixels.
const pageUnits = 1000

// columns is the number of parts of a plot's width of each of which the least and the largest place are drawn.
const columns = 640

// drawing is the SVG of a plot's marks. What keeps its form at any width, such as dots and texts, has its abscissa in percent
// of the plot's width; the rest is in a part that is stretched.
type drawing struct {
	x, y        Scale
	top, height float64 // of the plot
	stretched   strings.Builder
	body        strings.Builder
	units       float64
	labels      []label
	rooms       []room
}

func newDrawing(x, y Scale, top, height float64, l layout) *drawing {
	return &drawing{x: x, y: y, top: top, height: height, units: l.units, rooms: l.rooms}
}

// across returns the place of an abscissa as a share of the width.
func (d *drawing) across(x float64) float64 {
	switch {
	case math.IsInf(x, -1):
		return 0
	case math.IsInf(x, 1):
		return 1
	}
	return d.x.At(x)
}

// down returns the place of an ordinate in pixels.
func (d *drawing) down(y float64) float64 {
	switch {
	case math.IsInf(y, -1):
		return d.top + d.height
	case math.IsInf(y, 1):
		return d.top
	}
	return d.top + (1-d.y.At(y))*d.height
}

// place returns a point of the stretched part.
func (d *drawing) place(p Point) Point {
	if p.IsGap() {
		return Gap()
	}
	return Point{d.units * d.across(p.X), d.down(p.Y)}
}

func (d *drawing) places(points []Point) []Point {
	all := make([]Point, len(points))
	for i, p := range points {
		all[i] = d.place(p)
	}
	return all
}

// end ends an element with its tip, if it has one.
func end(to *strings.Builder, name, tip string) {
	if tip == "" {
		to.WriteString("/>")
		return
	}
	fmt.Fprintf(to, "><title>%s</title></%s>", escape(tip), name)
}

func (s Stroke) attributes() string {
	text := fmt.Sprintf(`class="s-%s"`, s.Color)
	if s.Width != 0 && s.Width != 1 {
		text += fmt.Sprintf(` stroke-width="%s"`, decimal(s.Width))
	}
	if s.Dash != "" {
		text += fmt.Sprintf(` stroke-dasharray="%s"`, escape(s.Dash))
	}
	return text
}

// path writes a path of the stretched part.
func (d *drawing) path(attributes, data, tip string) {
	if data != "" {
		fmt.Fprintf(&d.stretched, `<path %s d="%s"`, attributes, data)
		end(&d.stretched, "path", tip)
	}
}

func (m Line) draw(d *drawing) {
	points, s := d.places(m.Points), m.Stroke
	if len(points) > columns {
		points, s.Width = thinned(points, columns/d.units), 1 // many points would make a wide line an area
	}
	attributes := s.attributes()
	if m.Name != "" {
		attributes += fmt.Sprintf(` data-line="%s"`, escape(m.Name))
	}
	d.path(attributes, trace(points), "")
}

func (m Interval) draw(d *drawing) {
	from, to := d.place(m.From), d.place(m.To)
	data := trace([]Point{from, to})
	if m.Caps > 0 {
		for _, at := range []Point{from, to} {
			data += trace([]Point{{at.X, at.Y - m.Caps}, {at.X, at.Y + m.Caps}})
		}
	}
	d.path(m.attributes(), data, "")
}

func (m Rule) draw(d *drawing) {
	if math.IsNaN(m.X) {
		if _, beyond := d.y.Place(m.Y); !beyond {
			y := d.down(m.Y)
			d.path(m.attributes(), trace([]Point{{0, y}, {d.units, y}}), "")
		}
		return
	}
	at, top := d.across(m.X), d.top
	if m.Text != "" { // from its words on
		top = plotTop + lineHeight*float64(m.Row)
	}
	d.path(m.attributes(), trace([]Point{{d.units * at, top}, {d.units * at, d.top + d.height}}), m.Text)
	if m.Text == "" {
		return
	}
	l := label{at: at, dx: 4, y: top + 10, text: m.Text, halo: true}
	if at > 0.5 {
		l.dx, l.anchor = -4, End
	}
	d.labels = append(d.labels, l)
}

func (m Area) draw(d *drawing) {
	var data strings.Builder
	for _, outline := range m.Outlines {
		data.WriteString(trace(d.places(outline)) + "Z")
	}
	d.path(fmt.Sprintf(`class="f-%s"`, m.Color), data.String(), "")
}

func (m Rect) draw(d *drawing) {
	left, right := d.across(min(m.From.X, m.To.X)), d.across(max(m.From.X, m.To.X))
	top, bottom := d.down(m.From.Y), d.down(m.To.Y)
	top, bottom = min(top, bottom), max(top, bottom)
	class := "f-" + string(m.Color)
	switch {
	case m.Outlined:
		class = fmt.Sprintf("f-plot s-%s", m.Color)
	case m.Apart:
		class += " s-plot"
	}
	width := ""
	if m.Apart {
		width = ` stroke-width="2"`
	}
	if m.Color != "" {
		fmt.Fprintf(&d.stretched, `<rect class="%s"%s x="%s" y="%s" width="%s" height="%s"`, class, width, decimal(d.units*left), decimal(top), decimal(d.units*(right-left)), decimal(bottom-top))
		end(&d.stretched, "rect", m.Tip)
	}
	if m.Hatched {
		fmt.Fprintf(&d.body, `<rect fill="url(#hatch-bad)" x="%s" y="%s" width="%s" height="%s"`, percent(left), decimal(top), percent(right-left), decimal(bottom-top))
		end(&d.body, "rect", m.Tip)
	}
	if m.Corner {
		fmt.Fprintf(&d.body, `<use href="#corner" class="f-%s" x="%s" y="%s"/>`, m.Ink, percent(right), decimal(top+1))
	}
	if m.Text != "" {
		d.labels = append(d.labels, label{at: (left + right) / 2, y: (top+bottom)/2 + 4, text: m.Text, anchor: Center, color: m.Ink, within: right - left})
	}
}

func (m Dots) draw(d *drawing) {
	var data strings.Builder
	for _, at := range highest(d.places(m.Points), columns/d.units) {
		data.WriteString(trace([]Point{at}))
	}
	d.path(fmt.Sprintf(`class="s-%s" stroke-width="%s"`, m.Color, decimal(2*m.Radius)), data.String(), "")
}

func (m Dot) draw(d *drawing) {
	x, y := percent(d.across(m.At.X)), decimal(d.down(m.At.Y))
	if m.Number != 0 {
		fmt.Fprintf(&d.body, `<circle class="f-plot s-text" cx="%s" cy="%s" r="7.5"`, x, y)
		end(&d.body, "circle", m.Tip)
		fmt.Fprintf(&d.body, `<text class="f-text" x="%s" y="%s" font-size="11" text-anchor="middle">%d</text>`, x, decimal(d.down(m.At.Y)+4), m.Number)
		return
	}
	m.write(&d.body, x, y)
}

// write writes a dot at a place.
func (m Dot) write(to *strings.Builder, x, y string) {
	class := fmt.Sprintf(`class="f-%s"`, m.Color)
	switch {
	case m.Shape == Cross:
		class = fmt.Sprintf(`class="s-%s" stroke-width="2"`, m.Color)
	case m.Hollow:
		class = fmt.Sprintf(`class="f-plot s-%s" stroke-width="1.5"`, m.Color)
	}
	if m.Shape == Circle {
		radius := m.Radius
		if radius == 0 {
			radius = 3
		}
		fmt.Fprintf(to, `<circle %s cx="%s" cy="%s" r="%s"`, class, x, y, decimal(radius))
		end(to, "circle", m.Tip)
		return
	}
	fmt.Fprintf(to, `<use href="#shape%d" %s x="%s" y="%s"`, m.Shape, class, x, y)
	end(to, "use", m.Tip)
}

func (m Text) draw(d *drawing) {
	d.labels = append(d.labels, label{at: d.across(m.At.X), dx: m.DX, y: d.down(m.At.Y) + m.DY, text: m.Text, anchor: m.Anchor, color: m.Color, bold: m.Bold, halo: true})
}

// shapes are the forms of dots by Shape, around their places. Circles are none of them.
var shapes = map[Shape]string{
	Square: "M-3.5-3.5h7v7h-7Z", Triangle: "M0-4.5L4.5 3.5h-9Z", Diamond: "M0-5L5 0 0 5-5 0Z", Inverse: "M0 4.5L4.5-3.5h-9Z",
	Plus: "M-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3Z", Cross: "M-4.5-4.5L4.5 4.5M-4.5 4.5L4.5-4.5",
	Right: "M0 0L-7-4.5v9Z", Left: "M0 0L7-4.5v9Z", Up: "M0 0L-3.5 6h7Z", Down: "M0 0L-3.5-6h7Z",
}

// definitions returns the forms of dots and the hatch, if elements refer to them. Their names are the same in all figures of a page, so
// that it doesn't matter from which one a browser takes them.
func definitions(elements string) string {
	var defs strings.Builder
	define := func(id, element string) {
		if strings.Contains(elements, "#"+id) {
			defs.WriteString(element)
		}
	}
	define("hatch-bad", `<pattern id="hatch-bad" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="s-bad" stroke-width="1.5" stroke-opacity="0.4" d="M0 0V6"/></pattern>`)
	define("corner", `<path id="corner" d="M-10 0h9v9Z"/>`)
	for s := Square; s <= Down; s++ {
		id := fmt.Sprintf("shape%d", s)
		define(id, fmt.Sprintf(`<path id="%s" d="%s"/>`, id, shapes[s]))
	}
	if defs.Len() == 0 {
		return ""
	}
	return "<defs>" + defs.String() + "</defs>"
}

// xAxis draws the line and the labels of the axis below the plot, and its name below them. It returns the height that they need.
func (d *drawing) xAxis(labels bool, name string) (height float64) {
	bottom := d.top + d.height
	d.path(`class="s-axis"`, trace([]Point{{0, bottom}, {d.units, bottom}}), "")
	if !labels {
		return 6
	}
	height = 24
	ticks := ""
	for _, t := range d.x.Ticks {
		at := d.x.At(t.Value)
		ticks += trace([]Point{{d.units * at, bottom}, {d.units * at, bottom + 4}})
		l := label{at: at, y: bottom + 18, text: t.Label, below: t.Below, anchor: Center, color: Muted, tick: true}
		half := max(textWidth(t.Label, false), textWidth(t.Below, false)) / 2
		switch { // the first and the last have room beside the plot
		case at < 0.02:
			l.anchor, l.dx = Start, -min(half, edge)
		case at > 0.98:
			l.anchor, l.dx = End, min(half, edge)
		}
		d.labels = append(d.labels, l)
	}
	d.path(`class="s-axis ticks"`, ticks, "")
	if len(d.x.Ticks) > 0 && d.x.Ticks[0].Below != "" {
		height += lineHeight
	}
	if name != "" {
		d.labels = append(d.labels, label{at: 0.5, y: bottom + height + 12, text: name, anchor: Center, color: Muted})
		height += 18
	}
	return height
}

// edge is how far a label may reach beyond the ends of a plot, in pixels.
const edge = 8

// yAxis draws the grid and the labels of the axis.
func (d *drawing) yAxis() {
	grid := ""
	for _, t := range d.y.Ticks {
		y := math.Round(d.top+(1-d.y.At(t.Value))*d.height-0.5) + 0.5
		grid += trace([]Point{{0, y}, {d.units, y}})
		fmt.Fprintf(&d.body, `<text class="f-muted" x="-8" y="%s" text-anchor="end">%s</text>`, decimal(y+4), escape(t.Label))
	}
	d.path(`class="s-grid"`, grid, "")
}

// svg returns the drawing as an element with these attributes, so high in pixels. In a file it is width pixels wide; in a page,
// where width is 0, as wide as there is room.
func (d *drawing) svg(attributes string, height, width float64) string {
	box, across := decimal(d.units), ""
	stretched := d.stretched.String()
	if width > 0 {
		across = fmt.Sprintf(` width="%s"`, decimal(width))
	}
	text := fmt.Sprintf(`<svg %s%s height="%s" overflow="visible">`, attributes, across, decimal(height))
	if stretched != "" {
		text += fmt.Sprintf(`<svg class="stretched" viewBox="0 0 %s %s" preserveAspectRatio="none"%s height="%s" overflow="visible">%s</svg>`, box, decimal(height), across, decimal(height), stretched)
	}
	return text + d.body.String() + d.texts() + "</svg>"
}

// percent returns a share as a percentage with two decimals.
func percent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e4)/100, 'f', -1, 64) + "%"
}

// decimal formats a place with at most one decimal.
func decimal(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "0"
	}
	return strconv.FormatFloat(math.Round(x*10)/10+0, 'f', -1, 64)
}

// escape returns a text for XML and HTML: escaped, and without characters that XML doesn't allow or that are invisible,
// such as those that change the direction of a text. A narrow no-break space separates figures from units.
func escape(text string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r != '\u202f' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text))
}
