// Package runpage writes the result of a run as a self-contained page. The words and figures are those of the text report,
// the pictures those of package chart; this package arranges them.
package runpage

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// Extras is what a page shows in addition to the result. The zero value has nothing.
type Extras struct {
	// Spec is the run's spec as YAML; empty if it isn't known.
	Spec string
}

// Write writes the report of a result as a page. The same result always gives the same bytes.
func Write(w io.Writer, r *result.Result, extras Extras) error {
	r = report.Shown(r)
	b := builder{r: r, parts: map[string]*report.Part{}}
	all := report.Parts(r)
	for i := range all {
		b.parts[all[i].Title] = &all[i]
	}
	b.order = all
	return b.build(extras).Write(w)
}

// builder makes the page of a result.
type builder struct {
	r     *result.Result
	parts map[string]*report.Part // of the text report, by title
	order []report.Part
	page  html.Page
}

func (b *builder) build(extras Extras) *html.Page {
	r := b.r
	p := &b.page
	p.Subject = subject(r)
	if r.Run.Server != "" {
		p.Subject += ", " + r.Run.Server
	}
	p.Title = subject(r)
	p.Verdict, p.Headline, p.Addendum = verdict(r)
	p.Invalid = !validity.Valid(r.Findings)
	p.Sentences = b.sentences()
	p.Figures = figures(r)
	p.Findings = findings(r)
	b.thresholds()
	b.overTime()
	b.distribution()
	b.phases()
	b.errors()
	b.pages()
	b.levels()
	b.arrivals()
	b.script()
	b.clients()
	b.target()
	b.conditions(extras)
	b.ab()
	return p
}

func (b *builder) add(s html.Section) { b.page.Sections = append(b.page.Sections, s) }

// subject names the run.
func subject(r *result.Result) string {
	if r.Run.Namespace == "" {
		return cmp.Or(r.Run.Name, "unknown")
	}
	return r.Run.Namespace + "/" + r.Run.Name
}

// date returns when the run was measured; empty if that is unknown.
func date(r *result.Result) string {
	if r.Run.MeasurementTime.IsZero() {
		return ""
	}
	return r.Run.MeasurementTime.UTC().Format("2006-01-02 15:04 UTC")
}

// verdict returns the verdict in words, with its mark, and its color; and whether thresholds were met.
func verdict(r *result.Result) (color picture.Color, text string, thresholds html.Sentence) {
	invalidates, warns, missed := 0, 0, 0
	for _, f := range r.Findings {
		switch f.Severity {
		case result.Invalidates:
			invalidates++
		case result.Warns:
			warns++
		case result.Accepted:
		}
	}
	for _, o := range r.Thresholds {
		if !o.Met {
			missed++
		}
	}
	if invalidates > 0 {
		return picture.Bad, "✕ NOT VALID: " + strings.Join(reasons(r), ", "), thresholds
	}
	color, text = picture.Good, "✓ VALID"
	if warns > 0 {
		text += ", " + plural(warns, "warning")
	}
	switch {
	case missed > 0:
		thresholds = html.Sentence{Color: picture.Bad, Text: fmt.Sprintf("· thresholds MISSED (%d of %d)", missed, len(r.Thresholds))}
	case len(r.Thresholds) > 0:
		thresholds = html.Sentence{Color: picture.Good, Text: "· thresholds met"}
	}
	return color, text, thresholds
}

// reasons returns the reasons of the findings that invalidate the result.
func reasons(r *result.Result) (reasons []string) {
	for _, f := range r.Findings {
		if f.Severity == result.Invalidates {
			reasons = append(reasons, f.Reason)
		}
	}
	return reasons
}

// sentences says in words what the run found; of a result that isn't valid, first that it is none.
func (b *builder) sentences() []html.Sentence {
	r := b.r
	total := r.Merged.Latencies.Get(result.Total)
	var s []html.Sentence
	measured := ""
	if b.page.Invalid {
		measured = "Measured, but not a result: "
		s = append(s, html.Sentence{Color: picture.Bad, Lead: "This is not a result",
			Text: fmt.Sprintf("It can't be trusted because of %s. The figures below may be the clients' or the machine's rather than the target's.", strings.Join(reasons(r), ", "))})
	}
	if total.Count() > 0 {
		s = append(s, html.Sentence{Text: measured + fmt.Sprintf("%s requests/s. Half were answered within %s, 99%% within %s, the slowest in %s.", picture.Significant(r.RequestsPerSecond()),
			ms(total.Percentile(percentile.P50.Percent())), ms(total.Percentile(percentile.P99.Percent())), ms(total.Max()))})
	}
	failed, requests := r.Merged.Errors.Total(), r.Merged.Requests
	switch {
	case requests == 0:
		s = append(s, html.Sentence{Text: "No request was completed."})
	case failed == 0:
		s = append(s, html.Sentence{Text: fmt.Sprintf("None of %s failed.", picture.Count(requests))})
	default:
		s = append(s, html.Sentence{Text: measured + fmt.Sprintf("%s of %s requests failed (%s).", picture.Count(failed), picture.Count(requests), picture.Share(failed, requests))})
	}
	if !b.page.Invalid {
		s = append(s, html.Sentence{Text: "One run: how much the next one would differ is not known."})
	}
	return s
}

func ms(microseconds int64) string { return picture.Unit(picture.Milliseconds(microseconds), "ms") }

// figures returns the five figures of the head.
func figures(r *result.Result) []html.Fact {
	total := r.Merged.Latencies.Get(result.Total)
	latency := func(p percentile.Percentile) string {
		if total.Count() == 0 {
			return "-"
		}
		return ms(total.Percentile(p.Percent()))
	}
	facts := []html.Fact{
		{Name: "throughput", Value: picture.Unit(picture.Significant(r.RequestsPerSecond()), "requests/s")},
		{Name: "p50 " + chart.LatencyName(&r.Run), Value: latency(percentile.P50)},
		{Name: "p99 " + chart.LatencyName(&r.Run), Value: latency(percentile.P99)},
		{Name: "failed", Value: fmt.Sprintf("%s of %s", picture.Count(r.Merged.Errors.Total()), picture.Count(r.Merged.Requests))},
	}
	for _, c := range r.Containers() {
		if c.Usage == nil || c.CPULimit <= 0 {
			continue
		}
		name, limit := "target CPU", report.CPUs(c.CPULimit)+" CPUs"
		if c.CPULimit == 1000 {
			limit = "1 CPU"
		}
		if c.Name != result.ServerContainer {
			name = "CPU of " + c.Name
		}
		facts = append(facts, html.Fact{Name: name, Value: fmt.Sprintf("%s of %s", picture.Percent(c.Usage.CPUPercentOf(c.CPULimit)), limit)})
		if len(facts) > 7 { // the section of the target has the others
			break
		}
	}
	if len(facts) == 4 {
		facts = append(facts, html.Fact{Name: "target CPU", Value: "not available"})
	}
	return facts
}

// findings returns the reasons to distrust the result by number.
func findings(r *result.Result) []html.Finding {
	var all []html.Finding
	for i, f := range r.Findings {
		one := html.Finding{Number: i + 1, Severity: string(f.Severity), Reason: f.Reason, Message: f.Message, Color: picture.Bad}
		switch f.Severity {
		case result.Warns:
			one.Color = picture.Unsure
		case result.Accepted:
			one.Color, one.Severity = picture.Same, "Accepted (expected)"
		case result.Invalidates:
		}
		all = append(all, one)
	}
	return all
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// draw draws a chart for all widths of pages.
func draw(of func(width float64) *picture.Picture) *html.Drawing { return html.Draw(of) }

// overTime adds the plots over time.
func (b *builder) overTime() {
	t := chart.NewTimeline(b.r)
	s := html.Section{ID: "time", Title: "Over time", Question: "What happened, and what caused it?"}
	if t == nil {
		s.Paragraphs = []string{"The result has no figures by time."}
		b.add(s)
		return
	}
	s.Paragraphs = append(s.Paragraphs, captions(b.r, t)...)
	s.Timeline = &html.Timeline{Hint: fmt.Sprintf("%s points. Point at a plot, or focus one and use the arrow keys, to read its figures.", picture.Count(int64(t.Points())))}
	open := 0
	for i := range t.Lanes {
		if !t.Lanes[i].Folded {
			open = i
		}
	}
	for i := range t.Lanes {
		l := &t.Lanes[i]
		axis := i == open || i == len(t.Lanes)-1
		lane := html.Lane{ID: l.ID, Name: l.Name, Drawing: draw(func(width float64) *picture.Picture { return t.Draw(l, width, axis) })}
		if l.Folded {
			s.Timeline.Folded = append(s.Timeline.Folded, lane)
		} else {
			s.Timeline.Lanes = append(s.Timeline.Lanes, lane)
		}
	}
	s.Blocks = append(s.Blocks, html.Block{Title: "The same figures as a table", Folded: true, Table: seriesTable(t)})
	b.page.Series = series(t)
	b.add(s)
}

// captions says what the points are, and what is missing.
func captions(r *result.Result, t *chart.Timeline) (texts []string) {
	if n := t.Joined(); n > 1 {
		texts = append(texts, fmt.Sprintf("The result was thinned to fit: a point is up to %d s. Where seconds were joined, their percentiles are not known: the lines have gaps, and the maximum stays.", n))
	}
	if t.Lane(chart.LaneHeat) != nil {
		texts = append(texts, chart.HeatShades())
	}
	if t.CutShort > 0 {
		texts = append(texts, fmt.Sprintf("The last point has only %s s, so that it has no rates; its latencies are those of the last requests that were answered.", picture.Significant(t.CutShort)))
	}
	if t.Points() <= 3 {
		texts = append(texts, fmt.Sprintf("%s s measured.", picture.Significant(t.End)))
	}
	switch {
	case r.Run.Standalone:
	case r.Warmup == nil:
		texts = append(texts, "There was no warm-up.")
	default:
		text := fmt.Sprintf("The warm-up took %s, drawn left of 0", picture.Unit(picture.Significant(t.Warmup), "s"))
		if t.Warmup > -t.Start*(1+1e-9) {
			text += " (cut short)"
		}
		text += "; its seconds are not in the result."
		if len(t.Windows) > 0 {
			text += " The hollow dots in it are the parts by which it was decided whether the target is steady."
		}
		texts = append(texts, text)
	}
	return texts
}

// distribution adds the percentile curve.
func (b *builder) distribution() {
	c := chart.NewCurves(b.r)
	if c == nil {
		return
	}
	block := html.Block{Picture: draw(c.Draw), Table: b.percentileTable(), Caption: fmt.Sprintf(
		"%s requests of all clients, from their merged histogram; the curve ends at their count and is thin where fewer than 10 requests lie beyond.", picture.Count(c.Merged.Count))}
	switch {
	case len(c.Envelope) > 0:
		block.Caption += " Gray: the range of all clients, and the worst of them."
	case len(c.Clients) > 0:
		block.Caption += " Thin gray lines: each client."
	case len(b.r.Clients) > 1:
		block.Caption += " The clients' histograms were dropped to keep the stored result small."
	}
	b.add(html.Section{ID: "distribution", Title: "Distribution", Question: "How slow is slow, and how often?", Blocks: []html.Block{block}})
}
