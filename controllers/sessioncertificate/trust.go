package sessioncertificate

import (
	"context"
	"encoding/pem"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;patch

// Trust adds the manager's authority to the ConfigMaps of running runs that
// were made with another one. Their pods read it whenever they connect, so that
// they find back to the manager after the authority, or the source of it, was
// changed in the middle of a run. It runs on the leader only.
type Trust struct {
	// Client reads ConfigMaps from a cache that has only those of runs.
	Client client.Client
	Source Source
}

// SetupWithManager starts Trust with the manager.
func (t *Trust) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("session-trust").
		For(&corev1.ConfigMap{}).
		WatchesRawSource(source.Channel(t.Source.Changed(), handler.Funcs{GenericFunc: t.all})).
		Complete(reconcile.AsReconciler(t.Client, t))
}

// all has every ConfigMap looked at.
func (t *Trust) all(ctx context.Context, _ event.GenericEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	var configs corev1.ConfigMapList
	if err := t.Client.List(ctx, &configs); err != nil {
		log.FromContext(ctx).Error(err, "can't list the ConfigMaps of runs")
		return
	}
	for i := range configs.Items {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&configs.Items[i])})
	}
}

// Reconcile adds to the authority in a run's ConfigMap what it lacks.
func (t *Trust) Reconcile(ctx context.Context, config *corev1.ConfigMap) (reconcile.Result, error) {
	given, hasAuthority := config.Data[authorityCertKey]
	if !hasAuthority || !ofRun(config) {
		return reconcile.Result{}, nil
	}
	trusted, added := addCertificates([]byte(given), t.Source.Authority())
	if !added {
		return reconcile.Result{}, nil
	}
	before := config.DeepCopy()
	config.Data[authorityCertKey] = string(trusted)
	if err := t.Client.Patch(ctx, config, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(fmt.Errorf("add the authority to ConfigMap %s: %w", config.Name, err))
	}
	log.FromContext(ctx).Info("a running run was given the manager's new authority")
	return reconcile.Result{}, nil
}

// ofRun is whether a run made the ConfigMap.
func ofRun(config *corev1.ConfigMap) bool {
	owner := metav1.GetControllerOf(config)
	return owner != nil && owner.Kind == "BenchmarkRun" && owner.APIVersion == v1alpha1.GroupVersion.String()
}

// addCertificates adds to certificates in PEM those of more that aren't among
// them, and returns whether there were any.
func addCertificates(certificates, more []byte) (all []byte, added bool) {
	known := map[string]bool{}
	for block, rest := pem.Decode(certificates); block != nil; block, rest = pem.Decode(rest) {
		known[string(block.Bytes)] = true
	}
	all = certificates
	for block, rest := pem.Decode(more); block != nil; block, rest = pem.Decode(rest) {
		if known[string(block.Bytes)] {
			continue
		}
		known[string(block.Bytes)], added = true, true
		if n := len(all); n > 0 && all[n-1] != '\n' {
			all = append(all[:n:n], '\n')
		}
		all = append(all[:len(all):len(all)], pem.EncodeToMemory(block)...)
	}
	return all, added
}
