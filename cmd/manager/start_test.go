package main

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/fake"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/assay-dev/assay/controllers/leader"
)

// newUnfilled returns a manager that is elected at once and whose caches can't be filled: nothing
// listens at its API server's address.
func newUnfilled(t *testing.T) manager.Manager {
	t.Helper()
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	settings := ctrl.Options{
		Scheme:                  clientgoscheme.Scheme,
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		Cache:                   cache.Options{},
		GracefulShutdownTimeout: new(time.Second),
		MapperProvider:          func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },
	}
	elections := election{enabled: true, duration: 10 * time.Second, deadline: 7 * time.Second, retry: time.Second}
	elections.configure(&settings, leader.New(fake.NewClientset().CoordinationV1(), leader.Config{
		Namespace: "ns", Name: "lease", Identity: "pod", LeaseDuration: elections.duration, RenewDeadline: elections.deadline,
	}))
	mgr, err := ctrl.NewManager(&rest.Config{Host: "http://127.0.0.1:1"}, settings)
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

// TestAManagerStopsWhileItsCachesFill stops a manager that waits for the caches that it has before it
// starts, as that of runs, whose index is set up.
func TestAManagerStopsWhileItsCachesFill(t *testing.T) {
	mgr := newUnfilled(t)
	if _, err := mgr.GetCache().GetInformer(t.Context(), &corev1.Pod{}, cache.BlockUntilSynced(false)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errRestart)
	if err := start(ctx, mgr, 10*time.Millisecond); !errors.Is(err, errRestart) {
		t.Errorf("the manager stopped with %v", err)
	}
}

// TestAManagerFailsWhileItsControllersWaitForCaches has a part of the leader fail, as the session server
// does if its port is taken, while a controller waits for its cache.
func TestAManagerFailsWhileItsControllersWaitForCaches(t *testing.T) {
	mgr := newUnfilled(t)
	c, err := controller.New("test", mgr, controller.Options{SkipNameValidation: new(true), Reconciler: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Watch(source.Kind(mgr.GetCache(), &corev1.Pod{}, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{})); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("address already in use")
	if err := mgr.Add(manager.RunnableFunc(func(context.Context) error { return failure })); err != nil {
		t.Fatal(err)
	}
	if err := start(t.Context(), mgr, time.Minute); !errors.Is(err, failure) {
		t.Errorf("the manager stopped with %v", err)
	}
}
