package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// TestUpgradeKeepsValues upgrades a release of a chart that lacks values of this one, as any earlier chart does. The flag that
// the docs name must keep what was set; they say that the other one fails.
func TestUpgradeKeepsValues(t *testing.T) {
	const chart = "../../charts/assay"
	createNamespace(t, "upgraded")
	earlier := filepath.Join(t.TempDir(), "assay")
	if err := os.CopyFS(earlier, os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(earlier, "values.schema.json")); err != nil {
		t.Fatal(err)
	}
	values, err := os.ReadFile(filepath.Join(earlier, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	without := strings.Replace(string(values), "\n  connectionsPerAddress: 512\n", "\n", 1)
	if without == string(values) {
		t.Fatal("the value has another name or default: choose another one")
	}
	if err := os.WriteFile(filepath.Join(earlier, "values.yaml"), []byte(without), 0o600); err != nil {
		t.Fatal(err)
	}
	user, err := environment.AddUser(envtest.User{Name: "administrator", Groups: []string{"system:masters"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig, err := user.KubeConfig()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, error) {
		command := exec.CommandContext(t.Context(), helm(), append(args, "--namespace", "upgraded", "--kubeconfig", file)...)
		command.Env = append(os.Environ(), "HOME="+t.TempDir())
		out, err := command.CombinedOutput()
		return string(out), err
	}
	if out, err := run("install", "assay", earlier, "--set", "crds.enabled=false,logging.level=debug,replicas=0,rbac.create=false,rbac.aggregate=false,rbac.ownedObjectsOnly=false"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if out, err := run("upgrade", "assay", chart, "--reuse-values"); err == nil || !strings.Contains(out, "connectionsPerAddress") {
		t.Errorf("--reuse-values: %v: %s", err, out)
	}
	if out, err := run("upgrade", "assay", chart, "--reset-then-reuse-values", "--set", "runs.maxActive=9"); err != nil {
		t.Fatalf("--reset-then-reuse-values: %v: %s", err, out)
	}
	var deployment appsv1.Deployment
	if err := api.Get(t.Context(), client.ObjectKey{Namespace: "upgraded", Name: "assay-manager"}, &deployment); err != nil {
		t.Fatal(err)
	}
	args := strings.Join(deployment.Spec.Template.Spec.Containers[0].Args, "\n")
	for _, want := range []string{"--zap-log-level=debug", "--max-active-runs=9", "--session-connections-per-address=512"} {
		if !strings.Contains(args, want) {
			t.Errorf("no %s among:\n%s", want, args)
		}
	}
	if out, err := run("uninstall", "assay"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
