package html

import (
	"html/template"

	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/report/plot"
)

// Widths of pictures in pixels: in pages of 1280, 768 and 390, and in a file of its own.
const (
	WideWidth   = 968
	MediumWidth = 680
	NarrowWidth = 326
	FileWidth   = WideWidth
)

// Drawing is a picture drawn for three widths of pages, so that letters keep their size.
type Drawing struct{ Wide, Medium, Narrow, Fluid template.HTML }

// Fit returns a figure for pages of any width; nil if it is nil.
func Fit(f *plot.Figure) *Drawing {
	if f == nil {
		return nil
	}
	return &Drawing{Fluid: f.HTML()}
}

// Draw draws a picture for all widths of pages. It returns nil if of does.
func Draw(of func(width float64) *picture.Picture) *Drawing {
	wide := of(WideWidth)
	if wide == nil {
		return nil
	}
	return &Drawing{Wide: wide.HTML(), Medium: of(MediumWidth).HTML(), Narrow: of(NarrowWidth).HTML()}
}

// SVG implements doc.Drawing.
func (d *Drawing) SVG() string {
	if d.Fluid != "" {
		return string(d.Fluid)
	}
	return `<div class="wide">` + string(d.Wide) + `</div><div class="medium">` + string(d.Medium) + `</div><div class="narrow">` + string(d.Narrow) + `</div>`
}

// Lines implements doc.Drawing: only pages have the drawing.
func (*Drawing) Lines(int) []string { return nil }
