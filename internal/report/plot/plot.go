// Package plot describes pictures as plain data and writes them as SVG or, for a terminal, as text. It knows neither runs nor Benchmarks.
//
// A chart is a function that returns a Figure: what to draw in units of its axes. This package places it. A figure stands once
// in a page and fits any width: its letters keep their size, and a label is hidden where it would touch another. Texts are
// escaped, so that they may come from anywhere. The same figure always gives the same bytes.
package plot

import "math"

// Figure is a picture: one plot or several.
type Figure struct {
	// Title says what the picture shows, Description says it in a sentence: range, extremes and findings.
	Title, Description string
	// Names are those of all plots, above them.
	Names []Name
	// Columns are the plots: those of a column are below each other, columns are next to each other as far as they have room.
	Columns [][]Plot
	// Note is a text below the plots.
	Note string
}

// Of returns a figure of plots below each other.
func Of(title, description string, plots ...Plot) *Figure {
	return &Figure{Title: title, Description: description, Columns: [][]Plot{plots}}
}

// Plot has two axes, or rows on one axis.
type Plot struct {
	// Title is the heading of one of several plots. Axis is the name of the axis of Y, or of what rows show, with its unit.
	Title, Axis string
	// X and Y are the axes. With XHidden the axis of X has no labels, because a plot below has them. XName is its name.
	X, Y    Scale
	XHidden bool
	XName   string
	// Height is that of the plot in pixels, without its texts.
	Height float64
	// Marks are drawn in their order, those of Dot and Text above the others. A plot with rows draws them in each.
	Marks []Mark
	// Names are those of lines, at their ends.
	Names []Name
	// Rows are bars or intervals below each other, each with its name and its figures; Y isn't used.
	Rows []Row
	// Ends say what the left and the right side of rows mean.
	Ends [2]string
	// Invalid hatches the plot, whose figures are no result.
	Invalid bool
	// Gutter leaves room for names beside the plot, although it has none: plots below each other have one axis.
	Gutter bool
}

// Row is a row of a plot. The ordinates of its marks are pixels from its top.
type Row struct {
	Name string
	Bold bool
	// X is the row's own axis; nil for that of the plot.
	X *Scale
	// Texts are the row's figures, in columns.
	Texts []Text
	Marks []Mark
}

// RowHeight is the height of a row in pixels; Middle is its middle.
const (
	RowHeight = 30
	Middle    = RowHeight / 2
)

// Point is a place in units of the axes. Infinite ones are at the edges.
type Point struct{ X, Y float64 }

// Gap is a point at which a line is interrupted.
func Gap() Point { return Point{math.NaN(), math.NaN()} }

// IsGap reports whether a line is interrupted at the point.
func (p Point) IsGap() bool { return math.IsNaN(p.X) || math.IsNaN(p.Y) }

// Stroke is how a line looks. The zero value of Width is 1; Dash is that of SVG, in pixels: "4 3".
type Stroke struct {
	Color Color
	Width float64
	Dash  string
}

// Mark is what a plot draws.
type Mark interface{ draw(d *drawing) }

// Line goes through points, but not across gaps; of many points in a column of pixels it keeps the least and the largest. A
// point between two gaps is a dot.
type Line struct {
	Stroke
	Points []Point
	// Name says which line of a plot it is, for the page's script; empty for none.
	Name string
}

// Interval is a line from one point to another. Caps are ends across a horizontal one, in pixels to each side.
type Interval struct {
	Stroke
	From, To Point
	Caps     float64
}

// Rule is a line through all of the plot: upright at X, or level at Y if X is NaN.
type Rule struct {
	Stroke
	X, Y float64
	// Text stands at an upright rule where it has room, in row Row of such texts above the plot.
	Text string
	Row  int
}

// Level returns a level rule.
func Level(y float64, s Stroke) Rule { return Rule{Stroke: s, X: math.NaN(), Y: y} }

// Area fills outlines with a color.
type Area struct {
	Color    Color
	Outlines [][]Point
}

// Rect is a rectangle between two points: a bar, a cell or a band.
type Rect struct {
	From, To Point
	Color    Color
	// Outlined draws its outline alone, Hatched hatches it, Apart leaves a gap around it.
	Outlined, Hatched, Apart bool
	Tip                      string
	// Text is written in its middle, where it has room. Corner marks its upper right corner.
	Text   string
	Ink    Color // of the text
	Corner bool
}

// Dots are many dots of a radius in pixels without tips; of those in a column of pixels the highest is drawn.
type Dots struct {
	Color  Color
	Radius float64
	Points []Point
}

// Shape is the form of a dot.
type Shape int

// The shapes. Those before Cross are those of variants.
const (
	Circle Shape = iota
	Square
	Triangle
	Diamond
	Inverse
	Plus
	Cross
	Right // an arrow head: the value is beyond the axis
	Left
	Up
	Down
)

// Dot is a dot with a tip.
type Dot struct {
	At     Point
	Shape  Shape
	Radius float64 // of a circle, in pixels; 3 if it is 0
	Color  Color
	Hollow bool
	Tip    string
	// Number is written into the dot, unless it is 0.
	Number int
}

// Variant returns the dot of a variant at a place; 0 is the baseline. Its shape tells it apart without its color.
func Variant(i int, at Point, hollow bool, tip string) Dot {
	return Dot{At: at, Shape: Shape(i % Variants), Radius: 3.5, Color: VariantColor(i), Hollow: hollow || i%Variants == 0, Tip: tip}
}

// Anchor says which part of a text is at its place.
type Anchor string

// The anchors.
const (
	Start  Anchor = "start"
	Center Anchor = "middle"
	End    Anchor = "end"
)

// Text is a text. Its baseline is at At, DX and DY pixels to the right and below. It is hidden where it has no room.
type Text struct {
	At     Point
	DX, DY float64
	Text   string
	Anchor Anchor
	Color  Color // that of Ink if empty
	Bold   bool
}

// Name is the name of a line, with a piece of it.
type Name struct {
	Text string
	// Value follows the text; a text without room for both is shortened, a value never.
	Value string
	// Y is where the line ends.
	Y float64
	// Stroke is that of the line. A name without color has no piece of a line. Instead of a line, Box is a filled box and Dotted
	// are dots; Shape is the dot of a variant.
	Stroke
	Box, Dotted bool
	Shape       *Dot
	Bold        bool
}

// and returns a text with the value behind it.
func (n *Name) and(text string) string {
	if n.Value == "" {
		return text
	}
	return text + " " + n.Value
}

// OfVariant returns the name of a variant, whose line ends at y.
func OfVariant(i int, text string, y float64) Name {
	dot := Variant(i, Point{}, false, "")
	return Name{Text: text, Y: y, Shape: &dot}
}
