package initialize

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// TestAnswersAreScalars checks that no answer can add a field, a comment or a document to the manifest.
func TestAnswersAreScalars(t *testing.T) {
	for _, hostile := range []string{
		"a: b", "x\nspec: {}", "x # y", "---\nkind: Secret", "*a", "&a b", "{{ .x }}", "yes", "0x1F", "1e3", "null", "~", "'", "\"", "", " x ",
		"\t", "\u2028kind: x", "!!binary x", "|\n x", "- a", "? a", "%TAG", "\x00", "\x1b[31m",
	} {
		o := Options{
			Kind: "Benchmark", Name: hostile, Server: "tomcat", Image: hostile, Path: "/" + hostile, Load: "closed", Connections: 1, Seconds: 1, Clients: 1,
			Against: "z" + hostile,
		}
		data, err := Manifest(&o)
		if err != nil {
			t.Fatalf("%q: %v", hostile, err)
		}
		var b v1alpha1.Benchmark
		if err := yaml.UnmarshalStrict(data, &b); err != nil {
			t.Fatalf("%q: %v\n%s", hostile, err, data)
		}
		template := b.Spec.Template.Spec
		got := []string{b.Name, template.Target.Image, template.Load.Requests[0].Path, b.Spec.Comparison.Baseline.Cell["image"], b.Kind}
		for i, want := range []string{hostile, hostile, "/" + hostile, "z" + hostile, "Benchmark"} {
			if got[i] != want {
				t.Errorf("answer %d: %q, want %q", i, got[i], want)
			}
		}
	}
}

func TestFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.yaml")
	for arguments, want := range map[string]string{
		"--file " + file:    "",
		"-f " + file:        "",
		"--kind Secret":     "kind must be one of",
		"--name A":          "name: ",
		"--server external": "url must begin with",
		"--server external --url http://x --port 1": "--port has no effect",
		"--rate 5":                               "--rate has no effect",
		"--against x":                            "--against has no effect",
		"--kind Benchmark --image x --against x": "another image",
		"--connections 0":                        "connections must be at least 1",
		"surplus":                                "unknown command",
	} {
		cmd := NewCommand(genericiooptions.NewTestIOStreamsDiscard())
		cmd.SetArgs(strings.Fields(arguments))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if want == "" {
			if err := os.RemoveAll(file); err != nil {
				t.Fatal(err)
			}
		}
		err := cmd.Execute()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", arguments, err, want)
		}
	}
	cmd := NewCommand(genericiooptions.NewTestIOStreamsDiscard())
	cmd.SetArgs([]string{"-f", file})
	before, err := os.ReadFile(file) //nolint:gosec // the test's own
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Execute(); err == nil {
		t.Error("a file was overwritten")
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) { //nolint:gosec // the test's own
		t.Errorf("the file was changed: %v", err)
	}
}
