package run

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
)

// evictedReason is the reason of the kubelet's event about a pod that it evicts, and of the pod's status.
const evictedReason = "Evicted"

// evicted fails a run of which the cluster evicted a pod: for a drained node, for a pod of higher
// priority, or because the node or the pod was short of memory or disk space. It comes before what
// the pod's containers show, whose end is a consequence.
func evicted(run *v1alpha1.BenchmarkRun, o *Observed, _ time.Time) *Failure {
	why := eviction(o.Target)
	if why == "" && o.Target != nil && PodEnded(o.Target) {
		if e := o.PodEvents[o.Target.Name]; e != nil && e.Reason == evictedReason {
			why = withoutPeriod(e.String())
		}
	}
	if why != "" {
		return failuref(v1alpha1.ReasonTargetEvicted, "The target's pod was evicted from %s: %s. Resolve the cause, and create a new run.", nodeOf(o.Target.Spec.NodeName), why)
	}
	for i := range loadplan.Replicas(&run.Spec) {
		pod := o.Clients[i]
		if why := eviction(pod); why != "" && o.Sessions.Clients[i].Totals == nil {
			return failuref(v1alpha1.ReasonClientEvicted, "Client %d was evicted from %s before its measurement was complete: %s. Resolve the cause, and create a new run.",
				i, nodeOf(pod.Spec.NodeName), why)
		}
	}
	return nil
}

// eviction returns why a pod was evicted, or "". pod may be nil. The condition alone does not mean
// that the pod goes: what set it may have been refused the deletion.
func eviction(pod *corev1.Pod) string {
	if pod == nil || pod.DeletionTimestamp.IsZero() && !PodEnded(pod) {
		return ""
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.DisruptionTarget && condition.Status == corev1.ConditionTrue {
			return withoutPeriod(condition.Reason + ": " + condition.Message)
		}
	}
	// The reasons of the kubelet's eviction manager, of its admission of critical pods and of a
	// node's shutdown.
	if PodEnded(pod) && slices.Contains([]string{evictedReason, "Preempting", "Terminated", "NodeShutdown"}, pod.Status.Reason) {
		return withoutPeriod(podReason(pod))
	}
	return ""
}

// stopDelay is the time after the exit of a server in which the kubelet may turn out to have stopped the
// whole pod: it writes the end of each container as it comes, and only then why it stopped the pod.
const stopDelay = 3 * time.Second

// mayBeStopping reports whether a server exited so recently, and as a program does that receives a
// signal, that the pod may be stopping, and until when. It doesn't wait for a node whose clock differs
// by more than stopDelay. pod may be nil.
func mayBeStopping(pod *corev1.Pod, now time.Time) (until time.Time, may bool) {
	if pod == nil || PodEnded(pod) {
		return time.Time{}, false
	}
	status := serverEnd(pod)
	if status == nil || !slices.Contains([]int32{0, 128 + 15, 128 + 9}, status.State.Terminated.ExitCode) || status.State.Terminated.Reason == "OOMKilled" {
		return time.Time{}, false
	}
	until = status.State.Terminated.FinishedAt.Add(stopDelay)
	return until, now.Before(until) && until.Sub(now) <= 2*stopDelay
}

// stopping reports whether all containers of a pod have terminated but the pod hasn't: the kubelet
// writes their end before it writes why it stopped the pod. A target's containers don't all exit by
// themselves.
func stopping(pod *corev1.Pod) bool { return ContainersEnded(pod) && !PodEnded(pod) }
