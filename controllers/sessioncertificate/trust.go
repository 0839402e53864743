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
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/assay-dev/assay/controllers/retry"
	"github.com/assay-dev/assay/internal/manifest"
)

// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;patch

// Trust adds the manager's CA to the ConfigMaps of runs that were created with another one. Their
// pods read it whenever they connect, so that they can reconnect to the manager after the CA, or
// its source, changed during a run. It runs only on the leader.
type Trust struct {
	// Client reads ConfigMaps from a cache that holds only those of runs.
	Client client.Client
	Source Source
}

// SetupWithManager registers Trust with mgr.
func (t *Trust) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("session-trust").
		For(&corev1.ConfigMap{}).
		WatchesRawSource(source.Channel(t.Source.Changed(), handler.Funcs{GenericFunc: t.all})).
		WithOptions(controller.Options{RateLimiter: retry.Limiter()}).
		Complete(reconcile.AsReconciler(t.Client, t))
}

func (t *Trust) all(ctx context.Context, _ event.GenericEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	var configs corev1.ConfigMapList
	if err := t.Client.List(ctx, &configs); err != nil {
		log.FromContext(ctx).Error(err, "Failed to list the ConfigMaps of runs")
		return
	}
	for i := range configs.Items {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&configs.Items[i])})
	}
}

// Reconcile adds to the CA bundle in a run's ConfigMap what it lacks.
func (t *Trust) Reconcile(ctx context.Context, config *corev1.ConfigMap) (reconcile.Result, error) {
	given, found := config.Data[caCertKey]
	if !found || !manifest.IsRun(metav1.GetControllerOf(config)) {
		return reconcile.Result{}, nil
	}
	trusted, added := addCertificates([]byte(given), t.Source.CA())
	if !added {
		return reconcile.Result{}, nil
	}
	before := config.DeepCopy()
	config.Data[caCertKey] = string(trusted)
	if err := t.Client.Patch(ctx, config, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(fmt.Errorf("add the CA to ConfigMap %s: %w", config.Name, err))
	}
	log.FromContext(ctx).Info("Added the new CA to the ConfigMap of a run")
	return reconcile.Result{}, nil
}

// addCertificates appends to certificates, in PEM, those of more that it lacks, if any.
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
