package roundpage

import (
	"fmt"
	"io"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/report/round"
)

// badge is the picture that is the verdict in words.
const badge = "verdict"

// pictures and comparisonPictures are the sections of pages whose plots can be written as files.
var (
	pictures           = []string{"capacity", "claims", "exploration", "grid", "levels", "load", "runs", "trend", badge}
	comparisonPictures = []string{"difference", "effects", "percentiles"}
)

// figures returns the figures in a section of a document.
func figures(d *doc.Document, section string) (all []*plot.Figure) {
	var visit func(blocks []doc.Block)
	visit = func(blocks []doc.Block) {
		for _, b := range blocks {
			switch b := b.(type) {
			case doc.Group:
				visit(b.Blocks)
			case doc.Plot:
				if f, is := b.Drawing.(*plot.Figure); is {
					all = append(all, f)
				}
			}
		}
	}
	if s := d.Section(section); s != nil {
		visit(s.Blocks)
	}
	return all
}

// writeSVG writes a picture of a round as a file that says what it is of. Errors wrap html.ErrNoPicture if the round has
// nothing to draw.
func writeSVG(w io.Writer, name string, r *round.Report) error {
	d := Document(r)
	if name == badge {
		_, err := io.WriteString(w, plot.Badge(fmt.Sprintf("%s/%s, round %d", r.Namespace, r.Benchmark, r.Number), r.Headline(), plot.Color(d.Verdict.Tone)))
		return err
	}
	all := figures(d, name)
	if len(all) == 0 {
		return fmt.Errorf("%w: round %d of Benchmark %s/%s has nothing for the picture %q", html.ErrNoPicture, r.Number, r.Namespace, r.Benchmark, name)
	}
	_, err := io.WriteString(w, plot.File(plot.Caption{
		Subject: fmt.Sprintf("%s/%s, round %d, %s, %d%%", r.Namespace, r.Benchmark, r.Number, number.Plural(r.Blocks, "block"), r.Confidence()),
		Verdict: r.Headline(), VerdictColor: plot.Color(d.Verdict.Tone), Date: html.Date(r.Ended),
	}, all...))
	return err
}

// writeComparisonSVG writes a picture of a comparison as a file that says what it is of. Errors wrap html.ErrNoPicture if
// the comparison has nothing to draw, for example because it was refused.
func writeComparisonSVG(w io.Writer, name string, c *round.Comparison) error {
	d, err := ComparisonDocument(c)
	if err != nil {
		return err
	}
	all := figures(d, name)
	switch {
	case len(all) == 0 && c.Refusal != "":
		return fmt.Errorf("%w: picture %q of %s and %s: %s", html.ErrNoPicture, name, c.Baseline.Name, c.Candidate.Name, c.Refusal)
	case len(all) == 0:
		return fmt.Errorf("%w: picture %q of %s and %s: percentiles and difference are of two single runs, effects of rounds and sets of runs", html.ErrNoPicture, name, c.Baseline.Name, c.Candidate.Name)
	}
	verdict := c.Conclusions()
	if single(c) {
		verdict = "One run each: this doesn't tell which is better"
	}
	_, err = io.WriteString(w, plot.File(plot.Caption{Subject: d.Title, Verdict: verdict, VerdictColor: plot.Ink}, all...))
	return err
}
