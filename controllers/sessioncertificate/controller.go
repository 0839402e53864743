// Package sessioncertificate provides the certificate of the session server, by which a run's pods
// verify the manager. A Keeper issues it, stores it in a Secret and renews it. A Loader reads it
// from a Secret of somebody else's, such as cert-manager's. Trust adds a new CA to active runs.
package sessioncertificate

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// SecretName is the default name of the Secret in the manager's namespace.
	SecretName = "assay-session-tls"

	// checkInterval is the interval at which the remaining lifetime of the certificate is checked,
	// retryInterval the delay after a failure.
	checkInterval = 12 * time.Hour
	retryInterval = 10 * time.Second
)

// +kubebuilder:rbac:groups="",resources=secrets,namespace=system,verbs=create
// +kubebuilder:rbac:groups="",resources=secrets,resourceNames=assay-session-tls,namespace=system,verbs=get;update

// Keeper issues and renews the certificate. It runs only on the leader.
type Keeper struct {
	// Client has no cache, so that it needs no permission to list Secrets.
	Client client.Client
	// Secret is the name of the Secret, in the manager's namespace.
	Secret types.NamespacedName
	Clock  clock.WithTicker

	holder
}

// NewKeeper returns a Keeper. apiClient must not have a cache.
func NewKeeper(apiClient client.Client, secret types.NamespacedName, clock clock.WithTicker) *Keeper {
	return &Keeper{Client: apiClient, Secret: secret, Clock: clock, holder: newHolder()}
}

// SetupWithManager implements Source.
func (k *Keeper) SetupWithManager(mgr ctrl.Manager) error { return mgr.Add(k) }

// Start implements manager.Runnable: it maintains the certificate until the context ends.
func (k *Keeper) Start(ctx context.Context) error {
	logger := log.FromContext(ctx).WithName("session-certificate")
	for {
		wait := checkInterval
		if err := k.Ensure(ctx); err != nil {
			logger.Error(err, "Failed to maintain the session certificate", "secret", k.Secret)
			wait = retryInterval
		}
		select {
		case <-ctx.Done():
			return nil
		case <-k.Clock.After(wait):
		}
	}
}

// Ensure issues a certificate unless there is one with enough remaining lifetime.
func (k *Keeper) Ensure(ctx context.Context) error {
	now := k.Clock.Now()
	secret := &corev1.Secret{}
	err := k.Client.Get(ctx, k.Secret, secret)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get Secret %s: %w", k.Secret, err)
	}
	missing := apierrors.IsNotFound(err)
	if good, err := parse(secret.Data, now); err == nil {
		k.serve(good)
		return nil
	}
	made, err := issue(secret.Data, now)
	if err != nil {
		return err
	}
	secret.Data = made.data
	if missing {
		secret.ObjectMeta = metav1.ObjectMeta{Name: k.Secret.Name, Namespace: k.Secret.Namespace}
		err = k.Client.Create(ctx, secret)
	} else {
		err = k.Client.Update(ctx, secret)
	}
	if err != nil {
		return fmt.Errorf("write Secret %s: %w", k.Secret, err)
	}
	k.serve(made)
	return nil
}
