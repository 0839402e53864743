package report

import (
	"cmp"
	"fmt"
	"io"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// writeText writes the report of a run for a terminal.
func writeText(w io.Writer, r *result.Result) error { return doc.WriteText(w, Document(r)) }

// ABDifferences describes how the blocks of AB differ from ab's own output.
var ABDifferences = doc.Paragraph{
	"Each block below has the lines of ab's report. Unlike in ab's, times in tables are in",
	"milliseconds with three decimals, failed requests are in neither rates nor times,",
	"Connect excludes the TLS handshake, and the percentiles of all clients come from",
	"merged histograms.",
}

// Document returns the report of a run: the verdict and a table with a row for each client, then what ab would print for each
// client and, if there are several, for all merged, and at last what ab cannot know: the target, the usage of the clients and the
// environment. Pages have the same with plots. Without a cluster nothing is known of the target.
func Document(r *result.Result) *doc.Document {
	d := heading(r)
	d.Add(thresholds(r), metricsLine(r), failures(r), summary(r), overTime(r), byRequest(r), pages(r), levels(r), breakingPoints(r))
	d.Add(script(r), arrivals(r), doc.Section{ID: "ab", Blocks: []doc.Block{ABDifferences}})
	d.Add(ab(r)...)
	d.Add(siege(r))
	if r.Run.Standalone {
		d.Add(negotiated(r), clients(r), aroundClients(r))
		return d
	}
	d.Add(target(r), aroundTarget(r), negotiated(r), clients(r), aroundClients(r), environment(r))
	return d
}

// Verdict returns the beginning of the report of a run: the verdict, and a line with the most important metrics.
func Verdict(r *result.Result) *doc.Document {
	d := heading(r)
	d.Add(metricsLine(r))
	return d
}

func heading(r *result.Result) *doc.Document {
	d := &doc.Document{
		Title: fmt.Sprintf("BenchmarkRun %s/%s", r.Run.Namespace, r.Run.Name), Subtitle: cmp.Or(r.Run.Server, "unknown") + " on " + cmp.Or(r.Run.Image, "unknown"),
		Verdict: doc.Verdict{Text: Headline(r)}, Findings: Findings(r),
	}
	if r.Run.Note != "" {
		d.Notes = []string{r.Run.Note}
	}
	if r.Run.Standalone {
		d.Title, d.Subtitle = cmp.Or(r.Run.Name, "unknown"), "load on "+cmp.Or(r.Run.Server, "unknown")
	}
	return d
}

func metricsLine(r *result.Result) doc.Section {
	lines := doc.Paragraph{mainMetrics(r)}
	if validity.Valid(r.Findings) {
		lines = append(lines, OneRun(r))
	}
	return doc.Section{ID: "metrics", Blocks: []doc.Block{lines}}
}

// writeMarkdown writes what a pull request's comment should say of a run: the verdict and the findings, the thresholds, the
// metrics of all clients, and the levels of a load with stages.
func writeMarkdown(w io.Writer, r *result.Result) error {
	d := &doc.Document{
		Title: NameOf(r), Verdict: doc.Verdict{Text: Headline(r)},
		Remarks: []string{cmp.Or(r.Run.Server, "unknown") + " on " + cmp.Or(r.Run.Image, r.Environment.TargetAddress, "unknown")}, Findings: Findings(r),
	}
	cost := costOf(r)
	s := doc.Section{Title: "Summary", Blocks: []doc.Block{
		meansOf(&r.Run), summaryTable(r),
		doc.Paragraph{fmt.Sprintf("CPU per request: target %s, clients %s", costText(cost.Target, " µs", "unknown"), costText(cost.Clients, " µs", "unknown"))},
	}}
	if a := r.Arrivals; a != nil {
		s.Add(doc.Paragraph{fmt.Sprintf("Target rate %s requests/s, achieved %s requests/s, %d dropped",
			decimals(a.TargetRatePerSecond(), 2), decimals(a.AchievedPerSecond(r.Merged.Dropped), 2), r.Merged.Dropped)})
	}
	d.Add(thresholds(r), failures(r), s)
	if requests := byRequest(r); len(r.ByRequest) > 0 || len(r.Statuses) > 1 || len(r.ContentEncodings) > 0 {
		d.Add(requests)
	}
	if len(r.Levels) > 0 {
		d.Add(doc.Section{Title: "Levels", Blocks: []doc.Block{levelsTable(r)}})
	}
	if len(r.BreakingPoints) > 0 {
		d.Add(doc.Section{Title: "Breaking points", Blocks: []doc.Block{breakingPointsTable(r)}})
	}
	return doc.WriteMarkdown(w, d)
}
