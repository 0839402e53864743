package benchmarkrun

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/target"
)

const (
	// imageGrace is how long an image may fail to be pulled before the run ends: a
	// registry may have been out of reach for a moment.
	imageGrace = 20 * time.Second
	// clientsGrace is how long clients may take to be ready, and silence how long
	// a pod that runs may be without a session during the run.
	clientsGrace = 5 * time.Minute
	silence      = 2 * time.Minute
)

// failure is why a run ends without a result: a reason of the condition
// Succeeded, and a message that says what was seen and what to do.
type failure struct {
	reason  string
	message string
}

func failuref(reason, format string, args ...any) *failure {
	return &failure{reason: reason, message: fmt.Sprintf(format, args...)}
}

// failureOf finds what makes it impossible for an admitted run to end with a
// result; nil when nothing does. Once every client's final figures are here,
// nothing that happens to the pods can.
func failureOf(run *v1alpha1.BenchmarkRun, o *observed, now time.Time) *failure {
	if o.conflict != "" {
		return conflict(o.conflict)
	}
	if o.collected(loadplan.Replicas(&run.Spec)) {
		return nil
	}
	if deadline := deadlineOf(run); now.After(deadline) {
		return failuref(v1alpha1.ReasonDeadlineExceeded,
			"the run took longer than spec.activeDeadlineSeconds (%d s): raise it, or give the run less load; it was %s: %s",
			activeDeadline(run), stateOf(run), messageOf(run))
	}
	for _, find := range []func(*v1alpha1.BenchmarkRun, *observed, time.Time) *failure{
		targetGone, contradicted, targetEnded, targetWaits, targetNotReady, targetSilent,
		clientsGone, clientEnded, clientWaits, clientsNotReady, clientSilent,
	} {
		if f := find(run, o, now); f != nil {
			return f
		}
	}
	return nil
}

func conflict(name string) *failure {
	return failuref(v1alpha1.ReasonNameConflict, "%s exists in the namespace and isn't this run's: delete it or give the run another name", name)
}

func activeDeadline(run *v1alpha1.BenchmarkRun) int32 {
	return ptr.Deref(run.Spec.ActiveDeadlineSeconds, 3600)
}

func deadlineOf(run *v1alpha1.BenchmarkRun) time.Time {
	return run.Status.AdmissionTime.Add(time.Duration(activeDeadline(run)) * time.Second)
}

// targetGone: a target that was there has been deleted.
func targetGone(run *v1alpha1.BenchmarkRun, o *observed, _ time.Time) *failure {
	seen := run.Status.Target != nil && run.Status.Target.Node != ""
	if (o.target == nil && seen) || (o.target != nil && !o.target.DeletionTimestamp.IsZero()) {
		return failuref(v1alpha1.ReasonTargetLost, "the target's pod was deleted during the run: find out who did it, and create a new run")
	}
	return nil
}

// targetEnded: the server, or what prepares it, ended by itself.
func targetEnded(_ *v1alpha1.BenchmarkRun, o *observed, _ time.Time) *failure {
	if o.target == nil {
		return nil
	}
	for _, status := range o.target.Status.InitContainerStatuses {
		if end := status.State.Terminated; end != nil && end.ExitCode != 0 && status.Name == contentContainer {
			return failuref(v1alpha1.ReasonTargetNotStarted, "the target's content couldn't be written: %s", exit(end))
		}
	}
	var agentEnd *corev1.ContainerStateTerminated
	for _, status := range o.target.Status.ContainerStatuses {
		end := status.State.Terminated
		if end == nil {
			continue
		}
		if status.Name == agentContainer {
			agentEnd = end // the server's own end, if there is one, says more
			continue
		}
		if end.Reason == "StartError" || end.Reason == "ContainerCannotRun" {
			return failuref(v1alpha1.ReasonTargetNotStarted, "the server couldn't be started: %s; check the command in spec.target.server", exit(end))
		}
		return failuref(v1alpha1.ReasonTargetCrashed, "%s ended by itself: %s", called(status.Name), o.lastExit(status.Name, end))
	}
	if o.target.Status.Phase == corev1.PodFailed && o.target.Status.Reason != "" {
		return failuref(v1alpha1.ReasonTargetLost, "the target's pod failed: %s", podReason(o.target))
	}
	if agentEnd != nil {
		return failuref(v1alpha1.ReasonTargetLost, "the target's agent ended: %s", exit(agentEnd))
	}
	return nil
}

// targetWaits: a container of the target can't be started.
func targetWaits(_ *v1alpha1.BenchmarkRun, o *observed, now time.Time) *failure {
	if o.target == nil {
		return nil
	}
	wait := waiting(o.target, now)
	switch {
	case wait == nil:
		return nil
	case !wait.image:
		return failuref(v1alpha1.ReasonTargetNotStarted, "container %s of the target can't be started: %s", wait.container, wait.message)
	}
	for _, server := range servers(o.target) {
		if server.Name == wait.container {
			return failuref(v1alpha1.ReasonTargetImageUnavailable,
				"the image %s can't be pulled: %s; check spec.target.image, imagePullPolicy and imagePullSecrets", server.Image, wait.message)
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
			target.ReadinessPath(&run.Spec), seconds, run.Spec.Target.Server.External.URL, cmp.Or(o.sessions.Clients[0].Silent, "nothing, it never asked"))
	}
	if message := unschedulable(o.target); message != "" {
		return failuref(v1alpha1.ReasonTargetUnschedulable, "no node took the target within %d s: %s; lower spec.target.resources or free a node", seconds, message)
	}
	seen := "its agent never reported"
	if agent := o.sessions.Agent; agent != nil && agent.Silent != "" {
		seen = "last seen: " + agent.Silent
	}
	return failuref(v1alpha1.ReasonTargetNotReady,
		"GET %s wasn't answered with success within %d s: %s; check the server's configuration, spec.target.readiness.path and timeoutSeconds%s",
		target.ReadinessPath(&run.Spec), seconds, seen, o.lastWords(target.ContainerName))
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

// isExternal is whether the target is one that Assay doesn't start.
func isExternal(run *v1alpha1.BenchmarkRun) bool { return run.Spec.Target.Server.External != nil }

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

// clientsGone: the clients' Job, once there, has been deleted.
func clientsGone(run *v1alpha1.BenchmarkRun, o *observed, _ time.Time) *failure {
	seen := len(o.sessions.Clients) > 0
	if (o.job == nil && seen) || (o.job != nil && !o.job.DeletionTimestamp.IsZero()) {
		return failuref(v1alpha1.ReasonClientLost, "the clients' Job was deleted during the run: find out who did it, and create a new run")
	}
	for i := range loadplan.Replicas(&run.Spec) {
		if pod := o.clients[i]; pod != nil && !pod.DeletionTimestamp.IsZero() && !podEnded(pod) {
			return failuref(v1alpha1.ReasonClientLost, "client %d was deleted before its measurement was complete%s: find out who did it, and create a new run", i, evictionOf(pod))
		}
	}
	return nil
}

// clientEnded: a client ended before its final figures were here.
func clientEnded(run *v1alpha1.BenchmarkRun, o *observed, _ time.Time) *failure {
	for i := range loadplan.Replicas(&run.Spec) {
		client, pod := o.sessions.Clients[i], o.clients[i]
		if client.Failure != "" {
			return failuref(v1alpha1.ReasonClientFailed, "client %d failed: %s", i, client.Failure)
		}
		if pod == nil || !podEnded(pod) || client.Totals != nil {
			continue
		}
		for _, status := range pod.Status.ContainerStatuses {
			if end := status.State.Terminated; end != nil {
				return failuref(v1alpha1.ReasonClientFailed, "client %d ended before its measurement was complete: %s%s", i, exit(end), memoryAdvice(end))
			}
		}
		return failuref(v1alpha1.ReasonClientLost, "client %d was lost before its measurement was complete: %s", i, podReason(pod))
	}
	if o.job != nil {
		for _, condition := range o.job.Status.Conditions {
			if condition.Type == "Failed" && condition.Status == corev1.ConditionTrue {
				return failuref(v1alpha1.ReasonClientFailed, "the clients' Job failed: %s: %s", condition.Reason, condition.Message)
			}
		}
	}
	return nil
}

// clientWaits: a client can't be started.
func clientWaits(run *v1alpha1.BenchmarkRun, o *observed, now time.Time) *failure {
	for i := range loadplan.Replicas(&run.Spec) {
		pod := o.clients[i]
		if pod == nil {
			continue
		}
		wait := waiting(pod, now)
		switch {
		case wait == nil:
		case wait.image:
			return failuref(v1alpha1.ReasonClientImageUnavailable, "the clients' image %s can't be pulled: %s; check how the operator was installed", pod.Spec.Containers[0].Image, wait.message)
		default:
			return failuref(v1alpha1.ReasonClientFailed, "client %d can't be started: %s", i, wait.message)
		}
	}
	return nil
}

// clientsNotReady: some client didn't report ready in time.
func clientsNotReady(run *v1alpha1.BenchmarkRun, o *observed, now time.Time) *failure {
	if o.job == nil || clientsWereReady(run) || !now.After(o.job.CreationTimestamp.Add(clientsGrace)) {
		return nil
	}
	replicas := loadplan.Replicas(&run.Spec)
	for i := range replicas {
		if o.sessions.Clients[i].Ready {
			continue
		}
		pod := o.clients[i]
		if pod == nil {
			return failuref(v1alpha1.ReasonClientsNotReady, "client %d had no pod after %s: see the events of Job %s", i, clientsGrace, o.job.Name)
		}
		if message := unschedulable(pod); message != "" {
			return failuref(v1alpha1.ReasonClientUnschedulable, "no node took client %d within %s: %s; lower spec.clients.resources or replicas, or free a node", i, clientsGrace, message)
		}
		return failuref(v1alpha1.ReasonClientsNotReady, "client %d wasn't ready after %s: see the log of pod %s", i, clientsGrace, pod.Name)
	}
	return nil
}

// clientSilent: a client's session has been gone for too long.
func clientSilent(run *v1alpha1.BenchmarkRun, o *observed, now time.Time) *failure {
	for i := range loadplan.Replicas(&run.Spec) {
		client, known := o.sessions.Clients[i]
		since := client.DisconnectedSince
		if !known {
			since = o.sessions.Since
		}
		if (known || clientsWereReady(run)) && !client.Connected && client.Totals == nil && now.Sub(since) > silence {
			return failuref(v1alpha1.ReasonClientLost, "client %d was silent for %s: check the node %s and its network", i, silence, client.Node)
		}
	}
	return nil
}

// stall is a container that can't be started.
type stall struct {
	container string
	message   string
	// image is whether its image is what is missing.
	image bool
}

// waiting finds a container of a pod that can't be started: at once where
// waiting can't help, after imageGrace where it might.
func waiting(pod *corev1.Pod, now time.Time) *stall {
	statuses := append(append([]corev1.ContainerStatus{}, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...)
	for _, status := range statuses {
		wait := status.State.Waiting
		if wait == nil {
			continue
		}
		s := &stall{container: status.Name, message: strings.TrimSpace(wait.Reason + ": " + wait.Message)}
		switch wait.Reason {
		case "InvalidImageName", "ErrImageNeverPull":
			s.image = true
			return s
		case "ErrImagePull", "ImagePullBackOff", "ImageInspectError", "RegistryUnavailable":
			s.image = true
			if now.After(pod.CreationTimestamp.Add(imageGrace)) {
				return s
			}
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			if now.After(pod.CreationTimestamp.Add(imageGrace)) {
				return s
			}
		}
	}
	return nil
}

func unschedulable(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return condition.Message
		}
	}
	return ""
}

// exit says how a container ended, with the last lines of its log as far as
// the kubelet kept them.
func exit(end *corev1.ContainerStateTerminated) string {
	text := fmt.Sprintf("exit code %d", end.ExitCode)
	if end.Signal != 0 {
		text = fmt.Sprintf("signal %d", end.Signal)
	}
	if end.Reason != "" && end.Reason != "Error" && end.Reason != "Completed" {
		text += " (" + end.Reason + ")"
	}
	if message := strings.TrimSpace(end.Message); message != "" {
		text += ": " + message
	}
	return text
}

// called is what a container of the target is called in a message.
func called(container string) string {
	if container == target.ContainerName {
		return "the server"
	}
	return "the backend " + container
}

// lastExit is exit, with the last lines of the server's log where the kubelet
// kept none: it doesn't of one that ended with exit code 0, or was killed for
// memory.
func (o *observed) lastExit(container string, end *corev1.ContainerStateTerminated) string {
	text := exit(end)
	if end.Reason == "OOMKilled" {
		text += "; raise resources.memory, or have the server use less"
	}
	if strings.TrimSpace(end.Message) == "" {
		text += o.lastWords(container)
	}
	return text
}

func memoryAdvice(end *corev1.ContainerStateTerminated) string {
	if end.Reason == "OOMKilled" {
		return "; raise spec.clients.resources.memory"
	}
	return ""
}

func podReason(pod *corev1.Pod) string {
	if pod.Status.Reason == "" && pod.Status.Message == "" {
		return "no reason given"
	}
	return strings.Trim(pod.Status.Reason+": "+pod.Status.Message, ": ")
}

// evictionOf says why a pod is being deleted, where the cluster says it.
func evictionOf(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.DisruptionTarget && condition.Status == corev1.ConditionTrue {
			return fmt.Sprintf(" (%s: %s)", condition.Reason, condition.Message)
		}
	}
	return ""
}
