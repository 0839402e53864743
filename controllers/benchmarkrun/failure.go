package benchmarkrun

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
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
