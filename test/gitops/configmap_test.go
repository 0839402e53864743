package gitops

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write argocd-cm.yaml anew from the scripts")

// TestArgoConfigMap checks that argocd-cm.yaml, with which a team adds the scripts to its own Argo CD, has the scripts
// as they are.
func TestArgoConfigMap(t *testing.T) {
	type definition struct {
		Name      string `json:"name"`
		ActionLua string `json:"action.lua"`
	}
	data := map[string]string{}
	for _, kind := range []string{"BenchmarkRun", "Benchmark"} {
		read := func(path ...string) string {
			script, err := os.ReadFile(filepath.Join(append([]string{argoDirectory, kind}, path...)...))
			if err != nil {
				t.Fatal(err)
			}
			return string(script)
		}
		actions := map[string]any{"discovery.lua": read("actions", "discovery.lua")}
		var definitions []definition
		for _, name := range []string{"rerun", "resume", "suspend"} {
			definitions = append(definitions, definition{name, read("actions", name, "action.lua")})
		}
		actions["definitions"] = definitions
		text, err := yaml.Marshal(actions)
		if err != nil {
			t.Fatal(err)
		}
		data["resource.customizations.health.assay.dev_"+kind] = read("health.lua")
		data["resource.customizations.actions.assay.dev_"+kind] = string(text)
	}
	want, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "argocd-cm", "namespace": "argocd"}, "data": data,
	})
	if err != nil {
		t.Fatal(err)
	}
	want = append([]byte("# Made from the scripts in assay.dev: cd test/gitops && go test -run ConfigMap -update\n"), want...)
	const path = "../../config/gitops/argocd/argocd-cm.yaml"
	if *update {
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s isn't made from the scripts as they are: %v", path, err)
	}
}
