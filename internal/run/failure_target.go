package run

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/run/inputs"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/server"
)

func targetGone(run *v1alpha1.BenchmarkRun, o *Observed, _ time.Time) *Failure {
	seen := run.Status.Target != nil && run.Status.Target.Node != ""
	if (o.Target == nil && seen) || (o.Target != nil && !o.Target.DeletionTimestamp.IsZero()) {
		return failuref(v1alpha1.ReasonTargetLost, "The target's pod was deleted during the run. Find out what deleted it, and create a new run.")
	}
	return nil
}

// sharingUnsupported fails a run whose servers share a limit that the API server didn't keep.
func sharingUnsupported(run *v1alpha1.BenchmarkRun, o *Observed, _ time.Time) *Failure {
	if run.Spec.Target.SharedCPU == nil || o.Target == nil || o.Target.Spec.Resources != nil {
		return nil
	}
	return failuref(v1alpha1.ReasonInvalidSpec,
		"spec.target.sharedCPU needs pod-level resources, which this cluster doesn't have: the API server dropped resources of the target's pod. "+
			"Use Kubernetes 1.34 or later with the feature gate PodLevelResources, or omit sharedCPU.")
}

// targetEnded fails a run of which a container of the target terminated.
func targetEnded(_ *v1alpha1.BenchmarkRun, o *Observed, now time.Time) *Failure {
	if o.Target == nil {
		return nil
	}
	for _, status := range o.Target.Status.InitContainerStatuses {
		if end := status.State.Terminated; end != nil && end.ExitCode != 0 && status.Name == manifest.ContentContainer {
			return failuref(v1alpha1.ReasonTargetNotStarted, "The target's content could not be written: %s", pods.Exit(end))
		}
	}
	if _, may := pods.MayBeStopping(o.Target, now); may || pods.Stopping(o.Target) {
		return nil
	}
	if status := pods.ServerEnd(o.Target); status != nil {
		end := status.State.Terminated
		if end.Reason == "StartError" || end.Reason == "ContainerCannotRun" {
			return failuref(v1alpha1.ReasonTargetNotStarted, "%s could not be started: %s. Check the command in %s.server.", nameOf(status.Name), pods.Exit(end), fieldOf(status.Name))
		}
		return failuref(v1alpha1.ReasonTargetCrashed, "%s exited: %s", nameOf(status.Name), o.serverExit(status.Name, end))
	}
	if o.Target.Status.Phase == corev1.PodFailed && o.Target.Status.Reason != "" {
		return failuref(v1alpha1.ReasonTargetLost, "The target's pod failed: %s", pods.ReasonOf(o.Target))
	}
	for _, status := range o.Target.Status.ContainerStatuses {
		if end := status.State.Terminated; end != nil {
			return failuref(v1alpha1.ReasonTargetLost, "The target's agent exited: %s", pods.Exit(end))
		}
	}
	return nil
}

// targetMismatch fails a run whose servers, by their logs or the TLS handshake, are not as
// declared. What a version doesn't support comes before what it does differently. Logs under load
// don't count: they aren't about how the servers were started.
func targetMismatch(run *v1alpha1.BenchmarkRun, o *Observed, logged []server.Mismatch) *Failure {
	var found []server.Mismatch
	if !state.UnderLoad(state.Of(run)) {
		found = append(found, logged...)
	}
	if e := probed(run, o); e != nil {
		found = append(found, server.TLSMismatches(&run.Spec.Target, e)...)
	}
	if len(found) == 0 {
		return nil
	}
	reason := v1alpha1.ReasonTargetMismatch
	var said, unsupported []string
	for _, c := range found {
		said = append(said, c.String())
		if c.Unsupported {
			reason = v1alpha1.ReasonTargetUnsupported
			unsupported = append(unsupported, c.String())
		}
	}
	if unsupported != nil {
		said = unsupported
	}
	return failuref(reason, "%s", printable.Bounded(strings.Join(said, " "), maxMessage/2))
}

func targetBlocked(run *v1alpha1.BenchmarkRun, o *Observed, now time.Time) *Failure {
	if o.Target == nil {
		return nil
	}
	if e := o.PodEvents[o.Target.Name]; e.Missing() && now.After(o.Target.CreationTimestamp.Add(inputs.Timeout)) {
		return failuref(v1alpha1.ReasonConfigurationMissing, "The target can't be started: %s. Create what is missing, then create a new run.", e)
	}
	wait := pods.Waiting(o.Target, now)
	switch {
	case wait == nil:
		return nil
	case !wait.Image:
		return failuref(v1alpha1.ReasonTargetNotStarted, "Container %s of the target can't be started: %s", wait.Container, wait.Message)
	}
	for _, c := range manifest.Servers(run, o.Target) {
		if c.Name == wait.Container {
			return failuref(v1alpha1.ReasonTargetImageUnavailable,
				"Image %s can't be pulled: %s. Check %s.image, spec.target.imagePullPolicy and spec.target.imagePullSecrets.", c.Image, wait.Message, fieldOf(c.Name))
		}
	}
	return failuref(v1alpha1.ReasonTargetNotStarted, "The image of Assay's container %s can't be pulled: %s. Check the installation of the operator.", wait.Container, wait.Message)
}

func targetNotReady(run *v1alpha1.BenchmarkRun, o *Observed, now time.Time) *Failure {
	started := o.Target != nil || state.IsExternal(run) && o.Job != nil
	if !started || !now.After(targetReadyBy(run, o)) || probed(run, o) != nil || state.TargetWasReady(run) {
		return nil
	}
	timeout := int(state.ReadinessTimeout(run).Seconds())
	if state.IsExternal(run) {
		return failuref(v1alpha1.ReasonTargetNotReady,
			"Readiness probe GET %s did not succeed within %ds at %s: client 0: %s. Check spec.target.server.external.url, spec.target.readiness.path and the network.",
			server.ReadinessPath(&run.Spec), timeout, server.ExternalURL(&run.Spec.Target), cmp.Or(o.Sessions.Clients[0].ProbeFailure, "it never probed the target"))
	}
	if message := pods.Unschedulable(o.Target); message != "" {
		return failuref(v1alpha1.ReasonTargetUnschedulable, "The target could not be scheduled within %ds: %s. Decrease spec.target.resources, or free a node.", timeout, message)
	}
	if e := o.PodEvents[o.Target.Name]; e != nil {
		return failuref(v1alpha1.ReasonTargetNotStarted, "The target did not start within %ds: %s", timeout, e)
	}
	seen := "the agent never reported"
	if agent := o.Sessions.Agent; agent != nil && agent.ProbeFailure != "" {
		seen = agent.ProbeFailure
	}
	return failuref(v1alpha1.ReasonTargetNotReady,
		"Readiness probe GET %s did not succeed within %ds: %s. Check the server's configuration, spec.target.readiness.path and spec.target.readiness.timeoutSeconds.%s",
		server.ReadinessPath(&run.Spec), timeout, seen, o.logTail(server.ContainerName))
}

// targetLost fails a run whose agent failed, or has had no session with this manager for too long.
func targetLost(run *v1alpha1.BenchmarkRun, o *Observed, now time.Time) *Failure {
	agent := o.Sessions.Agent
	switch {
	case state.IsExternal(run):
		return nil
	case agent == nil && state.TargetWasReady(run) && now.Sub(o.Sessions.Since) > contactTimeout:
		return failuref(v1alpha1.ReasonTargetLost, "The target's agent was disconnected for %s. Check its node and network.", contactTimeout)
	case agent == nil:
		return nil
	case agent.Failure != "":
		return failuref(cmp.Or(reasonOf(agent.FailureKind), v1alpha1.ReasonTargetLost), "The target's agent failed: %s", agent.Failure)
	case !agent.Connected && now.Sub(agent.DisconnectedSince) > contactTimeout:
		return failuref(v1alpha1.ReasonTargetLost, "The target's agent was disconnected for %s. Check %s and its network.", contactTimeout, pods.NodeOf(agent.Node))
	}
	return nil
}

// nameOf returns what a container of the target is called at the start of a message.
func nameOf(container string) string {
	if container == server.ContainerName {
		return "The server"
	}
	return "Backend " + container
}

// fieldOf returns the field that declares a container of the target.
func fieldOf(container string) string {
	if container == server.ContainerName {
		return "spec.target"
	}
	return "spec.target.backends[" + container + "]"
}

// serverExit is like exit, but adds the last lines of the server's log if the kubelet kept none. It
// keeps none of a server that exited with code 0 or was killed for memory.
func (o *Observed) serverExit(container string, end *corev1.ContainerStateTerminated) string {
	text := pods.Exit(end)
	text += pods.MemoryAdvice(end, o.Target, container, fieldOf(container)+".resources.memory")
	if strings.TrimSpace(end.Message) == "" {
		text += o.logTail(container)
	}
	return text
}
