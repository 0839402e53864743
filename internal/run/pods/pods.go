// Package pods tells what a pod of a run shows by itself: whether it starts, why it can't, how it ended and
// whether the cluster evicted it.
package pods

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
)

// StopDeadline is the activeDeadlineSeconds of a pod that must terminate but is kept: the kubelet stops a pod whose
// deadline has passed.
const StopDeadline = 1

// WasStopped reports whether a pod was given the deadline that stops it.
func WasStopped(pod *corev1.Pod) bool {
	return ptr.Deref(pod.Spec.ActiveDeadlineSeconds, math.MaxInt64) <= StopDeadline
}

// ImagePullTimeout is the time for which pulling may fail: a registry may be out of reach for a
// moment.
const ImagePullTimeout = 20 * time.Second

// Ended reports whether all containers of a pod have terminated for good.
func Ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// ContainersEnded reports whether all containers of a pod have terminated, for good since none is restarted. It takes
// the kubelet about a second more to end the pod.
func ContainersEnded(pod *corev1.Pod) bool {
	statuses := pod.Status.ContainerStatuses
	return Ended(pod) || len(statuses) > 0 && len(statuses) == len(pod.Spec.Containers) &&
		!slices.ContainsFunc(statuses, func(s corev1.ContainerStatus) bool { return s.State.Terminated == nil })
}

// ContainerEnd returns how a container of a pod terminated, or nil. A pod in which the cluster runs containers of its own may go on
// without it.
func ContainerEnd(pod *corev1.Pod, name string) *corev1.ContainerStateTerminated {
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].Name == name {
			return pod.Status.ContainerStatuses[i].State.Terminated
		}
	}
	return nil
}

// RunningSince returns the time since which a container of a pod runs, or zero.
func RunningSince(pod *corev1.Pod, name string) time.Time {
	for i := range pod.Status.ContainerStatuses {
		if s := &pod.Status.ContainerStatuses[i]; s.Name == name && s.State.Running != nil {
			return s.State.Running.StartedAt.Time
		}
	}
	return time.Time{}
}

// containerStatuses returns those of the init containers, then those of the others.
func containerStatuses(pod *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
}

// Starting reports whether a pod has a node but none of its containers has started. pod may be nil.
func Starting(pod *corev1.Pod) bool {
	if pod == nil || pod.Spec.NodeName == "" || pod.Status.Phase != corev1.PodPending {
		return false
	}
	return !slices.ContainsFunc(containerStatuses(pod), func(status corev1.ContainerStatus) bool {
		return status.State.Running != nil || status.State.Terminated != nil
	})
}

// Blocked says which container of a pod can't be started, and why.
type Blocked struct {
	Container string
	Message   string
	// Image reports whether its image can't be pulled.
	Image bool
	// final reports whether waiting can't help.
	final bool
}

// IsBlocked reports whether a container of a pod can't be started.
func IsBlocked(pod *corev1.Pod) bool { return blockedIn(pod) != nil }

// blockedIn returns a container of a pod that can't be started, or nil.
func blockedIn(pod *corev1.Pod) *Blocked {
	for _, status := range containerStatuses(pod) {
		wait := status.State.Waiting
		if wait == nil {
			continue
		}
		b := &Blocked{Container: status.Name, Message: strings.Trim(wait.Reason+": "+wait.Message, ": ")}
		switch wait.Reason {
		case "InvalidImageName", "ErrImageNeverPull":
			b.Image, b.final = true, true
			return b
		case "ErrImagePull", "ImagePullBackOff", "ImageInspectError", "RegistryUnavailable":
			b.Image = true
			return b
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			return b
		}
	}
	return nil
}

// Waiting returns a container that can't be started, at once or after imagePullTimeout.
func Waiting(pod *corev1.Pod, now time.Time) *Blocked {
	if pod == nil {
		return nil
	}
	b := blockedIn(pod)
	if b == nil || !b.final && !now.After(pod.CreationTimestamp.Add(ImagePullTimeout)) {
		return nil
	}
	return b
}

// Unschedulable returns why no node was found for a pod, or "".
func Unschedulable(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return condition.Message
		}
	}
	return ""
}

// NeverRan reports whether a container terminated because it could not be started.
func NeverRan(end *corev1.ContainerStateTerminated) bool {
	return end.Reason == "StartError" || end.Reason == "ContainerCannotRun"
}

// Exit describes how a container terminated, with the end of its log if the kubelet kept that.
func Exit(end *corev1.ContainerStateTerminated) string {
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

// MemoryAdvice returns what to do about a container that was killed for memory, and the empty
// string for any other end. field is the field of its memory limit.
//
// The kubelet may lack the reason OOMKilled: a container runtime that is short of CPU reports the
// end of a container before it has learned of the kernel's OOM event.
func MemoryAdvice(end *corev1.ContainerStateTerminated, pod *corev1.Pod, container, field string) string {
	const killed = 128 + 9 // by SIGKILL
	limit := ""
	for _, c := range pod.Spec.Containers {
		if memory, ok := c.Resources.Limits[corev1.ResourceMemory]; ok && c.Name == container {
			limit = " of " + memory.String()
		}
	}
	switch {
	case end.Reason == "OOMKilled":
		return ". It exceeded its memory limit" + limit + ". Increase " + field + ", or let it use less."
	case end.ExitCode == killed || end.Signal == 9:
		return ". It was killed by SIGKILL, which is how the kernel ends a container that exceeds its memory limit" + limit + ". If nobody else killed it, increase " + field + "."
	}
	return ""
}

// NodeOf returns how a message refers to a pod's node, whose name may be unknown.
func NodeOf(name string) string {
	if name == "" {
		return "its node"
	}
	return "node " + name
}

// ReasonOf returns the reason and the message of a pod's status.
func ReasonOf(pod *corev1.Pod) string {
	if pod.Status.Reason == "" && pod.Status.Message == "" {
		for _, status := range pod.Status.InitContainerStatuses {
			if end := status.State.Terminated; end != nil && end.ExitCode != 0 {
				return "its init container " + status.Name + " failed: " + Exit(end)
			}
		}
		return "no reason given"
	}
	return strings.Trim(pod.Status.Reason+": "+pod.Status.Message, ": ")
}

// ServerEnd returns the server that terminated first, or nil.
func ServerEnd(run *v1alpha1.BenchmarkRun, pod *corev1.Pod) *corev1.ContainerStatus {
	var first *corev1.ContainerStatus
	for i := range pod.Status.ContainerStatuses {
		status := &pod.Status.ContainerStatuses[i]
		if !manifest.IsServer(run, status.Name) || status.State.Terminated == nil {
			continue
		}
		if first == nil || status.State.Terminated.FinishedAt.Before(&first.State.Terminated.FinishedAt) {
			first = status
		}
	}
	return first
}
