package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lastEnd reports, once, that the manager's container was killed for memory before it was started
// again. Runs survive that, so nothing else would tell the administrator to raise the limit.
type lastEnd struct {
	client client.Reader
	events events.EventRecorder
	pod    types.NamespacedName
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (lastEnd) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable. A manager that may not read its own pod reports nothing.
func (l lastEnd) Start(ctx context.Context) error {
	log := ctrl.LoggerFrom(ctx)
	var pod corev1.Pod
	if err := l.client.Get(ctx, l.pod, &pod); err != nil {
		log.V(1).Info("Failed to read the manager's own pod", "error", err.Error())
		return nil
	}
	if message := outOfMemory(&pod); message != "" {
		log.Info(message)
		l.events.Eventf(&pod, nil, corev1.EventTypeWarning, "OutOfMemory", "Restart", "%s", message)
	}
	return nil
}

// outOfMemory describes the last end of a container of a pod that was killed for memory, or returns
// "".
func outOfMemory(pod *corev1.Pod) string {
	for _, status := range pod.Status.ContainerStatuses {
		end := status.LastTerminationState.Terminated
		if end == nil || end.Reason != "OOMKilled" {
			continue
		}
		for _, c := range pod.Spec.Containers {
			if c.Name == status.Name {
				return fmt.Sprintf("Container %s exceeded its memory limit of %s and was restarted. Increase resources.limits.memory of the chart.",
					c.Name, c.Resources.Limits.Memory())
			}
		}
	}
	return ""
}
