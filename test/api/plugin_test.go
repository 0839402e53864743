package api

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin"
	"github.com/assay-dev/assay/internal/plugin/exit"
)

// TestPluginChangesABenchmark runs the plugin's verbs that change a Benchmark. Each changes what it says, and no
// other field.
func TestPluginChangesABenchmark(t *testing.T) {
	b, err := acceptBenchmark(t, "{}")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(config, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	assay := func(code int, args ...string) {
		t.Helper()
		var out bytes.Buffer
		cmd := plugin.NewCommand(genericiooptions.IOStreams{In: &out, Out: &out, ErrOut: &out}, "test")
		cmd.SetArgs(append(args, "--kubeconfig", config, "--namespace", b.Namespace))
		if got := exit.Report(&out, cmd.ExecuteContext(t.Context())); got != code {
			t.Errorf("%s: exit code %d, want %d: %s", strings.Join(args, " "), got, code, &out)
		}
	}
	stored := func() *v1alpha1.Benchmark {
		t.Helper()
		stored := &v1alpha1.Benchmark{}
		if err := apiClient.Get(t.Context(), client.ObjectKeyFromObject(b), stored); err != nil {
			t.Fatal(err)
		}
		return stored
	}

	for _, verb := range []string{"run", "suspend"} {
		assay(exit.Success, "benchmark", verb, b.Name, "--dry-run")
	}
	if got := stored(); got.ResourceVersion != b.ResourceVersion {
		t.Errorf("a dry run changed the Benchmark: %+v", got)
	}
	assay(exit.Success, "benchmark", "run", b.Name)
	if got := stored(); got.Annotations[v1alpha1.AnnotationRunRound] == "" || got.Generation != b.Generation {
		t.Errorf("annotations %v, generation %d", got.Annotations, got.Generation)
	}
	assay(exit.Success, "benchmark", "suspend", b.Name)
	if got := stored(); !*got.Spec.Suspend || got.Generation != b.Generation+1 || len(got.Spec.Axes) != len(b.Spec.Axes) {
		t.Errorf("%+v", got.Spec)
	}
	assay(exit.Failed, "benchmark", "run", b.Name)
	assay(exit.Success, "benchmark", "resume", b.Name)
	if got := stored(); *got.Spec.Suspend || got.Generation != b.Generation+2 {
		t.Errorf("%+v", got.Spec)
	}
	assay(exit.Failed, "benchmark", "cancel", b.Name)
	assay(exit.Failed, "benchmark", "accept", b.Name)
	assay(exit.Failed, "report", "benchmark/"+b.Name)
	assay(exit.Unknown, "watch", "benchmark/other")
}
