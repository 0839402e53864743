package sessioncertificate

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/assay-dev/assay/controllers/retry"
	"github.com/assay-dev/assay/internal/session"
)

// overlap is the time for which the manager still serves the old certificate after the Secret has
// one of another CA. During that time the kubelets project the new CA, which Trust added, into the
// pods: they sync at least every minute and a half.
const overlap = 3 * time.Minute

// Loader reads the certificate from a Secret that somebody else maintains, and follows its
// renewals. It never writes the Secret. It runs in every manager, so that one that can't serve
// shows before it becomes the leader.
type Loader struct {
	secret types.NamespacedName
	clock  clock.PassiveClock
	reader client.Reader

	holder
	// newest is the Secret's certificate. It is served from adopt on, when pods have its CA.
	newest *bundle
	adopt  time.Time
	// problem is why the Secret can't be used, or nil.
	problem atomic.Pointer[error]
}

// NewLoader returns a Loader of a Secret with tls.crt, tls.key and ca.crt.
func NewLoader(secret types.NamespacedName, clock clock.PassiveClock) *Loader {
	l := &Loader{secret: secret, clock: clock, holder: newHolder()}
	l.problem.Store(ptr.To(fmt.Errorf("secret %s has not been read yet", secret)))
	return l
}

// SetupWithManager implements Source. The Secret has a cache of its own, so that the manager needs
// permission to get, list and watch only this Secret, by name.
func (l *Loader) SetupWithManager(mgr ctrl.Manager) error {
	own, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(),
		Scheme:     mgr.GetScheme(),
		Mapper:     mgr.GetRESTMapper(),
		ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {Namespaces: map[string]cache.Config{
			l.secret.Namespace: {FieldSelector: fields.OneTermEqualSelector("metadata.name", l.secret.Name)},
		}}},
	})
	if err != nil {
		return fmt.Errorf("create a cache of Secret %s: %w", l.secret, err)
	}
	if err := mgr.Add(everywhere{own}); err != nil {
		return fmt.Errorf("start the cache of Secret %s: %w", l.secret, err)
	}
	l.reader = own
	// A missing Secret has no events, so reconcile once in any case.
	first := source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		queue.Add(reconcile.Request{NamespacedName: l.secret})
		return nil
	})
	err = ctrl.NewControllerManagedBy(mgr).
		Named("session-certificate").
		WatchesRawSource(source.Kind[client.Object](own, &corev1.Secret{}, &handler.EnqueueRequestForObject{})).
		WatchesRawSource(first).
		WithOptions(controller.Options{NeedLeaderElection: ptr.To(false), RateLimiter: retry.Limiter()}).
		Complete(l)
	if err != nil {
		return fmt.Errorf("watch Secret %s: %w", l.secret, err)
	}
	return mgr.AddReadyzCheck("session-certificate", l.Ready)
}

// everywhere is a cache that also runs in managers that don't lead.
type everywhere struct{ cache.Cache }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (everywhere) NeedLeaderElection() bool { return false }

// Ready is a healthz.Checker: it fails without a certificate to serve or a usable Secret.
func (l *Loader) Ready(*http.Request) error {
	if problem := l.problem.Load(); problem != nil {
		return *problem
	}
	if b := l.current.Load(); l.clock.Now().After(b.serving.Leaf.NotAfter) {
		return fmt.Errorf("the certificate in Secret %s expired at %s: check why it was not renewed", l.secret, b.serving.Leaf.NotAfter)
	}
	return nil
}

// Reconcile reads the Secret. Until that can be used, the previous certificate is still served.
func (l *Loader) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	secret := &corev1.Secret{}
	if err := l.reader.Get(ctx, l.secret, secret); apierrors.IsNotFound(err) {
		return l.refuse(fmt.Errorf("secret %s: not found: check whether its Certificate is ready", l.secret))
	} else if err != nil {
		return reconcile.Result{}, fmt.Errorf("get Secret %s: %w", l.secret, err)
	}
	now := l.clock.Now()
	fresh, err := parseIssued(secret.Data, now)
	if err != nil {
		return l.refuse(fmt.Errorf("use Secret %s: %w", l.secret, err))
	}
	known := l.newest != nil && l.newest.serving.Leaf.Equal(fresh.serving.Leaf)
	wait := l.adoptNewest(fresh, now)
	l.problem.Store(nil) // only now is there something to serve with
	if !known {
		log.FromContext(ctx).Info("Loaded the session certificate", "serial", fresh.serving.Leaf.SerialNumber.Text(16),
			"notAfter", fresh.serving.Leaf.NotAfter, "servedAfter", wait.String())
	}
	return reconcile.Result{RequeueAfter: wait}, nil
}

// refuse records why the Secret can't be used. Its next change is an event: no need to retry.
func (l *Loader) refuse(problem error) (reconcile.Result, error) {
	l.problem.Store(&problem)
	return reconcile.Result{}, reconcile.TerminalError(problem)
}

// adoptNewest serves the certificate in the Secret: at once if running pods trust it, otherwise
// after the overlap, during which all pods get both CAs. It returns the remaining wait.
func (l *Loader) adoptNewest(fresh *bundle, now time.Time) time.Duration {
	served := l.current.Load()
	switch {
	case served == nil || now.After(served.serving.Leaf.NotAfter) || trusts(served, fresh, now):
		l.adopt = time.Time{}
	case l.adopt.IsZero() || !bytes.Equal(l.newest.ca, fresh.ca):
		l.adopt = now.Add(overlap)
	}
	l.newest = fresh
	if wait := l.adopt.Sub(now); !l.adopt.IsZero() && wait > 0 {
		l.serve(&bundle{serving: served.serving, roots: served.roots, ca: addCertificates(fresh.ca, served.ca)})
		return wait
	}
	l.adopt = time.Time{}
	l.serve(fresh)
	return 0
}

// trusts reports whether pods that have only the CA of given trust other.
func trusts(given, other *bundle, now time.Time) bool {
	return verify(other.serving, given.roots, now) == nil
}

// parseIssued reads a certificate that somebody else issued from a Secret's data. Its errors say
// what the Secret lacks and how to fix it.
func parseIssued(data map[string][]byte, now time.Time) (*bundle, error) {
	for _, key := range []string{servingCertKey, servingKeyKey} {
		if len(data[key]) == 0 {
			return nil, fmt.Errorf("key %s: not found: check whether its Certificate is ready", key)
		}
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(data[caCertKey]) {
		return nil, fmt.Errorf("%s has no CA certificate, by which pods verify the manager: use an issuer that writes its CA certificate (CA and Vault issuers do, ACME issuers don't)", caCertKey)
	}
	serving, err := tls.X509KeyPair(data[servingCertKey], data[servingKeyKey])
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", servingCertKey, servingKeyKey, err)
	}
	if err := verify(serving, roots, now); err != nil {
		return nil, err
	}
	return &bundle{data: data, ca: data[caCertKey], roots: roots, serving: serving}, nil
}

// verify verifies a certificate as pods do. Another machine's clock may be ahead for a moment.
func verify(serving tls.Certificate, roots *x509.CertPool, now time.Time) error {
	leaf := serving.Leaf
	if !slices.Contains(leaf.DNSNames, session.ServerName) {
		return fmt.Errorf("the certificate in %s is not valid for %s, only for [%s]: add %s to the dnsNames of its Certificate",
			servingCertKey, session.ServerName, strings.Join(leaf.DNSNames, " "), session.ServerName)
	}
	intermediates := x509.NewCertPool()
	for _, der := range serving.Certificate[1:] {
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			return fmt.Errorf("%s: %w", servingCertKey, err)
		}
		intermediates.AddCert(certificate)
	}
	if now.Before(leaf.NotBefore) {
		now = leaf.NotBefore
	}
	_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: intermediates, CurrentTime: now})
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.IncompatibleUsage:
		return fmt.Errorf("the certificate in %s must not be used by a server: add %q to the usages of its Certificate", servingCertKey, "server auth")
	case err != nil:
		return fmt.Errorf("the certificate in %s was not issued by the CA in %s: %w", servingCertKey, caCertKey, err)
	}
	return nil
}
