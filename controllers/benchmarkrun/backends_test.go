package benchmarkrun

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/test/wrapper"
)

// readBackend has the agent have read a backend, which runs on these CPUs.
func (s *scene) readBackend(name, cpus string) *scene {
	s.o.sessions.Agent.Backends = append(s.o.sessions.Agent.Backends, manager.BackendState{Name: name, Latest: &result.ServerUsage{CPUs: cpus, AgentCPUs: "0"}})
	return s
}

// runs has a container of the target run.
func (s *scene) runs(name, id, image string) *scene {
	s.o.target.Status.ContainerStatuses = append(s.o.target.Status.ContainerStatuses, corev1.ContainerStatus{
		Name: name, ContainerID: id, ImageID: image, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
	})
	return s
}

func TestBackendsAreToldToTheAgentAsTheyStart(t *testing.T) {
	s := newScene().withBackend().runs(manifest.AgentContainer, "containerd://a", "assay").runs(server.ContainerName, "containerd://s", "image@1").runs("app", "", "")
	s.o.target.Spec.Containers = append(s.o.target.Spec.Containers, corev1.Container{Name: "proxy"})
	s.runs("proxy", "containerd://p", "proxy")
	p := s.decide()
	if diff := cmp.Diff(map[string]string{"s": "server"}, p.watch.Containers); diff != "" {
		t.Errorf("at first (-want +got):\n%s", diff)
	}
	s.run.Status = p.status
	s.o.target.Status.ContainerStatuses[2].ContainerID, s.o.target.Status.ContainerStatuses[2].ImageID = "containerd://b", "app@1"
	p = s.decide()
	if diff := cmp.Diff(map[string]string{"s": "server", "b": "app"}, p.watch.Containers); diff != "" {
		t.Errorf("then (-want +got):\n%s", diff)
	}
	want := []v1alpha1.BackendStatus{{Name: "app", ImageID: "app@1"}}
	if diff := cmp.Diff(want, p.status.Target.Backends); diff != "" || p.status.Target.ImageID != "image@1" {
		t.Errorf("image %s, backends (-want +got):\n%s", p.status.Target.ImageID, diff)
	}
}

func TestBackendsAreNotToldWithoutAny(t *testing.T) {
	if p := newScene().runs(server.ContainerName, "containerd://s", "image@1").decide(); p.watch.Containers != nil || p.status.Target.Backends != nil {
		t.Errorf("%v %v", p.watch.Containers, p.status.Target.Backends)
	}
}

func TestBackendsKeepWhatIsKnownOfThem(t *testing.T) {
	s := newScene().withBackend().ready().readBackend("app", "2")
	known := v1alpha1.BackendStatus{Name: "app", ImageID: "app@1", ServerVersion: "Tomcat", Connector: "nio", Libraries: []string{"Java"}}
	s.run.Status.Target = &v1alpha1.TargetStatus{Backends: []v1alpha1.BackendStatus{known}}
	if diff := cmp.Diff([]v1alpha1.BackendStatus{known}, s.decide().status.Target.Backends); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBackendsCPUs(t *testing.T) {
	required := func(s *scene) *scene {
		s.run.Spec.Target.Backends[0].Resources = wrapper.Resources("1", "64Mi")
		s.run.Spec.Target.Backends[0].Resources.CPUPinning = v1alpha1.CPUPinningRequired
		return s
	}
	base := func() *scene { return newScene().withBackend().ready() }
	tests := map[string]struct {
		scene  *scene
		reason string
		says   string
	}{
		"not read":            {base(), v1alpha1.ReasonStarting, "CPUs"},
		"required, not read":  {required(base()), v1alpha1.ReasonStarting, "CPUs"},
		"shared":              {base().readBackend("app", "0-3"), v1alpha1.ReasonMeasuring, ""},
		"required, shared":    {required(base()).readBackend("app", "0-3"), v1alpha1.ReasonCPUNotExclusive, "spec.target.backends[app].resources.cpuPinning"},
		"required, its own":   {required(base()).readBackend("app", "2"), v1alpha1.ReasonMeasuring, ""},
		"required, not known": {required(base()).readBackend("app", ""), v1alpha1.ReasonCPUNotExclusive, "Unknown"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := test.scene.decide()
			if got := stateIn(p); got.Reason != test.reason || !strings.Contains(got.Message, test.says) {
				t.Errorf("%s: %s", got.Reason, got.Message)
			}
			if test.reason == v1alpha1.ReasonStarting && !p.read {
				t.Error("nobody asks the agent")
			}
		})
	}
}

func TestBackendsThatFailAreNamed(t *testing.T) {
	at := func(seconds int64, code int32) corev1.ContainerStateTerminated {
		return corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.Unix(begin.Unix()+seconds, 0), Message: "said"}
	}
	waits := func(reason string) *scene {
		s := newScene().withBackend()
		s.o.target.CreationTimestamp.Time = now.Add(-imageGrace * 2)
		s.o.target.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}
		return s
	}
	startError := at(1, 128)
	startError.Reason = "StartError"
	tests := map[string]struct {
		scene  *scene
		reason string
		says   string
	}{
		"it crashes":               {newScene().withBackend().ended("app", at(1, 1)), v1alpha1.ReasonTargetCrashed, "the backend app ended by itself: exit code 1: said"},
		"and then the server":      {newScene().withBackend().ended(server.ContainerName, at(2, 2)).ended("app", at(1, 1)), v1alpha1.ReasonTargetCrashed, "the backend app"},
		"after the server":         {newScene().withBackend().ended("app", at(2, 1)).ended(server.ContainerName, at(1, 2)), v1alpha1.ReasonTargetCrashed, "the server ended by itself: exit code 2"},
		"it has no such command":   {newScene().withBackend().ended("app", startError), v1alpha1.ReasonTargetNotStarted, "check the command in spec.target.backends[app].server"},
		"its image isn't there":    {waits("ErrImagePull"), v1alpha1.ReasonTargetImageUnavailable, "check spec.target.backends[app].image"},
		"it can't be configured":   {waits("CreateContainerConfigError"), v1alpha1.ReasonTargetNotStarted, "container app"},
		"the agent ends with it":   {newScene().withBackend().ended(manifest.AgentContainer, at(1, 1)).ended("app", at(2, 1)), v1alpha1.ReasonTargetCrashed, "the backend app"},
		"the agent ends by itself": {newScene().withBackend().ended(manifest.AgentContainer, at(1, 1)), v1alpha1.ReasonTargetLost, "agent ended"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := stateIn(test.scene.decide()); got.Reason != test.reason || !strings.Contains(got.Message, test.says) {
				t.Errorf("%s: %s; want %s: %s", got.Reason, got.Message, test.reason, test.says)
			}
		})
	}
}

// TestReconcileMeasuresBackends has what a backend used in status and result.
func TestReconcileMeasuresBackends(t *testing.T) {
	b := newBench(t, func(w *wrapper.Run) {
		w.Spec.Target.Backends = []v1alpha1.Backend{{
			Name: "app", Image: "app:1", Server: v1alpha1.BackendServer{Generic: &v1alpha1.GenericServer{Port: new(int32(8081))}},
		}}
	})
	b.reconcile()
	if got := manifest.Servers(b.run, b.targetPod())[1]; got.Image != "app:1" || got.Resources.Limits.Cpu().MilliValue() != 1000 {
		t.Errorf("the backend's container: %+v", got)
	}
	b.podsRun()
	agent := b.sessions.observation.Agent
	agent.Backends = []manager.BackendState{{Name: "app", Latest: &result.ServerUsage{CPUs: "2", AgentCPUs: "0"}}}
	b.reconcile()
	b.wants(v1alpha1.ReasonMeasuring)
	at := b.sessions.starts[measurementStage]
	b.measured(at)
	agent.Backends[0] = manager.BackendState{
		Name: "app", Begin: &result.ServerUsage{At: at}, Latest: &result.ServerUsage{At: at + 1_000_000, UserCPU: 250_000, MaxResident: 9, CPUs: "2", AgentCPUs: "0"},
	}
	agent.Latest.AgentCPUs = "0"
	b.reconcile()
	b.reconcile()
	b.wants(v1alpha1.ReasonCompleted)
	usage := b.run.Status.Target.Backends[0].Usage
	if usage == nil || *usage.UserCPUMicroseconds != 250_000 || *usage.CPUPercent != 25 || *usage.MaxResidentBytes != 9 {
		t.Errorf("usage: %+v", usage)
	}
}
