package sessioncertificate

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// TestLoaderFollowsTheSecret runs a manager on a real API server, with only the
// permissions that the chart and config/certmanager grant.
func TestLoaderFollowsTheSecret(t *testing.T) {
	admin, limited := apiServer(t)
	ca := newIssuer(t, time.Now())
	l := NewLoader(types.NamespacedName{Namespace: "default", Name: "issued"}, clock.RealClock{})
	startManager(t, limited, l, "leader")
	follower := NewLoader(types.NamespacedName{Namespace: "default", Name: "issued"}, clock.RealClock{})
	startManager(t, limited, follower, "follower")

	eventually(t, "the manager reports that the Secret is not found", func() bool {
		err := l.Ready(nil)
		return err != nil && strings.Contains(err.Error(), "secret default/issued: not found")
	})
	config := runConfig(string(newIssuer(t, time.Now()).pem))
	create(t, admin, config)
	first := ca.issue(t, time.Now(), nil)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "issued"}, Type: corev1.SecretTypeTLS, Data: maps.Clone(first),
	}
	create(t, admin, secret)
	eventually(t, "the manager is ready", func() bool { return l.Ready(nil) == nil })
	eventually(t, "a manager that doesn't lead is ready", func() bool { return follower.Ready(nil) == nil })
	eventually(t, "the running run is given the CA", func() bool {
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(config), config); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(config.Data[caCertKey], string(ca.pem))
	})

	renewed := ca.issue(t, time.Now(), nil)
	update(t, admin, secret, renewed)
	eventually(t, "the renewed certificate is served", func() bool { return serves(t, l) == string(renewed[servingCertKey]) })

	bad := maps.Clone(renewed)
	delete(bad, caCertKey)
	update(t, admin, secret, bad)
	eventually(t, "the manager isn't ready without ca.crt", func() bool {
		err := l.Ready(nil)
		return err != nil && strings.Contains(err.Error(), "ca.crt")
	})
	if serves(t, l) != string(renewed[servingCertKey]) {
		t.Error("the good certificate isn't served on")
	}
}

// apiServer starts an API server. It returns an administrator's client and the
// configuration of a manager with only the permissions that it needs.
func apiServer(t *testing.T) (admin client.Client, limited *rest.Config) {
	t.Helper()
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
	if admin, err = client.New(config, client.Options{}); err != nil {
		t.Fatal(err)
	}
	user, err := environment.AddUser(envtest.User{Name: "manager"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "manager"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"issued"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"create", "get", "update"}},
	}}
	configs := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "manager"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch", "patch"}},
	}}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "manager"}}
	for _, object := range []client.Object{
		role, configs,
		&rbacv1.RoleBinding{ObjectMeta: role.ObjectMeta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: configs.ObjectMeta, Subjects: subjects, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: configs.Name}},
	} {
		create(t, admin, object)
	}
	return admin, user.Config()
}

// startManager runs the Loader and Trust until the test ends. The first of several
// managers is the leader.
func startManager(t *testing.T, config *rest.Config, l *Loader, identity string) {
	t.Helper()
	lock, err := resourcelock.NewFromKubeconfig(resourcelock.LeasesResourceLock, "default", "manager",
		resourcelock.ResourceLockConfig{Identity: identity}, config, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		HealthProbeBindAddress:              "0",
		Metrics:                             metricsserver.Options{BindAddress: "0"},
		LeaderElection:                      true,
		LeaderElectionResourceLockInterface: lock,
		Controller:                          ctrlconfig.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	if err := (&Trust{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Source: l}).SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	if identity == "leader" {
		<-mgr.Elected()
	}
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func create(t *testing.T, admin client.Client, object client.Object) {
	t.Helper()
	if err := admin.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

func update(t *testing.T, admin client.Client, secret *corev1.Secret, data map[string][]byte) {
	t.Helper()
	secret.Data = data
	if err := admin.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 20*time.Second, true, func(context.Context) (bool, error) {
		return done(), nil
	}); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
