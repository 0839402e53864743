package report

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

// writeTarget writes what each container of the target used during the
// measurement; the names are left out when there is but one.
func writeTarget(w *bytes.Buffer, r *result.Result) {
	containers := r.Containers()
	for i, c := range containers {
		network := "Network:"
		if len(containers) > 1 {
			what := "clients talk to it"
			if i > 0 {
				what = "behind it"
				fmt.Fprintln(w)
			}
			targetLine(w, "Container:", "%s, %s", orUnknown(c.Name), what)
			network = "Network of the pod:"
		}
		if i > 0 {
			network = ""
		}
		writeContainer(w, c, network)
	}
}

// writeContainer writes what a container used. The pod's network stands with one
// of them, under a name; empty for the others.
func writeContainer(w *bytes.Buffer, c result.Container, network string) {
	line := func(name, format string, args ...any) { targetLine(w, name, format, args...) }
	line("CPUs:", "%s, %s; limit %s", orUnknown(c.CPUs), strings.ToLower(orUnknown(c.CPUExclusivity)), cpus(c.CPULimit))
	if c.Usage == nil {
		line("Usage:", "not seen")
		return
	}
	spent := c.Usage.Spent()
	line("CPU:", "%.1f %% of the limit in the mean, %.1f %% in the peak second",
		c.Usage.CPUPercentOf(c.CPULimit), c.Usage.PeakCPUPercentOf(c.CPULimit))
	line("CPU time:", "%.3f s user, %.3f s system, in %.3f s", float64(spent.UserCPU)/1e6, float64(spent.SystemCPU)/1e6, float64(spent.At)/1e6)
	if spent.Throttled >= 0 {
		line("Held up by the limit:", "%.3f s", float64(spent.Throttled)/1e6)
	} else {
		line("Held up by the limit:", "unknown")
	}
	line("Memory:", "%.1f MiB resident at most in the measurement, %.1f MiB since the start",
		mebibytes(c.Usage.PeakResident), mebibytes(spent.MaxResident))
	line("Page faults:", "%d minor, %d major", spent.MinorFaults, spent.MajorFaults)
	line("Context switches:", "%d voluntary, %d involuntary", spent.VoluntarySwitches, spent.InvoluntarySwitches)
	if network != "" {
		line(network, "%d bytes in, %d bytes out", spent.BytesReceived, spent.BytesSent)
	}
	line("Threads:", "%s", countOrUnknown(spent.Threads))
	line("Open descriptors:", "%s", countOrUnknown(spent.Descriptors))
}

func targetLine(w *bytes.Buffer, name, format string, args ...any) {
	fmt.Fprintf(w, "%-23s %s\n", name, fmt.Sprintf(format, args...))
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
	} {
		targetLine(w, l.name, "%s", orUnknown(l.text))
	}
	for _, b := range e.Backends {
		targetLine(w, "Image of "+b.Name+":", "%s", orUnknown(b.Image))
		targetLine(w, "Image ID of "+b.Name+":", "%s", orUnknown(b.ImageID))
	}
	for _, l := range []struct{ name, text string }{
		{"Target node:", e.TargetNode},
		{"Server:", strings.Join(append([]string{e.ServerVersion}, e.Libraries...), ", ")},
		{"Connector:", e.Connector},
		{"Kernel:", e.Kernel},
		{"Container runtime:", e.ContainerRuntime},
		{"Kubelet:", e.Kubelet},
		{"Assay:", e.Assay},
	} {
		targetLine(w, l.name, "%s", orUnknown(l.text))
	}
}

func measuredAt(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}
