//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestAB compares a server whose requests take 2 ms with one whose requests take 10% longer: that it isn't slower by more than 3% must be
// contradicted, and that it is faster the other way round confirmed.
func TestAB(t *testing.T) {
	t.Parallel()
	namespace := theCluster.namespace(t)
	run := wrapper.NewRun("", "shop", harness.ServerImage).Lane("ab").Path("/fixed/2000/100").TargetResources("200m", "128Mi").
		Clients(1, "200m", "128Mi").Seconds(1, 6).Obj()
	manifest, err := yaml.Marshal(map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": "BenchmarkRun", "metadata": map[string]any{"name": run.Name}, "spec": run.Spec})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(file, manifest, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		code      int
		want      string
		name      string
		arguments []string
	}{
		{2, "fewer requests per second than A: \"at most 3% fewer\" is contradicted", "slower", []string{"--tolerance", "3", "--set", "load.requests[0].path=/fixed/2000/100,/fixed/2200/100"}},
		{0, "more requests per second than A: \"at least 3% more\" is confirmed", "faster", []string{"--by", "3", "--set", "load.requests[0].path=/fixed/2200/100,/fixed/2000/100"}},
	} {
		out := plugin(t, tc.code, append([]string{"ab", "-f", file, "-n", namespace, "--name", tc.name, "--min", "6", "--max", "12", "--timeout", "8m"}, tc.arguments...)...)
		if !strings.Contains(out, tc.want) {
			t.Errorf("%q isn't in:\n%s", tc.want, out)
		}
		t.Log(out)
	}
}
