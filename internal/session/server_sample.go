package session

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// MaxBackends bounds the containers behind the server that are sampled on their own.
	MaxBackends = 8
	// maxContainerName is the length in bytes to which Kubernetes limits the name of
	// a container (RFC 1123).
	maxContainerName = 63
)

// ServerSampleToWire returns the message for a usage sample of the target's containers.
func ServerSampleToWire(s *result.ServerSample) *sessionpb.ServerSample {
	w := &sessionpb.ServerSample{
		At: s.Server.At, Usage: serverUsageToWire(&s.Server), AgentCpus: s.Server.AgentCPUs,
		Node: result.NodeMetrics.Values(s.Node), Governor: strings.ToValidUTF8(s.Governor, "\uFFFD"),
		Machine: &sessionpb.Machine{
			CpuModel: strings.ToValidUTF8(s.Machine.CPUModel, "\uFFFD"), Cpus: s.Machine.CPUs, MemoryBytes: s.Machine.MemoryBytes, MaxFrequencyKilohertz: s.Machine.MaxFrequency,
		},
	}
	for i := range s.Backends {
		usage := s.Backends[i].WithoutPod()
		w.Backends = append(w.Backends, &sessionpb.BackendUsage{Name: s.Backends[i].Name, Usage: serverUsageToWire(&usage)})
	}
	return w
}

// ServerSampleFromWire is the inverse of ServerSampleToWire. It returns an error for metrics that
// cannot be, for more than MaxBackends containers, and for names that no container can have.
func ServerSampleFromWire(w *sessionpb.ServerSample) (*result.ServerSample, error) {
	s := &result.ServerSample{Server: result.ServerUsage{At: w.GetAt(), AgentCPUs: w.GetAgentCpus()}, Governor: w.GetGovernor()}
	m := w.GetMachine()
	s.Machine = result.Machine{CPUModel: m.GetCpuModel(), CPUs: max(0, m.GetCpus()), MemoryBytes: max(0, m.GetMemoryBytes()), MaxFrequency: max(0, m.GetMaxFrequencyKilohertz())}
	if err := setServerUsage(&s.Server, w.GetUsage()); err != nil {
		return nil, fmt.Errorf("server sample: %w", err)
	}
	var err error
	if s.Node, err = nodeUsageFromWire(w.GetNode()); err != nil {
		return nil, fmt.Errorf("server sample: %w", err)
	}
	if n := len(w.GetBackends()); n > MaxBackends {
		return nil, fmt.Errorf("server sample: %d containers behind the server, at most %d are sampled", n, MaxBackends)
	}
	seen := map[string]bool{result.ServerContainer: true}
	for _, b := range w.GetBackends() {
		name := b.GetName()
		if !isContainerName(name) || seen[name] {
			return nil, fmt.Errorf("server sample: a container behind the server with the name %.70q", name)
		}
		seen[name] = true
		usage := result.ServerUsage{At: s.Server.At, AgentCPUs: s.Server.AgentCPUs}
		if err := setServerUsage(&usage, b.GetUsage()); err != nil {
			return nil, fmt.Errorf("server sample: container %s: %w", name, err)
		}
		s.Backends = append(s.Backends, result.BackendUsage{Name: name, ServerUsage: usage.WithoutPod()})
	}
	return s, nil
}

// isContainerName reports whether a container may have the name: a DNS label.
func isContainerName(name string) bool {
	return name != "" && len(name) <= maxContainerName && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" &&
		name[0] != '-' && name[len(name)-1] != '-'
}

func serverUsageToWire(u *result.ServerUsage) *sessionpb.ServerUsage {
	return &sessionpb.ServerUsage{Values: result.ServerMetrics.Values(u), Cpus: u.CPUs, Cores: u.Cores}
}

func setServerUsage(u *result.ServerUsage, w *sessionpb.ServerUsage) error {
	if w == nil {
		return fmt.Errorf("no metrics")
	}
	u.CPUs, u.Cores = w.GetCpus(), w.GetCores()
	return result.ServerMetrics.Set(u, w.GetValues())
}
