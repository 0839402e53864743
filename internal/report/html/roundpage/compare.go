package roundpage

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/chart"
	"github.com/assay-dev/assay/internal/result"
)

// single reports whether one run each is compared, all with a result.
func single(c *round.Comparison) bool {
	return !slices.ContainsFunc(c.All(), func(one *round.Comparison) bool {
		return one.Refusal != "" || one.Results[0] == nil || one.Results[1] == nil
	})
}

// WriteComparison writes a comparison as a page.
func WriteComparison(w io.Writer, c *round.Comparison) error {
	d, err := ComparisonDocument(c)
	if err != nil {
		return err
	}
	return html.Write(w, d)
}

// ComparisonDocument returns a comparison for a page.
func ComparisonDocument(c *round.Comparison) (*doc.Document, error) {
	d := c.Document()
	report := d.Section("effects")
	d.Sections, d.Metrics = nil, []doc.Fact{{Name: "A, the baseline", Value: c.Baseline.Name}}
	runs := []string{runsOf(&c.Baseline)}
	for i, one := range c.All() {
		d.Metrics, runs = append(d.Metrics, doc.Fact{Name: letter(i + 1), Value: one.Candidate.Name}), append(runs, runsOf(&one.Candidate))
	}
	several := len(c.Others) > 0
	if several {
		d.Metrics = append(d.Metrics, doc.Fact{Name: "runs", Value: strings.Join(runs, ", ")})
	} else {
		d.Metrics = append(d.Metrics, doc.Fact{Name: "runs", Value: strings.Join(runs, " and ")})
		d.Add(differencesSection(c, letter(1), several))
	}
	switch {
	case report == nil:
		d.Verdict = doc.Verdict{Tone: doc.Unsure, Text: "Not compared"}
	case single(c):
		d.Verdict.Text, d.Remarks = "One run each", []string{singleRemark(c)}
		d.Add(percentilesSections(c)...)
		d.Add(pairsSection(c))
		if !several {
			repeat, err := repeatSection(c)
			if err != nil {
				return nil, err
			}
			d.Add(repeat)
		}
	default:
		report.Add(doc.Paragraph{howEffectsAreDrawn})
		addEffects(report, c.EffectsByMetric())
		d.Add(*report)
	}
	if several { // behind what they explain: there are many
		for i, one := range c.All() {
			d.Add(differencesSection(one, letter(i+1), several))
		}
	}
	return d, nil
}

// letter returns the letter of a side; 0 is the baseline.
func letter(side int) string { return string(rune('A' + side)) }

func runsOf(s *round.Side) string {
	n := 0
	for _, g := range s.Groups {
		n += len(g.Runs)
	}
	return strconv.Itoa(n)
}

// singleRemark says what single runs say, and what they don't.
func singleRemark(c *round.Comparison) string {
	percentile := func(r *result.Result) string {
		return number.Significant(float64(r.Merged.Latencies.Get(result.Total).Percentile(99))/1000) + " ms"
	}
	var texts []string
	for _, one := range c.All() {
		texts = append(texts, fmt.Sprintf("%s within %s", one.Candidate.Name, percentile(one.Results[1])))
	}
	texts = append(texts, fmt.Sprintf("%s within %s", c.Baseline.Name, percentile(c.Results[0])))
	return strings.Replace(strings.Join(texts, ", "), " within", " answered 99% within", 1) + ". One run each: this doesn't tell which is better. Repeat with a Benchmark."
}

// differencesSection has what differs beside the metrics between the baseline and a side, which it names if there are others.
func differencesSection(c *round.Comparison, letter string, others bool) doc.Section {
	s := doc.Section{ID: "differences", Title: "What differs", Question: "What can a difference be due to?"}
	if others {
		s.ID, s.Title = s.ID+"-"+strings.ToLower(letter), "What differs in "+letter+", "+c.Candidate.Name
		s.Add(doc.Paragraph{c.Refusal})
	}
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
			g.Blocks = []doc.Block{c.DifferencesTable(part.title, letter, part.all)}
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
		[]doc.Block{doc.Paragraph{"Each curve is of one merged histogram, and thin where fewer than 10 requests lie beyond."}}, plots(curves, percentilesTable(c), "")...,
	)}}
	if difference != nil {
		sections = append(sections, doc.Section{ID: "difference", Title: "Difference", Question: "By how much do they differ?", Blocks: append(
			[]doc.Block{doc.Paragraph{"The difference ends where fewer than 10 requests of either run lie beyond."}}, plots(difference, nil, "")...,
		)})
	}
	return sections
}

// percentilesTable has the percentiles of the results in milliseconds, as far as at least one request lies beyond, and how each
// differs from the first, as far as 10 do.
func percentilesTable(c *round.Comparison) *doc.Table {
	results := []*result.Result{c.Results[0]}
	for _, one := range c.All() {
		results = append(results, one.Results[1])
	}
	at := func(i int, percent float64, beyond int64) float64 {
		h := results[i].Merged.Latencies.Get(result.Total)
		if h.Count()-percentile.Rank(percent, h.Count()) < beyond {
			return math.NaN()
		}
		return float64(h.Percentile(percent)) / 1000
	}
	fields := []doc.Field[float64]{doc.Word("share", func(percent *float64) string { return strconv.FormatFloat(*percent, 'f', -1, 64) + "%" })}
	for i := range results {
		fields = append(fields, doc.Number(letter(i)+", ms", func(percent *float64) string { return number.Significant(at(i, *percent, 1)) }))
	}
	for i := 1; i < len(results); i++ {
		name := "difference"
		if len(results) > 2 {
			name += " of " + letter(i)
		}
		fields = append(fields, doc.Number(name, func(percent *float64) string {
			const enough = 10
			a, b := at(0, *percent, enough), at(i, *percent, enough)
			if a <= 0 || math.IsNaN(b/a) {
				return "-"
			}
			return round.SignedPercent(100 * (b/a - 1))
		}))
	}
	return doc.TableOf("Percentiles", []float64{50, 66, 75, 80, 90, 95, 98, 99, 99.9, 99.99}, fields...)
}

// pairsSection has the metrics of single runs, each as dots on a line.
func pairsSection(c *round.Comparison) doc.Section {
	fields := []doc.Field[round.ComparedEffect]{
		doc.Word("metric", func(e *round.ComparedEffect) string { return round.MetricTitle(e.Metric) }),
		doc.Number(letter(0), func(e *round.ComparedEffect) string {
			return number.Significant(round.InUnit(e.Metric, e.BaselineMedian))
		}),
	}
	for i, one := range c.All() {
		fields = append(fields, doc.Number(letter(i+1), func(e *round.ComparedEffect) string {
			at := slices.IndexFunc(one.Effects, func(other round.ComparedEffect) bool { return other.Metric == e.Metric })
			if at < 0 {
				return "-"
			}
			return number.Significant(round.InUnit(e.Metric, one.Effects[at].CandidateMedian))
		}))
	}
	return doc.Section{ID: "metrics", Title: "Metrics", Question: "What else was measured?", Blocks: append(
		[]doc.Block{doc.Paragraph{"One run each: how much the next one would differ is not known."}}, plots(chart.Pairs(c), doc.TableOf("Metrics", c.Effects, fields...), "")...,
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
