package observed

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// NeedsLogs reports whether the servers' logs must be read: they have just become ready, or they
// failed. A server under load is left alone.
func NeedsLogs(run *v1alpha1.BenchmarkRun, o *Run, now time.Time) bool {
	switch {
	case o.Target == nil:
		return false
	case pods.ServerEnd(run, o.Target) != nil:
		return true
	case state.UnderLoad(state.Of(run)):
		return false
	case Probed(run, o) != nil:
		return !verified(run)
	}
	return !state.TargetWasReady(run) && now.After(TargetReadyBy(run, o))
}

// LoggedContainers returns the containers whose logs are read then: the servers, and an agent that has not connected.
func LoggedContainers(run *v1alpha1.BenchmarkRun, o *Run) []string {
	var names []string
	for _, c := range manifest.Servers(run, o.Target) {
		names = append(names, c.Name)
	}
	if o.Sessions.Agent == nil {
		names = append(names, manifest.AgentContainer)
	}
	return names
}

// NeedsLoadLogs returns the containers whose logs must be read for what they say about the load, and since when:
// once, when the result is about to be stored. By then the servers have nothing to do.
func NeedsLoadLogs(run *v1alpha1.BenchmarkRun, o *Run, now time.Time) (containers []string, since time.Time) {
	if o.Target == nil || o.Stored != nil || o.Unstored != nil || state.IsFinished(run) || !o.Collected(run) || AwaitsSample(run, o, now) {
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
	for i := range loadplan.Replicas(&run.Spec) {
		earliest(o.Sessions.Clients[i].Starts)
	}
	if first == 0 {
		first = o.Sessions.Clients[0].Totals.StartedAt
	}
	return server.VerifiableContainers(&run.Spec.Target), o.Wall(first, now)
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

// NeedsEvents returns the objects whose events must be read: the target's pod and the first client's
// if they don't start, as the other clients are like it, and the Job if it creates no pod. Those of a
// target that has ended show whether it was evicted: the status of a pod whose containers all exit
// with 0 does not.
func NeedsEvents(run *v1alpha1.BenchmarkRun, o *Run, now time.Time) []manifest.Object {
	candidates := []*corev1.Pod{o.Target}
	for i := range loadplan.Replicas(&run.Spec) {
		if pods.Starting(o.Clients[i]) {
			candidates = append(candidates, o.Clients[i])
			break
		}
	}
	var needed []manifest.Object
	for _, pod := range candidates {
		if pods.Starting(pod) && !now.Before(pod.CreationTimestamp.Add(PodEventDelay)) {
			needed = append(needed, pod)
		}
	}
	if o.Target != nil && pods.Ended(o.Target) {
		needed = append(needed, o.Target)
	}
	if _, missing := o.MissingClient(run); missing && !now.Before(o.Job.CreationTimestamp.Add(PodEventDelay)) {
		needed = append(needed, o.Job)
	}
	return needed
}

// PodEventDelay is the age at which the events of a pod that hasn't started are read.
const PodEventDelay = 3 * time.Second

// PodEventInterval is the interval at which they are read again.
const PodEventInterval = 5 * time.Second

// NeedsNode returns the name of the target's node if that must be read: until the status records
// its kernel, and for the result's environment. Otherwise it returns "".
func NeedsNode(run *v1alpha1.BenchmarkRun, o *Run) string {
	recorded := ptr.Deref(run.Status.Target, v1alpha1.TargetStatus{})
	name := recorded.Node
	if o.Target != nil {
		name = o.Target.Spec.NodeName
	}
	if recorded.Kernel != "" && !o.Collected(run) {
		return ""
	}
	return name
}

// WindowEnd returns the second of a measurement up to which its status has metrics.
func WindowEnd(br *v1alpha1.BenchmarkRun) int64 {
	if p := br.Status.Progress; p != nil && p.Window != nil {
		return ptr.Deref(p.Window.Second, 0) + ptr.Deref(p.Window.Seconds, 0)
	}
	return 0
}
