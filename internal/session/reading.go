package session

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// MostBackends bounds the containers behind the server that are sampled apart.
	MostBackends = 8
	// backendNameBytes bounds a container's name, as Kubernetes does (RFC 1123).
	backendNameBytes = 63
	// mostFigure bounds every figure of a reading, so that differences and sums of
	// them can't overflow.
	mostFigure = 1 << 60
)

// ReadingToWire returns a reading of the target's containers as it is sent,
// without its number.
func ReadingToWire(r *result.Reading) *sessionpb.ServerSample {
	w := serverUsageToWire(&r.Server)
	for i := range r.Backends {
		b := &r.Backends[i]
		usage := serverUsageToWire(&b.ServerUsage)
		usage.At, usage.BytesReceived, usage.BytesSent, usage.AgentCpus = 0, 0, 0, ""
		w.Backends = append(w.Backends, &sessionpb.BackendUsage{Name: b.Name, Usage: usage})
	}
	return w
}

// ReadingFromWire is the inverse of ReadingToWire. It refuses figures that can't
// be, more than MostBackends containers, and names that aren't a container's.
func ReadingFromWire(w *sessionpb.ServerSample) (*result.Reading, error) {
	r := &result.Reading{Server: serverUsageFromWire(w)}
	if err := checkUsage(&r.Server); err != nil {
		return nil, err
	}
	if n := len(w.GetBackends()); n > MostBackends {
		return nil, fmt.Errorf("reading: %d containers behind the server, at most %d are sampled", n, MostBackends)
	}
	seen := map[string]bool{result.ServerContainer: true}
	for _, b := range w.GetBackends() {
		name := b.GetName()
		if !isContainerName(name) || seen[name] {
			return nil, fmt.Errorf("reading: a container behind the server with the name %.70q", name)
		}
		seen[name] = true
		if b.GetUsage() == nil || len(b.GetUsage().GetBackends()) > 0 {
			return nil, fmt.Errorf("reading: container %s without figures, or with containers of its own", name)
		}
		usage := serverUsageFromWire(b.GetUsage())
		if err := checkUsage(&usage); err != nil {
			return nil, fmt.Errorf("container %s: %w", name, err)
		}
		usage.At, usage.BytesReceived, usage.BytesSent, usage.AgentCPUs = r.Server.At, 0, 0, r.Server.AgentCPUs
		r.Backends = append(r.Backends, result.BackendUsage{Name: name, ServerUsage: usage})
	}
	return r, nil
}

// isContainerName is whether a container may have the name: a DNS label.
func isContainerName(name string) bool {
	return name != "" && len(name) <= backendNameBytes && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" &&
		name[0] != '-' && name[len(name)-1] != '-'
}

// checkUsage returns an error that says which figures can't be: what is counted
// is never negative, and what may be unknown is then -1.
func checkUsage(u *result.ServerUsage) error {
	for _, n := range []int64{
		u.At, u.UserCPU, u.SystemCPU, u.Resident, u.MaxResident, u.MinorFaults, u.MajorFaults,
		u.VoluntarySwitches, u.InvoluntarySwitches, u.BytesReceived, u.BytesSent,
		u.Threads + 1, u.Descriptors + 1, u.Throttled + 1,
	} {
		if n < 0 || n > mostFigure {
			return fmt.Errorf("reading: a figure that can't be in %+v", *u)
		}
	}
	return nil
}

func serverUsageToWire(u *result.ServerUsage) *sessionpb.ServerSample {
	return &sessionpb.ServerSample{
		At: u.At, UserCpu: u.UserCPU, SystemCpu: u.SystemCPU,
		Resident: u.Resident, MaxResident: u.MaxResident,
		MinorFaults: u.MinorFaults, MajorFaults: u.MajorFaults,
		VoluntarySwitches: u.VoluntarySwitches, InvoluntarySwitches: u.InvoluntarySwitches,
		Threads: u.Threads, Descriptors: u.Descriptors,
		BytesReceived: u.BytesReceived, BytesSent: u.BytesSent,
		Throttled: u.Throttled, Cpus: u.CPUs, AgentCpus: u.AgentCPUs,
	}
}

func serverUsageFromWire(w *sessionpb.ServerSample) result.ServerUsage {
	return result.ServerUsage{
		At: w.GetAt(), UserCPU: w.GetUserCpu(), SystemCPU: w.GetSystemCpu(),
		Resident: w.GetResident(), MaxResident: w.GetMaxResident(),
		MinorFaults: w.GetMinorFaults(), MajorFaults: w.GetMajorFaults(),
		VoluntarySwitches: w.GetVoluntarySwitches(), InvoluntarySwitches: w.GetInvoluntarySwitches(),
		Threads: w.GetThreads(), Descriptors: w.GetDescriptors(),
		BytesReceived: w.GetBytesReceived(), BytesSent: w.GetBytesSent(),
		Throttled: w.GetThrottled(), CPUs: w.GetCpus(), AgentCPUs: w.GetAgentCpus(),
	}
}
