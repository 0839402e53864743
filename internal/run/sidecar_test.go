package run

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/validity"
)

// addSidecar adds a running container that a mesh adds to pods, in front of the others.
func addSidecar(pod *corev1.Pod) {
	pod.Spec.Containers = append([]corev1.Container{{Name: "istio-proxy", Image: "proxy:1"}}, pod.Spec.Containers...)
	pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
		Name: "istio-proxy", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	})
}

// end ends one container of a pod, which goes on.
func end(pod *corev1.Pod, container string, end corev1.ContainerStateTerminated) {
	pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: container, State: corev1.ContainerState{Terminated: &end}})
}

// TestDecideReadsContainersNextToSidecars ends containers of Assay's, and of the cluster's, in pods that go on running.
func TestDecideReadsContainersNextToSidecars(t *testing.T) {
	killed := corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled", FinishedAt: metav1.NewTime(now)}
	tests := map[string]struct {
		change func(*scene)
		reason string // empty while the run goes on
		says   string
	}{
		"a client is killed for memory": {func(s *scene) { end(s.o.Clients[1], "client", killed) },
			v1alpha1.ReasonClientFailed, "Client 1 exited before its measurement was complete: exit code 137 (OOMKilled)"},
		"a client fails": {func(s *scene) {
			end(s.o.Clients[0], "client", corev1.ContainerStateTerminated{ExitCode: 1, Message: "no route"})
		},
			v1alpha1.ReasonClientFailed, "Client 0 exited before its measurement was complete: exit code 1: no route"},
		"a client is stopped, perhaps with its pod": {func(s *scene) {
			end(s.o.Clients[0], "client", corev1.ContainerStateTerminated{ExitCode: 143, FinishedAt: metav1.NewTime(now.Add(-time.Second))})
		}, "", ""},
		"a client is stopped, and its pod goes on": {func(s *scene) {
			end(s.o.Clients[0], "client", corev1.ContainerStateTerminated{ExitCode: 143, FinishedAt: metav1.NewTime(now.Add(-pods.StopDelay))})
		}, v1alpha1.ReasonClientFailed, "exit code 143"},
		"a client says that it was stopped, and its pod goes on": {func(s *scene) {
			end(s.o.Clients[0], "client", corev1.ContainerStateTerminated{ExitCode: 1})
			c := s.o.Sessions.Clients[0]
			c.Failure, c.FailureKind = "the client was stopped", session.FailureStopped
			s.o.Sessions.Clients[0] = c
		}, v1alpha1.ReasonClientFailed, "Client 0 failed: the client was stopped"},
		"the server is killed for memory": {func(s *scene) { end(s.o.Target, server.ContainerName, killed) },
			v1alpha1.ReasonTargetCrashed, "The server exited: exit code 137 (OOMKilled)"},
		"the agent fails": {func(s *scene) { end(s.o.Target, manifest.AgentContainer, corev1.ContainerStateTerminated{ExitCode: 2}) },
			v1alpha1.ReasonTargetLost, "The target's agent exited: exit code 2"},
		"another sidecar of the target ends": {func(s *scene) { end(s.o.Target, "init-certs", corev1.ContainerStateTerminated{ExitCode: 1}) }, "", ""},
		"another sidecar of a client ends":   {func(s *scene) { end(s.o.Clients[0], "init-certs", corev1.ContainerStateTerminated{ExitCode: 1}) }, "", ""},
		"an init container of the cluster's fails in the target": {func(s *scene) {
			s.o.Target.Status = corev1.PodStatus{Phase: corev1.PodFailed, InitContainerStatuses: []corev1.ContainerStatus{{
				Name: "istio-init", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3}},
			}}}
		}, v1alpha1.ReasonTargetLost, "its init container istio-init failed: exit code 3"},
		"an init container of the cluster's fails in a client": {func(s *scene) {
			s.o.Clients[0].Status = corev1.PodStatus{Phase: corev1.PodFailed, InitContainerStatuses: []corev1.ContainerStatus{{
				Name: "istio-init", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3}},
			}}}
		}, v1alpha1.ReasonClientLost, "its init container istio-init failed: exit code 3"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene().started(measurementStage)
			for _, pod := range s.o.Pods() {
				addSidecar(pod)
			}
			test.change(s)
			s.checkEnd(t, test.reason, test.says)
		})
	}
}

// TestInjectedContainersInvalidate changes pods as a mesh does, and checks the result of the run.
func TestInjectedContainersInvalidate(t *testing.T) {
	mesh := func(clients ...int) *scene {
		s := newScene().collected().sampled()
		s.run.Spec.AcceptedFindings = []v1alpha1.FindingReason{"NothingSucceeded", "ClientLimited"}
		pods := []*corev1.Pod{s.o.Target}
		for _, i := range clients {
			s.o.Clients[i].Annotations = maps.Clone(s.o.Job.Spec.Template.Annotations)
			pods = append(pods, s.o.Clients[i])
		}
		for _, pod := range pods {
			whole := &corev1.Pod{ObjectMeta: pod.ObjectMeta, Spec: s.o.Job.Spec.Template.Spec}
			if pod == s.o.Target {
				whole.Spec = pod.Spec
			}
			whole.Spec.Containers = append(slices.Clone(whole.Spec.Containers), corev1.Container{Name: "istio-proxy", Image: "proxy:1\x1b[31m"})
			addSidecar(pod)
			manifest.NoteChanges(pod, whole)
		}
		return s
	}
	found := func(s *scene) (reasons []string, r *result.Result) {
		r = stored(t, s.decide())
		for _, f := range r.Findings {
			if f.Severity == result.Invalidates {
				reasons = append(reasons, f.Reason)
			}
		}
		return reasons, r
	}
	before, _ := found(newScene().collected().sampled())
	reasons, r := found(mesh(0, 1))
	if !slices.Contains(reasons, validity.ReasonContainerInjected) || !slices.Contains(reasons, validity.ReasonPodChanged) || len(reasons) > len(before)+2 {
		t.Errorf("%v, without the mesh %v", reasons, before)
	}
	want := []result.PodChange{
		{Role: "Target", Pods: 1, Field: "containers[istio-proxy]", Is: "proxy:1[31m", Effect: "Container"},
		{Role: "Target", Pods: 1, Field: "qosClass", Was: "Guaranteed", Is: "Burstable", Effect: "Resources"},
		{Role: "Client", Pods: 2, Field: "containers[istio-proxy]", Is: "proxy:1[31m", Effect: "Container"},
		{Role: "Client", Pods: 2, Field: "qosClass", Was: "Guaranteed", Is: "Burstable", Effect: "Resources"},
	}
	if diff := cmp.Diff(want, r.Environment.PodChanges); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	s := mesh(1)
	s.run.Spec.AcceptedFindings = append(s.run.Spec.AcceptedFindings, validity.ReasonContainerInjected, validity.ReasonPodChanged)
	if reasons, r := found(s); slices.Contains(reasons, validity.ReasonContainerInjected) || slices.Contains(reasons, validity.ReasonPodChanged) || r.Environment.PodChanges[2].Pods != 1 {
		t.Errorf("accepted: %v", reasons)
	}

	s = mesh(0, 1)
	for _, pod := range s.o.Pods() { // it ended before the measurement
		pod.Status.ContainerStatuses = nil
		end(pod, "istio-proxy", corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(now.Add(-time.Minute))})
	}
	if reasons, r := found(s); slices.Contains(reasons, validity.ReasonContainerInjected) || r.Environment.PodChanges[0].Effect != "" {
		t.Errorf("it had ended: %v", reasons)
	}
}

// TestClientsThatFinishedNextToSidecarsAreRemoved checks that a Job whose pods never end by themselves isn't waited for.
func TestClientsThatFinishedNextToSidecarsAreRemoved(t *testing.T) {
	s := newScene()
	s.run.Status.CompletionTime = new(metav1.NewTime(now.Add(-time.Second)))
	s.run.Status.Conditions = append(s.run.Status.Conditions,
		metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue}, metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionTrue})
	for _, pod := range s.o.Clients {
		addSidecar(pod)
	}
	if got := s.decide(); len(got.Delete) != 1 || got.Delete[0] != manifest.Object(s.o.Target) {
		t.Errorf("while the clients exit: %v", names(got.Delete))
	}
	for _, pod := range s.o.Clients {
		end(pod, "client", corev1.ContainerStateTerminated{})
	}
	if got := names(s.decide().Delete); len(got) != 3 || got[1] != s.o.Job.Name {
		t.Errorf("when they have: %v", got)
	}
}
