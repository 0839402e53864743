package target

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

var update = flag.Bool("update", false, "Write the golden files anew.")

func TestRenderIsGolden(t *testing.T) {
	tests := map[string]v1alpha1.Server{
		"generic": {Generic: &v1alpha1.GenericServer{
			Command: []string{"/serve"}, Args: []string{"--fast"}, Port: ptr.To(int32(80)), ContentPath: "/srv",
			Env: []v1alpha1.EnvironmentVariable{{Name: "A", Value: ptr.To("$(HOME) and $(A)")}, {Name: "EMPTY", Value: ptr.To("")}},
		}},
	}
	for name, server := range tests {
		t.Run(name, func(t *testing.T) {
			rendering, err := Render(&v1alpha1.Target{Image: "example/image:1", ImagePullPolicy: corev1.PullIfNotPresent, Server: server}, nil)
			if err != nil {
				t.Fatal(err)
			}
			files := rendering.Files
			rendering.Files = nil
			got, err := json.MarshalIndent(rendering, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", string(got)+"\n")
			for file, text := range files {
				golden(t, name+"-"+file, text)
			}
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestRenderWithoutServer(t *testing.T) {
	if _, err := Render(&v1alpha1.Target{}, nil); err == nil {
		t.Error("a target without a server was rendered")
	}
}

func TestReadinessPath(t *testing.T) {
	spec := &v1alpha1.BenchmarkRunSpec{Load: v1alpha1.Load{Requests: []v1alpha1.Request{{Path: "/first"}, {Path: "/second"}}}}
	if got := ReadinessPath(spec); got != "/first" {
		t.Errorf("without a path of its own: %q", got)
	}
	spec.Target.Readiness.Path = "/health"
	if got := ReadinessPath(spec); got != "/health" {
		t.Errorf("with a path of its own: %q", got)
	}
}
