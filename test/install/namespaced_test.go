package install

import (
	"context"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/wrapper"
)

// newRun creates a run that has a Secret of its own, ends by its deadline and expires at once.
func newRun(t *testing.T, namespace string, changes ...func(*v1alpha1.BenchmarkRun)) *v1alpha1.BenchmarkRun {
	t.Helper()
	run := wrapper.NewRun(namespace, "run", "image:1").Tomcat().Requests(1, 1).Lane(namespace).TTL(1).Obj()
	run.Spec.ActiveDeadlineSeconds = ptr.To(int32(5))
	run.Spec.Target.TLS = &v1alpha1.TLS{Certificate: &v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}}}
	for _, change := range changes {
		change(run)
	}
	if err := api.Create(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	return run
}

// started waits until a run has all its objects, and returns the address at which its pods look for
// their manager.
func started(t *testing.T, run *v1alpha1.BenchmarkRun) string {
	t.Helper()
	var pod corev1.Pod
	eventually(t, "the objects of the run in "+run.Namespace, func(ctx context.Context) (bool, error) {
		name := func(suffix string) client.ObjectKey {
			return client.ObjectKey{Namespace: run.Namespace, Name: run.Name + suffix}
		}
		if err := bind(ctx, name("-target"), &pod); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		for _, err := range []error{
			api.Get(ctx, name("-client"), &batchv1.Job{}),
			api.Get(ctx, name("-tls-"+string(run.UID)[:8]), &corev1.Secret{}),
		} {
			if err != nil {
				return false, client.IgnoreNotFound(err)
			}
		}
		return true, nil
	})
	for _, variable := range pod.Spec.Containers[0].Env {
		if variable.Name == "ASSAY_MANAGER" {
			return variable.Value
		}
	}
	return ""
}

// bind reads a pod and gives it a node, as a scheduler would: clients are placed by the target's node.
func bind(ctx context.Context, name client.ObjectKey, pod *corev1.Pod) error {
	if err := api.Get(ctx, name, pod); err != nil || pod.Spec.NodeName != "" {
		return err
	}
	return api.SubResource("binding").Create(ctx, pod, &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "node"}})
}

// remove removes the pods of a namespace that are being deleted, as their kubelet would.
func remove(ctx context.Context, namespace string) error {
	var pods corev1.PodList
	if err := api.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		return err
	}
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp.IsZero() {
			continue
		}
		if err := api.Delete(ctx, &pods.Items[i], client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func gone(t *testing.T, obj client.Object) {
	t.Helper()
	eventually(t, "the deletion of "+obj.GetName(), func(ctx context.Context) (bool, error) {
		if err := remove(ctx, obj.GetNamespace()); err != nil {
			return false, err
		}
		err := api.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

// TestReleasesOfNamespaces installs two releases of the same name, each with some namespaces. Each run
// must be taken by exactly the manager that serves its namespace, with the rights that the chart gives
// it there, and leave nothing behind.
func TestReleasesOfNamespaces(t *testing.T) {
	for _, namespace := range []string{"a", "b", "c", "unserved"} {
		createNamespace(t, namespace)
	}
	unserved := newRun(t, "unserved")
	one := install(t, "assay", "one", "namespaces={a,b}", "rbac.aggregate=false")
	two := install(t, "assay", "two", "namespaces={c}", "rbac.aggregate=false", "networkPolicies.runs=true")
	for namespace, manager := range map[string]*release{"a": one, "b": one, "c": two} {
		run := newRun(t, namespace)
		if address, want := started(t, run), "assay-session."+manager.namespace+".svc:9443"; address != want {
			t.Errorf("the pods in %s look for their manager at %s, want %s", namespace, address, want)
		}
		policy := &networkingv1.NetworkPolicy{ObjectMeta: metaOf(namespace, "run-network-"+string(run.UID)[:8])}
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(policy), policy); (err == nil) != (manager == two) {
			t.Errorf("the NetworkPolicy of the run in %s: %v", namespace, err)
		}
		gone(t, run) // after its deadline and its TTL
		gone(t, policy)
		gone(t, &corev1.Secret{ObjectMeta: metaOf(namespace, "run-tls-"+string(run.UID)[:8])})
		gone(t, &corev1.Pod{ObjectMeta: metaOf(namespace, "run-target")})
		gone(t, &batchv1.Job{ObjectMeta: metaOf(namespace, "run-client")})
	}
	for _, r := range []*release{one, two} {
		for _, obj := range []client.Object{
			&coordinationv1.Lease{ObjectMeta: metaOf(r.namespace, "assay-manager")},
			&corev1.Secret{ObjectMeta: metaOf(r.namespace, "assay-session-tls")},
		} {
			if err := api.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
				t.Errorf("%s: %v", r.namespace, err)
			}
		}
		if log := r.output(); strings.Contains(log, "forbidden") || strings.Contains(log, "cannot ") {
			t.Errorf("the manager of %s lacks a right:\n%s", r.namespace, log)
		}
	}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(unserved), unserved); err != nil || len(unserved.Status.Conditions) != 0 {
		t.Errorf("a run that nobody serves: %v, %+v", err, unserved.Status)
	}
}

// TestReleasesInOneNamespace installs two releases in one namespace: they must not share a Lease, or
// one of them would never lead.
func TestReleasesInOneNamespace(t *testing.T) {
	createNamespace(t, "d")
	createNamespace(t, "e")
	install(t, "assay", "shared", "namespaces={d}")
	first := newRun(t, "d")
	started(t, first)
	installIn(t, "other", "shared", "namespaces={e}")
	if address := started(t, newRun(t, "e")); address != "other-assay-session.shared.svc:9443" {
		t.Errorf("the pods of the second release look for their manager at %s", address)
	}
	gone(t, first)
}

// TestReleaseOfTheCluster installs a release that serves all namespaces.
func TestReleaseOfTheCluster(t *testing.T) {
	createNamespace(t, "anywhere")
	r := install(t, "assay", "cluster")
	run := newRun(t, "anywhere")
	started(t, run)
	gone(t, run)
	if log := r.output(); strings.Contains(log, "forbidden") {
		t.Errorf("the manager lacks a right:\n%s", log)
	}
}

// TestReleaseWithoutTokenReviews installs a release without rights outside namespaces. Its manager must
// say what is missing, instead of letting every run time out.
func TestReleaseWithoutTokenReviews(t *testing.T) {
	createNamespace(t, "f")
	r := install(t, "assay", "without", "namespaces={f}", "rbac.clusterScoped=false", "rbac.aggregate=false")
	eventually(t, "the end of the manager", func(context.Context) (bool, error) {
		select {
		case <-r.done:
			return true, nil
		default:
			return false, nil
		}
	})
	if r.err == nil || !strings.Contains(r.output(), "bind it to the ClusterRole system:auth-delegator") {
		t.Errorf("%v:\n%s", r.err, r.output())
	}
}
