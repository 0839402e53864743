package main

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestOutOfMemory(t *testing.T) {
	for reason, want := range map[string]string{
		"OOMKilled": "Container manager exceeded its memory limit of 512Mi and was restarted. Increase resources.limits.memory of the chart.",
		"Error":     "",
	} {
		pod := &corev1.Pod{
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "proxy"}, {
				Name: "manager", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("512Mi")}},
			}}},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "proxy"}, {
				Name: "manager", LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: reason}},
			}}},
		}
		if got := outOfMemory(pod); got != want {
			t.Errorf("%s: %q, want %q", reason, got, want)
		}
	}
}
