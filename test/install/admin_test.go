package install

import (
	"context"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// TestInstalledByAnAdminOfOneNamespace follows the docs: an administrator of the cluster prepares it, and a user who has the
// built-in role admin in one namespace, and no right elsewhere, installs a release for that.
func TestInstalledByAnAdminOfOneNamespace(t *testing.T) {
	createNamespace(t, "own")
	for _, obj := range render(t, "assay-kinds", "assay-system", "replicas=0", "rbac.create=false", "rbac.delegateToAdmins=true", "crds.enabled=false") {
		if obj.GetKind() == "ClusterRole" {
			if err := api.Create(t.Context(), &obj); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = api.Delete(context.Background(), &obj) })
		}
	}
	// Nobody aggregates roles here: the admin gets each role that the built-in one would consist of.
	var roles rbacv1.ClusterRoleList
	for _, builtIn := range []string{"admin", "edit", "view"} {
		if err := api.List(t.Context(), &roles, client.MatchingLabels{"rbac.authorization.k8s.io/aggregate-to-" + builtIn: "true"}); err != nil || len(roles.Items) < 2 {
			t.Fatalf("%d roles of %s: %v", len(roles.Items), builtIn, err)
		}
		for _, role := range roles.Items {
			bindTo(t, &rbacv1.RoleBinding{ObjectMeta: metaOf("own", builtIn+"-"+role.Name)}, role.Name, rbacv1.Subject{Kind: "User", Name: "admin-of-own"})
		}
	}
	bindTo(t, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "assay-own"}}, "system:auth-delegator",
		rbacv1.Subject{Kind: "ServiceAccount", Namespace: "own", Name: "assay-manager"})
	user, err := environment.AddUser(envtest.User{Name: "admin-of-own", Groups: []string{"system:authenticated"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := client.New(user.Config(), client.Options{Scheme: api.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	values := []string{"namespaces={own}", "crds.enabled=false", "rbac.clusterScoped=false", "rbac.aggregate=false"}
	installBy(t, admin, "assay", "own", values...)
	run := newRun(t, "own")
	started(t, run)
	gone(t, run)
}

// bindTo creates a binding of a subject to a ClusterRole.
func bindTo(t *testing.T, binding client.Object, role string, subject rbacv1.Subject) {
	t.Helper()
	if subject.Kind == "User" {
		subject.APIGroup = rbacv1.GroupName
	}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role}
	switch b := binding.(type) {
	case *rbacv1.RoleBinding:
		b.RoleRef, b.Subjects = ref, []rbacv1.Subject{subject}
	case *rbacv1.ClusterRoleBinding:
		b.RoleRef, b.Subjects = ref, []rbacv1.Subject{subject}
	}
	if err := api.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = api.Delete(context.Background(), binding) })
}
