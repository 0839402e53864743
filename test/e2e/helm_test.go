//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestHelm upgrades the release to two managers and deletes the leader during a
// measurement. The other manager must complete the run. Then it uninstalls the
// release, after which only the run and its result must exist, and reinstalls it.
func TestHelm(t *testing.T) {
	c := theCluster
	values := restored(t)

	helm(t, "upgrade", "assay", chart, "--values", values, "--set", "replicas=2", "--wait", "--timeout", "2m")
	run := wrapper.NewRun(c.namespace(t), "handed-over", harness.ServerImage).Path("/fixed/2000/100").Requests(1, 4000).Obj()
	c.create(t, run)
	c.until(t, run, time.Minute, "requests", func(r *v1alpha1.BenchmarkRun) bool {
		return r.Status.Progress != nil && ptr.Deref(r.Status.Progress.Requests, 0) > 0
	})
	var lease coordinationv1.Lease
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: harness.OperatorNamespace, Name: "assay-manager"}, &lease); err != nil {
		t.Fatal(err)
	}
	leader := &corev1.Pod{}
	leader.Namespace, leader.Name = harness.OperatorNamespace, ptr.Deref(lease.Spec.HolderIdentity, "")
	if err := c.Delete(t.Context(), leader); err != nil {
		t.Fatalf("delete the leader %q: %v", leader.Name, err)
	}
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	if *done.Status.Result.Requests != 4000 {
		t.Errorf("%d requests, want 4000", *done.Status.Result.Requests)
	}
	c.nothingLeft(t, done, time.Minute)

	helm(t, "uninstall", "assay", "--wait")
	for _, list := range []client.ObjectList{&appsv1.DeploymentList{}, &corev1.ServiceList{}, &corev1.ServiceAccountList{}, &rbacv1.RoleBindingList{}, &rbacv1.ClusterRoleList{}, &rbacv1.ClusterRoleBindingList{}} {
		if err := c.List(t.Context(), list, client.MatchingLabels{"app.kubernetes.io/instance": "assay"}); err != nil {
			t.Fatal(err)
		}
		if n := meta.LenList(list); n != 0 {
			t.Errorf("%d of %T were not deleted", n, list)
		}
	}
	if c.artifact(t, done).Merged.Requests != 4000 {
		t.Error("the result was deleted with the release")
	}
}

// TestReleasesSideBySide gives the release one namespace and installs a second one for another. Each
// run must be taken by the manager that serves its namespace, and a run of neither by none.
func TestReleasesSideBySide(t *testing.T) {
	c := theCluster
	values := restored(t)
	served, other, unserved := c.namespace(t), c.namespace(t), c.namespace(t)
	second := c.namespace(t)
	t.Cleanup(func() {
		out, err := exec.Command("helm", "uninstall", "assay", "--namespace", second, "--wait").CombinedOutput()
		if err != nil {
			t.Errorf("uninstall the second release: %v\n%s", err, out)
		}
	})
	helm(t, "upgrade", "assay", chart, "--values", values, "--set", "namespaces={"+served+"}", "--wait", "--timeout", "2m")
	helmIn(t, second, "install", "assay", chart, "--values", values, "--set", "namespaces={"+other+"},crds.enabled=false", "--wait", "--timeout", "2m")

	nobodys := wrapper.NewRun(unserved, "nobodys", harness.ServerImage).Path("/fixed/100/0").Requests(1, 1).Obj()
	c.create(t, nobodys)
	managers := map[*v1alpha1.BenchmarkRun]string{}
	for namespace, release := range map[string]string{served: harness.OperatorNamespace, other: second} {
		w := wrapper.NewRun(namespace, "run", harness.ServerImage).Path("/fixed/100/0").Requests(1, 200)
		w.Spec.PodRetention = v1alpha1.RetainAlways
		c.create(t, w.Obj())
		managers[w.Obj()] = release
	}
	for run, release := range managers {
		done := c.finished(t, run, 2*time.Minute)
		wantSucceeded(t, done)
		target := c.pod(t, run.Namespace, client.MatchingLabels{manifest.LabelRunUID: string(done.UID), manifest.LabelRole: manifest.RoleTarget})
		for _, variable := range target.Spec.Containers[0].Env {
			if want := "assay-session." + release + ".svc:9443"; variable.Name == "ASSAY_MANAGER" && variable.Value != want {
				t.Errorf("the run in %s was taken by the manager at %s, want %s", run.Namespace, variable.Value, want)
			}
		}
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(nobodys), nobodys); err != nil || len(nobodys.Status.Conditions) != 0 {
		t.Errorf("a run of a namespace that no release serves: %v%s", err, conditions(nobodys))
	}
}

var chart = filepath.Join("..", "..", "charts", "assay")

// restored writes the values of the release to a file, and restores the release at the end of the test.
func restored(t *testing.T) (values string) {
	t.Helper()
	values = filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(values, []byte(helm(t, "get", "values", "assay", "--output", "yaml")), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // t's context is canceled by then
		out, err := exec.Command("helm", "upgrade", "--install", "assay", chart, "--namespace", harness.OperatorNamespace, "--values", values, "--wait").CombinedOutput()
		if err != nil {
			t.Errorf("restore the release: %v\n%s", err, out)
		}
	})
	return values
}

// helm runs helm in the namespace of the operator.
func helm(t *testing.T, args ...string) string {
	t.Helper()
	return helmIn(t, harness.OperatorNamespace, args...)
}

func helmIn(t *testing.T, namespace string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "helm", append(args, "--namespace", namespace)...)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("helm %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}
