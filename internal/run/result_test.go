package run

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/requestlist"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
)

// stored returns the result that a plan stores.
func stored(t *testing.T, p step.Plan) *result.Result {
	t.Helper()
	if !creates(p, "run-result") {
		t.Fatalf("no result is stored: %+v", stateIn(p))
	}
	r, err := artifact.Decode(p.Store.Object.(*corev1.ConfigMap).BinaryData[artifact.Key])
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sampled makes the agent have sampled the server after the load.
func (s *scene) sampled() *scene {
	s.o.Sessions.Agent.Latest.At = now.UnixMicro()
	return s
}

// TestResultNamesItsListOfRequests checks the list of requests of a result, also
// when its ConfigMaps are gone.
func TestResultNamesItsListOfRequests(t *testing.T) {
	list, err := requestlist.Encode([]requestlist.Entry{{Method: "GET", Path: "/a", Weight: 1}, {Method: "POST", Path: "/b", Weight: 3}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int64{"there": 2, "gone": 0} {
		s := newScene().collected().sampled()
		s.run.Spec.Load.RequestsFrom = &v1alpha1.RequestsSource{ConfigMapKeyRef: v1alpha1.ConfigMapKeyReference{Name: "urls", Key: "list.txt"}}
		s.o.Config = nil
		if name == "there" {
			if s.o.Config, err = manifest.ConfigMap(s.run, &server.Rendering{}, &manifest.Inputs{Requests: list}, nil); err != nil {
				t.Fatal(err)
			}
		}
		got := stored(t, s.decide()).Run.RequestList
		if diff := cmp.Diff(&result.RequestList{ConfigMap: "urls", Key: "list.txt", Requests: want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestEnvironmentIsWhatWasObserved checks that the environment comes from the pod,
// the agent, the node and the logs as they are now, and from the status only where
// they are gone.
func TestEnvironmentIsWhatWasObserved(t *testing.T) {
	recorded := &v1alpha1.TargetStatus{
		Node: "old-node", Address: "old:1", Kernel: "old", CPUs: "9", ServerSoftware: "old",
		ServerStatus: v1alpha1.ServerStatus{
			ImageID: "old@1", ServerVersion: "Tomcat", Connector: "http-nio-8080", Libraries: []string{"Java"},
		},
	}
	observed := func() *scene {
		s := newScene().collected().sampled().runs(server.ContainerName, "containerd://s", "image@1")
		s.run.Status.Target = recorded
		s.o.Node = &corev1.Node{Status: corev1.NodeStatus{NodeInfo: corev1.NodeSystemInfo{KernelVersion: "6.1", ContainerRuntimeVersion: "containerd://2", KubeletVersion: "v1"}}}
		return s
	}
	now := result.Environment{
		TargetNode: "node", TargetAddress: "10.0.0.1:8080", TargetImageID: "image@1", ServerSoftware: "test", Kernel: "6.1",
		ContainerRuntime: "containerd://2", Kubelet: "v1", TargetCPUs: "1", CPUExclusivity: "Shared",
	}
	then := result.Environment{
		TargetNode: "old-node", TargetAddress: "old:1", TargetImageID: "old@1", ServerSoftware: "old", Kernel: "old", TargetCPUs: "9", DocumentLength: -1,
	}
	for name, test := range map[string]struct {
		scene *scene
		want  result.Environment
	}{
		"observed": {observed(), now},
		"all gone": {func() *scene {
			s := observed()
			s.o.Target, s.o.Node, s.o.Sessions.Agent = nil, nil, (*session.AgentState)(nil)
			return s
		}(), then},
	} {
		t.Run(name, func(t *testing.T) {
			want := test.want
			want.ServerVersion, want.Connector, want.Libraries = "Tomcat", "http-nio-8080", []string{"Java"}
			want.TargetCPULimit, want.ClientCPULimit = 100, 1000
			if diff := cmp.Diff(want, stored(t, test.scene.decide()).Environment); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
