// Package sessioncertificate has the certificate by which the manager proves to
// the pods of a run that it is the manager. A Keeper makes it, keeps it in a
// Secret and renews it; a Loader takes it from a Secret that somebody else, such
// as cert-manager, keeps. Trust tells the pods of running runs when they have to
// trust another authority.
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
	// SecretName is the name of the Secret in the manager's namespace.
	SecretName = "assay-session-tls"

	// checkInterval is how often the time that the certificate has left is looked
	// at, retryInterval how soon after a failure.
	checkInterval = 12 * time.Hour
	retryInterval = 10 * time.Second
)

// +kubebuilder:rbac:groups="",resources=secrets,namespace=system,verbs=create
// +kubebuilder:rbac:groups="",resources=secrets,resourceNames=assay-session-tls,namespace=system,verbs=get;update

// Keeper keeps the certificate. It runs on the leader only.
type Keeper struct {
	// Client reads without a cache, so that no right to list Secrets is needed.
	Client client.Client
	// Namespace is the manager's own.
	Namespace string
	Clock     clock.WithTicker

	holder
}

// NewKeeper makes a Keeper that reads and writes with a client that has no
// cache.
func NewKeeper(live client.Client, namespace string, clock clock.WithTicker) *Keeper {
	return &Keeper{Client: live, Namespace: namespace, Clock: clock, holder: newHolder()}
}

// SetupWithManager implements Source.
func (k *Keeper) SetupWithManager(mgr ctrl.Manager) error { return mgr.Add(k) }

// Start makes or reads the certificate and renews it in time, until the
// context ends. It implements manager.Runnable.
func (k *Keeper) Start(ctx context.Context) error {
	logger := log.FromContext(ctx).WithName("session-certificate")
	for {
		wait := checkInterval
		if err := k.Ensure(ctx); err != nil {
			logger.Error(err, "can't keep the session certificate", "secret", SecretName)
			wait = retryInterval
		}
		select {
		case <-ctx.Done():
			return nil
		case <-k.Clock.After(wait):
		}
	}
}

// Ensure makes sure that there is a certificate with enough time left.
func (k *Keeper) Ensure(ctx context.Context) error {
	now := k.Clock.Now()
	secret := &corev1.Secret{}
	err := k.Client.Get(ctx, types.NamespacedName{Namespace: k.Namespace, Name: SecretName}, secret)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get Secret %s: %w", SecretName, err)
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
		secret.ObjectMeta = metav1.ObjectMeta{Name: SecretName, Namespace: k.Namespace}
		err = k.Client.Create(ctx, secret)
	} else {
		err = k.Client.Update(ctx, secret)
	}
	if err != nil {
		return fmt.Errorf("write Secret %s: %w", SecretName, err)
	}
	k.serve(made)
	return nil
}
