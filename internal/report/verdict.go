package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// Headline returns whether a result is valid, and why not.
func Headline(r *result.Result) string {
	reasons := invalidating(r.Findings, func(f result.Finding) string { return f.Reason })
	switch {
	case len(reasons) > 0:
		return "NOT VALID: " + strings.Join(reasons, ", ")
	case warnings(r.Findings) > 0:
		return "VALID, with " + number.Plural(warnings(r.Findings), "warning")
	}
	return "VALID"
}

// warnings returns the number of findings that warn.
func warnings(findings []result.Finding) int {
	n := 0
	for i := range findings {
		if findings[i].Severity == result.Warns {
			n++
		}
	}
	return n
}

// invalidating returns the findings that invalidate a result as texts.
func invalidating(findings []result.Finding, text func(result.Finding) string) []string {
	var texts []string
	for _, f := range findings {
		if f.Severity == result.Invalidates {
			texts = append(texts, text(f))
		}
	}
	return texts
}

// Findings returns the reasons to distrust a result.
func Findings(r *result.Result) []doc.Finding {
	tones := map[result.Severity]doc.Tone{result.Warns: doc.Unsure, result.Accepted: doc.Same}
	var all []doc.Finding
	for _, f := range r.Findings {
		all = append(all, doc.Finding{Tone: cmp.Or(tones[f.Severity], doc.Bad), Severity: string(f.Severity), Reason: f.Reason, Message: f.Message})
	}
	return all
}

func thresholdsMet(outcomes []result.ThresholdOutcome) bool {
	return !slices.ContainsFunc(outcomes, func(o result.ThresholdOutcome) bool { return !o.Met })
}

// thresholds returns the declared bounds with the metrics.
func thresholds(r *result.Result) doc.Section {
	if len(r.Thresholds) == 0 {
		return doc.Section{}
	}
	s := doc.Section{ID: "thresholds", Title: "Thresholds: MISSED"}
	switch {
	case !validity.Valid(r.Findings):
		s.Title = "Thresholds: unknown, since the result is not valid"
	case thresholdsMet(r.Thresholds):
		s.Title = "Thresholds: all met"
	}
	t := &doc.Table{Columns: append(doc.Words("metric", "bound", "actual"), doc.Numbers("")...)}
	for _, o := range r.Thresholds {
		verdict := "met"
		if !o.Met {
			verdict = "MISSED"
		}
		t.Rows = append(t.Rows, []string{o.Name(), o.Bound, o.Actual, verdict})
	}
	s.Add(t)
	return s
}
