package benchmarkrun

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/server"
)

// targetGone: a target that was there has been deleted.
func targetGone(run *v1alpha1.BenchmarkRun, o *observed, _ time.Time) *failure {
	seen := run.Status.Target != nil && run.Status.Target.Node != ""
	if (o.target == nil && seen) || (o.target != nil && !o.target.DeletionTimestamp.IsZero()) {
		return failuref(v1alpha1.ReasonTargetLost, "the target's pod was deleted during the run: find out who did it, and create a new run")
	}
	return nil
}

// targetEnded: a server, or what prepares it, ended by itself.
func targetEnded(_ *v1alpha1.BenchmarkRun, o *observed, _ time.Time) *failure {
	if o.target == nil {
		return nil
	}
	for _, status := range o.target.Status.InitContainerStatuses {
		if end := status.State.Terminated; end != nil && end.ExitCode != 0 && status.Name == manifest.ContentContainer {
			return failuref(v1alpha1.ReasonTargetNotStarted, "the target's content couldn't be written: %s", exit(end))
		}
	}
	if status := serverEnd(o.target); status != nil {
		end := status.State.Terminated
		if end.Reason == "StartError" || end.Reason == "ContainerCannotRun" {
			return failuref(v1alpha1.ReasonTargetNotStarted, "%s couldn't be started: %s; check the command in %s.server", called(status.Name), exit(end), fieldOf(status.Name))
		}
		return failuref(v1alpha1.ReasonTargetCrashed, "%s ended by itself: %s", called(status.Name), o.lastExit(status.Name, end))
	}
	if o.target.Status.Phase == corev1.PodFailed && o.target.Status.Reason != "" {
		return failuref(v1alpha1.ReasonTargetLost, "the target's pod failed: %s", podReason(o.target))
	}
	for _, status := range o.target.Status.ContainerStatuses {
		if end := status.State.Terminated; end != nil {
			return failuref(v1alpha1.ReasonTargetLost, "the target's agent ended: %s", exit(end))
		}
	}
	return nil
}

// serverEnd is the server that ended first; nil when none has.
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

// targetWaits: a container of the target can't be started.
func targetWaits(run *v1alpha1.BenchmarkRun, o *observed, now time.Time) *failure {
	if o.target == nil {
		return nil
	}
	if t := o.troubles[o.target.Name]; t.missing() && now.After(o.target.CreationTimestamp.Add(inputGrace)) {
		return failuref(v1alpha1.ReasonConfigurationMissing, "the target can't be started: %s; create what is missing, and a new run", t)
	}
	wait := waiting(o.target, now)
	switch {
	case wait == nil:
		return nil
	case !wait.image:
		return failuref(v1alpha1.ReasonTargetNotStarted, "container %s of the target can't be started: %s", wait.container, wait.message)
	}
	for _, server := range manifest.Servers(run, o.target) {
		if server.Name == wait.container {
			return failuref(v1alpha1.ReasonTargetImageUnavailable,
				"the image %s can't be pulled: %s; check %s.image, spec.target.imagePullPolicy and imagePullSecrets", server.Image, wait.message, fieldOf(server.Name))
		}
	}
	return failuref(v1alpha1.ReasonTargetNotStarted, "the image of Assay's container %s can't be pulled: %s; check how the operator was installed", wait.container, wait.message)
}

// targetNotReady: the server didn't answer in time.
func targetNotReady(run *v1alpha1.BenchmarkRun, o *observed, now time.Time) *failure {
	started := o.target != nil || isExternal(run) && o.job != nil
	if !started || !now.After(targetReadyBy(run, o)) || targetAnswered(run, o) || targetWasReady(run) {
		return nil
	}
	seconds := readinessSeconds(run)
	if isExternal(run) {
		return failuref(v1alpha1.ReasonTargetNotReady,
			"GET %s wasn't answered with success within %d s by %s: last seen by client 0: %s; check spec.target.server.external.url, spec.target.readiness.path and the network",
			server.ReadinessPath(&run.Spec), seconds, run.Spec.Target.Server.External.URL, cmp.Or(o.sessions.Clients[0].ProbeFailure, "nothing, it never asked"))
	}
	if message := unschedulable(o.target); message != "" {
		return failuref(v1alpha1.ReasonTargetUnschedulable, "no node took the target within %d s: %s; lower spec.target.resources or free a node", seconds, message)
	}
	if t := o.troubles[o.target.Name]; t != nil {
		return failuref(v1alpha1.ReasonTargetNotStarted, "the target didn't start within %d s: %s", seconds, t)
	}
	seen := "its agent never reported"
	if agent := o.sessions.Agent; agent != nil && agent.ProbeFailure != "" {
		seen = "last seen: " + agent.ProbeFailure
	}
	return failuref(v1alpha1.ReasonTargetNotReady,
		"GET %s wasn't answered with success within %d s: %s; check the server's configuration, spec.target.readiness.path and timeoutSeconds%s",
		server.ReadinessPath(&run.Spec), seconds, seen, o.lastWords(server.ContainerName))
}

func readinessSeconds(run *v1alpha1.BenchmarkRun) int32 {
	return ptr.Deref(run.Spec.Target.Readiness.TimeoutSeconds, 300)
}

func targetReadyBy(run *v1alpha1.BenchmarkRun, o *observed) time.Time {
	wait := time.Duration(readinessSeconds(run)) * time.Second
	if o.target == nil {
		return o.job.CreationTimestamp.Add(wait)
	}
	return o.target.CreationTimestamp.Add(wait)
}

// isExternal reports whether Assay doesn't start the target.
func isExternal(run *v1alpha1.BenchmarkRun) bool { return server.IsExternal(&run.Spec.Target) }

// targetWasReady and clientsWereReady are whether they ever were, even if this
// manager hasn't heard of them yet: it may have been restarted.
func targetWasReady(run *v1alpha1.BenchmarkRun) bool {
	return meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionTargetReady)
}

func clientsWereReady(run *v1alpha1.BenchmarkRun) bool {
	return meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionClientsReady)
}

func targetAnswered(run *v1alpha1.BenchmarkRun, o *observed) bool { return evidence(run, o) != nil }

// targetSilent: the agent failed, or its session has been gone for too long, be
// it that this manager never had it.
func targetSilent(run *v1alpha1.BenchmarkRun, o *observed, now time.Time) *failure {
	agent := o.sessions.Agent
	switch {
	case isExternal(run):
		return nil
	case agent == nil && targetWasReady(run) && now.Sub(o.sessions.Since) > silence:
		return failuref(v1alpha1.ReasonTargetLost, "the target's agent was silent for %s: check its node and network", silence)
	case agent == nil:
		return nil
	case agent.Failure != "":
		return failuref(v1alpha1.ReasonTargetLost, "the target's agent failed: %s", agent.Failure)
	case !agent.Connected && now.Sub(agent.DisconnectedSince) > silence:
		return failuref(v1alpha1.ReasonTargetLost, "the target's agent was silent for %s: check the node %s and its network", silence, agent.Node)
	}
	return nil
}

// called is what a container of the target is called in a message.
func called(container string) string {
	if container == server.ContainerName {
		return "the server"
	}
	return "the backend " + container
}

// fieldOf is the field that declares a container of the target.
func fieldOf(container string) string {
	if container == server.ContainerName {
		return "spec.target"
	}
	return "spec.target.backends[" + container + "]"
}

// lastExit is exit, with the last lines of the server's log where the kubelet
// kept none: it doesn't of one that ended with exit code 0, or was killed for
// memory.
func (o *observed) lastExit(container string, end *corev1.ContainerStateTerminated) string {
	text := exit(end)
	if end.Reason == "OOMKilled" {
		text += "; raise " + fieldOf(container) + ".resources.memory, or have it use less"
	}
	if strings.TrimSpace(end.Message) == "" {
		text += o.lastWords(container)
	}
	return text
}
