package run

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/test/wrapper"
)

func TestBackendsAreToldToTheAgentAsTheyStart(t *testing.T) {
	s := newScene().withBackend().runs(manifest.AgentContainer, "containerd://a", "assay").runs(server.ContainerName, "containerd://s", "image@1").runs("app", "", "")
	s.o.Target.Spec.Containers = append(s.o.Target.Spec.Containers, corev1.Container{Name: "proxy"})
	s.runs("proxy", "containerd://p", "proxy")
	p := s.decide()
	if diff := cmp.Diff(map[string]string{"s": "server"}, p.Watch.Containers); diff != "" {
		t.Errorf("at first (-want +got):\n%s", diff)
	}
	s.run.Status = p.Status
	s.o.Target.Status.ContainerStatuses[2].ContainerID, s.o.Target.Status.ContainerStatuses[2].ImageID = "containerd://b", "app@1"
	p = s.decide()
	if diff := cmp.Diff(map[string]string{"s": "server", "b": "app"}, p.Watch.Containers); diff != "" {
		t.Errorf("then (-want +got):\n%s", diff)
	}
	want := []v1alpha1.BackendStatus{{Name: "app", ServerStatus: v1alpha1.ServerStatus{ImageID: "app@1"}}}
	if diff := cmp.Diff(want, p.Status.Target.Backends); diff != "" || p.Status.Target.ImageID != "image@1" {
		t.Errorf("image %s, backends (-want +got):\n%s", p.Status.Target.ImageID, diff)
	}
}

func TestBackendsAreNotToldWithoutAny(t *testing.T) {
	if p := newScene().runs(server.ContainerName, "containerd://s", "image@1").decide(); p.Watch.Containers != nil || p.Status.Target.Backends != nil {
		t.Errorf("%v %v", p.Watch.Containers, p.Status.Target.Backends)
	}
}

func TestBackendsKeepWhatIsKnownOfThem(t *testing.T) {
	s := newScene().withBackend().ready().readBackend("app", "2")
	known := v1alpha1.BackendStatus{Name: "app", ServerStatus: v1alpha1.ServerStatus{
		ImageID: "app@1", ServerVersion: "Tomcat", Connector: "nio", Libraries: []string{"Java"},
	}}
	s.run.Status.Target = &v1alpha1.TargetStatus{Backends: []v1alpha1.BackendStatus{known}}
	if diff := cmp.Diff([]v1alpha1.BackendStatus{known}, s.decide().Status.Target.Backends); diff != "" {
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
			if test.reason == v1alpha1.ReasonStarting && !p.Read {
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
		s.o.Target.CreationTimestamp.Time = now.Add(-pods.ImagePullTimeout * 2)
		s.o.Target.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "app", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}}
		return s
	}
	startError := at(1, 128)
	startError.Reason = "StartError"
	tests := map[string]struct {
		scene  *scene
		reason string
		says   string
	}{
		"it crashes":               {newScene().withBackend().ended("app", at(1, 1)), v1alpha1.ReasonTargetCrashed, "Backend app exited: exit code 1: said"},
		"and then the server":      {newScene().withBackend().ended(server.ContainerName, at(2, 2)).ended("app", at(1, 1)), v1alpha1.ReasonTargetCrashed, "Backend app"},
		"after the server":         {newScene().withBackend().ended("app", at(2, 1)).ended(server.ContainerName, at(1, 2)), v1alpha1.ReasonTargetCrashed, "The server exited: exit code 2"},
		"it has no such command":   {newScene().withBackend().ended("app", startError), v1alpha1.ReasonTargetNotStarted, "Check the command in spec.target.backends[app].server"},
		"its image isn't there":    {waits("ErrImagePull"), v1alpha1.ReasonTargetImageUnavailable, "Check spec.target.backends[app].image"},
		"it can't be configured":   {waits("CreateContainerConfigError"), v1alpha1.ReasonTargetNotStarted, "Container app"},
		"the agent ends with it":   {newScene().withBackend().ended(manifest.AgentContainer, at(1, 1)).ended("app", at(2, 1)), v1alpha1.ReasonTargetCrashed, "Backend app"},
		"the agent ends by itself": {newScene().withBackend().ended(manifest.AgentContainer, at(1, 1)), v1alpha1.ReasonTargetLost, "agent exited"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := stateIn(test.scene.decide()); got.Reason != test.reason || !strings.Contains(got.Message, test.says) {
				t.Errorf("%s: %s; want %s: %s", got.Reason, got.Message, test.reason, test.says)
			}
		})
	}
}
