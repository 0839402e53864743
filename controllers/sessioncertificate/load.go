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

	"github.com/assay-dev/assay/internal/session"
)

// overlap is for how long the manager goes on serving with a certificate of the
// authority before, once another has signed the new one. Within it the kubelets
// bring the new authority, which Trust wrote, to the pods: they look at least
// once in a minute and a half.
const overlap = 3 * time.Minute

// Loader takes the certificate from a Secret that somebody else keeps, and
// follows it when it is renewed. It never writes it. It runs in every manager,
// so that one which could not serve is seen before it has to lead.
type Loader struct {
	secret types.NamespacedName
	clock  clock.PassiveClock
	reader client.Reader

	holder
	// newest is what the Secret has, and adopt when it is served: it waits while
	// pods don't know its authority yet.
	newest *bundle
	adopt  time.Time
	// problem is why the Secret can't be taken; nil when it can.
	problem atomic.Pointer[error]
}

// NewLoader makes a Loader of the Secret with tls.crt, tls.key and ca.crt.
func NewLoader(secret types.NamespacedName, clock clock.PassiveClock) *Loader {
	l := &Loader{secret: secret, clock: clock, holder: newHolder()}
	l.problem.Store(ptr.To(fmt.Errorf("the Secret %s hasn't been looked at yet", secret)))
	return l
}

// SetupWithManager implements Source. The Secret has a cache of its own, which
// sees no other: all that is needed is the right to get, list and watch this one
// by its name.
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
		return fmt.Errorf("make a cache of Secret %s: %w", l.secret, err)
	}
	if err := mgr.Add(everywhere{own}); err != nil {
		return fmt.Errorf("start the cache of Secret %s: %w", l.secret, err)
	}
	l.reader = own
	// A Secret that isn't there has no events: look once in any case.
	first := source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		queue.Add(reconcile.Request{NamespacedName: l.secret})
		return nil
	})
	err = ctrl.NewControllerManagedBy(mgr).
		Named("session-certificate").
		WatchesRawSource(source.Kind[client.Object](own, &corev1.Secret{}, &handler.EnqueueRequestForObject{})).
		WatchesRawSource(first).
		WithOptions(controller.Options{NeedLeaderElection: ptr.To(false)}).
		Complete(l)
	if err != nil {
		return fmt.Errorf("watch Secret %s: %w", l.secret, err)
	}
	return mgr.AddReadyzCheck("session-certificate", l.Ready)
}

// everywhere is a cache that isn't kept for the leader.
type everywhere struct{ cache.Cache }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (everywhere) NeedLeaderElection() bool { return false }

// Ready is an error while there is no certificate to serve with, or the Secret
// has become one that can't be taken.
func (l *Loader) Ready(*http.Request) error {
	if problem := l.problem.Load(); problem != nil {
		return *problem
	}
	if b := l.current.Load(); l.clock.Now().After(b.serving.Leaf.NotAfter) {
		return fmt.Errorf("the certificate in Secret %s has expired on %s: see why it isn't renewed", l.secret, b.serving.Leaf.NotAfter)
	}
	return nil
}

// Reconcile looks at the Secret. What was taken from it before is served on
// while it is missing or can't be taken.
func (l *Loader) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	secret := &corev1.Secret{}
	if err := l.reader.Get(ctx, l.secret, secret); apierrors.IsNotFound(err) {
		return l.refuse(fmt.Errorf("there is no Secret %s: see whether its Certificate is ready", l.secret))
	} else if err != nil {
		return reconcile.Result{}, fmt.Errorf("get Secret %s: %w", l.secret, err)
	}
	now := l.clock.Now()
	fresh, err := parseIssued(secret.Data, now)
	if err != nil {
		return l.refuse(fmt.Errorf("can't take Secret %s: %w", l.secret, err))
	}
	known := l.newest != nil && l.newest.serving.Leaf.Equal(fresh.serving.Leaf)
	wait := l.take(fresh, now)
	l.problem.Store(nil) // only now is there something to serve with
	if !known {
		log.FromContext(ctx).Info("took the session certificate", "serial", fresh.serving.Leaf.SerialNumber.Text(16),
			"until", fresh.serving.Leaf.NotAfter, "servedIn", wait.String())
	}
	return reconcile.Result{RequeueAfter: wait}, nil
}

// refuse keeps why the Secret can't be taken. Trying again has no use: the next
// change of the Secret is an event.
func (l *Loader) refuse(problem error) (reconcile.Result, error) {
	l.problem.Store(&problem)
	return reconcile.Result{}, reconcile.TerminalError(problem)
}

// take serves with what the Secret has: at once when running pods trust it,
// otherwise after the overlap, in which all pods are given both authorities. It
// returns how long that is still to come.
func (l *Loader) take(fresh *bundle, now time.Time) time.Duration {
	served := l.current.Load()
	switch {
	case served == nil || now.After(served.serving.Leaf.NotAfter) || trusts(served, fresh, now):
		l.adopt = time.Time{}
	case l.adopt.IsZero() || !bytes.Equal(l.newest.authority, fresh.authority):
		l.adopt = now.Add(overlap)
	}
	l.newest = fresh
	if wait := l.adopt.Sub(now); !l.adopt.IsZero() && wait > 0 {
		both, _ := addCertificates(fresh.authority, served.authority)
		l.serve(&bundle{serving: served.serving, signers: served.signers, authority: both})
		return wait
	}
	l.adopt = time.Time{}
	l.serve(fresh)
	return 0
}

// trusts is whether pods that were given the authority of one bundle, and
// nothing after it, trust another.
func trusts(given, other *bundle, now time.Time) bool {
	return verify(other.serving, given.signers, now) == nil
}

// parseIssued reads a certificate that somebody else issued from a Secret's
// data. Its errors say what the Secret lacks and how to mend that.
func parseIssued(data map[string][]byte, now time.Time) (*bundle, error) {
	for _, key := range []string{servingCertKey, servingKeyKey} {
		if len(data[key]) == 0 {
			return nil, fmt.Errorf("it has no %s: see whether its Certificate is ready", key)
		}
	}
	signers := x509.NewCertPool()
	if !signers.AppendCertsFromPEM(data[authorityCertKey]) {
		return nil, fmt.Errorf("it has no certificate in %s, by which pods would check the manager: take an issuer that gives its authority (CA, Vault and others do, ACME doesn't)", authorityCertKey)
	}
	serving, err := tls.X509KeyPair(data[servingCertKey], data[servingKeyKey])
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", servingCertKey, servingKeyKey, err)
	}
	if err := verify(serving, signers, now); err != nil {
		return nil, err
	}
	return &bundle{data: data, authority: data[authorityCertKey], signers: signers, serving: serving}, nil
}

// verify checks a certificate in the way in which pods do. One that begins to
// be valid in a moment, by the clock of another machine, is good.
func verify(serving tls.Certificate, signers *x509.CertPool, now time.Time) error {
	leaf := serving.Leaf
	if !slices.Contains(leaf.DNSNames, session.ServerName) {
		return fmt.Errorf("the certificate in %s isn't for the name %s but for [%s]: add %s to the dnsNames of its Certificate",
			servingCertKey, session.ServerName, strings.Join(leaf.DNSNames, " "), session.ServerName)
	}
	between := x509.NewCertPool()
	for _, der := range serving.Certificate[1:] {
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			return fmt.Errorf("%s: %w", servingCertKey, err)
		}
		between.AddCert(certificate)
	}
	if now.Before(leaf.NotBefore) {
		now = leaf.NotBefore
	}
	_, err := leaf.Verify(x509.VerifyOptions{Roots: signers, Intermediates: between, CurrentTime: now})
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.IncompatibleUsage:
		return fmt.Errorf("the certificate in %s may not be used by a server: add %q to the usages of its Certificate", servingCertKey, "server auth")
	case err != nil:
		return fmt.Errorf("the certificate in %s doesn't go with %s: %w", servingCertKey, authorityCertKey, err)
	}
	return nil
}
