package run

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// lastLines and lastBytes limit what a message shows of a failed server's log.
	lastLines = 12
	lastBytes = 2048
)

// NeedsLogs reports whether the servers' logs must be read: they have just become ready, or they
// failed. A server under load is left alone.
func NeedsLogs(run *v1alpha1.BenchmarkRun, o *Observed, now time.Time) bool {
	switch {
	case o.Target == nil:
		return false
	case serverEnd(o.Target) != nil:
		return true
	case underLoad(State(run)):
		return false
	case probed(run, o) != nil:
		return !verified(run)
	}
	return !targetWasReady(run) && now.After(targetReadyBy(run, o))
}

// NeedsLoadLogs returns the containers whose logs must be read for what they say about the load, and since when:
// once, when the result is about to be stored. By then the servers have nothing to do.
func NeedsLoadLogs(run *v1alpha1.BenchmarkRun, o *Observed, now time.Time) (containers []string, since time.Time) {
	replicas := loadplan.Replicas(&run.Spec)
	if o.Target == nil || o.Stored != nil || o.Unstored != nil || IsFinished(run) || !o.Collected(replicas) || awaitsSample(run, o, now) {
		return nil, time.Time{}
	}
	var first int64
	earliest := func(starts map[sessionpb.Stage]int64) {
		for _, at := range starts {
			if at > 0 && (first == 0 || at < first) {
				first = at
			}
		}
	}
	earliest(o.Sessions.Starts)
	for i := range replicas {
		earliest(o.Sessions.Clients[i].Starts)
	}
	if first == 0 {
		first = o.Sessions.Clients[0].Totals.StartedAt
	}
	return server.VerifiableContainers(&run.Spec.Target), o.wall(first, now)
}

// serverEnd returns the server that terminated first, or nil.
func serverEnd(pod *corev1.Pod) *corev1.ContainerStatus {
	var first *corev1.ContainerStatus
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		if status.Name == manifest.AgentContainer || status.State.Terminated == nil {
			continue
		}
		if first == nil || status.State.Terminated.FinishedAt.Before(&first.State.Terminated.FinishedAt) {
			first = status
		}
	}
	return first
}

// verified reports whether the status already records the version that each server logged.
func verified(run *v1alpha1.BenchmarkRun) bool {
	versions := map[string]string{}
	if t := run.Status.Target; t != nil {
		versions[server.ContainerName] = t.ServerVersion
		for i := range t.Backends {
			versions[t.Backends[i].Name] = t.Backends[i].ServerVersion
		}
	}
	return !slices.ContainsFunc(server.VerifiableContainers(&run.Spec.Target), func(name string) bool { return versions[name] == "" })
}

// logTail returns the last lines of a server's log, as an addition to a message.
func (o *Observed) logTail(container string) string {
	log := strings.TrimRight(o.Logs[container], "\n")
	if log == "" {
		return ""
	}
	lines := strings.Split(log, "\n")
	lines = lines[max(0, len(lines)-lastLines):]
	for i := range lines {
		lines[i] = printable.Text(lines[i])
	}
	text := strings.Join(lines, "\n")
	if len(text) > lastBytes {
		text = "…" + strings.ToValidUTF8(text[len(text)-lastBytes:], "")
	}
	return "\nThe last lines of its log:\n" + text
}
