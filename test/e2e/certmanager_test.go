//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// certManager is the group and version of cert-manager's resources.
var certManager = schema.GroupVersion{Group: "cert-manager.io", Version: "v1"}

// issuedSecret is the Secret for which the chart requests the certificate.
var issuedSecret = types.NamespacedName{Namespace: harness.OperatorNamespace, Name: "assay-session-tls-issued"}

// TestCertManager switches the manager to a certificate from cert-manager during a
// run, whose pods trust another CA until then. The run must succeed. So must a run
// that starts with the issued certificate, and one during its renewal. Like
// TestHelm it doesn't run in parallel with other tests.
func TestCertManager(t *testing.T) {
	c := theCluster
	if _, err := c.RESTMapper().RESTMapping(certManager.WithKind("Certificate").GroupKind(), certManager.Version); err != nil {
		t.Fatalf("cert-manager is required: run make install-cert-manager: %v", err)
	}
	upgrade := c.keepRelease(t)
	namespace := c.namespace(t)
	run := wrapper.NewRun(namespace, "switched", harness.ServerImage).Path("/fixed/2000/100").Requests(1, 10000).Obj()
	c.create(t, run)
	c.until(t, run, time.Minute, "requests", func(r *v1alpha1.BenchmarkRun) bool {
		return r.Status.Progress != nil && ptr.Deref(r.Status.Progress.Requests, 0) > 0
	})

	upgrade("--set", "sessionCertificate.certManager.enabled=true", "--timeout", "2m")
	c.until(t, run, time.Second, "the new manager while the run is measured", func(r *v1alpha1.BenchmarkRun) bool {
		return !meta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.ConditionFinished)
	})
	done := c.finished(t, run, 4*time.Minute)
	wantSucceeded(t, done)
	if *done.Status.Result.Requests != 10000 {
		t.Errorf("%d requests, want 10000", *done.Status.Result.Requests)
	}
	c.mayOnlyReadItsCertificate(t)

	first := c.issued(t)
	if first.Annotations["cert-manager.io/certificate-name"] != "assay-session" {
		t.Errorf("Secret %s is not from cert-manager: %v", first.Name, first.Annotations)
	}
	c.untilServed(t, first.Data[corev1.TLSCertKey], first.Data["ca.crt"])
	fresh := wrapper.NewRun(namespace, "issued", harness.ServerImage).Path("/fixed/0/100").Requests(1, 100).Obj()
	c.create(t, fresh)
	wantSucceeded(t, c.finished(t, fresh, time.Minute))

	// cert-manager issues a deleted certificate at once.
	if err := c.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	second := c.issued(t)
	c.untilServed(t, second.Data[corev1.TLSCertKey], first.Data["ca.crt"])
}

// keepRelease returns a function that upgrades the release with further values. At
// the end of the test it restores the release.
func (c *cluster) keepRelease(t *testing.T) (upgrade func(args ...string)) {
	t.Helper()
	values := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(values, []byte(helm(t, "get", "values", "assay", "--output", "yaml")), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"upgrade", "--install", "assay", filepath.Join("..", "..", "charts", "assay"), "--values", values, "--wait"}
	t.Cleanup(func() { // t's context is canceled by then
		out, err := exec.Command("helm", append(args, "--namespace", harness.OperatorNamespace)...).CombinedOutput()
		if err != nil {
			t.Errorf("restore the release: %v\n%s", err, out)
		}
		c.deleteCertificates(t)
	})
	return func(more ...string) {
		t.Helper()
		helm(t, append(args, more...)...)
	}
}

// deleteCertificates deletes the objects that Helm keeps: all after a failed
// upgrade, the Secrets in any case.
func (c *cluster) deleteCertificates(t *testing.T) {
	t.Helper()
	for _, kind := range []string{"Certificate", "Issuer"} {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(certManager.WithKind(kind))
		if err := c.DeleteAllOf(context.Background(), object, client.InNamespace(harness.OperatorNamespace),
			client.MatchingLabels{"app.kubernetes.io/instance": "assay"}); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{issuedSecret.Name, "assay-session-ca"} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, Name: name}}
		if err := c.Delete(context.Background(), secret); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	}
}

// issued waits until the manager's certificate is issued.
func (c *cluster) issued(t *testing.T) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	if err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, issuedSecret, secret)
		return err == nil && len(secret.Data[corev1.TLSCertKey]) > 0, client.IgnoreNotFound(err)
	}); err != nil {
		t.Fatalf("Secret %s: %v", issuedSecret, err)
	}
	return secret
}

// untilServed waits until the manager serves the certificate of a Secret, which
// must be issued by the Secret's CA.
func (c *cluster) untilServed(t *testing.T, certificate, authority []byte) {
	t.Helper()
	want, _ := pem.Decode(certificate)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	dialer := tls.Dialer{
		NetDialer: &net.Dialer{Timeout: time.Second},
		Config:    &tls.Config{RootCAs: roots, ServerName: session.ServerName, MinVersion: tls.VersionTLS13},
	}
	var last error
	if err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		connection, err := dialer.DialContext(ctx, "tcp", c.leader(t))
		if last = err; err != nil {
			return false, nil
		}
		defer func() { _ = connection.Close() }()
		return string(connection.(*tls.Conn).ConnectionState().PeerCertificates[0].Raw) == string(want.Bytes), nil
	}); err != nil {
		t.Fatalf("the manager does not serve the certificate of Secret %s: %v, %v", issuedSecret.Name, err, last)
	}
}

// leader returns the address at which the leader serves sessions.
func (c *cluster) leader(t *testing.T) string {
	t.Helper()
	var lease coordinationv1.Lease
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: harness.OperatorNamespace, Name: "assay-manager"}, &lease); err != nil {
		t.Fatal(err)
	}
	var pod corev1.Pod
	name := types.NamespacedName{Namespace: harness.OperatorNamespace, Name: ptr.Deref(lease.Spec.HolderIdentity, "")}
	if err := c.Get(t.Context(), name, &pod); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort(pod.Status.PodIP, "9443")
}

// mayOnlyReadItsCertificate fails the test unless the manager has exactly the
// rights to Secrets that it needs.
func (c *cluster) mayOnlyReadItsCertificate(t *testing.T) {
	t.Helper()
	for _, right := range []struct {
		verb, name string
		want       bool
	}{
		{"get", issuedSecret.Name, true},
		{"watch", issuedSecret.Name, true},
		{"update", issuedSecret.Name, false},
		{"list", "", false},
		{"get", "assay-session-ca", false},
	} {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: "system:serviceaccount:" + harness.OperatorNamespace + ":assay-manager",
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: harness.OperatorNamespace, Verb: right.verb, Resource: "secrets", Name: right.name,
			},
		}}
		c.create(t, review)
		if review.Status.Allowed != right.want {
			t.Errorf("may the manager %s Secret %q: %t, want %t", right.verb, right.name, review.Status.Allowed, right.want)
		}
	}
}
