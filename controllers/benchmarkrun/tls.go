package benchmarkrun

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/server"
)

// +kubebuilder:rbac:groups="",resources=secrets,verbs=create;delete

// certificateReserve is added to the time that a run may take, for the life of
// its certificates.
const certificateReserve = 24 * time.Hour

// createCertificates makes the Secrets of a run's certificates, and has
// cert-manager issue those that it is to. It may be called again.
func (r *Reconciler) createCertificates(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed) (*failure, error) {
	for _, c := range manifest.Certificates(run) {
		var failed *failure
		var err error
		switch {
		case c.Spec.SelfSigned != nil:
			failed, err = r.sign(ctx, run, &c)
		case c.Spec.IssuerRef != nil && o.issued[c.Secret] == nil:
			failed, err = r.request(ctx, run, &c)
		}
		if failed != nil || err != nil {
			return failed, err
		}
	}
	return nil, nil
}

// sign makes a certificate by the operator itself. One that is there already,
// from before the manager was restarted, stands. What this manager has made it
// doesn't make again: a key takes a second.
func (r *Reconciler) sign(ctx context.Context, run *v1alpha1.BenchmarkRun, c *manifest.Certificate) (*failure, error) {
	name := types.NamespacedName{Namespace: run.Namespace, Name: c.Secret}
	if _, known := r.signed.Load(name); known {
		return nil, nil
	}
	algorithm, size := server.Key(c.Spec.PrivateKey)
	made, err := certificate.Make(certificate.Request{
		Algorithm: string(algorithm), Size: size, DNSNames: server.DNSNames(run, c.Spec), Client: c.Client,
		Lifetime: time.Duration(activeDeadline(run))*time.Second + certificateReserve,
	}, r.Clock.Now())
	if err != nil {
		return nil, fmt.Errorf("make the certificate of %s: %w", c.Field, err)
	}
	failed, err := r.createSecret(ctx, run, c.Secret, made)
	if failed == nil && err == nil {
		r.signed.Store(name, run.UID)
	}
	return failed, err
}

// createSecret makes a Secret that goes with its run. Whose one is that is there
// already can't be read, but nobody else uses such a name.
func (r *Reconciler) createSecret(ctx context.Context, run *v1alpha1.BenchmarkRun, name string, b *certificate.Bundle) (*failure, error) {
	secret := manifest.Secret(run, name, b)
	err := r.Create(ctx, secret)
	if apierrors.IsAlreadyExists(err) {
		return nil, nil
	}
	return r.created(run, secret, err)
}

// removeCertificates deletes what was made for a run's TLS. While there are
// Certificates it deletes no more than them, and returns false: cert-manager
// would make their Secrets anew, as nobody's. Without the ConfigMap nothing
// would tell the next look that there are Secrets.
func (r *Reconciler) removeCertificates(ctx context.Context, run *v1alpha1.BenchmarkRun, o *observed) (removed bool, err error) {
	if !o.remains() {
		return true, nil
	}
	for name, issued := range o.issued {
		uid := issued.GetUID()
		if err := r.Delete(ctx, issued, client.Preconditions{UID: &uid}); client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("delete Certificate %s: %w", name, err)
		}
	}
	if len(o.issued) > 0 && o.config != nil {
		return false, nil
	}
	for _, c := range manifest.Certificates(run) {
		if !c.OwnSecret() {
			continue
		}
		r.signed.Delete(types.NamespacedName{Namespace: run.Namespace, Name: c.Secret})
		secret := manifest.Secret(run, c.Secret, &certificate.Bundle{})
		if err := r.Delete(ctx, secret); client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("delete Secret %s: %w", c.Secret, err)
		}
	}
	return true, nil
}
