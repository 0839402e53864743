// Package picture draws SVG: colors, scales with their ticks, marks and texts. It knows neither runs nor Benchmarks.
//
// Texts are escaped, so that they may come from anywhere. The same calls always give the same bytes. Places and sizes are
// in pixels; letters have their size at the width at which a picture is drawn.
package picture

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// NarrowWidth is the width below which pictures put names above a plot instead of at its right.
const NarrowWidth = 560

// Picture is an SVG that is being drawn.
type Picture struct {
	Width, Height float64

	title, description string
	body               strings.Builder
	used               []Color
	hatches            []Color
}

// New returns an empty picture.
func New(width, height float64) *Picture { return &Picture{Width: width, Height: height} }

// Describe sets the picture's title, and what it shows in a sentence: range, extremes and findings.
func (p *Picture) Describe(title, description string) { p.title, p.description = title, description }

// Title returns the title, Description what the picture shows in a sentence.
func (p *Picture) Title() string { return p.title }

// Description is described at Title.
func (p *Picture) Description() string { return p.description }

// Stroke is how a line looks. The zero value of Width is 1; Dash is that of SVG, in pixels: "4 3".
type Stroke struct {
	Color Color
	Width float64
	Dash  string
}

func (p *Picture) stroke(s Stroke) string {
	text := fmt.Sprintf(`class="%s"`, p.line(s.Color))
	if s.Width != 0 && s.Width != 1 {
		text += fmt.Sprintf(` stroke-width="%s"`, number(s.Width))
	}
	if s.Dash != "" {
		text += fmt.Sprintf(` stroke-dasharray="%s"`, escape(s.Dash))
	}
	return text
}

// Line draws a line.
func (p *Picture) Line(x1, y1, x2, y2 float64, s Stroke) {
	fmt.Fprintf(&p.body, `<path %s d="M%s %sL%s %s"/>`, p.stroke(s), number(x1), number(y1), number(x2), number(y2))
}

// Point is a place of a picture.
type Point struct{ X, Y float64 }

// Gap is a point at which a line is interrupted.
func Gap() Point { return Point{math.NaN(), math.NaN()} }

// IsGap reports whether a line is interrupted at the point.
func (p Point) IsGap() bool { return math.IsNaN(p.X) || math.IsNaN(p.Y) }

// Path draws a line through points, but not across gaps. A point between two gaps becomes a dot.
func (p *Picture) Path(points []Point, s Stroke) {
	if d := Trace(points); d != "" {
		fmt.Fprintf(&p.body, `<path %s d="%s"/>`, p.stroke(s), d)
	}
}

// Trace returns the SVG path data of a line through points, to a tenth of a pixel. Points on a level stretch are omitted.
func Trace(points []Point) string {
	var d strings.Builder
	began, first := false, false
	lastX, lastY := 0, 0 // in tenths of a pixel
	for i, at := range points {
		if at.IsGap() {
			began = false
			continue
		}
		x, y := tenth(at.X), tenth(at.Y)
		ends := i+1 == len(points) || points[i+1].IsGap()
		switch {
		case !began:
			d.WriteString("M" + tenths(x))
			pad(&d, tenths(y))
			if ends {
				d.WriteString("h0") // with round caps, a dot
			} else {
				d.WriteByte('l')
			}
			began, first = true, true
		case !ends && y == lastY && tenth(points[i+1].Y) == y && (x >= lastX) == (tenth(points[i+1].X) >= x):
			continue
		default:
			if step := tenths(x - lastX); first {
				d.WriteString(step)
			} else {
				pad(&d, step)
			}
			pad(&d, tenths(y-lastY))
			first = false
		}
		lastX, lastY = x, y
	}
	return d.String()
}

func tenth(x float64) int { return int(math.Round(x * 10)) }

// tenths returns a number of tenths as a decimal number: "-.5".
func tenths(n int) string {
	if n%10 == 0 {
		return strconv.Itoa(n / 10)
	}
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	if n < 10 {
		return fmt.Sprintf("%s.%d", sign, n)
	}
	return fmt.Sprintf("%s%d.%d", sign, n/10, n%10)
}

// pad writes a number behind another: a sign separates them, else a space does.
func pad(d *strings.Builder, number string) {
	if number[0] != '-' {
		d.WriteByte(' ')
	}
	d.WriteString(number)
}

// Area fills the area within points.
func (p *Picture) Area(points []Point, c Color) {
	if d := Trace(points); d != "" {
		fmt.Fprintf(&p.body, `<path class="%s" d="%sZ"/>`, p.fill(c), d)
	}
}

// Areas fills several areas by one element.
func (p *Picture) Areas(areas [][]Point, c Color) {
	var d strings.Builder
	for _, points := range areas {
		d.WriteString(Trace(points) + "Z")
	}
	if d.Len() > 0 {
		fmt.Fprintf(&p.body, `<path class="%s" d="%s"/>`, p.fill(c), d.String())
	}
}

// Dots draws dots of a radius by one element, and nothing at gaps.
func (p *Picture) Dots(points []Point, r float64, c Color) {
	var d strings.Builder
	for _, at := range points {
		if !at.IsGap() {
			d.WriteString(Trace([]Point{at}))
		}
	}
	if d.Len() > 0 {
		fmt.Fprintf(&p.body, `<path class="%s" stroke-width="%s" d="%s"/>`, p.line(c), number(2*r), d.String())
	}
}

// Rect fills a rectangle. One whose width or height is negative isn't drawn.
func (p *Picture) Rect(x, y, w, h float64, c Color) { p.TippedRect(x, y, w, h, c, "") }

// TippedRect is like Rect, with a tip that says what it is.
func (p *Picture) TippedRect(x, y, w, h float64, c Color, tip string) {
	if w < 0 || h < 0 {
		return
	}
	p.tipped(fmt.Sprintf(`<rect class="%s" x="%s" y="%s" width="%s" height="%s"`, p.fill(c), number(x), number(y), number(w), number(h)), "rect", tip)
}

// tipped ends an element with its tip, if it has one.
func (p *Picture) tipped(element, name, tip string) {
	if tip == "" {
		p.body.WriteString(element + "/>")
		return
	}
	fmt.Fprintf(&p.body, "%s><title>%s</title></%s>", element, escape(tip), name)
}

func (p *Picture) fill(c Color) string { return "f-" + p.use(c) }

func (p *Picture) line(c Color) string { return "s-" + p.use(c) }

func (p *Picture) use(c Color) string {
	if !slices.Contains(p.used, c) {
		shadeOf(c)
		p.used = append(p.used, c)
	}
	return string(c)
}

// HTML returns the picture as part of a page that has StyleSheet. Programs that read pages aloud say the title and the
// description.
func (p *Picture) HTML() template.HTML {
	// All texts are escaped by the functions that write them.
	return template.HTML(p.head(`class="picture"`) + p.definitions() + p.body.String() + "</svg>") //nolint:gosec // see above
}

func (p *Picture) head(attributes string) string {
	label := p.title
	if p.description != "" {
		label += ": " + p.description
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" %s role="img" aria-label="%s" viewBox="0 0 %s %s" width="%s" height="%s" font-size="12" fill="none" stroke-linecap="round" stroke-linejoin="round">`,
		attributes, escape(label), number(p.Width), number(p.Height), number(p.Width), number(p.Height))
}

// definitions returns the hatches. Their names are those of their colors, so that it doesn't matter which of several
// pictures of a page a browser takes them from.
func (p *Picture) definitions() string {
	var defs strings.Builder
	for _, c := range p.hatches {
		fmt.Fprintf(&defs, `<pattern id="hatch-%s" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="s-%s" stroke-width="1.5" stroke-opacity="0.4" d="M0 0V6"/></pattern>`, c, c)
	}
	if defs.Len() == 0 {
		return ""
	}
	return "<defs>" + defs.String() + "</defs>"
}

// number formats a place with at most one decimal.
func number(x float64) string {
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
