package report

import (
	"cmp"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/result"
)

// Containers returns what each container of the target used during the measurement, the one that clients talk to first. The
// groups have titles if there are several.
func Containers(r *result.Result) (all []doc.Group) {
	containers := r.Containers()
	for i, c := range containers {
		g := doc.Group{}
		if len(containers) > 1 {
			g.Title = cmp.Or(c.Name, "unknown") + ", behind it"
			if i == 0 {
				g.Title = cmp.Or(c.Name, "unknown") + ", clients talk to it"
			}
		}
		g.Blocks = []doc.Block{container(&c, i == 0).block()} // the figures of the whole pod are with the server
		all = append(all, g)
	}
	return all
}

// SharedLimit returns the limit that all containers of the target have together, if they have one.
func SharedLimit(r *result.Result) doc.Facts {
	var f facts
	if shared := r.Environment.SharedCPULimit; shared > 0 {
		f.add("Shared limit", "%s CPUs for all containers together", CPUs(shared))
	}
	return f.block()
}

// target returns what the containers of the target used, with their names if there are several.
func target(r *result.Result) doc.Section {
	s := doc.Section{Title: "Target", Blocks: []doc.Block{SharedLimit(r)}}
	for i, c := range r.Containers() {
		var f facts
		if g := Containers(r)[i]; g.Title != "" {
			f.add("Container", "%s", g.Title)
		}
		s.Add(append(f, container(&c, i == 0)...).block())
	}
	return s
}

func container(c *result.Container, podWide bool) facts {
	var f facts
	f.add("CPUs", "%s%s, %s; limit %s", cmp.Or(c.CPUs, "unknown"), coresOf(c), strings.ToLower(cmp.Or(c.CPUExclusivity, "unknown")), CPUs(c.CPULimit))
	if c.Usage == nil {
		f.add("Usage", "not available")
		return f
	}
	spent := c.Usage.Spent()
	f.add("CPU", "%.1f%% of the limit on average, %.1f%% in the peak second", c.Usage.CPUPercentOf(c.CPULimit), c.Usage.PeakCPUPercentOf(c.CPULimit))
	f.add("CPU time", "%s user, %s system, in %s", secondsText(spent.UserCPU), secondsText(spent.SystemCPU), secondsText(spent.At))
	f.add("Memory", "%.1f MiB peak RSS in the measurement, %.1f MiB since the start", mebibytes(c.Usage.PeakResident), mebibytes(spent.MaxResident))
	addFigures(&f, result.ServerMetrics, &spent, podWide, "unknown")
	if spent.GCPauses != result.Unknown {
		f.add("GC pauses", "%d, %.3f ms total (%.2f%% of the time), %.3f ms longest", spent.GCPauses, ms(spent.GCPause),
			100*float64(spent.GCPause)/float64(max(spent.At, 1)), ms(spent.GCPauseMax))
		if spent.HeapUsed != result.Unknown {
			f.add("Heap", "%.1f MiB after the last garbage collection", mebibytes(spent.HeapUsed))
		}
	}
	if c.Usage.End.CompilerCPU > 0 { // a result of an earlier version has none
		f.add("Java compiler", "%s of CPU time, %.1f%% of the container's", secondsText(spent.CompilerCPU), 100*float64(spent.CompilerCPU)/float64(max(spent.CPU(), 1)))
	}
	return f
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

// AroundTarget returns what happened around the target, if that is known.
func AroundTarget(r *result.Result) doc.Section {
	if r.NodeUsage == nil {
		return doc.Section{}
	}
	return doc.Section{Title: "Around the target", Blocks: []doc.Block{aroundPod("The target's CPUs", r.NodeUsage, r.Environment.Governor)}}
}

// Environment returns the conditions under which the run was made, with the text unknown for those that are.
func Environment(r *result.Result, unknown string) doc.Section {
	e := r.Environment
	var f facts
	f.addTexts(unknown,
		doc.Fact{Name: "Measured at", Value: measuredAt(r.Run.MeasurementTime)}, doc.Fact{Name: "Run UID", Value: r.Run.UID},
		doc.Fact{Name: "Image", Value: r.Run.Image}, doc.Fact{Name: "Image ID", Value: e.TargetImageID})
	for _, b := range e.Backends {
		f.addTexts(unknown, doc.Fact{Name: "Image of " + b.Name, Value: b.Image}, doc.Fact{Name: "Image ID of " + b.Name, Value: b.ImageID})
	}
	f.addTexts(unknown,
		doc.Fact{Name: "Target node", Value: e.TargetNode},
		doc.Fact{Name: "Server", Value: strings.Join(append([]string{e.ServerVersion}, e.Libraries...), ", ")},
		doc.Fact{Name: "Connector", Value: e.Connector},
		doc.Fact{Name: "Kernel", Value: e.Kernel},
		doc.Fact{Name: "Container runtime", Value: e.ContainerRuntime},
		doc.Fact{Name: "Kubelet", Value: e.Kubelet},
		doc.Fact{Name: "Assay", Value: e.Assay})
	return doc.Section{Title: "Environment", Blocks: []doc.Block{f.block()}}
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

// TLS returns what was negotiated with the target, and how many connections resumed a session.
func TLS(r *result.Result) doc.Section {
	if !usedTLS(r) {
		return doc.Section{}
	}
	var f facts
	if t := r.Environment.TLS; t != nil {
		requested := "not requested"
		if t.CertificateRequested {
			requested = "requested"
		}
		f.addTexts("unknown", doc.Fact{Name: "Protocol", Value: t.Protocol}, doc.Fact{Name: "Cipher suite", Value: t.Cipher})
		if t.Group != "" {
			f.add("Key exchange", "%s", t.Group)
		}
		f.addTexts("unknown", doc.Fact{Name: "Certificate", Value: t.Subject}, doc.Fact{Name: "Issuer", Value: t.Issuer})
		f.add("Key", "%s, %d bits", cmp.Or(t.KeyAlgorithm, "unknown"), t.KeySize)
		f.addTexts("unknown",
			doc.Fact{Name: "Expires", Value: time.UnixMicro(t.NotAfter).UTC().Format(time.RFC3339)},
			doc.Fact{Name: "SHA-256 fingerprint", Value: t.Fingerprint},
			doc.Fact{Name: "Client certificate", Value: requested})
	}
	c := r.Merged.Counts
	f.add("Sessions resumed", "by %d of %d connections", c.TLSResumed, c.Connections)
	return doc.Section{Title: "TLS", Blocks: []doc.Block{f.block()}}
}
