package report

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

// writeTarget writes what the server used during the measurement.
func writeTarget(w *bytes.Buffer, r *result.Result) {
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-23s %s\n", name, fmt.Sprintf(format, args...))
	}
	e := r.Environment
	line("CPUs:", "%s, %s; limit %s", orUnknown(e.TargetCPUs), strings.ToLower(orUnknown(e.CPUExclusivity)), cpus(e.TargetCPULimit))
	if r.Server == nil {
		line("Usage:", "not seen")
		return
	}
	s := r.Server
	spent := s.Spent()
	line("CPU:", "%.1f %% of the limit in the mean, %.1f %% in the peak second",
		s.CPUPercentOf(e.TargetCPULimit), s.PeakCPUPercentOf(e.TargetCPULimit))
	line("CPU time:", "%.3f s user, %.3f s system, in %.3f s", float64(spent.UserCPU)/1e6, float64(spent.SystemCPU)/1e6, float64(spent.At)/1e6)
	if spent.Throttled >= 0 {
		line("Held up by the limit:", "%.3f s", float64(spent.Throttled)/1e6)
	} else {
		line("Held up by the limit:", "unknown")
	}
	line("Memory:", "%.1f MiB resident at most in the measurement, %.1f MiB since the start",
		mebibytes(s.PeakResident), mebibytes(spent.MaxResident))
	line("Page faults:", "%d minor, %d major", spent.MinorFaults, spent.MajorFaults)
	line("Context switches:", "%d voluntary, %d involuntary", spent.VoluntarySwitches, spent.InvoluntarySwitches)
	line("Network:", "%d bytes in, %d bytes out", spent.BytesReceived, spent.BytesSent)
	line("Threads:", "%s", countOrUnknown(spent.Threads))
	line("Open descriptors:", "%s", countOrUnknown(spent.Descriptors))
}

func countOrUnknown(n int64) string {
	if n < 0 {
		return "unknown"
	}
	return fmt.Sprint(n)
}

// writeEnvironment writes under what conditions the run was made.
func writeEnvironment(w *bytes.Buffer, r *result.Result) {
	e := r.Environment
	for _, l := range []struct{ name, text string }{
		{"Measured at:", measuredAt(r.Run.MeasurementTime)},
		{"Run UID:", r.Run.UID},
		{"Image:", r.Run.Image},
		{"Image ID:", e.TargetImageID},
		{"Target node:", e.TargetNode},
		{"Kernel:", e.Kernel},
		{"Container runtime:", e.ContainerRuntime},
		{"Kubelet:", e.Kubelet},
		{"Assay:", e.Assay},
	} {
		fmt.Fprintf(w, "%-23s %s\n", l.name, orUnknown(l.text))
	}
}

func measuredAt(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
