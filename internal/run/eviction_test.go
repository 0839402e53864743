package run

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// disrupt adds the condition of a pod that the cluster evicts.
func disrupt(pod *corev1.Pod, reason, message string) {
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason, Message: message,
	})
}

func deletePod(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: now} }

// terminate ends all containers of a pod.
func terminate(pod *corev1.Pod, exitCode int32) {
	pod.Status.ContainerStatuses = nil
	for _, c := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exitCode}},
		})
	}
}

// TestDecideNamesAnEviction evicts pods in the ways of the cluster's components. What the eviction
// causes, such as the end of the containers, must not be reported in its place.
func TestDecideNamesAnEviction(t *testing.T) {
	const low = "The node was low on resource: memory. "
	target, client := v1alpha1.ReasonTargetEvicted, v1alpha1.ReasonClientEvicted
	stopped := func(s *scene, index int) {
		c := s.o.Sessions.Clients[index]
		c.Failure, c.FailureKind = `the client was stopped by the signal "terminated"`, session.FailureStopped
		s.o.Sessions.Clients[index] = c
	}
	tests := map[string]struct {
		change func(*scene)
		reason string // empty while the run goes on
		says   string
	}{
		"the target, by a drain": {func(s *scene) {
			disrupt(s.o.Target, "EvictionByEvictionAPI", "Eviction API: evicting")
			deletePod(s.o.Target)
		}, target, "evicted from node node: EvictionByEvictionAPI: Eviction API: evicting."},
		"the target, by the kubelet": {func(s *scene) {
			terminate(s.o.Target, 137)
			s.o.Target.Status.Phase, s.o.Target.Status.Reason, s.o.Target.Status.Message = corev1.PodFailed, "Evicted", low
			disrupt(s.o.Target, "TerminationByKubelet", low)
		}, target, "low on resource: memory."},
		"the target, without the condition": {func(s *scene) {
			terminate(s.o.Target, 143)
			s.o.Target.Status.Phase, s.o.Target.Status.Reason, s.o.Target.Status.Message = corev1.PodFailed, "Evicted", low
		}, target, "Evicted: The node was low"},
		"the target's containers have ended, why isn't known yet": {func(s *scene) { terminate(s.o.Target, 137) }, "", ""},
		"an eviction that was given up":                           {func(s *scene) { disrupt(s.o.Target, "EvictionByEvictionAPI", "") }, "", ""},
		"the server crashed":                                      {func(s *scene) { s.ended(server.ContainerName, corev1.ContainerStateTerminated{ExitCode: 137}) }, v1alpha1.ReasonTargetCrashed, "137"},
		"the target, by the kubelet, and its containers exited with 0": {func(s *scene) {
			terminate(s.o.Target, 0)
			s.o.Target.Status.Phase = corev1.PodSucceeded
			s.o.PodEvents = map[string]*pods.Event{s.o.Target.Name: pods.LastWarning([]corev1.Event{
				{Type: corev1.EventTypeWarning, Reason: "Evicted", Message: "Usage of EmptyDir volume exceeds the limit.", LastTimestamp: metav1.NewTime(now)},
				{Type: corev1.EventTypeNormal, Reason: "Killing", LastTimestamp: metav1.NewTime(now.Add(time.Second))},
			})}
		}, target, "Evicted: Usage of EmptyDir volume exceeds the limit."},
		"the server exited a moment ago, as after a signal": {func(s *scene) {
			s.ended(server.ContainerName, corev1.ContainerStateTerminated{ExitCode: 0, FinishedAt: metav1.NewTime(now.Add(-time.Second))})
		}, "", ""},
		"the server exited, and its agent goes on": {func(s *scene) {
			s.ended(server.ContainerName, corev1.ContainerStateTerminated{ExitCode: 0, FinishedAt: metav1.NewTime(now.Add(-pods.StopDelay))})
		}, v1alpha1.ReasonTargetCrashed, "exit code 0"},
		"the server failed by itself a moment ago": {func(s *scene) {
			s.ended(server.ContainerName, corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: metav1.NewTime(now.Add(-time.Second))})
		}, v1alpha1.ReasonTargetCrashed, "exit code 1"},
		"the server was short of memory a moment ago": {func(s *scene) {
			s.ended(server.ContainerName, corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled", FinishedAt: metav1.NewTime(now.Add(-time.Second))})
		}, v1alpha1.ReasonTargetCrashed, "137"},
		"the server exited on a node whose clock is an hour ahead": {func(s *scene) {
			s.ended(server.ContainerName, corev1.ContainerStateTerminated{ExitCode: 137, FinishedAt: metav1.NewTime(now.Add(time.Hour))})
		}, v1alpha1.ReasonTargetCrashed, "137"},
		"all containers crashed": {func(s *scene) {
			terminate(s.o.Target, 1)
			s.o.Target.Status.Phase = corev1.PodFailed
		}, v1alpha1.ReasonTargetCrashed, "exit code 1"},
		"a client, by a pod of higher priority": {func(s *scene) {
			disrupt(s.o.Clients[1], "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod")
			deletePod(s.o.Clients[1])
			stopped(s, 1)
		}, client, "Client 1 was evicted from node node before its measurement was complete: PreemptionByScheduler"},
		"a client, by the kubelet, after it has exited": {func(s *scene) {
			terminate(s.o.Clients[0], 1)
			s.o.Clients[0].Status.Phase = corev1.PodFailed
			disrupt(s.o.Clients[0], "TerminationByKubelet", low)
			stopped(s, 0)
		}, client, "low on resource: memory."},
		"a client was stopped, why isn't known yet": {func(s *scene) { stopped(s, 0) }, "", ""},
		"a client was stopped and deleted": {func(s *scene) {
			stopped(s, 0)
			terminate(s.o.Clients[0], 1)
			s.o.Clients[0].Status.Phase = corev1.PodFailed
			deletePod(s.o.Clients[0])
		}, v1alpha1.ReasonClientLost, "Client 0 was deleted"},
		"a client was stopped by its own signal": {func(s *scene) {
			stopped(s, 0)
			terminate(s.o.Clients[0], 1)
			s.o.Clients[0].Status.Phase = corev1.PodFailed
		}, v1alpha1.ReasonClientFailed, "terminated"},
		"a client was stopped and its pod isn't there": {func(s *scene) {
			stopped(s, 0)
			s.o.Clients[0] = nil
		}, v1alpha1.ReasonClientFailed, "terminated"},
		"a client ended, and the Job deletes the others": {func(s *scene) {
			deletePod(s.o.Clients[0])
			s.o.Clients[1].Status.Phase = corev1.PodFailed
			terminate(s.o.Clients[1], 137)
		}, v1alpha1.ReasonClientFailed, "Client 1 exited before its measurement was complete: exit code 137"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene().started(measurementStage)
			test.change(s)
			s.checkEnd(t, test.reason, test.says)
		})
	}
}

// checkEnd checks that the run ends for a reason, in a message with a text, or doesn't end if the reason is empty.
func (s *scene) checkEnd(t *testing.T, reason, says string) {
	t.Helper()
	got := stateIn(s.decide())
	if reason == "" {
		if got.Status != metav1.ConditionUnknown {
			t.Errorf("the run ends: %+v", got)
		}
		return
	}
	if got.Status != metav1.ConditionFalse || got.Reason != reason || !strings.Contains(got.Message, says) {
		t.Errorf("%s %s: %s; want %s with %q", got.Status, got.Reason, got.Message, reason, says)
	}
}

// TestDecideEndsARunWhosePodStaysSilent checks that waiting for the reason of a pod's end has an end.
func TestDecideEndsARunWhosePodStaysSilent(t *testing.T) {
	s := newScene().started(measurementStage)
	terminate(s.o.Target, 137)
	s.o.Sessions.Agent.Connected, s.o.Sessions.Agent.DisconnectedSince = false, now.Add(-observed.ContactTimeout-time.Second)
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonTargetLost {
		t.Errorf("the target: %+v", got)
	}
	s = newScene().started(measurementStage).clients(func(c *session.ClientState) {
		c.Failure, c.FailureKind = "stopped", session.FailureStopped
		c.Connected, c.DisconnectedSince = false, now.Add(-observed.ContactTimeout-time.Second)
	})
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonClientLost {
		t.Errorf("the clients: %+v", got)
	}
}

// TestFailureHasWhatClientsCounted ends client 1 during the measurement in the ways of a cluster. What had arrived of the counts, and its last
// words, are in the message and in the progress, and no result.
func TestFailureHasWhatClientsCounted(t *testing.T) {
	const (
		last    = `the client was stopped by the signal "terminated", with 5 requests unanswered, the oldest for 2.500s`
		counted = " Until their last messages the clients had counted 700 requests of the measurement, 3 of which failed: they are partial, and no result."
	)
	for name, tc := range map[string]struct {
		leaves, says, evicted bool
		exit                  *corev1.ContainerStateTerminated
		deadline              *int32
		reason, ends          string
	}{
		"deleted, and still connected": {leaves: true, reason: v1alpha1.ReasonMeasuring},
		"evicted, and still connected": {leaves: true, evicted: true, reason: v1alpha1.ReasonMeasuring},
		"deleted":                      {leaves: true, says: true, reason: v1alpha1.ReasonClientLost, ends: counted + " Client 1: " + last + "."},
		"evicted":                      {leaves: true, says: true, evicted: true, reason: v1alpha1.ReasonClientEvicted, ends: counted + " Client 1: " + last + "."},
		"out of memory":                {exit: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}, reason: v1alpha1.ReasonClientFailed, ends: counted},
		"stopped, which it says":       {says: true, exit: &corev1.ContainerStateTerminated{ExitCode: 1}, reason: v1alpha1.ReasonClientFailed, ends: last + counted},
		"the deadline":                 {deadline: ptr.To(int32(1)), reason: v1alpha1.ReasonDeadlineExceeded, ends: counted},
	} {
		s := newScene().started(measurementStage)
		s.run.Spec.ActiveDeadlineSeconds = tc.deadline
		s.o.Sessions.Progress = map[sessionpb.Stage]session.Progress{measurementStage: {Requests: 700, Errors: 3}}
		c, pod := s.o.Sessions.Clients[1], s.o.Clients[1]
		if tc.leaves {
			pod.DeletionTimestamp = &metav1.Time{Time: now.Add(time.Minute)}
		}
		if tc.evicted {
			disrupt(pod, "EvictionByEvictionAPI", "")
		}
		if tc.says {
			c.Failure, c.FailureKind = last, session.FailureStopped
			s.o.Sessions.Clients[1] = c
		}
		if tc.exit != nil {
			pod.Spec = s.o.Job.Spec.Template.Spec
			pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
				Name: pod.Spec.Containers[0].Name, State: corev1.ContainerState{Terminated: tc.exit},
			}}}
		}
		plan := s.decide()
		got, p := stateIn(plan), plan.Status.Progress
		if got.Reason != tc.reason || !strings.HasSuffix(got.Message, tc.ends) || ptr.Deref(p.Requests, 0) != 700 || ptr.Deref(p.Errors, 0) != 3 || plan.Status.Result != nil {
			t.Errorf("%s: %s: %s, progress %+v", name, got.Reason, got.Message, p)
		}
	}
}

func TestAnEvictionAfterTheTotalsLosesNothing(t *testing.T) {
	s := newScene().started(measurementStage)
	c := s.o.Sessions.Clients[0]
	c.Totals = &result.Totals{}
	s.o.Sessions.Clients[0] = c
	disrupt(s.o.Clients[0], "EvictionByEvictionAPI", "Eviction API: evicting")
	deletePod(s.o.Clients[0])
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonMeasuring {
		t.Errorf("%+v", got)
	}
}

// TestDecideNamesTheMemoryLimit checks the message of a client and a server that were killed for
// memory.
func TestDecideNamesTheMemoryLimit(t *testing.T) {
	killed := corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}
	s := newScene()
	s.o.Clients[1].Spec = s.o.Job.Spec.Template.Spec
	s.o.Clients[1].Status = corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
		Name: s.o.Clients[1].Spec.Containers[0].Name, State: corev1.ContainerState{Terminated: &killed},
	}}}
	want := "Client 1 exited before its measurement was complete: exit code 137 (OOMKilled). It exceeded its memory limit of 128Mi. Increase spec.clients.resources.memory"
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonClientFailed || !strings.Contains(got.Message, want) {
		t.Errorf("%+v, want %q", got, want)
	}
	s = newScene().ended(server.ContainerName, killed)
	want = "(OOMKilled). It exceeded its memory limit of 128Mi. Increase spec.target.resources.memory"
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonTargetCrashed || !strings.Contains(got.Message, want) {
		t.Errorf("%+v, want %q", got, want)
	}
}

func TestDecideNamesAProtocolMismatch(t *testing.T) {
	mismatch := session.CheckProtocol(2, session.ProtocolVersion).Error()
	s := newScene().clients(func(c *session.ClientState) { c.Failure, c.FailureKind = mismatch, session.FailureProtocolMismatch })
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonProtocolMismatch || !strings.Contains(got.Message, mismatch) {
		t.Errorf("a client: %+v", got)
	}
	s = newScene()
	s.o.Sessions.Agent.Failure, s.o.Sessions.Agent.FailureKind = mismatch, session.FailureProtocolMismatch
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonProtocolMismatch || !strings.Contains(got.Message, mismatch) {
		t.Errorf("the agent: %+v", got)
	}
}
