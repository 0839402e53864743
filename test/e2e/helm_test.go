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
	"github.com/assay-dev/assay/test/wrapper"
)

// TestHelm upgrades the release to two managers and deletes the leader during a
// measurement. The other manager must complete the run. Then it uninstalls the
// release, after which only the run and its result must exist, and reinstalls it.
func TestHelm(t *testing.T) {
	c := theCluster
	values := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(values, []byte(helm(t, "get", "values", "assay", "--output", "yaml")), 0o600); err != nil {
		t.Fatal(err)
	}
	chart := filepath.Join("..", "..", "charts", "assay")
	t.Cleanup(func() { // t's context is canceled by then
		out, err := exec.Command("helm", "upgrade", "--install", "assay", chart, "--namespace", operatorNamespace, "--values", values, "--wait").CombinedOutput()
		if err != nil {
			t.Errorf("restore the release: %v\n%s", err, out)
		}
	})

	helm(t, "upgrade", "assay", chart, "--values", values, "--set", "replicas=2", "--wait", "--timeout", "2m")
	run := wrapper.NewRun(c.namespace(t), "handed-over", serverImage).Path("/fixed/2000/100").Requests(1, 4000).Obj()
	c.create(t, run)
	c.until(t, run, time.Minute, "requests", func(r *v1alpha1.BenchmarkRun) bool {
		return r.Status.Progress != nil && ptr.Deref(r.Status.Progress.Requests, 0) > 0
	})
	var lease coordinationv1.Lease
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: operatorNamespace, Name: "assay-manager"}, &lease); err != nil {
		t.Fatal(err)
	}
	leader := &corev1.Pod{}
	leader.Namespace, leader.Name = operatorNamespace, ptr.Deref(lease.Spec.HolderIdentity, "")
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

// helm runs helm in the namespace of the operator.
func helm(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "helm", append(args, "--namespace", operatorNamespace)...)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("helm %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr.String())
	}
	return string(out)
}
