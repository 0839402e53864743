package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

// abDifferences says in what the blocks differ from ab's own output.
const abDifferences = `Each block below has the lines of ab's report. Unlike ab's, times in tables are in
milliseconds to three decimals, a request that failed is in neither rates nor times,
Connect leaves the TLS handshake out, and the percentiles of all clients come from
merged histograms.`

// writeText writes the verdict, a table with a row for each client, then for
// each client and, if there are several, for all together what ab would print, then what ab can't know:
// the target, the clients themselves and the environment.
func writeText(w io.Writer, r *result.Result) error {
	r = shown(r)
	if r.Run.Alone {
		return writeAlone(w, r)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "BenchmarkRun %s/%s: %s on %s\n", r.Run.Namespace, r.Run.Name, orUnknown(r.Run.Server), orUnknown(r.Run.Image))
	writeVerdict(&b, r)
	writeThresholds(&b, r.Thresholds)
	section(&b, "Summary")
	fmt.Fprintf(&b, "Latencies are %s.\n", latencyMeaning(&r.Run))
	writeRequestsMeaning(&b, &r.Run)
	fmt.Fprintln(&b)
	writeSummary(&b, r)
	if len(r.Levels) > 0 {
		section(&b, "Levels")
		writeLevels(&b, r)
	}
	if r.Script != nil {
		section(&b, "Script")
		writeScript(&b, r)
	}
	if r.Arrivals != nil {
		section(&b, "Arrivals")
		writeArrivals(&b, r)
	}
	fmt.Fprintf(&b, "\n%s\n", abDifferences)
	for i := range r.Clients {
		c := &r.Clients[i]
		section(&b, "Client %d on %s", c.Index, orUnknown(c.Node))
		writeAB(&b, r, clientBlock(r, c))
	}
	if len(r.Clients) != 1 {
		section(&b, "All %d clients merged", len(r.Clients))
		writeAB(&b, r, mergedBlock(r))
	}
	section(&b, "Target")
	writeTarget(&b, r)
	if usedTLS(r) {
		section(&b, "TLS")
		writeTLS(&b, r)
	}
	section(&b, "Clients")
	writeClients(&b, r)
	section(&b, "Environment")
	writeEnvironment(&b, r)
	_, err := w.Write(b.Bytes())
	return err
}

// section begins a part of the report.
func section(w *bytes.Buffer, format string, args ...any) {
	title := fmt.Sprintf(format, args...)
	fmt.Fprintf(w, "\n%s\n%s\n", title, strings.Repeat("-", len(title)))
}

// latencyMeaning says what a latency is under a shape of load.
func latencyMeaning(run *result.Run) string {
	switch {
	case run.Load == result.LoadClosed && run.Streams > 0:
		return "service time (closed load): each stream of each connection sends its next request when the last is answered"
	case run.Load == result.LoadClosed:
		return "service time (closed load): each connection sends its next request when the last is answered"
	case run.Load == result.LoadScript:
		return "service time (k6 script): from the start of each request, as k6 takes it by the wall clock; an iteration waits for the responses to its requests"
	case run.Load == result.LoadOpen:
		return "response time (open load): from the instant at which each request was meant to start, whatever became of those before"
	}
	return "of " + orUnknown(run.Load) + " load"
}

// writeVerdict writes whether the result can be trusted, and all that speaks
// against it: first what invalidates it, each with what to do.
func writeVerdict(w *bytes.Buffer, r *result.Result) {
	var reasons []string
	for _, f := range r.Findings {
		if f.Severity == result.Invalidates {
			reasons = append(reasons, f.Reason)
		}
	}
	switch {
	case !validity.Valid(r.Findings):
		fmt.Fprintf(w, "NOT VALID: %s\n", strings.Join(reasons, ", "))
	case len(r.Findings) > 0:
		fmt.Fprintf(w, "VALID, with %s\n", plural(len(r.Findings), "warning"))
	default:
		fmt.Fprintln(w, "VALID")
	}
	for _, f := range r.Findings {
		fmt.Fprintf(w, "  %s %s: %s\n", f.Severity, f.Reason, f.Message)
	}
}

func thresholdsMet(outcomes []result.ThresholdOutcome) bool {
	for _, o := range outcomes {
		if !o.Met {
			return false
		}
	}
	return true
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}
