package run

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/server"
)

func recreated(p step.Plan) bool {
	return slices.ContainsFunc(p.Status.Timeline, func(e v1alpha1.TimelineEntry) bool { return e.Event == v1alpha1.EventTargetRecreated })
}

// TestDecideRecreatesATargetOnce follows a target whose kubelet is restarted while it starts the server: once, and again.
func TestDecideRecreatesATargetOnce(t *testing.T) {
	canceled := corev1.ContainerStateTerminated{ExitCode: 128, Reason: "StartError", Message: "failed to create containerd task: context canceled"}
	s := newScene().ended(server.ContainerName, canceled)
	s.run.Status.Target = &v1alpha1.TargetStatus{Node: "node"}
	old := s.o.Target

	p := s.decide()
	if got := stateIn(p); got.Reason != v1alpha1.ReasonStarting || !strings.Contains(got.Message, "context canceled") || !slices.Contains(names(p.Delete), old.Name) || !recreated(p) {
		t.Fatalf("the server could not be started: %+v, deleted %v", got, names(p.Delete))
	}
	s.run.Status = p.Status
	s.o.Target = old.DeepCopy()
	deletePod(s.o.Target)
	if p = s.decide(); stateIn(p).Reason != v1alpha1.ReasonStarting || len(p.Delete) != 0 {
		t.Fatalf("while the pod is deleted: %+v, deleted %v", stateIn(p), names(p.Delete))
	}
	s.run.Status, s.o.Target = p.Status, nil
	if p = s.decide(); stateIn(p).Reason != v1alpha1.ReasonStarting || !creates(p, old.Name) {
		t.Fatalf("when it is gone: %+v", stateIn(p))
	}
	s.run.Status = p.Status
	s.o.Target = newScene().o.Target
	s.o.Target.CreationTimestamp = metav1.NewTime(now.Add(time.Second))
	if p = s.decide(); stateIn(p).Reason != v1alpha1.ReasonStarting || len(p.Delete) != 0 {
		t.Fatalf("with the new pod: %+v", stateIn(p))
	}
	s.run.Status = p.Status
	s.ended(server.ContainerName, canceled)
	if p = s.decide(); stateIn(p).Reason != v1alpha1.ReasonTargetNotStarted {
		t.Errorf("when that could not be started either: %+v", stateIn(p))
	}

	for name, end := range map[string]corev1.ContainerStateTerminated{
		"no such command":        {ExitCode: 128, Reason: "StartError", Message: `exec: "x": executable file not found in $PATH`},
		"the server's own words": {ExitCode: 1, Reason: "Error", Message: "context canceled"},
	} {
		if p := newScene().ended(server.ContainerName, end).decide(); stateIn(p).Status != metav1.ConditionFalse {
			t.Errorf("%s: %+v", name, stateIn(p))
		}
	}
}

// TestDecideNamesAManagerOutOfReach checks what is said of pods that run and have had no session.
func TestDecideNamesAManagerOutOfReach(t *testing.T) {
	running := func(name string, since time.Time) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{Name: name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(since)}}}}
	}
	s := newScene()
	s.o.Settings.SessionAddress, s.o.Settings.Namespace = "assay-session.assay-system.svc:9443", "assay-system"
	s.o.Sessions.Agent, s.o.Sessions.Clients = nil, nil
	s.o.Target.Status.ContainerStatuses = running("agent", now.Add(-19*time.Second))
	if got := stateIn(s.decide()).Message; !strings.Contains(got, "The target is starting.") {
		t.Errorf("after 19s: %s", got)
	}
	s.o.Target.Status.ContainerStatuses = running("agent", now.Add(-20*time.Second))
	if got := stateIn(s.decide()).Message; !strings.Contains(got, "The target's agent runs, but has not connected to the manager at assay-session.assay-system.svc:9443 yet.") {
		t.Errorf("after 20s: %s", got)
	}
	s.o.Target.CreationTimestamp = metav1.NewTime(now.Add(-301 * time.Second))
	s.o.Logs = map[string]string{"agent": "dial tcp 10.96.0.1:9443: i/o timeout\n"}
	got := stateIn(s.decide())
	for _, want := range []string{
		"The target's agent did not connect to the manager at assay-session.assay-system.svc:9443 within 300s", "NetworkPolicy", "namespace ns need egress to port 9443",
		"kubectl logs run-target -c agent -n ns", "i/o timeout",
	} {
		if got.Reason != v1alpha1.ReasonTargetNotReady || !strings.Contains(got.Message, want) || strings.Contains(got.Message, "readiness.path") {
			t.Errorf("%s: %s, want %q", got.Reason, got.Message, want)
		}
	}

	s = newScene().ready()
	s.o.Settings.SessionAddress = "assay-session.assay-system.svc:9443"
	delete(s.o.Sessions.Clients, 1)
	s.o.Clients[1].Status.ContainerStatuses = running("client", now.Add(-time.Minute))
	s.o.Job.CreationTimestamp = metav1.NewTime(now.Add(-301 * time.Second))
	s.run.Status.AdmissionTime = &s.o.Job.CreationTimestamp
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonClientsNotReady || !strings.Contains(got.Message, "Client 1 did not connect to the manager at assay-session.assay-system.svc:9443 within 300s") {
		t.Errorf("a client: %s: %s", got.Reason, got.Message)
	}
}
