// Package runpage makes a page of a run's result. The words and figures are those of package report, the pictures those of
// package chart; this package arranges them.
package runpage

import (
	"fmt"
	"io"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/html"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

// Extras is what a page shows in addition to the result. The zero value has nothing.
type Extras struct {
	// Spec is the run's spec as YAML; empty if it isn't known.
	Spec string
}

// Write writes the report of a result as a page. The same result always gives the same bytes.
func Write(w io.Writer, r *result.Result, extras Extras) error {
	return html.Write(w, document(report.Shown(r), extras))
}

// document returns the page of a result whose texts are printable.
func document(r *result.Result, extras Extras) *doc.Document {
	d := &doc.Document{Title: subject(r), Subtitle: r.Run.Server, Verdict: verdict(r), Invalid: invalid(r), Sentences: sentences(r), Metrics: metrics(r), Findings: report.Findings(r)}
	for i := range d.Findings {
		if f := &d.Findings[i]; f.Severity == string(result.Accepted) {
			f.Severity = "Accepted (expected)"
		}
	}
	d.Add(thresholds(r), overTime(r), distribution(r), phases(r), failures(r), pages(r), levels(r), arrivals(r), script(r), clients(r), target(r), conditions(r, extras.Spec), ab(r))
	return d
}

// sentences says in words what the run found; of a result that isn't valid, first that it is none.
func sentences(r *result.Result) []doc.Sentence {
	total := r.Merged.Latencies.Get(result.Total)
	var s []doc.Sentence
	measured := ""
	if invalid(r) {
		measured = "Measured, but not a result: "
		s = append(s, doc.Sentence{Tone: doc.Bad, Lead: "This is not a result",
			Text: fmt.Sprintf("It can't be trusted because of %s. The figures below may be the clients' or the machine's rather than the target's.", reasons(r))})
	}
	if total.Count() > 0 {
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
		s = append(s, doc.Sentence{Text: "One run: how much the next one would differ is not known."})
	}
	return s
}

func ms(microseconds int64) string { return number.Unit(number.Milliseconds(microseconds), "ms") }

// metrics returns the five metrics of the head.
func metrics(r *result.Result) []doc.Fact {
	total := r.Merged.Latencies.Get(result.Total)
	latency := func(p percentile.Percentile) string {
		if total.Count() == 0 {
			return "-"
		}
		return ms(total.Percentile(p.Percent()))
	}
	facts := []doc.Fact{
		{Name: "throughput", Value: number.Unit(number.Significant(r.RequestsPerSecond()), "requests/s")},
		{Name: "p50 " + report.LatencyName(r.Run.Load), Value: latency(percentile.P50)},
		{Name: "p99 " + report.LatencyName(r.Run.Load), Value: latency(percentile.P99)},
		{Name: "failed", Value: fmt.Sprintf("%s of %s", number.Count(r.Merged.Errors.Total()), number.Count(r.Merged.Requests))},
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
