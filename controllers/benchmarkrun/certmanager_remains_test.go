package benchmarkrun

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/wrapper"
)

func certificatesLeaveNothing(t *testing.T) {
	for name, end := range ends {
		for _, retention := range []v1alpha1.PodRetention{v1alpha1.RetainNever, v1alpha1.RetainAlways} {
			t.Run(name+", pods kept "+string(retention), func(t *testing.T) {
				b := newBench(t, mutual(issuedBy("ca"), issuedBy("ca")), func(w *wrapper.Run) { w.Retain(retention) })
				b.reconcile()
				b.issue(false)
				b.issue(true)
				b.reconcile()
				end(b)
				b.reconcile()
				if b.get("run-config", &corev1.ConfigMap{}) == nil && b.secrets() == nil {
					t.Error("the Secrets went with the Certificates, whose controller creates them again")
				}
				b.reconcile()
				b.reconcile()
				if b.certificates() != 0 || b.secrets() != nil {
					t.Errorf("left: %d Certificates, Secrets %v", b.certificates(), b.secrets())
				}
			})
		}
	}
}

// certificateIsGoneBeforeTheRunStartsAgain delays the deletion of a suspended run's
// Certificate with a finalizer.
func certificateIsGoneBeforeTheRunStartsAgain(t *testing.T) {
	b := newBench(t, issued)
	b.reconcile()
	b.issue(false)
	held := b.certificate(false)
	held.SetFinalizers([]string{"example.org/held"})
	if err := api.Update(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	b.suspend(true)
	b.reconcile()
	b.suspend(false)
	b.reconcile()
	b.wants(v1alpha1.ReasonQueued, "Certificate "+held.GetName())
	held = b.certificate(false)
	held.SetFinalizers(nil)
	if err := api.Update(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting)
	if b.certificates() != 1 || b.hasPods() {
		t.Error("it started with the old certificate")
	}
}

func certificateOfAnother(t *testing.T) {
	b := newBench(t, issued)
	b.reload()
	name, _ := b.secretNames()
	theirs := ofKind("Certificate")
	theirs.SetNamespace(b.run.Namespace)
	theirs.SetName(name)
	if err := api.Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: b.run.Namespace, Name: name}}
	if err := api.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	b.reconcile()
	b.wants(v1alpha1.ReasonNameConflict, "Certificate "+name)
	b.reconcile()
	b.reconcile()
	if b.certificates() != 1 || len(b.secrets()) != 1 {
		t.Errorf("of theirs there are %d Certificates and the Secrets %v", b.certificates(), b.secrets())
	}
}

// certificateIsRefused makes the API server reject a Certificate, as cert-manager's
// webhook does.
func certificateIsRefused(t *testing.T) {
	b := newBench(t, issued)
	restore := b.intercept(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.CreateOption) error {
			if _, ok := obj.(*unstructured.Unstructured); ok {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "certificates"}, obj.GetName(), errKilled)
			}
			return c.Create(ctx, obj, options...)
		},
	})
	b.reconcile()
	b.wants(v1alpha1.ReasonInvalidSpec, "was rejected by the API server", errKilled.Error())
	restore()
	b.reconcile()
	if got := b.secrets(); got != nil {
		t.Errorf("left: %v", got)
	}
}

func certificateMayNotBeRead(t *testing.T) {
	b := newBench(t, issued)
	watching, err := client.NewWithWatch(apiConfig, client.Options{Scheme: api.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	b.APIReader = interceptor.NewClient(watching, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
			if _, ok := obj.(*unstructured.Unstructured); ok {
				return apierrors.NewForbidden(schema.GroupResource{Resource: "certificates"}, key.Name, errKilled)
			}
			return c.Get(ctx, key, obj, options...)
		},
	})
	b.reload()
	if _, err := b.Reconcile(t.Context(), b.request()); err != nil {
		t.Log(err) // whose the Certificate is can't be read either
	}
	b.later(6 * time.Minute)
	b.reconcile()
	b.wants(v1alpha1.ReasonCertificateNotReady, errKilled.Error())
}

func certificateSurvivesRestarts(t *testing.T) {
	const objects = 7 // ConfigMap, two Secrets with a Certificate each, pod, Job
	for at := range objects {
		b := newBench(t, mutual(issuedBy("ca"), issuedBy("ca")))
		created := 0
		b.intercept(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.CreateOption) error {
				if created++; created > at {
					return errKilled
				}
				return c.Create(ctx, obj, options...)
			},
		})
		if at >= 5 { // all that is needed for a certificate
			b.reconcile()
			b.issue(false)
			b.issue(true)
		}
		if at == objects-1 {
			b.reconcile()
			b.bind()
		}
		b.killed()
		b.restarted()
		b.reconcile()
		if at < 5 {
			b.issue(false)
			b.issue(true)
			b.reconcile()
		}
		b.bind()
		b.reconcile()
		b.wants(v1alpha1.ReasonStarting)
		if !b.hasPods() || len(b.secrets()) != 2 || b.certificates() != 2 {
			t.Errorf("killed after %d objects: pods %t, Secrets %v, %d Certificates", at, b.hasPods(), b.secrets(), b.certificates())
		}
	}
}

// keysAreMadeOnce checks that the server's key is generated once while the clients'
// certificate isn't issued.
func keysAreMadeOnce(t *testing.T) {
	b := newBench(t, mutual(selfSigned(), issuedBy("ca")))
	signed := 0
	b.intercept(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.CreateOption) error {
			if secret, ok := obj.(*corev1.Secret); ok && len(secret.Data["tls.key"]) > 0 {
				signed++
			}
			return c.Create(ctx, obj, options...)
		},
	})
	for range 5 {
		b.reconcile()
	}
	if signed != 1 {
		t.Errorf("%d keys were made", signed)
	}
}
