package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

// checkFile returns what kubectl assay check says of an object, or nil if it says nothing.
func checkFile(t *testing.T, object *unstructured.Unstructured, args ...string) error {
	t.Helper()
	manifest, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := plugin.NewCommand(genericiooptions.IOStreams{In: bytes.NewReader(manifest), Out: &out, ErrOut: &out}, "test")
	cmd.SetArgs(append([]string{"check", "-f", "-"}, args...))
	switch code := exit.Report(&out, cmd.ExecuteContext(t.Context())); {
	case code == exit.Success && out.Len() == 0:
		return nil
	case code != exit.Failed:
		t.Errorf("exit code %d: %s", code, &out)
	}
	return errors.New(out.String())
}

// TestCheckByTheAPIServer has the API server judge what is checked, and what exists already.
func TestCheckByTheAPIServer(t *testing.T) {
	config := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(config, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	namespace := newNamespace(t)
	server := []string{"--dry-run", "--kubeconfig", config, "--namespace", namespace}
	run := parse(t, base, "{}")
	if err := checkFile(t, run, server...); err != nil {
		t.Error(err)
	}
	if err := apiClient.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "base"}, &v1alpha1.BenchmarkRun{}); err == nil {
		t.Error("the check created the run")
	}
	stored := run.DeepCopy()
	stored.SetNamespace(namespace)
	if err := apiClient.Create(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	if err := checkFile(t, run, server...); err != nil {
		t.Errorf("the run exists: %v", err)
	}
	for _, test := range []struct{ patch, want string }{
		{`spec: {load: {closed: {connections: 26}}}`, "the API server says: "},
		{`spec: {load: {closed: {conections: 26}}}`, "spec.load.closed.conections: unknown field; use connections: 26"},
		{`metadata: {namespace: nowhere, name: a}`, "nowhere"},
	} {
		if err := checkFile(t, parse(t, base, test.patch), server...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.patch, err)
		}
	}
}
