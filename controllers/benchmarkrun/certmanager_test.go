package benchmarkrun

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/lane"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/test/wrapper"
)

// issuedBy returns a certificate that cert-manager issues.
func issuedBy(issuer string) v1alpha1.Certificate {
	return v1alpha1.Certificate{IssuerRef: &v1alpha1.IssuerReference{Name: issuer}}
}

func issued(w *wrapper.Run) {
	w.Spec.Target.TLS = &v1alpha1.TLS{Certificate: new(issuedBy("ca"))}
}

// TestCertManager starts with a cluster without cert-manager, and ends with one from which
// cert-manager was removed while clients had seen it.
func TestCertManager(t *testing.T) {
	missing := func(when string) {
		for name, test := range map[string]func(*testing.T){
			"ends the run at once":              certManagerIsMissing,
			"even if some of it is made before": certManagerIsMissingAfterARestart,
		} {
			t.Run("missing "+when+name, test)
		}
	}
	missing("")
	crds := envtest.CRDInstallOptions{Paths: []string{filepath.Join("testdata", "cert-manager.yaml")}, ErrorIfPathMissing: true}
	if _, err := envtest.InstallCRDs(apiConfig, crds); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]func(*testing.T){
		"is asked for what is declared":         certificateIsAskedFor,
		"is waited for":                         certificateIsAwaited,
		"isn't waited for for ever":             certificateIsNotReady,
		"says so of each certificate":           certificatesSayWhatTheyWaitFor,
		"has its Certificate deleted under way": certificateIsDeletedUnderWay,
		"is left alone under load":              certificateDoesNotMatterUnderLoad,
		"leaves nothing":                        certificatesLeaveNothing,
		"is awaited at its end":                 certificateIsGoneBeforeTheRunStartsAgain,
		"has another's Certificate":             certificateOfAnother,
		"refuses the Certificate":               certificateIsRefused,
		"may not be asked":                      certificateMayNotBeRead,
		"survives restarts":                     certificateSurvivesRestarts,
		"has keys made once":                    keysAreMadeOnce,
	} {
		t.Run(name, test)
	}
	if err := envtest.UninstallCRDs(apiConfig, crds); err != nil {
		t.Fatal(err)
	}
	gone := func(ctx context.Context) (bool, error) {
		return failure.KindMissing(api.Get(ctx, client.ObjectKey{Namespace: "default", Name: "any"}, ofKind("Certificate"))), nil
	}
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, gone); err != nil {
		t.Fatal(err)
	}
	missing("again ")
}

func certManagerIsMissing(t *testing.T) {
	// A missing ConfigMap doesn't delay it.
	b := newBench(t, issued, fromConfigMap("/a.html", "a"))
	b.reconcile()
	b.wants(v1alpha1.ReasonCertManagerMissing, "spec.target.tls.certificate.issuerRef", "selfSigned")
	if got := b.secrets(); got != nil {
		t.Errorf("left: %v", got)
	}
	if err := b.get("run-config", &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("the ConfigMap: %v", err)
	}
	b.reconcile()
	b.wants(v1alpha1.ReasonCertManagerMissing)
}

// certManagerIsMissingAfterARestart starts with a Secret for the server, which the
// operator signed, and no way to create the clients' Certificate.
func certManagerIsMissingAfterARestart(t *testing.T) {
	b := newBench(t, mutual(selfSigned(), issuedBy("ca")))
	b.reload()
	plan := run.Decide(b.run, &observed.Run{Settings: b.Settings, Position: lane.Position{Free: true}, CA: b.CA()}, b.clock.Now())
	if refusal, err := b.act(t.Context(), b.run, &plan); err != nil || refusal == nil || !failure.KindMissing(refusal.Err) {
		t.Fatal(refusal, err)
	}
	if got := b.secrets(); len(got) != 2 {
		t.Fatalf("Secrets: %v", got)
	}
	b.restarted()
	b.reconcile()
	b.wants(v1alpha1.ReasonCertManagerMissing, "spec.target.tls.clientAuthentication.certificate.issuerRef")
	b.reconcile()
	if got := b.secrets(); got != nil {
		t.Errorf("left: %v", got)
	}
}

func ofKind(kind string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: kind})
	return obj
}

// certificate returns the Certificate of the server or of the clients.
func (b *bench) certificate(client bool) *unstructured.Unstructured {
	b.t.Helper()
	name, clients := b.secretNames()
	if client {
		name = clients
	}
	obj := ofKind("Certificate")
	if err := b.get(name, obj); err != nil {
		b.t.Fatal(err)
	}
	return obj
}

func (b *bench) certificates() int {
	b.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(manifest.CertificateKind)
	if err := api.List(b.t.Context(), list, client.InNamespace(b.run.Namespace)); err != nil {
		b.t.Fatal(err)
	}
	return len(list.Items)
}

// says sets a condition of an object of cert-manager.
func (b *bench) says(obj *unstructured.Unstructured, kind, status, reason, message string) {
	b.t.Helper()
	condition := map[string]any{"type": kind, "status": status, "reason": reason, "message": message}
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	conditions = append([]any{condition}, conditions...)
	if err := unstructured.SetNestedSlice(obj.Object, conditions, "status", "conditions"); err != nil {
		b.t.Fatal(err)
	}
	if err := api.Status().Update(b.t.Context(), obj); err != nil {
		b.t.Fatal(err)
	}
}

// issue makes a Certificate ready.
func (b *bench) issue(client bool) {
	b.t.Helper()
	b.says(b.certificate(client), "Ready", "True", "Ready", "Certificate is up to date and has not expired")
}

func (b *bench) hasPods() bool {
	b.t.Helper()
	err := b.get("run-target", &corev1.Pod{})
	if client.IgnoreNotFound(err) != nil {
		b.t.Fatal(err)
	}
	return err == nil
}

func certificateIsAskedFor(t *testing.T) {
	server, clients := issuedBy("ca"), issuedBy("other")
	server.DNSNames, server.PrivateKey = []string{"www.example.org"}, &v1alpha1.PrivateKey{Algorithm: v1alpha1.KeyECDSA}
	clients.IssuerRef = &v1alpha1.IssuerReference{Name: "other", Kind: "ClusterIssuer", Group: "example.org"}
	b := newBench(t, mutual(server, clients))
	b.reconcile()
	serverName, clientName := b.secretNames()
	for _, test := range []struct {
		client bool
		want   string
	}{
		{false, `{"dnsNames":["www.example.org"],"issuerRef":{"group":"cert-manager.io","kind":"Issuer","name":"ca"},` +
			`"privateKey":{"algorithm":"ECDSA","encoding":"PKCS8","rotationPolicy":"Always","size":256},"secretName":"` + serverName +
			`","usages":["digital signature","server auth"]}`},
		{true, `{"dnsNames":["run-target.` + b.run.Namespace + `.svc"],"issuerRef":{"group":"example.org","kind":"ClusterIssuer","name":"other"},` +
			`"privateKey":{"algorithm":"RSA","encoding":"PKCS8","rotationPolicy":"Always","size":2048},"secretName":"` + clientName +
			`","usages":["digital signature","client auth","key encipherment"]}`},
	} {
		obj := b.certificate(test.client)
		got, err := json.Marshal(obj.Object["spec"])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, string(got)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		secret := b.secret(obj.GetName())
		if !metav1.IsControlledBy(obj, b.run) || !metav1.IsControlledBy(secret, b.run) {
			t.Errorf("owners %v and %v", obj.GetOwnerReferences(), secret.OwnerReferences)
		}
		if secret.Type != corev1.SecretTypeTLS || len(secret.Data["tls.key"]) != 0 {
			t.Errorf("the Secret for cert-manager is of type %s, with a key of %d bytes", secret.Type, len(secret.Data["tls.key"]))
		}
	}
}

func certificateIsAwaited(t *testing.T) {
	b := newBench(t, issued)
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting, "spec.target.tls.certificate")
	if b.hasPods() {
		t.Error("the target is there before its certificate")
	}
	certificate := b.certificate(false)
	b.says(certificate, "Ready", "False", "DoesNotExist", "Issuing certificate as Secret does not contain a certificate")
	b.says(certificate, "Issuing", "True", "DoesNotExist", "Issuing")
	for name, owner := range map[string]*unstructured.Unstructured{certificate.GetName() + "-1": certificate, "another-1": nil} {
		request := ofKind("CertificateRequest")
		request.SetNamespace(b.run.Namespace)
		request.SetName(name)
		if owner != nil {
			request.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, manifest.CertificateKind)})
		}
		if err := api.Create(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		b.says(request, "Ready", "False", "Pending", "of "+name)
	}
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting, "DoesNotExist: Issuing certificate as Secret", "Pending: of "+certificate.GetName()+"-1")
	if got := b.state().Message; strings.Contains(got, "another-1") {
		t.Errorf("it says what another Certificate waits for: %s", got)
	}
	outcome, err := b.Reconcile(t.Context(), b.request())
	if err != nil || outcome.RequeueAfter == 0 || outcome.RequeueAfter > certificateInterval {
		t.Errorf("it looks again after %s: %v", outcome.RequeueAfter, err)
	}
	b.issue(false)
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting)
	if !b.hasPods() {
		t.Error("the target isn't there")
	}
}

func certificateIsNotReady(t *testing.T) {
	b := newBench(t, issued, func(w *wrapper.Run) { w.ReadyWithin(30) })
	b.reconcile()
	b.says(b.certificate(false), "Ready", "False", "Denied", "no such issuer")
	b.later(29 * time.Second)
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting, "no such issuer")
	b.later(2 * time.Second)
	b.reconcile()
	b.wants(v1alpha1.ReasonCertificateNotReady, "within 30s", "Denied: no such issuer")
	for range 3 {
		b.reconcile()
	}
	if b.secrets() != nil || b.certificates() != 0 {
		t.Errorf("left: Secrets %v and %d Certificates", b.secrets(), b.certificates())
	}
}

func certificatesSayWhatTheyWaitFor(t *testing.T) {
	b := newBench(t, mutual(issuedBy("one"), issuedBy("two")))
	b.reconcile()
	b.says(b.certificate(false), "Ready", "False", "A", "about the server's")
	b.says(b.certificate(true), "Ready", "False", "B", "about the clients'")
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting, "spec.target.tls.certificate. cert-manager: A: about the server's")
	b.issue(false)
	b.reconcile()
	b.wants(v1alpha1.ReasonStarting, "spec.target.tls.clientAuthentication.certificate. cert-manager: B: about the clients'")
}

func certificateIsDeletedUnderWay(t *testing.T) {
	b := newBench(t, issued)
	b.reconcile()
	if err := api.Delete(t.Context(), b.certificate(false)); err != nil {
		t.Fatal(err)
	}
	b.reconcile()
	b.issue(false) // it was made again
	b.reconcile()
	if !b.hasPods() {
		t.Error("the target isn't there")
	}
}

func certificateDoesNotMatterUnderLoad(t *testing.T) {
	b := newBench(t, issued)
	b.reconcile()
	b.issue(false)
	b.measuring()
	if err := api.Delete(t.Context(), b.certificate(false)); err != nil {
		t.Fatal(err)
	}
	watching, err := client.NewWithWatch(apiConfig, client.Options{Scheme: api.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	b.APIReader = interceptor.NewClient(watching, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
			if _, ok := obj.(*unstructured.Unstructured); ok {
				return errKilled
			}
			return c.Get(ctx, key, obj, options...)
		},
	})
	b.reconcile()
	b.wants(v1alpha1.ReasonMeasuring)
	b.APIReader = api
	if b.certificates() != 0 {
		t.Error("the Certificate was made again")
	}
}
