package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

// target returns what the containers of the target used, with their names if there are several, the one that clients talk to first.
func target(r *result.Result) doc.Section {
	s := doc.Section{ID: "target", Title: "Target", Question: "What did the server use?"}
	if shared := r.Environment.SharedCPULimit; shared > 0 {
		var f facts
		f.add("Shared limit", "%s for all containers together", CPUCount(shared))
		s.Add(f.block())
	}
	containers := r.Containers()
	for i := range containers {
		var f facts
		if len(containers) > 1 {
			place := "behind it"
			if i == 0 {
				place = "clients talk to it"
			}
			f.add("Container", "%s, %s", cmp.Or(containers[i].Name, "unknown"), place)
		}
		s.Add(append(f, container(&containers[i], i == 0)...).block()) // the usage of the full pod is with the server
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
	addMetrics(&f, result.ServerMetrics, &spent, podWide, "unknown")
	if spent.GCPauses != result.Unknown {
		f.add("GC pauses", "%d, %.3f ms total (%.2f%% of the time), %.3f ms longest", spent.GCPauses, ms(spent.GCPause),
			100*float64(spent.GCPause)/float64(max(spent.At, 1)), ms(spent.GCPauseMax))
		if spent.HeapUsed != result.Unknown {
			f.add("Heap", "%.1f MiB after the last garbage collection", mebibytes(spent.HeapUsed))
		}
	}
	if c.Usage.End.CompilerCPU > 0 {
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

// aroundTarget returns what happened around the target, if that is known.
func aroundTarget(r *result.Result) doc.Section {
	if r.NodeUsage == nil {
		return doc.Section{}
	}
	return doc.Section{ID: "around-target", Title: "Around the target", Question: "Who else used its CPUs and its network?", Blocks: []doc.Block{aroundPod("The target's CPUs", r.NodeUsage, r.Environment.Governor)}}
}

// environment returns the conditions under which the run was made.
func environment(r *result.Result) doc.Section {
	e := r.Environment
	var f facts
	f.addTexts(
		doc.Fact{Name: "Measured at", Value: measuredAt(r.Run.MeasurementTime)}, doc.Fact{Name: "Run UID", Value: r.Run.UID},
		doc.Fact{Name: "Image", Value: r.Run.Image}, doc.Fact{Name: "Image ID", Value: e.TargetImageID})
	if e.Configuration != nil {
		f.add("Configuration", "%s", ownConfiguration(e.Configuration))
	}
	for _, b := range e.Backends {
		f.addTexts(doc.Fact{Name: "Image of " + b.Name, Value: b.Image}, doc.Fact{Name: "Image ID of " + b.Name, Value: b.ImageID})
		if b.Configuration != nil {
			f.add("Configuration of "+b.Name, "%s", ownConfiguration(b.Configuration))
		}
	}
	f.addTexts(
		doc.Fact{Name: "Target node", Value: e.TargetNode}, doc.Fact{Name: "Machine", Value: machineText(e.Machine)},
		doc.Fact{Name: "Server", Value: strings.Join(append([]string{e.ServerVersion}, e.Libraries...), ", ")},
		doc.Fact{Name: "Connector", Value: e.Connector},
		doc.Fact{Name: "Kernel", Value: e.Kernel},
		doc.Fact{Name: "Container runtime", Value: e.ContainerRuntime},
		doc.Fact{Name: "Kubelet", Value: e.Kubelet},
		doc.Fact{Name: "Assay", Value: e.Assay})
	for _, c := range e.PodChanges {
		f.add("Changed in "+podsOf(&c), "%s", changeText(&c))
	}
	return doc.Section{ID: "environment", Title: "Environment", Question: "Under what conditions was it measured?", Blocks: []doc.Block{f.block()}}
}

// machineText describes a machine as far as it is known.
func machineText(m *result.Machine) string {
	if m == nil {
		return ""
	}
	var parts []string
	if m.CPUModel != "" {
		parts = append(parts, m.CPUModel)
	}
	if m.CPUs > 0 {
		parts = append(parts, CPUCount(1000*m.CPUs))
	}
	if m.MaxFrequency > 0 {
		parts = append(parts, "up to "+number.Significant(float64(m.MaxFrequency)/1e6)+" GHz")
	}
	if m.MemoryBytes > 0 {
		parts = append(parts, number.Significant(float64(m.MemoryBytes)/(1<<30))+" GiB of memory")
	}
	return strings.Join(parts, ", ")
}

// ownConfiguration says what a configuration of the user's own does.
func ownConfiguration(c *result.Configuration) string {
	text := "own " + strings.Join(c.Files, ", ")
	if c.Replaced {
		return text + ", in place of Assay's; no field of the server has an effect but its paths and its port"
	}
	text += ", included in Assay's"
	if len(c.Fields) > 0 {
		text += "; sets what these fields do: " + strings.Join(c.Fields, ", ")
	}
	return text
}

// podsOf names the pods in which something was changed.
func podsOf(c *result.PodChange) string {
	switch {
	case c.Role == result.RoleTarget:
		return "the target's pod"
	case c.Pods == 1:
		return "a client's pod"
	}
	return fmt.Sprintf("%d clients' pods", c.Pods)
}

func changeText(c *result.PodChange) string {
	switch {
	case c.Was == "":
		return c.Field + " added: " + c.Is
	case c.Is == "":
		return c.Field + " removed: " + c.Was
	case c.Was == c.Is:
		return c.Field
	}
	return c.Field + ": " + c.Is + " instead of " + c.Was
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

// negotiated returns what was negotiated with the target, and how many connections resumed a session.
func negotiated(r *result.Result) doc.Section {
	if !usedTLS(r) {
		return doc.Section{}
	}
	var f facts
	if t := r.Environment.TLS; t != nil {
		requested := "not requested"
		if t.CertificateRequested {
			requested = "requested"
		}
		f.addTexts(doc.Fact{Name: "Protocol", Value: t.Protocol}, doc.Fact{Name: "Cipher suite", Value: t.Cipher})
		if t.Group != "" {
			f.add("Key exchange", "%s", t.Group)
		}
		f.addTexts(doc.Fact{Name: "Certificate", Value: t.Subject}, doc.Fact{Name: "Issuer", Value: t.Issuer})
		f.add("Key", "%s, %d bits", cmp.Or(t.KeyAlgorithm, "unknown"), t.KeySize)
		f.addTexts(
			doc.Fact{Name: "Expires", Value: time.UnixMicro(t.NotAfter).UTC().Format(time.RFC3339)},
			doc.Fact{Name: "SHA-256 fingerprint", Value: t.Fingerprint},
			doc.Fact{Name: "Client certificate", Value: requested})
	}
	c := r.Merged.Counts
	f.add("Sessions resumed", "by %d of %d connections", c.TLSResumed, c.Connections)
	return doc.Section{ID: "tls", Title: "TLS", Question: "What was negotiated?", Blocks: []doc.Block{f.block()}}
}
