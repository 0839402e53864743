package roundpage

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/chart"
	"github.com/assay-dev/assay/internal/result"
)

// single reports whether one run each is compared, both with a result.
func single(c *round.Comparison) bool {
	return c.Refusal == "" && c.Results[0] != nil && c.Results[1] != nil
}

// WriteComparison writes a comparison as a page.
func WriteComparison(w io.Writer, c *round.Comparison) error {
	d, err := comparisonDocument(c)
	if err != nil {
		return err
	}
	return html.Write(w, d)
}

// comparisonDocument returns a comparison for a page.
func comparisonDocument(c *round.Comparison) (*doc.Document, error) {
	d := c.Document()
	report := d.Section("effects")
	d.Sections, d.Metrics = nil, []doc.Fact{{Name: "A, the baseline", Value: c.Baseline.Name}, {Name: "B", Value: c.Candidate.Name}, {Name: "runs", Value: runsOf(c)}}
	d.Add(differencesSection(c))
	switch {
	case c.Refusal != "":
		d.Verdict = doc.Verdict{Tone: doc.Unsure, Text: "Not compared"}
	case single(c):
		d.Verdict.Text, d.Remarks = "One run each", []string{singleRemark(c)}
		repeat, err := repeatSection(c)
		if err != nil {
			return nil, err
		}
		d.Add(percentilesSections(c)...)
		d.Add(pairsSection(c), repeat)
	default:
		report.Add(doc.Paragraph{howEffectsAreDrawn})
		addEffects(report, c.EffectsByMetric())
		d.Add(*report)
	}
	return d, nil
}

func runsOf(c *round.Comparison) string {
	count := func(s *round.Side) (n int) {
		for _, g := range s.Groups {
			n += len(g.Runs)
		}
		return n
	}
	return fmt.Sprintf("%d and %d", count(&c.Baseline), count(&c.Candidate))
}

// singleRemark says what two runs say, and what they don't.
func singleRemark(c *round.Comparison) string {
	percentile := func(i int) string {
		return number.Significant(float64(c.Results[i].Merged.Latencies.Get(result.Total).Percentile(99))/1000) + " ms"
	}
	return fmt.Sprintf("%s answered 99%% within %s, %s within %s. One run each: this doesn't tell which is better. Repeat with a Benchmark.",
		c.Candidate.Name, percentile(1), c.Baseline.Name, percentile(0))
}

// differencesSection has what differs beside the metrics.
func differencesSection(c *round.Comparison) doc.Section {
	s := doc.Section{ID: "differences", Title: "What differs", Question: "What can a difference be due to?"}
	n := len(c.Specs) + len(c.Environments)
	switch {
	case n == 0:
		s.Add(doc.Paragraph{"Nothing that is known of specs and environments differs."})
	case n > 1 && c.Refusal == "":
		s.Add(doc.Paragraph{fmt.Sprintf("%d things differ; the effect is of all of them together.", n)})
	}
	for _, part := range []struct {
		title string
		all   []round.Difference
		equal int
	}{
		{"Spec", c.Specs, c.Shared(func(g *round.Group) round.Facts { return g.Specs }) - len(c.Specs)},
		{"Environment", c.Environments, c.Shared(func(g *round.Group) round.Facts { return g.Environments }) - len(c.Environments)},
	} {
		if len(part.all) == 0 && part.equal <= 0 {
			continue
		}
		g := doc.Group{Title: fmt.Sprintf("%s: %s", part.title, number.Plural(len(part.all), "difference"))}
		if part.equal > 0 {
			g.Title += fmt.Sprintf(", %d equal", part.equal)
		}
		if len(part.all) > 0 {
			g.Blocks = []doc.Block{c.DifferencesTable(part.title, part.all)}
		}
		s.Add(g)
	}
	return s
}

// percentilesSections have the percentile curves of two runs, and their difference.
func percentilesSections(c *round.Comparison) []doc.Section {
	curves, difference := chart.Percentiles(c)
	if curves == nil {
		return nil
	}
	sections := []doc.Section{{ID: "percentiles", Title: "Percentiles", Question: "How slow is slow, and how often?", Blocks: append(
		[]doc.Block{doc.Paragraph{"Each curve is of one merged histogram, and thin where fewer than 10 requests lie beyond."}}, plots(curves, percentilesTable(c.Results), "")...,
	)}}
	if difference != nil {
		sections = append(sections, doc.Section{ID: "difference", Title: "Difference", Question: "By how much do they differ?", Blocks: append(
			[]doc.Block{doc.Paragraph{"The difference ends where fewer than 10 requests of either run lie beyond."}}, plots(difference, nil, "")...,
		)})
	}
	return sections
}

// percentilesTable has the percentiles of two results in milliseconds, as far as at least one request lies beyond, and their
// difference, as far as 10 do.
func percentilesTable(results [2]*result.Result) *doc.Table {
	at := func(i int, percent float64, beyond int64) float64 {
		h := results[i].Merged.Latencies.Get(result.Total)
		if h.Count()-percentile.Rank(percent, h.Count()) < beyond {
			return math.NaN()
		}
		return float64(h.Percentile(percent)) / 1000
	}
	return doc.TableOf("Percentiles", []float64{50, 66, 75, 80, 90, 95, 98, 99, 99.9, 99.99},
		doc.Word("share", func(percent *float64) string { return strconv.FormatFloat(*percent, 'f', -1, 64) + "%" }),
		doc.Number("A, ms", func(percent *float64) string { return number.Significant(at(0, *percent, 1)) }),
		doc.Number("B, ms", func(percent *float64) string { return number.Significant(at(1, *percent, 1)) }),
		doc.Number("difference", func(percent *float64) string {
			const enough = 10
			a, b := at(0, *percent, enough), at(1, *percent, enough)
			if a <= 0 || math.IsNaN(b/a) {
				return "-"
			}
			return round.SignedPercent(100 * (b/a - 1))
		}))
}

// pairsSection has the metrics of two single runs, each as two dots on a line.
func pairsSection(c *round.Comparison) doc.Section {
	value := func(side func(e *round.ComparedEffect) float64) func(*round.ComparedEffect) string {
		return func(e *round.ComparedEffect) string { return number.Significant(round.InUnit(e.Metric, side(e))) }
	}
	t := doc.TableOf("Metrics", c.Effects, doc.Word("metric", func(e *round.ComparedEffect) string { return round.MetricTitle(e.Metric) }),
		doc.Number("A", value(func(e *round.ComparedEffect) float64 { return e.BaselineMedian })), doc.Number("B", value(func(e *round.ComparedEffect) float64 { return e.CandidateMedian })))
	return doc.Section{ID: "metrics", Title: "Metrics", Question: "What else was measured?", Blocks: append(
		[]doc.Block{doc.Paragraph{"One run each: how much the next one would differ is not known."}}, plots(chart.Pairs(c), t, "")...,
	)}
}

// repeatSection has a Benchmark that repeats two runs.
func repeatSection(c *round.Comparison) (doc.Section, error) {
	manifest, err := c.Manifest()
	if err != nil || manifest == "" {
		return doc.Section{}, err
	}
	return doc.Section{ID: "repeat", Title: "Repeat", Question: "Which of them is better?", Blocks: []doc.Block{
		doc.Paragraph{"A Benchmark runs both in turn, in blocks, and tells a difference from noise. It needs no more than the two specs."},
		html.Lines("A Benchmark of both, to copy", manifest),
	}}, nil
}
