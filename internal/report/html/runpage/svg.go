package runpage

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/result"
)

// pictures are the pictures of a run by their names.
var pictures = map[string]func(*result.Result) []*plot.Figure{
	"throughput":  panels(chart.PanelThroughput),
	"latency":     panels(chart.PanelLatency),
	"heatmap":     panels(chart.PanelHeat),
	"errors":      panels(chart.PanelErrors),
	"cpu":         panels(chart.PanelCPU, chart.PanelClientCPU),
	"percentiles": func(r *result.Result) []*plot.Figure { return figures(chart.Percentiles(r)) },
	"histogram":   func(r *result.Result) []*plot.Figure { return figures(chart.Histogram(r)) },
	"phases":      func(r *result.Result) []*plot.Figure { return figures(chart.Phases(r)) },
	"arrivals":    func(r *result.Result) []*plot.Figure { return figures(chart.Arrivals(r)) },
	"levels":      func(r *result.Result) []*plot.Figure { return figures(chart.Levels(r)...) },
}

// figures returns the figures that plots have.
func figures(plots ...doc.Plot) (all []*plot.Figure) {
	for _, p := range plots {
		if f, is := p.Drawing.(*plot.Figure); is {
			all = append(all, f)
		}
	}
	return all
}

// panels returns a function that draws plots over time, with their axis.
func panels(ids ...string) func(*result.Result) []*plot.Figure {
	return func(r *result.Result) (all []*plot.Figure) {
		t := chart.NewTimeline(r)
		if t == nil {
			return nil
		}
		for _, id := range ids {
			panel := t.Panel(id)
			if panel == nil {
				return nil
			}
			all = append(all, t.Figure(panel, true))
		}
		return all
	}
}

// Pictures returns the names of the pictures of a run in alphabetical order.
func Pictures() []string {
	return slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(pictures)), badge)))
}

// badge is the picture that is the verdict in words.
const badge = "verdict"

// WriteSVG writes a picture of a run as a file that says what it is of, also if the run isn't valid. Errors wrap
// html.ErrNoPicture if the result has nothing to draw.
func WriteSVG(w io.Writer, name string, r *result.Result) error {
	if name == badge {
		c := html.Caption(headOf(report.Shown(r)))
		_, err := io.WriteString(w, plot.Badge(report.NameOf(r), c.Verdict, c.VerdictColor))
		return err
	}
	of, known := pictures[name]
	if !known {
		return fmt.Errorf("unknown picture %q: use one of %s", name, strings.Join(Pictures(), ", "))
	}
	r = report.Shown(r)
	figures := of(r)
	if len(figures) == 0 {
		return fmt.Errorf("%w: the result of %s has nothing for the picture %q", html.ErrNoPicture, report.NameOf(r), name)
	}
	_, err := io.WriteString(w, plot.File(html.Caption(headOf(r)), figures...))
	return err
}
