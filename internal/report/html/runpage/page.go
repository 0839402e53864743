// Package runpage makes a page of a run's result: the document of package report with the plots of package chart.
package runpage

import (
	"fmt"
	"io"
	"strings"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

// Write writes the report of a result as a page, with the run's spec as YAML unless that is empty. The same result always gives the
// same bytes.
func Write(w io.Writer, r *result.Result, spec string) error { return html.Write(w, Document(r, spec)) }

// Document returns the report of a result with its plots, and what only a page has room for.
func Document(r *result.Result, spec string) *doc.Document {
	r = report.Shown(r)
	d, of := headOf(r), report.Document(r)
	d.Findings, d.Notes, d.Sentences, d.Metrics = of.Findings, of.Notes, sentences(r), metrics(r)
	sections, ab := of.Sections, doc.Section{ID: "ab", Title: "ab's lines", Question: "What would ab have printed?"}
	d.Add(thresholds(r), overTime(r), distribution(r), phases(r), failures(r))
	for i := range sections {
		s := &sections[i]
		switch s.ID {
		case "thresholds", "errors", "metrics", "time", "siege": // above, in the head, or for terminals
			continue
		case "ab":
			if s.Title == "" {
				ab.Add(doc.Paragraph{strings.Join(report.ABDifferences, " ")})
			} else {
				ab.Add(doc.Group{Title: s.Title, Folded: true, Blocks: s.Blocks})
			}
			continue
		case "levels":
			s.Add(doc.Paragraph{"Dots are levels; between them nothing was held. Vertical rules are breaking points."})
			for _, drawn := range chart.Levels(r) {
				s.Add(drawn)
			}
		case "script":
			s.Blocks = script(r.Script)
		case "arrivals":
			s.Add(chart.Arrivals(r))
		case "clients":
			s.Add(chart.Clients(r))
		}
		d.Add(*s)
	}
	if spec != "" {
		d.Add(doc.Section{ID: "spec", Title: "Spec", Question: "What was declared?", Blocks: []doc.Block{html.Lines("spec, as YAML", spec)}})
	}
	d.Add(ab)
	return d
}

// headOf returns a document that says which run it is of, and the verdict.
func headOf(r *result.Result) *doc.Document {
	return &doc.Document{Title: report.NameOf(r), Subtitle: r.Run.Server, Date: html.Date(r.Run.MeasurementTime), Verdict: verdict(r), Invalid: invalid(r)}
}

// sentences says in words what the run found; of a result that isn't valid, first that it is none.
func sentences(r *result.Result) []doc.Sentence {
	total := r.Merged.Latencies.Get(result.Total)
	var s []doc.Sentence
	measured := ""
	if invalid(r) {
		measured = "Measured, but not a result: "
		s = append(s, doc.Sentence{Tone: doc.Bad, Lead: "This is not a result",
			Text: fmt.Sprintf("It can't be trusted because of %s. The metrics below may be the clients' or the machine's rather than the target's.", strings.TrimPrefix(report.Headline(r), "NOT VALID: "))})
	}
	switch {
	case len(r.Levels) > 0:
		s = append(s, doc.Sentence{Text: measured + report.LevelsInWords(r, number.Unit)})
	case total.Count() > 0:
		s = append(s, doc.Sentence{Text: measured + fmt.Sprintf("%s requests/s. Half were answered within %s, 99%% within %s, the slowest in %s.", number.Significant(r.RequestsPerSecond()),
			ms(total.Percentile(percentile.P50.Percent())), ms(total.Percentile(percentile.P99.Percent())), ms(total.Max()))})
	}
	failed, requests := r.Merged.Errors.Total(), r.Merged.Requests
	switch {
	case requests == 0:
		s = append(s, doc.Sentence{Text: "No request was completed."})
	case failed == 0:
		s = append(s, doc.Sentence{Text: fmt.Sprintf("None of %s failed.", number.Count(requests))})
	default:
		s = append(s, doc.Sentence{Text: measured + fmt.Sprintf("%s of %s requests failed (%s).", number.Count(failed), number.Count(requests), number.Share(failed, requests))})
	}
	if !invalid(r) {
		s = append(s, doc.Sentence{Text: report.OneRun(r)})
	}
	return s
}

func ms(microseconds int64) string { return number.Unit(number.Milliseconds(microseconds), "ms") }

// metrics returns the five metrics of the head; of a load with stages those that aren't of all levels together.
func metrics(r *result.Result) []doc.Fact {
	failed := doc.Fact{Name: "failed", Value: fmt.Sprintf("%s of %s", number.Count(r.Merged.Errors.Total()), number.Count(r.Merged.Requests))}
	if len(r.Levels) > 0 {
		most := &r.Levels[report.MostThroughput(r)]
		return []doc.Fact{
			{Name: "levels", Value: number.Count(int64(len(r.Levels)))},
			{Name: "largest throughput", Value: number.Unit(number.Significant(most.RequestsPerSecond()), "requests/s")},
			{Name: "at", Value: number.Count(most.Load()) + " " + report.UnitOfLoad(r)}, failed,
		}
	}
	total := r.Merged.Latencies.Get(result.Total)
	latency := func(p percentile.Percentile) string {
		if total.Count() == 0 {
			return "-"
		}
		return ms(total.Percentile(p.Percent()))
	}
	facts := []doc.Fact{
		{Name: "throughput", Value: number.Unit(number.Significant(r.RequestsPerSecond()), "requests/s")},
		{Name: "p50 " + report.LatencyName(&r.Run), Value: latency(percentile.P50)},
		{Name: "p99 " + report.LatencyName(&r.Run), Value: latency(percentile.P99)},
		failed,
	}
	for _, c := range r.Containers() {
		if c.Usage == nil || c.CPULimit <= 0 {
			continue
		}
		name := "target CPU"
		if c.Name != result.ServerContainer {
			name = "CPU of " + c.Name
		}
		facts = append(facts, doc.Fact{Name: name, Value: fmt.Sprintf("%s of %s", number.Percent(c.Usage.CPUPercentOf(c.CPULimit)), report.CPUCount(c.CPULimit))})
		if len(facts) > 7 { // the section of the target has the others
			break
		}
	}
	if len(facts) == 4 {
		facts = append(facts, doc.Fact{Name: "target CPU", Value: "not available"})
	}
	return facts
}
