package runpage

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/result"
)

// pageWidths are the widths of pictures in pages.
var pageWidths = [...]float64{html.WideWidth, html.MediumWidth, html.NarrowWidth}

// ErrNoPicture means that a result has nothing to draw in a picture.
var ErrNoPicture = errors.New("nothing to draw")

// pictures are the pictures of a run by their names.
var pictures = map[string]func(*result.Result) *picture.Picture{
	"throughput": lanes(chart.LaneThroughput),
	"latency":    lanes(chart.LaneLatency),
	"heatmap":    lanes(chart.LaneHeat),
	"errors":     lanes(chart.LaneErrors),
	"cpu":        lanes(chart.LaneCPU, chart.LaneClientCPU),
	"percentiles": func(r *result.Result) *picture.Picture {
		if c := chart.NewCurves(r); c != nil {
			return c.Draw(html.FileWidth)
		}
		return nil
	},
	"phases": func(r *result.Result) *picture.Picture {
		if p := chart.NewPhases(r); p != nil {
			return p.Draw(html.FileWidth)
		}
		return nil
	},
	"levels": func(r *result.Result) *picture.Picture {
		l := chart.NewLevels(r)
		if l == nil {
			return nil
		}
		var all []*picture.Picture
		for _, plot := range l.Plots {
			all = append(all, l.Draw(plot, html.FileWidth))
		}
		return picture.Stack(all...)
	},
	"arrivals": func(r *result.Result) *picture.Picture {
		if a := chart.NewArrivals(r); a != nil {
			return a.Draw(html.FileWidth)
		}
		return nil
	},
}

// lanes returns a function that draws plots over time, with their axis.
func lanes(ids ...string) func(*result.Result) *picture.Picture {
	return func(r *result.Result) *picture.Picture {
		t := chart.NewTimeline(r)
		if t == nil {
			return nil
		}
		var all []*picture.Picture
		for _, id := range ids {
			lane := t.Lane(id)
			if lane == nil {
				return nil
			}
			all = append(all, t.Draw(lane, html.FileWidth, true))
		}
		return picture.Stack(all...)
	}
}

// Pictures returns the names of the pictures of a run in alphabetical order.
func Pictures() []string { return slices.Sorted(maps.Keys(pictures)) }

// WriteSVG writes a picture of a run as a file that says what it is of, also if the run isn't valid. Errors wrap
// ErrNoPicture if the result has nothing to draw.
func WriteSVG(w io.Writer, name string, r *result.Result) error {
	of, known := pictures[name]
	if !known {
		return fmt.Errorf("unknown picture %q: use one of %s", name, strings.Join(Pictures(), ", "))
	}
	r = report.Shown(r)
	p := of(r)
	if p == nil {
		return fmt.Errorf("%w: the result of %s has nothing for the picture %q", ErrNoPicture, subject(r), name)
	}
	v := verdict(r)
	_, err := io.WriteString(w, p.SVG(picture.Caption{
		Subject: strings.Trim(subject(r)+", "+r.Run.Server, ", "), Verdict: strings.TrimSpace(v.Text + " " + v.Addendum.Text), VerdictColor: picture.Color(v.Tone), Date: date(r), Invalid: invalid(r),
	}))
	return err
}
