package report

import (
	"cmp"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/result"
)

// writeTarget writes what each container of the target used during the
// measurement, with names if there are several.
func writeTarget(w *paper, r *result.Result) {
	containers := r.Containers()
	if shared := r.Environment.SharedCPULimit; shared > 0 {
		line(w, "Shared limit:", "%s CPUs for all containers together", CPUs(shared))
		w.printf("\n")
	}
	for i, c := range containers {
		role := "clients talk to it"
		if i > 0 {
			role = "behind it"
			w.printf("\n")
		}
		if len(containers) > 1 {
			line(w, "Container:", "%s, %s", cmp.Or(c.Name, "unknown"), role)
		}
		// The figures of the whole pod are with the server.
		writeContainer(w, c, i == 0)
	}
}

func writeContainer(w *paper, c result.Container, podWide bool) {
	line(w, "CPUs:", "%s%s, %s; limit %s", cmp.Or(c.CPUs, "unknown"), coresOf(&c), strings.ToLower(cmp.Or(c.CPUExclusivity, "unknown")), CPUs(c.CPULimit))
	if c.Usage == nil {
		line(w, "Usage:", "not available")
		return
	}
	spent := c.Usage.Spent()
	line(w, "CPU:", "%.1f%% of the limit on average, %.1f%% in the peak second", c.Usage.CPUPercentOf(c.CPULimit), c.Usage.PeakCPUPercentOf(c.CPULimit))
	line(w, "CPU time:", "%s user, %s system, in %s", secondsText(spent.UserCPU), secondsText(spent.SystemCPU), secondsText(spent.At))
	line(w, "Memory:", "%.1f MiB peak RSS in the measurement, %.1f MiB since the start", mebibytes(c.Usage.PeakResident), mebibytes(spent.MaxResident))
	writeFigures(w, result.ServerFigures, &spent, podWide)
	if spent.GCPauses != result.Unknown {
		writeGarbageCollections(w, &spent)
	}
	if c.Usage.End.CompilerCPU > 0 { // a result of an earlier version has none
		line(w, "Java compiler:", "%s of CPU time, %.1f%% of the container's", secondsText(spent.CompilerCPU), 100*float64(spent.CompilerCPU)/float64(max(spent.CPU(), 1)))
	}
}

// coresOf says whether a container's CPUs are all those of their cores. It returns "" if that is unknown.
func coresOf(c *result.Container) string {
	switch c.Cores {
	case "":
		return ""
	case c.CPUs:
		return " (whole cores)"
	}
	return " (of the cores with CPUs " + c.Cores + ")"
}

// writeGarbageCollections writes what the Java virtual machines of a container logged.
func writeGarbageCollections(w *paper, spent *result.ServerUsage) {
	line(w, "GC pauses:", "%d, %.3f ms total (%.2f%% of the time), %.3f ms longest", spent.GCPauses, ms(spent.GCPause),
		100*float64(spent.GCPause)/float64(max(spent.At, 1)), ms(spent.GCPauseMax))
	if spent.HeapUsed != result.Unknown {
		line(w, "Heap:", "%.1f MiB after the last garbage collection", mebibytes(spent.HeapUsed))
	}
}

// named is a text with a name.
type named struct{ name, text string }

// writeLines writes a line for each text, "unknown" for an empty one.
func writeLines(w *paper, lines []named) {
	for _, l := range lines {
		line(w, l.name, "%s", cmp.Or(l.text, "unknown"))
	}
}

// writeEnvironment writes the conditions under which the run was made.
func writeEnvironment(w *paper, r *result.Result) {
	e := r.Environment
	lines := []named{
		{"Measured at:", measuredAt(r.Run.MeasurementTime)}, {"Run UID:", r.Run.UID}, {"Image:", r.Run.Image}, {"Image ID:", e.TargetImageID},
	}
	for _, b := range e.Backends {
		lines = append(lines, named{"Image of " + b.Name + ":", b.Image}, named{"Image ID of " + b.Name + ":", b.ImageID})
	}
	writeLines(w, append(lines,
		named{"Target node:", e.TargetNode},
		named{"Server:", strings.Join(append([]string{e.ServerVersion}, e.Libraries...), ", ")},
		named{"Connector:", e.Connector},
		named{"Kernel:", e.Kernel},
		named{"Container runtime:", e.ContainerRuntime},
		named{"Kubelet:", e.Kubelet},
		named{"Assay:", e.Assay},
	))
}

func measuredAt(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

func usedTLS(r *result.Result) bool {
	return r.Environment.TLS != nil || r.Merged.Latencies.Get(result.TLS).Count() > 0
}

// CipherBits returns the size of a cipher suite's symmetric key in bits, which is
// part of the suite's OpenSSL name; 0 if it is not.
func CipherBits(suite string) int {
	switch {
	case strings.Contains(suite, "AES128"), strings.Contains(suite, "AES_128"):
		return 128
	case strings.Contains(suite, "AES256"), strings.Contains(suite, "AES_256"), strings.Contains(suite, "CHACHA20"):
		return 256
	}
	return 0
}

// writeTLS writes what was negotiated with the target, and how many connections resumed a session.
func writeTLS(w *paper, r *result.Result) {
	if t := r.Environment.TLS; t != nil {
		requested := "not requested"
		if t.CertificateRequested {
			requested = "requested"
		}
		writeLines(w, []named{{"Protocol:", t.Protocol}, {"Cipher suite:", t.Cipher}})
		if t.Group != "" {
			line(w, "Key exchange:", "%s", t.Group)
		}
		writeLines(w, []named{{"Certificate:", t.Subject}, {"Issuer:", t.Issuer}})
		line(w, "Key:", "%s, %d bits", cmp.Or(t.KeyAlgorithm, "unknown"), t.KeySize)
		writeLines(w, []named{
			{"Expires:", time.UnixMicro(t.NotAfter).UTC().Format(time.RFC3339)},
			{"SHA-256 fingerprint:", t.Fingerprint},
			{"Client certificate:", requested},
		})
	}
	c := r.Merged.Counts
	line(w, "Sessions resumed:", "by %d of %d connections", c.TLSResumed, c.Connections)
}
