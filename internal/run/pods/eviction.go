package pods

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/printable"
)

// EvictedReason is the reason of the kubelet's event about a pod that it evicts, and of the pod's status.
const EvictedReason = "Evicted"

// Eviction returns why a pod was evicted, or "". pod may be nil. The condition alone does not mean
// that the pod goes: what set it may have been refused the deletion.
func Eviction(pod *corev1.Pod) string {
	if pod == nil || pod.DeletionTimestamp.IsZero() && !Ended(pod) {
		return ""
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.DisruptionTarget && condition.Status == corev1.ConditionTrue {
			return printable.WithoutPeriod(condition.Reason + ": " + condition.Message)
		}
	}
	// The reasons of the kubelet's eviction manager, of its admission of critical pods and of a
	// node's shutdown.
	if Ended(pod) && slices.Contains([]string{EvictedReason, "Preempting", "Terminated", "NodeShutdown"}, pod.Status.Reason) {
		return printable.WithoutPeriod(ReasonOf(pod))
	}
	return ""
}

// StopDelay is the time after the exit of a server in which the kubelet may turn out to have stopped the
// whole pod: it writes the end of each container as it comes, and only then why it stopped the pod.
const StopDelay = 3 * time.Second

// MayBeStopping reports whether a server exited so recently, and as a program does that receives a
// signal, that the pod may be stopping, and until when. It doesn't wait for a node whose clock differs
// by more than stopDelay. pod may be nil.
func MayBeStopping(run *v1alpha1.BenchmarkRun, pod *corev1.Pod, now time.Time) (until time.Time, may bool) {
	if pod == nil || Ended(pod) {
		return time.Time{}, false
	}
	status := ServerEnd(run, pod)
	if status == nil {
		return time.Time{}, false
	}
	return mayBeStopped(status.State.Terminated, now)
}

func mayBeStopped(end *corev1.ContainerStateTerminated, now time.Time) (until time.Time, may bool) {
	if !slices.Contains([]int32{0, 128 + 15, 128 + 9}, end.ExitCode) || end.Reason == "OOMKilled" {
		return time.Time{}, false
	}
	until = end.FinishedAt.Add(StopDelay)
	return until, now.Before(until) && until.Sub(now) <= 2*StopDelay
}

// ClientEnded reports whether the client of a pod has terminated, and why is known: with its pod, or next to a container of the
// cluster that goes on. pod may be nil. Until may be the time at which it is known.
func ClientEnded(pod *corev1.Pod, now time.Time) (ended bool, until time.Time) {
	if pod == nil || Ended(pod) {
		return pod != nil, time.Time{}
	}
	end := ContainerEnd(pod, manifest.ClientContainer)
	if end == nil || ContainersEnded(pod) {
		return false, time.Time{}
	}
	until, stopping := mayBeStopped(end, now)
	return !stopping, until
}

// Stopping reports whether all containers of a pod have terminated but the pod hasn't: the kubelet
// writes their end before it writes why it stopped the pod. A target's containers don't all exit by
// themselves.
func Stopping(pod *corev1.Pod) bool { return ContainersEnded(pod) && !Ended(pod) }
