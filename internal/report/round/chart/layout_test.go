package chart_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/chart"
	"github.com/assay-dev/assay/internal/report/round/roundtest"
)

var widths = []float64{html.NarrowWidth, html.MediumWidth, html.WideWidth}

// picturesOf returns all pictures of a round by name.
func picturesOf(r *round.Report, width float64) map[string]*picture.Picture {
	all := map[string]*picture.Picture{}
	for _, f := range chart.NewForests(r) {
		all[fmt.Sprintf("effects in %s", f.Metric)] = f.Draw(width)
	}
	for _, m := range chart.Metrics(r) {
		all[fmt.Sprintf("runs in %s", m)] = chart.NewRuns(r, m).Draw(width)
		for _, g := range chart.NewGrids(r, m) {
			all[fmt.Sprintf("grid of %s, effect %t", m, g.Effect)] = g.DrawHeatMap(width)
			if lines := g.DrawLines(width); lines != nil {
				all[fmt.Sprintf("lines of %s", m)] = lines
			}
		}
	}
	for _, c := range chart.NewCapacities(r) {
		all["capacity of "+c.Label] = c.Draw(width)
	}
	if trends := chart.NewTrends(r); len(trends) > 0 {
		all["trend"] = chart.DrawTrends(trends, width)
	}
	if l := chart.NewLevels(r); l != nil {
		all["levels"] = l.Draw(width)
	}
	return all
}

// element is an element of an SVG with its attributes and its text, without that of its title.
type element struct {
	name       string
	attributes map[string]string
	text, tip  string
}

func (e *element) number(t *testing.T, name string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(e.attributes[name], 64)
	if err != nil {
		t.Fatalf("%s of %+v: %v", name, e, err)
	}
	return x
}

// parse returns the elements of an SVG, which must be well-formed XML.
func parse(t *testing.T, svg string) (all []*element) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(svg))
	var open []*element
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in:\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attributes: map[string]string{}}
			for _, a := range token.Attr {
				e.attributes[a.Name.Local] = a.Value
			}
			open, all = append(open, e), append(all, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			switch {
			case len(open) == 0:
			case open[len(open)-1].name == "title" && len(open) > 1:
				open[len(open)-2].tip += string(token)
			default:
				open[len(open)-1].text += string(token)
			}
		}
	}
}

// box is where a text is.
type box struct {
	left, right, top, bottom float64
	text                     string
}

func texts(t *testing.T, elements []*element) (boxes []box) {
	for _, e := range elements {
		if e.name != "text" {
			continue
		}
		style := picture.TextStyle{Size: 12, Bold: e.attributes["font-weight"] != ""}
		if e.attributes["font-size"] != "" {
			style.Size = e.number(t, "font-size")
		}
		// Letters are about this wide; TextWidth is rather too much.
		x, y, w := e.number(t, "x"), e.number(t, "y"), 0.86*picture.TextWidth(e.text, style)
		switch e.attributes["text-anchor"] {
		case "middle":
			x -= w / 2
		case "end":
			x -= w
		}
		boxes = append(boxes, box{x, x + w, y - 0.7*style.Size, y, e.text})
	}
	return boxes
}

// TestLayout checks at each width that every picture is well-formed and the same each time, and that no text is over
// another or cut off.
func TestLayout(t *testing.T) {
	for name, r := range roundtest.All(t) {
		for _, width := range widths {
			drawn := picturesOf(r, width)
			again := picturesOf(r, width)
			for _, of := range slices.Sorted(maps.Keys(drawn)) {
				where := fmt.Sprintf("%s, %s at %g", name, of, width)
				svg := string(drawn[of].HTML())
				if svg != string(again[of].HTML()) {
					t.Errorf("%s: other bytes the second time", where)
				}
				if drawn[of].Description() == "" || drawn[of].Title() == "" {
					t.Errorf("%s: no title or description", where)
				}
				checkTexts(t, where, drawn[of], texts(t, parse(t, svg)))
			}
		}
	}
}

func checkTexts(t *testing.T, where string, p *picture.Picture, boxes []box) {
	t.Helper()
	for i, a := range boxes {
		if a.left < -1 || a.right > p.Width+1 || a.top < -1 || a.bottom > p.Height {
			t.Errorf("%s: %q is cut off: %.0f to %.0f of %g, %.0f of %g", where, a.text, a.left, a.right, p.Width, a.bottom, p.Height)
		}
		for _, b := range boxes[:i] {
			if a.left < b.right-1 && b.left < a.right-1 && a.top < b.bottom-1 && b.top < a.bottom-1 {
				t.Errorf("%s: %q at %.0f, %.0f is over %q at %.0f, %.0f", where, a.text, a.left, a.bottom, b.text, b.left, b.bottom)
			}
		}
	}
}
