package generic_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/server/servertest"
)

func TestRenderIsGolden(t *testing.T) {
	rendering, err := server.Render(&v1alpha1.Target{
		Image: "example/image:1", ImagePullPolicy: corev1.PullIfNotPresent,
		Server: v1alpha1.Server{Generic: &v1alpha1.GenericServer{
			Command: []string{"/serve"}, Args: []string{"--fast"}, Port: ptr.To(int32(80)), ContentPath: "/srv",
		}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(rendering.Files) > 0 {
		t.Errorf("rendered files: %v", rendering.Files)
	}
	rendering.Files = nil
	servertest.GoldenJSON(t, "pod.json", rendering)
}

// TestGCLog checks that a Java virtual machine logs its garbage collections only if that is asked for.
func TestGCLog(t *testing.T) {
	for declared, want := range map[v1alpha1.Switch]int{"": 0, v1alpha1.Disabled: 0, v1alpha1.Enabled: 1} {
		r, err := server.Render(&v1alpha1.Target{Server: v1alpha1.Server{Generic: &v1alpha1.GenericServer{GCLog: declared}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(r.Containers[0].Env); got != want || len(r.Volumes) != want {
			t.Errorf("%q: %d variables, %d volumes", declared, got, len(r.Volumes))
		}
	}
}
