package roundpage

import (
	"errors"
	"fmt"
	"io"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/chart"
)

// ErrNoPicture means that a report has nothing to draw in a picture.
var ErrNoPicture = errors.New("nothing to draw")

// pictures are the pictures of a round by their names.
var pictures = map[string]func(*round.Report) []*picture.Picture{
	"effects": func(r *round.Report) (all []*picture.Picture) {
		if r.Verdict == v1alpha1.BenchmarkError {
			return nil
		}
		for _, f := range chart.NewForests(r) {
			all = append(all, f.Draw(html.FileWidth))
		}
		return all
	},
	"runs": func(r *round.Report) (all []*picture.Picture) {
		for _, m := range r.Metrics() {
			all = append(all, chart.NewRuns(r, m).Draw(html.FileWidth))
		}
		return all
	},
	"grid": func(r *round.Report) (all []*picture.Picture) {
		for _, m := range r.Metrics() {
			for _, g := range chart.NewGrids(r, m) {
				all = append(all, g.DrawHeatMap(html.FileWidth))
				if lines := g.DrawLines(html.FileWidth); lines != nil {
					all = append(all, lines)
				}
			}
		}
		return all
	},
	"capacity": func(r *round.Report) (all []*picture.Picture) {
		for _, c := range chart.NewCapacities(r) {
			all = append(all, c.Draw(html.FileWidth))
		}
		return all
	},
	"levels": func(r *round.Report) []*picture.Picture {
		if l := chart.NewLevels(r); l != nil {
			return []*picture.Picture{l.Draw(html.FileWidth)}
		}
		return nil
	},
	"trend": func(r *round.Report) []*picture.Picture {
		if trends := chart.NewTrends(r); len(trends) > 0 {
			return []*picture.Picture{chart.DrawTrends(trends, html.FileWidth)}
		}
		return nil
	},
}

// writeSVG writes a picture of a round as a file that says what it is of. Errors wrap ErrNoPicture if the round has
// nothing to draw.
func writeSVG(w io.Writer, name string, r *round.Report) error {
	all := pictures[name](r)
	if len(all) == 0 {
		return fmt.Errorf("%w: round %d of Benchmark %s/%s has nothing for the picture %q", ErrNoPicture, r.Number, r.Namespace, r.Benchmark, name)
	}
	verdict := r.Headline()
	return write(w, all, picture.Caption{
		Subject: fmt.Sprintf("%s/%s, round %d, %s, %d%%", r.Namespace, r.Benchmark, r.Number, round.Plural(r.Blocks, "block"), r.Confidence()),
		Verdict: verdict, VerdictColor: picture.Color(toneOf(r.Verdict)), Date: date(r.Ended),
	})
}

// comparisonPictures are the pictures of a comparison by their names.
var comparisonPictures = map[string]func(*Comparison) []*picture.Picture{
	"effects": func(c *Comparison) (all []*picture.Picture) {
		if c.single() {
			return nil
		}
		for _, f := range chart.NewComparisonForests(c.Comparison) {
			all = append(all, f.Draw(html.FileWidth))
		}
		return all
	},
	"percentiles": func(c *Comparison) []*picture.Picture {
		if p := percentiles(c); p != nil {
			return []*picture.Picture{p.DrawCurves(html.FileWidth)}
		}
		return nil
	},
	"difference": func(c *Comparison) []*picture.Picture {
		if p := percentiles(c); p != nil && len(p.Differences) > 0 {
			return []*picture.Picture{p.DrawDifferences(html.FileWidth)}
		}
		return nil
	},
}

// writeComparisonSVG writes a picture of a comparison as a file that says what it is of. Errors wrap ErrNoPicture if
// the comparison has nothing to draw, for example because it was refused.
func writeComparisonSVG(w io.Writer, name string, c *Comparison) error {
	var all []*picture.Picture
	if c.Refusal == "" {
		all = comparisonPictures[name](c)
	}
	if len(all) == 0 {
		reason := c.Refusal
		if reason == "" {
			reason = "percentiles and difference are of two single runs, effects of rounds and sets of runs"
		}
		return fmt.Errorf("%w: picture %q of %s and %s: %s", ErrNoPicture, name, c.Baseline.Name, c.Candidate.Name, reason)
	}
	verdict := c.Conclusions()
	if c.single() {
		verdict = "One run each: this doesn't tell which is better"
	}
	return write(w, all, picture.Caption{Subject: fmt.Sprintf("%s compared with %s", c.Candidate.Name, c.Baseline.Name), Verdict: verdict, VerdictColor: picture.Text})
}

// write writes pictures below each other as a file.
func write(w io.Writer, all []*picture.Picture, caption picture.Caption) error {
	_, err := io.WriteString(w, picture.Stack(all...).SVG(caption))
	return err
}
