package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// writeMarkdown writes what a pull request's comment should say of a run, in GitHub's Markdown: the verdict and the
// findings, the thresholds, the figures of all clients, and the levels of a load with stages.
func writeMarkdown(w io.Writer, r *result.Result) error {
	r = cleaned(reflect.ValueOf(r), EscapeMarkdown).Interface().(*result.Result)
	var b bytes.Buffer
	fmt.Fprintf(&b, "## %s: %s\n\n", nameOf(r), headline(r))
	fmt.Fprintf(&b, "%s on %s\n", cmp.Or(r.Run.Server, "unknown"), cmp.Or(r.Run.Image, r.Environment.TargetAddress, "unknown"))
	for i, f := range r.Findings {
		if i == 0 {
			fmt.Fprintln(&b)
		}
		fmt.Fprintf(&b, "- %s **%s**: %s\n", f.Severity, f.Reason, f.Message)
	}
	if len(r.Thresholds) > 0 {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", thresholdsTitle(r.Thresholds, validity.Valid(r.Findings)), thresholdsTable(r.Thresholds).RenderMarkdown())
	}
	fmt.Fprintf(&b, "\n### Summary\n\nLatencies are %s.\n\n%s\n", latencyMeaning(&r.Run), summaryTable(r).RenderMarkdown())
	cost := costOf(r)
	fmt.Fprintf(&b, "\nCPU per request: target %s, clients %s\n", costText(cost.Target, " µs", "unknown"), costText(cost.Clients, " µs", "unknown"))
	if a := r.Arrivals; a != nil {
		fmt.Fprintf(&b, "\nTarget rate %s requests/s, achieved %s requests/s, %d dropped\n",
			decimals(a.TargetRatePerSecond(), 2), decimals(a.AchievedPerSecond(r.Merged.Dropped), 2), r.Merged.Dropped)
	}
	if len(r.Levels) > 0 {
		fmt.Fprintf(&b, "\n### Levels\n\n%s\n", partsTable(heldUnit(r), levelsOf(r)).RenderMarkdown())
	}
	if len(r.BreakingPoints) > 0 {
		fmt.Fprintf(&b, "\n### Breaking points\n\n%s\n", breakingPointsTable(r).RenderMarkdown())
	}
	_, err := w.Write(b.Bytes())
	return err
}

// headline returns whether a result is valid, and why not.
func headline(r *result.Result) string {
	reasons := invalidating(r.Findings, func(f result.Finding) string { return f.Reason })
	switch {
	case len(reasons) > 0:
		return "NOT VALID: " + strings.Join(reasons, ", ")
	case warnings(r.Findings) > 0:
		return "VALID, with " + plural(warnings(r.Findings), "warning")
	}
	return "VALID"
}

func thresholdsTitle(outcomes []result.ThresholdOutcome, valid bool) string {
	switch {
	case !valid:
		return "Thresholds: unknown, since the result is not valid"
	case thresholdsMet(outcomes):
		return "Thresholds: all met"
	}
	return "Thresholds: MISSED"
}

func thresholdsTable(outcomes []result.ThresholdOutcome) *Sheet {
	t := NewTable(Words("metric"), Words("bound"), Words("actual"), "")
	for _, o := range outcomes {
		verdict := "met"
		if !o.Met {
			verdict = "MISSED"
		}
		t.AppendRow(table.Row{o.Metric, o.Bound, o.Actual, verdict})
	}
	return t
}
