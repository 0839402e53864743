package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"

	"github.com/assay-dev/assay/internal/result"
)

// writeStandalone writes the report of a client that ran without a cluster: the
// verdict, what ab would print, what the client used.
func writeStandalone(w io.Writer, r *result.Result) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: load on %s\n", cmp.Or(r.Run.Name, "unknown"), cmp.Or(r.Run.Server, "unknown"))
	writeVerdict(&b, r)
	section(&b, "Summary")
	writeMeaning(&b, &r.Run)
	writeAB(&b, r, mergedBlock(r))
	if usedTLS(r) {
		section(&b, "TLS")
		writeTLS(&b, r)
	}
	section(&b, "Client")
	for i := range r.Clients {
		writeOwnUsage(&b, r, &r.Clients[i])
	}
	_, err := w.Write(b.Bytes())
	return err
}

// writeOwnUsage writes what the client used, which is what a load generator costs.
func writeOwnUsage(w *bytes.Buffer, r *result.Result, c *result.Client) {
	limit, usage := r.Environment.ClientCPULimit, c.Usage
	line(w, "CPU:", "%.1f%% of %s CPUs", c.CPUPercentOf(limit), cpus(limit))
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
