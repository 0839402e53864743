package scope

import (
	"errors"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// installation is a manager on a real API server, which passes the time at will.
type installation struct {
	*Scope
	t *testing.T
}

// acquires checks who stands in the way of an installation, or "".
func (i installation) acquires(holder string) {
	i.t.Helper()
	conflict, err := i.Acquire(i.t.Context())
	if err != nil || (conflict == nil) != (holder == "") || conflict != nil && conflict.Holder != holder {
		i.t.Errorf("%s: %v, %v; want %q in the way", i.Identity, conflict, err, holder)
	}
}

// serves checks whether an installation serves a namespace.
func (i installation) serves(namespace string, active, want bool) {
	i.t.Helper()
	if got, err := i.Serves(i.t.Context(), namespace, active); got != want || err != nil {
		i.t.Errorf("%s serves %s: %t, %v", i.Identity, namespace, got, err)
	}
}

// TestTwoInstallations has installations with overlapping scopes on a real API server, each with only the rights of the generated role.
func TestTwoInstallations(t *testing.T) {
	environment := &envtest.Environment{}
	config, err := environment.Start()
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	admin := kubernetes.NewForConfigOrDie(config)
	user, err := environment.AddUser(envtest.User{Name: "manager"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "manager"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create"}},
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, ResourceNames: []string{NamespaceLease, AllLease}, Verbs: []string{"get", "update"}},
	}}
	if _, err := admin.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "manager"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "manager"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "manager"}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"shop", "bank"} {
		if _, err := admin.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	limited := kubernetes.NewForConfigOrDie(user.Config())
	clock := clocktesting.NewFakeClock(time.Now())
	install := func(identity string, namespaces ...string) installation {
		return installation{&Scope{Leases: limited.CoordinationV1(), Identity: identity, Namespaces: namespaces, Clock: clock}, t}
	}
	leases := func() (versions string) {
		t.Helper()
		list, err := admin.CoordinationV1().Leases("").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			if l := &list.Items[i]; l.Name == NamespaceLease || l.Name == AllLease {
				versions += l.Namespace + "/" + l.Name + " " + *l.Spec.HolderIdentity + " " + l.ResourceVersion + "\n"
			}
		}
		return versions
	}

	// Two of all namespaces. The replicas of one installation serve alike.
	first, replica, second := install("a/assay-manager"), install("a/assay-manager"), install("b/assay-manager")
	first.acquires("")
	replica.acquires("")
	before := leases()
	second.acquires("a/assay-manager")
	if conflict, _ := second.Acquire(t.Context()); !strings.Contains(conflict.String(), "Manager a/assay-manager serves all namespaces already (Lease default/assay-all-namespaces)") {
		t.Errorf("%s", conflict)
	}
	if after := leases(); after != before {
		t.Errorf("the second one wrote: before\n%safter\n%s", before, after)
	}
	for range 6 { // for longer than Duration
		clock.Step(Interval)
		if err := replica.renew(t.Context()); err != nil {
			t.Error(err)
		}
		second.acquires("a/assay-manager")
	}

	// One for a single namespace, where the first one has an active run, and one where it has none.
	first.serves("shop", true, true)
	shop, bank := install("shop/assay-manager", "shop"), install("bank/assay-manager", "bank")
	shop.acquires("a/assay-manager")
	bank.acquires("")
	bank.serves("bank", true, true)
	first.serves("bank", true, false)
	first.serves("bank", false, false)
	first.serves("default", false, true)
	if strings.Contains(leases(), "default/"+NamespaceLease) {
		t.Error("a namespace without active runs has a Lease")
	}
	for range 6 {
		clock.Step(Interval)
		for _, s := range []installation{first, bank} {
			if err := s.renew(t.Context()); err != nil {
				t.Error(err)
			}
		}
		first.serves("shop", true, true)
		first.serves("bank", true, false)
		shop.acquires("a/assay-manager")
	}

	// The first one is gone: a Lease that isn't renewed is taken, by the one and by the other.
	second.acquires("a/assay-manager")
	clock.Step(Duration)
	second.acquires("")
	second.serves("shop", true, false) // it has not seen yet that nobody renews that Lease
	shop.acquires("")
	second.serves("shop", true, false)
	if err := first.renew(t.Context()); !errors.Is(err, ErrLost) {
		t.Errorf("the first one is back: %v", err)
	}

	// Somebody else's Lease without a holder.
	if _, err := admin.CoordinationV1().Leases("default").Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: NamespaceLease}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	second.serves("default", true, true)

	// A namespace that is deleted while it has an active run, and one that is gone: nothing is left to serve, and no Lease to renew.
	if err := admin.CoreV1().Namespaces().Delete(t.Context(), "shop", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := admin.CoordinationV1().Leases("shop").Delete(t.Context(), NamespaceLease, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	clock.Step(Duration)
	for _, namespace := range []string{"shop", "never"} {
		second.serves(namespace, true, true)
		if l := second.known[types.NamespacedName{Namespace: namespace, Name: NamespaceLease}]; l != nil {
			t.Errorf("the Lease of %s is remembered: %+v", namespace, l)
		}
	}
}
