package run

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/run/inputs"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/session"
)

const (
	// clientsReadyTimeout is the time that clients may take to become ready.
	clientsReadyTimeout = 5 * time.Minute
)

func jobGone(_ *v1alpha1.BenchmarkRun, o *Observed, _ time.Time) *Failure {
	seen := len(o.Sessions.Clients) > 0
	if (o.Job == nil && seen) || (o.Job != nil && !o.Job.DeletionTimestamp.IsZero()) {
		return failuref(v1alpha1.ReasonClientLost, "The clients' Job was deleted during the run. Find out what deleted it, and create a new run.")
	}
	return nil
}

// clientsDeleted comes after clientEnded: when one client has terminated, the Job deletes the others.
func clientsDeleted(run *v1alpha1.BenchmarkRun, o *Observed, _ time.Time) *Failure {
	for i := range loadplan.Replicas(&run.Spec) {
		if pod := o.Clients[i]; pod != nil && !pod.DeletionTimestamp.IsZero() && o.Sessions.Clients[i].Totals == nil {
			return failuref(v1alpha1.ReasonClientLost, "Client %d was deleted before its measurement was complete. Find out what deleted it, and create a new run.", i)
		}
	}
	return nil
}

// clientEnded fails a run of which a client failed, or terminated by itself before it sent its
// totals.
func clientEnded(run *v1alpha1.BenchmarkRun, o *Observed, _ time.Time) *Failure {
	for i := range loadplan.Replicas(&run.Spec) {
		client, pod := o.Sessions.Clients[i], o.Clients[i]
		if client.Failure != "" && !beingStopped(&client, pod) {
			return failuref(cmp.Or(reasonOf(client.FailureKind), v1alpha1.ReasonClientFailed), "Client %d failed: %s", i, client.Failure)
		}
		if pod == nil || !pods.Ended(pod) || !pod.DeletionTimestamp.IsZero() || client.Totals != nil {
			continue
		}
		for _, status := range pod.Status.ContainerStatuses {
			if end := status.State.Terminated; end != nil {
				return failuref(v1alpha1.ReasonClientFailed, "Client %d exited before its measurement was complete: %s%s", i, pods.Exit(end), pods.MemoryAdvice(end, pod, status.Name, "spec.clients.resources.memory"))
			}
		}
		return failuref(v1alpha1.ReasonClientLost, "Client %d was lost before its measurement was complete: %s", i, pods.ReasonOf(pod))
	}
	return nil
}

// beingStopped reports whether a client was stopped by a signal, but its pod does not show yet why.
func beingStopped(client *session.ClientState, pod *corev1.Pod) bool {
	return client.FailureKind == session.FailureStopped && pod != nil && (!pods.Ended(pod) || !pod.DeletionTimestamp.IsZero())
}

func jobFailed(_ *v1alpha1.BenchmarkRun, o *Observed, _ time.Time) *Failure {
	if o.Job != nil {
		for _, condition := range o.Job.Status.Conditions {
			if condition.Type == "Failed" && condition.Status == corev1.ConditionTrue {
				return failuref(v1alpha1.ReasonClientFailed, "The clients' Job failed: %s: %s", condition.Reason, condition.Message)
			}
		}
	}
	return nil
}

func clientBlocked(run *v1alpha1.BenchmarkRun, o *Observed, now time.Time) *Failure {
	for i := range loadplan.Replicas(&run.Spec) {
		pod := o.Clients[i]
		if pod == nil {
			continue
		}
		if e := o.PodEvents[pod.Name]; e.Missing() && now.After(pod.CreationTimestamp.Add(inputs.Timeout)) {
			return failuref(v1alpha1.ReasonConfigurationMissing, "Client %d can't be started: %s. Create what is missing, then create a new run.", i, e.OfClient(run))
		}
		wait := pods.Waiting(pod, now)
		switch {
		case wait == nil:
		case wait.Image:
			image, remedy := pod.Spec.Containers[0].Image, "Check the installation of the operator."
			if tool := run.Spec.Clients.Tool; tool != nil {
				remedy = "Check spec.clients.tool.image, and the installation of the operator."
			}
			return failuref(v1alpha1.ReasonClientImageUnavailable, "The clients' image %s can't be pulled: %s. %s", image, wait.Message, remedy)
		default:
			return failuref(v1alpha1.ReasonClientFailed, "Client %d can't be started: %s", i, wait.Message)
		}
	}
	return nil
}

// clientsNotReady fails a run of which a client did not become ready in time. A client with a
// session becomes ready after the target, which has its own timeout.
func clientsNotReady(run *v1alpha1.BenchmarkRun, o *Observed, now time.Time) *Failure {
	if o.Job == nil || state.ClientsWereReady(run) {
		return nil
	}
	for i := range loadplan.Replicas(&run.Spec) {
		client := o.Sessions.Clients[i]
		if client.Ready || !now.After(clientReadyBy(run, o, client.Connected)) {
			continue
		}
		pod := o.Clients[i]
		if pod == nil {
			return failuref(v1alpha1.ReasonClientsNotReady, "Client %d had no pod after %s. See the events of Job %s.", i, clientsReadyTimeout, o.Job.Name)
		}
		if message := pods.Unschedulable(pod); message != "" {
			return failuref(v1alpha1.ReasonClientUnschedulable, "Client %d could not be scheduled within %s: %s%s %s", i, clientsReadyTimeout, sentence(message), placementCause(run, o), placementRemedy(run))
		}
		if e := o.PodEvents[pod.Name]; e != nil {
			return failuref(v1alpha1.ReasonClientsNotReady, "Client %d did not start within %s: %s", i, clientsReadyTimeout, e)
		}
		return failuref(v1alpha1.ReasonClientsNotReady, "Client %d was not ready after %s. See the log of pod %s.", i, clientsReadyTimeout, pod.Name)
	}
	return nil
}

func clientReadyBy(run *v1alpha1.BenchmarkRun, o *Observed, connected bool) time.Time {
	from := o.Job.CreationTimestamp.Time
	if connected {
		ready := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionTargetReady)
		switch {
		case ready == nil || ready.Status != metav1.ConditionTrue:
			from = targetReadyBy(run, o)
		case ready.LastTransitionTime.After(from):
			from = ready.LastTransitionTime.Time
		}
	}
	return o.deadline(from, clientsReadyTimeout)
}

// clientLost fails a run of which a client has had no session for too long.
func clientLost(run *v1alpha1.BenchmarkRun, o *Observed, now time.Time) *Failure {
	for i := range loadplan.Replicas(&run.Spec) {
		client, known := o.Sessions.Clients[i]
		since := client.DisconnectedSince
		if !known {
			since = o.Sessions.Since
		}
		if (known || state.ClientsWereReady(run)) && !client.Connected && client.Totals == nil && now.Sub(since) > contactTimeout {
			return failuref(v1alpha1.ReasonClientLost, "Client %d was disconnected for %s. Check %s and its network.", i, contactTimeout, pods.NodeOf(client.Node))
		}
	}
	return nil
}

// reasonOf returns the reason for a failure of a kind that has its own, or "".
func reasonOf(kind session.FailureKind) string {
	switch kind {
	case session.FailureProtocolMismatch:
		return v1alpha1.ReasonProtocolMismatch
	case session.FailureScriptInvalid:
		return v1alpha1.ReasonScriptInvalid
	case session.FailureScriptException:
		return v1alpha1.ReasonScriptException
	case session.FailureScriptAborted:
		return v1alpha1.ReasonScriptAborted
	}
	return ""
}
