package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/steady"
	"github.com/assay-dev/assay/internal/validity"
)

// ABTitle is the title of the part that says how the blocks of clients differ from ab's output.
const ABTitle = "ab"

// abDifferences describes how the blocks differ from ab's own output.
const abDifferences = `Each block below has the lines of ab's report. Unlike in ab's, times in tables are in
milliseconds with three decimals, failed requests are in neither rates nor times,
Connect excludes the TLS handshake, and the percentiles of all clients come from
merged histograms.`

// writeText writes the verdict and a table with a row for each client. Then it writes what ab would
// print for each client and, if there are several, for all merged, and at last what ab cannot know:
// the target, the usage of the clients and the environment.
func writeText(w io.Writer, r *result.Result) error {
	p := paper{width: Width(w)}
	p.writeResult(shown(r))
	_, err := w.Write(p.Bytes())
	return err
}

// writeResult writes the report of a result whose texts are printable.
func (p *paper) writeResult(r *result.Result) {
	if r.Run.Standalone {
		writeStandalone(p, r)
		return
	}
	p.printf("BenchmarkRun %s/%s: %s on %s\n", r.Run.Namespace, r.Run.Name, cmp.Or(r.Run.Server, "unknown"), cmp.Or(r.Run.Image, "unknown"))
	writeVerdict(p, r)
	writeThresholds(p, r.Thresholds, validity.Valid(r.Findings))
	writeMainFigures(p, r)
	section(p, "Summary")
	writeMeaning(p, &r.Run)
	writeSummary(p, r)
	writeOverTime(p, r)
	if r.Run.UserConnections > 0 {
		section(p, "Pages")
		writePages(p, r)
	}
	if len(r.Levels) > 0 {
		section(p, "Levels")
		writeLevels(p, r)
	}
	if len(r.BreakingPoints) > 0 {
		section(p, "Breaking points")
		writeBreakingPoints(p, r)
	}
	if r.Script != nil {
		section(p, "Script")
		writeScript(p, r)
	}
	if r.Arrivals != nil {
		section(p, "Arrivals")
		writeArrivals(p, r)
	}
	p.aside(ABTitle, abDifferences)
	for i := range r.Clients {
		c := &r.Clients[i]
		section(p, "Client %d on %s", c.Index, cmp.Or(c.Node, "unknown"))
		writeAB(p, r, clientBlock(r, c))
	}
	if len(r.Clients) != 1 {
		section(p, "All %d clients merged", len(r.Clients))
		writeAB(p, r, mergedBlock(r))
	}
	writeSiege(p, r)
	section(p, "Target")
	writeTarget(p, r)
	if r.NodeUsage != nil {
		section(p, "Around the target")
		writeNode(p, "The target's CPUs:", r.NodeUsage, r.Environment.Governor)
	}
	if usedTLS(r) {
		section(p, "TLS")
		writeTLS(p, r)
	}
	section(p, "Clients")
	writeClients(p, r)
	writeClientNodes(p, r)
	section(p, "Environment")
	writeEnvironment(p, r)
}

func section(w *paper, format string, args ...any) {
	w.section(fmt.Sprintf(format, args...))
}

// writeVerdict writes whether the result is valid, and the findings: first those
// that invalidate it.
func writeVerdict(w *paper, r *result.Result) {
	w.printf("%s\n", headline(r))
	for _, f := range r.Findings {
		w.printf("  %s %s: %s\n", f.Severity, f.Reason, f.Message)
	}
}

func thresholdsMet(outcomes []result.ThresholdOutcome) bool {
	return !slices.ContainsFunc(outcomes, func(o result.ThresholdOutcome) bool { return !o.Met })
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

// writeWarmup writes what was sent before the measurement and, if the warm-up was
// to last until the target is steady, whether it became so and by which figures.
func writeWarmup(w *paper, warmup *result.Warmup) {
	if warmup == nil {
		line(w, "Warm-up:", "none")
		return
	}
	line(w, "Warm-up:", "%d requests, %d failed, %d bytes in %s, not in the result",
		warmup.Requests, warmup.Errors.Total(), warmup.BytesReceived, secondsText(warmup.DurationMicroseconds))
	if warmup.Steady == nil {
		return
	}
	reached := "NO"
	if warmup.Steady.Reached {
		reached = "yes"
	}
	line(w, "Steady after it:", "%s; %s", reached, steady.Describe(warmup.Steady))
}

// writeStandalone writes the report of a client that ran without a cluster: the
// verdict, what ab would print, what the client used.
func writeStandalone(w *paper, r *result.Result) {
	w.printf("%s: load on %s\n", cmp.Or(r.Run.Name, "unknown"), cmp.Or(r.Run.Server, "unknown"))
	writeVerdict(w, r)
	writeThresholds(w, r.Thresholds, validity.Valid(r.Findings))
	section(w, "Summary")
	writeMeaning(w, &r.Run)
	writeAB(w, r, mergedBlock(r))
	writeSiege(w, r)
	if r.Script != nil {
		section(w, "Script")
		writeScript(w, r)
	}
	if len(r.Levels) > 0 {
		section(w, "Levels")
		writeLevels(w, r)
	}
	if len(r.BreakingPoints) > 0 {
		section(w, "Breaking points")
		writeBreakingPoints(w, r)
	}
	if usedTLS(r) {
		section(w, "TLS")
		writeTLS(w, r)
	}
	section(w, "Client")
	for i := range r.Clients {
		writeOwnUsage(w, r, &r.Clients[i])
		if around := r.Clients[i].NodeUsage; around != nil {
			section(w, "Around the client")
			writeNode(w, "The client's CPUs:", around, "")
		}
	}
}

// writeOwnUsage writes what the client used, which is what a load generator costs.
func writeOwnUsage(w *paper, r *result.Result, c *result.Client) {
	limit, usage := r.Environment.ClientCPULimit, c.Usage
	line(w, "CPU:", "%.1f%% of %s CPUs", c.CPUPercentOf(limit), CPUs(limit))
	line(w, "CPU time:", "%s user, %s system, in %s", secondsText(usage.UserCPU), secondsText(usage.SystemCPU), secondsText(c.DurationMicroseconds()))
	if c.Requests > 0 {
		line(w, "CPU per request:", "%.1f µs", float64(usage.CPU())/float64(c.Requests))
	}
	writeFigures(w, result.ClientFigures, &usage, true)
	writeWarmup(w, r.Warmup)
	writeLines(w, []named{
		{"Measured at:", measuredAt(r.Run.MeasurementTime)}, {"Machine:", c.Node}, {"Assay:", r.Environment.Assay},
	})
}
