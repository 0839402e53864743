package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/harness"
)

// tenantUser is the user as whom the program attacks. The built-in role edit of a namespace is all that it has.
const tenantUser = "hostile-tenant"

// tenant is an attacker with a namespace.
type tenant struct {
	namespace string
	// own has the tenant's rights, admin those of the program: it watches and cleans up.
	own   client.Client
	kube  *kubernetes.Clientset // with the tenant's rights
	admin *harness.Cluster

	mu      sync.Mutex
	made    int
	refused map[string]int // by the reason
}

// newTenant creates the namespace of an attacker.
func newTenant(ctx context.Context, admin *harness.Cluster) (*tenant, error) {
	namespace, err := admin.NewNamespace(ctx, "assay-hostile-")
	if err != nil {
		return nil, err
	}
	if err := admin.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: tenantUser},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: tenantUser}},
	}); err != nil {
		return nil, err
	}
	config := rest.CopyConfig(admin.Config)
	config.QPS, config.Burst = 500, 1000
	config.Impersonate = rest.ImpersonationConfig{UserName: tenantUser, Groups: []string{"system:authenticated"}}
	t := &tenant{namespace: namespace, admin: admin, refused: map[string]int{}}
	if t.own, err = client.New(config, client.Options{Scheme: admin.Scheme()}); err != nil {
		return nil, err
	}
	if t.kube, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	// The API server learns of the binding in a moment, and so does what creates a namespace's service account.
	return t, harness.Await(ctx, 30*time.Second, func(ctx context.Context) error {
		return t.own.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "default"}, &corev1.ServiceAccount{})
	})
}

// create creates an object with the tenant's rights, and counts the outcome: a refusal is a defense.
func (t *tenant) create(ctx context.Context, object client.Object) bool {
	object.SetNamespace(t.namespace)
	err := t.own.Create(ctx, object)
	if ctx.Err() != nil {
		return false // the wave is over
	}
	return t.count(err)
}

// count counts an attempt by its outcome.
func (t *tenant) count(err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.made++
		return true
	}
	reason := string(apierrors.ReasonForError(err))
	if reason == "" {
		reason = outcomeOf(err)
	}
	t.refused[reason]++
	return false
}

// outcome says how often the attack was made and refused.
func (t *tenant) outcome() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := fmt.Sprint(t.made)
	for _, reason := range slices.Sorted(maps.Keys(t.refused)) {
		text += fmt.Sprintf(", %d %s", t.refused[reason], reason)
	}
	return text
}

// succeeded returns an error if nothing of the attack was made: a defense that refuses all of it needs another attack.
func (t *tenant) succeeded() error {
	if outcome := t.outcome(); t.made == 0 {
		return errors.New("nothing was made: " + outcome)
	}
	return nil
}

// clear deletes what the tenant has made, and waits until it is gone.
func (t *tenant) clear(ctx context.Context) error {
	kinds := map[client.Object]client.ObjectList{
		&v1alpha1.Benchmark{}: &v1alpha1.BenchmarkList{}, &v1alpha1.BenchmarkRun{}: &v1alpha1.BenchmarkRunList{},
		&batchv1.Job{}: &batchv1.JobList{}, &corev1.Pod{}: &corev1.PodList{}, &corev1.ConfigMap{}: &corev1.ConfigMapList{},
	}
	return harness.Await(ctx, 3*time.Minute, func(ctx context.Context) error {
		var left []string
		for object, list := range kinds {
			if err := t.admin.DeleteAllOf(ctx, object, client.InNamespace(t.namespace), client.PropagationPolicy(metav1.DeletePropagationBackground), client.GracePeriodSeconds(0)); err != nil {
				return err
			}
			if err := t.admin.List(ctx, list, client.InNamespace(t.namespace)); err != nil {
				return err
			}
			items, err := meta.ExtractList(list)
			if err != nil {
				return err
			}
			for _, item := range items {
				if name := item.(client.Object).GetName(); name != "kube-root-ca.crt" { // made again at once
					left = append(left, fmt.Sprintf("%T %s", item, name))
				}
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("%d objects are left: %s", len(left), strings.Join(left[:min(len(left), 5)], ", "))
		}
		return nil
	})
}
