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
