package benchmarkrun

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
)

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
			return failuref(cmp.Or(scriptReason(client.FailureKind), v1alpha1.ReasonClientFailed), "client %d failed: %s", i, client.Failure)
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
		if t := o.troubles[pod.Name]; t.missing() && now.After(pod.CreationTimestamp.Add(inputGrace)) {
			return failuref(v1alpha1.ReasonConfigurationMissing, "client %d can't be started: %s; create what is missing, and a new run", i, t.ofClient(run))
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

// clientsNotReady: some client didn't report ready in time. One that has a
// session is ready after the target, which has a time of its own.
func clientsNotReady(run *v1alpha1.BenchmarkRun, o *observed, now time.Time) *failure {
	if o.job == nil || clientsWereReady(run) {
		return nil
	}
	for i := range loadplan.Replicas(&run.Spec) {
		client := o.sessions.Clients[i]
		if client.Ready || !now.After(clientReadyBy(run, o, client.Connected)) {
			continue
		}
		pod := o.clients[i]
		if pod == nil {
			return failuref(v1alpha1.ReasonClientsNotReady, "client %d had no pod after %s: see the events of Job %s", i, clientsGrace, o.job.Name)
		}
		if message := unschedulable(pod); message != "" {
			return failuref(v1alpha1.ReasonClientUnschedulable, "no node took client %d within %s: %s; lower spec.clients.resources or replicas, or free a node", i, clientsGrace, message)
		}
		if t := o.troubles[pod.Name]; t != nil {
			return failuref(v1alpha1.ReasonClientsNotReady, "client %d didn't start within %s: %s", i, clientsGrace, t)
		}
		return failuref(v1alpha1.ReasonClientsNotReady, "client %d wasn't ready after %s: see the log of pod %s", i, clientsGrace, pod.Name)
	}
	return nil
}

// clientReadyBy is when a client has to be ready.
func clientReadyBy(run *v1alpha1.BenchmarkRun, o *observed, connected bool) time.Time {
	from := o.job.CreationTimestamp.Time
	if connected {
		ready := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionTargetReady)
		switch {
		case ready == nil || ready.Status != metav1.ConditionTrue:
			from = targetReadyBy(run, o)
		case ready.LastTransitionTime.After(from):
			from = ready.LastTransitionTime.Time
		}
	}
	return from.Add(clientsGrace)
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

func memoryAdvice(end *corev1.ContainerStateTerminated) string {
	if end.Reason == "OOMKilled" {
		return "; raise spec.clients.resources.memory"
	}
	return ""
}
