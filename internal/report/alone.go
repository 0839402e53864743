package report

import (
	"bytes"
	"fmt"
	"io"

	"github.com/assay-dev/assay/internal/result"
)

// writeAlone writes the report of a client that drove its load by itself: the
// verdict, what ab would print, what the client used.
func writeAlone(w io.Writer, r *result.Result) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: load on %s\n", orUnknown(r.Run.Name), orUnknown(r.Run.Server))
	writeVerdict(&b, r)
	section(&b, "Summary")
	fmt.Fprintf(&b, "Latencies are %s.\n", latencyMeaning(&r.Run))
	writeRequestsMeaning(&b, &r.Run)
	fmt.Fprintln(&b)
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

// writeOwnUsage writes what the client used, which is what a load generator
// costs.
func writeOwnUsage(w *bytes.Buffer, r *result.Result, c *result.Client) {
	user, system := c.Usage.UserCPU, c.Usage.SystemCPU
	targetLine(w, "CPU:", "%.1f %% of %s CPUs", c.CPUPercentOf(r.Environment.ClientCPULimit), cpus(r.Environment.ClientCPULimit))
	targetLine(w, "CPU time:", "%.3f s user, %.3f s system, in %.3f s", float64(user)/1e6, float64(system)/1e6, float64(c.DurationMicroseconds())/1e6)
	if c.Requests > 0 {
		targetLine(w, "CPU per request:", "%.1f µs", float64(user+system)/float64(c.Requests))
	}
	targetLine(w, "Memory:", "%.1f MiB resident at most", mebibytes(c.Usage.MaxResident))
	targetLine(w, "Scheduler lag:", "%.3f ms (p99)", ms(c.Usage.SchedulingLatencyP99))
	targetLine(w, "GC pauses:", "%.3f ms in all, %.3f ms at most", ms(c.Usage.GCPause), ms(c.Usage.GCPauseMax))
	targetLine(w, "Warm-up:", "%s", warmupLine(r.Warmup))
	if line := steadyLine(r.Warmup); line != "" {
		targetLine(w, "Steady after it:", "%s", line)
	}
	for _, l := range []struct{ name, text string }{
		{"Measured at:", measuredAt(r.Run.MeasurementTime)}, {"Machine:", c.Node}, {"Assay:", r.Environment.Assay},
	} {
		targetLine(w, l.name, "%s", orUnknown(l.text))
	}
}
