package sessioncertificate

import (
	"context"
	"encoding/pem"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/assay-dev/assay/controllers/retry"
	"github.com/assay-dev/assay/controllers/scope"
	"github.com/assay-dev/assay/internal/manifest"
)

// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;patch

// Trust adds the manager's CA to the ConfigMaps of runs that were created with another one. Their
// pods read it whenever they connect, so that they can reconnect to the manager after the CA, or
// its source, changed during a run. It runs only on the leader.
type Trust struct {
	// Client reads the metadata of ConfigMaps from a cache that holds only that of runs. APIReader
	// reads past the cache.
	Client    client.Client
	APIReader client.Reader
	Source    Source
	// Scope is what the manager serves. It may be nil.
	Scope *scope.Scope
}

// SetupWithManager registers Trust with mgr.
func (t *Trust) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("session-trust").
		For(&corev1.ConfigMap{}, builder.OnlyMetadata).
		WatchesRawSource(source.Channel(t.Source.Changed(), handler.Funcs{GenericFunc: t.all})).
		WithOptions(controller.Options{RateLimiter: retry.Limiter()}).
		Complete(t)
}

func (t *Trust) all(ctx context.Context, _ event.GenericEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	var configs metav1.PartialObjectMetadataList
	configs.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	if err := t.Client.List(ctx, &configs); err != nil {
		log.FromContext(ctx).Error(err, "Failed to list the ConfigMaps of runs")
		return
	}
	for i := range configs.Items {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&configs.Items[i])})
	}
}

// Reconcile adds to the CA bundle in a run's ConfigMap what it lacks. It reads the content only if the
// metadata doesn't show that there is nothing to add.
func (t *Trust) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if serves, err := t.Scope.Serves(ctx, request.Namespace, false); err != nil {
		return reconcile.Result{}, err
	} else if !serves {
		return reconcile.Result{RequeueAfter: scope.Interval}, nil
	}
	cached := &metav1.PartialObjectMetadata{}
	cached.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	if err := t.Client.Get(ctx, request.NamespacedName, cached); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	ca := t.Source.CA()
	if ca == nil || !manifest.IsConfig(cached) || manifest.Trusts(cached, ca) {
		return reconcile.Result{}, nil
	}
	config := &corev1.ConfigMap{}
	if err := t.APIReader.Get(ctx, request.NamespacedName, config); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	given, found := config.Data[caCertKey]
	if !found || !manifest.IsConfig(config) {
		return reconcile.Result{}, nil
	}
	before := config.DeepCopy()
	config.Data[caCertKey] = string(addCertificates([]byte(given), ca))
	manifest.SetTrusted(config, ca)
	if err := t.Client.Patch(ctx, config, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(fmt.Errorf("add the CA to ConfigMap %s: %w", config.Name, err))
	}
	log.FromContext(ctx).Info("Added the new CA to the ConfigMap of a run")
	return reconcile.Result{}, nil
}

// addCertificates appends to certificates, in PEM, those of more that it lacks, if any.
func addCertificates(certificates, more []byte) (all []byte) {
	known := map[string]bool{}
	for block, rest := pem.Decode(certificates); block != nil; block, rest = pem.Decode(rest) {
		known[string(block.Bytes)] = true
	}
	all = certificates
	for block, rest := pem.Decode(more); block != nil; block, rest = pem.Decode(rest) {
		if known[string(block.Bytes)] {
			continue
		}
		known[string(block.Bytes)] = true
		if n := len(all); n > 0 && all[n-1] != '\n' {
			all = append(all[:n:n], '\n')
		}
		all = append(all[:len(all):len(all)], pem.EncodeToMemory(block)...)
	}
	return all
}
