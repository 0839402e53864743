package picture

import (
	"fmt"
	"slices"
)

// Circle draws a dot; a hollow one is filled like the plot.
func (p *Picture) Circle(x, y, r float64, c Color, hollow bool, tip string) {
	p.shape(fmt.Sprintf(`<circle cx="%s" cy="%s" r="%s"`, number(x), number(y), number(r)), "circle", c, hollow, tip)
}

// shape ends an element that is filled with a color, or drawn with it if it is hollow.
func (p *Picture) shape(element, name string, c Color, hollow bool, tip string) {
	class := p.fill(c)
	if hollow {
		class = p.fill(Plot) + " " + p.line(c)
		element += ` stroke-width="1.5"`
	}
	p.tipped(element+fmt.Sprintf(` class="%s"`, class), name, tip)
}

// Cross draws a cross whose arms reach r.
func (p *Picture) Cross(x, y, r float64, c Color, tip string) {
	p.tipped(fmt.Sprintf(`<path class="%s" stroke-width="2" d="M%s %sL%s %sM%s %sL%s %s"`, p.line(c), number(x-r), number(y-r), number(x+r), number(y+r),
		number(x-r), number(y+r), number(x+r), number(y-r)), "path", tip)
}

// Hatched hatches a rectangle by lines of 45°: what is invalid, or isn't the target's.
func (p *Picture) Hatched(x, y, w, h float64, c Color, tip string) {
	p.use(c)
	if !slices.Contains(p.hatches, c) {
		p.hatches = append(p.hatches, c)
	}
	p.tipped(fmt.Sprintf(`<rect fill="url(#hatch-%s)" x="%s" y="%s" width="%s" height="%s"`, c, number(x), number(y), number(max(0, w)), number(max(0, h))), "rect", tip)
}

// Arrow draws a head at x that points to the right or to the left: the value is beyond the axis.
func (p *Picture) Arrow(x, y float64, right bool, c Color) {
	by := -7.0
	if !right {
		by = 7
	}
	p.Area([]Point{{x, y}, {x + by, y - 4.5}, {x + by, y + 4.5}}, c)
}

// Clamp draws a head at y that points up: the value is above the axis.
func (p *Picture) Clamp(x, y float64, c Color) {
	p.Area([]Point{{x, y}, {x - 3.5, y + 6}, {x + 3.5, y + 6}}, c)
}

// Marker draws the marker of a variant: ○ of the baseline, then ■ ▲ ◆ ▼ ✚. Their colors are those of Variant.
func (p *Picture) Marker(x, y float64, variant int, hollow bool, tip string) {
	c := Variant(variant)
	outline := func(points ...Point) {
		p.shape(fmt.Sprintf(`<path d="%sZ"`, Trace(points)), "path", c, hollow, tip)
	}
	switch variant % Variants {
	case 0:
		p.Circle(x, y, 3.5, c, true, tip)
	case 1:
		outline(Point{x - 3.5, y - 3.5}, Point{x + 3.5, y - 3.5}, Point{x + 3.5, y + 3.5}, Point{x - 3.5, y + 3.5})
	case 2:
		outline(Point{x, y - 4.5}, Point{x + 4.5, y + 3.5}, Point{x - 4.5, y + 3.5})
	case 3:
		outline(Point{x, y - 5}, Point{x + 5, y}, Point{x, y + 5}, Point{x - 5, y})
	case 4:
		outline(Point{x, y + 4.5}, Point{x + 4.5, y - 3.5}, Point{x - 4.5, y - 3.5})
	case 5:
		p.tipped(fmt.Sprintf(`<path class="%s" stroke-width="3" stroke-linecap="butt" d="M%s %sh9M%s %sv9"`, p.line(c), number(x-4.5), number(y), number(x), number(y-4.5)), "path", tip)
	}
}

// Number draws the number of a finding: ① and so on, so that it can be found in the text.
func (p *Picture) Number(x, y float64, n int, tip string) {
	fmt.Fprintf(&p.body, "<g>")
	p.Circle(x, y, 7.5, Text, true, tip)
	p.Text(x, y+4, fmt.Sprint(n), TextStyle{Size: 11, Anchor: Middle})
	p.body.WriteString("</g>")
}
