//go:build e2e

package e2e

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/test/wrapper"
)

// tlsRun returns a run that drives a server over TLS.
func tlsRun(ns, name, image string, server v1alpha1.Server, spec *v1alpha1.TLS) *v1alpha1.BenchmarkRun {
	run := wrapper.NewRun(ns, name, image).Lane("tls-"+name).Content("/a.bin", 1000).
		TargetResources("300m", "256Mi").Clients(2, "50m", "64Mi").Requests(2, 100).Retain(v1alpha1.RetainAlways).Obj()
	run.Spec.Target.Server, run.Spec.Target.TLS = server, spec
	return run
}

func nginxServer() v1alpha1.Server { return v1alpha1.Server{Nginx: &v1alpha1.NginxServer{}} }

func wantAll(t *testing.T, run *v1alpha1.BenchmarkRun, requests int64) {
	t.Helper()
	if r := run.Status.Result; *r.Requests != requests || *r.Errors.Total != 0 {
		failed, _ := json.Marshal(r.Errors)
		t.Errorf("%d requests, want %d; errors: %s", *r.Requests, requests, failed)
	}
}

// TestMutualTLS makes each kind of server require a client certificate, which the
// operator issues. The server must reject a client without one.
func TestMutualTLS(t *testing.T) {
	ns := theCluster.namespace(t)
	for name, s := range map[string]struct {
		image  string
		server v1alpha1.Server
	}{
		"mutual-jsse":    {tomcatImage, v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{TLSImplementation: v1alpha1.TLSJSSE}}}},
		"mutual-openssl": {tomcatImage, v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{Protocol: v1alpha1.TomcatAPR, TLSImplementation: v1alpha1.TLSOpenSSL}}}},
		"mutual-httpd":   {httpdImage, v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{}}},
		"mutual-nginx":   {nginxImage, nginxServer()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := theCluster
			spec := selfSigned()
			spec.ClientAuthentication = &v1alpha1.ClientAuthentication{Certificate: v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}}}
			run := tlsRun(ns, name, s.image, s.server, spec)
			run.Spec.Load.Closed.RequestCount, run.Spec.Load.Closed.DurationSeconds = nil, ptr.To(int32(3))
			c.create(t, run)
			measuring := c.state(t, run, v1alpha1.ReasonMeasuring, 3*time.Minute)
			if err := getWithoutCertificate(t.Context(), measuring.Status.Target.Address); err == nil {
				t.Error("the server accepts a client without a certificate")
			}
			done := c.finished(t, run, 3*time.Minute)
			wantSucceeded(t, done)
			if *done.Status.Result.Errors.Total != 0 || done.Status.Target.TLS.ClientCertificate != v1alpha1.ClientCertificateRequested {
				t.Errorf("%d errors; negotiated TLS %+v", *done.Status.Result.Errors.Total, done.Status.Target.TLS)
			}
		})
	}
}

// getWithoutCertificate sends a GET request from the test to the server.
func getWithoutCertificate(ctx context.Context, address string) error {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: 5 * time.Second} //nolint:gosec // only the handshake matters
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/a.bin", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// TestResumption checks that connections resume TLS sessions if, and only if, it is
// enabled. The clients offer one group for the key exchange, which the servers must take.
func TestResumption(t *testing.T) {
	ns := theCluster.namespace(t)
	for name, s := range map[string]struct {
		image  string
		server v1alpha1.Server
	}{
		"resumed-nginx":  {nginxImage, nginxServer()},
		"resumed-httpd":  {httpdImage, v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{}}},
		"resumed-tomcat": {tomcatImage, v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{}}},
	} {
		for _, resumption := range []v1alpha1.Switch{v1alpha1.Enabled, v1alpha1.Disabled} {
			t.Run(name+"-"+string(resumption), func(t *testing.T) {
				t.Parallel()
				spec := selfSigned()
				spec.SessionResumption = resumption
				spec.Groups = []v1alpha1.KeyExchangeGroup{"P-384"}
				run := tlsRun(ns, name+"-"+strings.ToLower(string(resumption)), s.image, s.server, spec)
				run.Spec.Load.Client.KeepAlive = v1alpha1.Disabled
				theCluster.create(t, run)
				done := theCluster.finished(t, run, 3*time.Minute)
				wantSucceeded(t, done)
				wantAll(t, done, 200)
				// The first two connections of each client have nothing to resume.
				resumed := *done.Status.Result.TLSResumedConnections
				if got := theCluster.artifact(t, done).Environment.TLS.Group; got != "P-384" {
					t.Errorf("the key exchange used %s", got)
				}
				if resumption == v1alpha1.Enabled && resumed < 190 || resumption == v1alpha1.Disabled && resumed != 0 {
					t.Errorf("%d of 200 connections resumed a session", resumed)
				}
			})
		}
	}
}

// TestSecretCertificate uses a certificate from the user's Secret, which the clients
// must verify for the server name of the spec.
func TestSecretCertificate(t *testing.T) {
	t.Parallel()
	c := theCluster
	ns := c.namespace(t)
	made, err := certificate.Issue(certificate.Request{Algorithm: "ECDSA", Size: 256, DNSNames: []string{"shop.example"}, Lifetime: time.Hour}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	data := map[string][]byte{corev1.TLSCertKey: made.Certificate, corev1.TLSPrivateKeyKey: made.Key, "ca.crt": made.CA}
	c.create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "shop"}, Type: corev1.SecretTypeTLS, Data: data})
	for name, want := range map[string]string{"shop.example": "", "other.example": "other.example"} {
		spec := &v1alpha1.TLS{Certificate: &v1alpha1.Certificate{SecretName: "shop"}, ServerName: name}
		run := tlsRun(ns, "secret-"+strings.TrimSuffix(name, ".example"), nginxImage, nginxServer(), spec)
		run.Spec.Target.Readiness.TimeoutSeconds = ptr.To(int32(20))
		c.create(t, run)
		done := c.finished(t, run, 2*time.Minute)
		if want != "" {
			wantFailed(t, done, v1alpha1.ReasonTargetNotReady, want)
			continue
		}
		wantSucceeded(t, done)
		wantAll(t, done, 200)
		if got := done.Status.Target.TLS; got.KeyAlgorithm != "ECDSA" || *got.KeySize != 256 {
			t.Errorf("negotiated TLS %+v", got)
		}
	}
	var still corev1.Secret
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: ns, Name: "shop"}, &still); err != nil {
		t.Errorf("the user's Secret after the runs: %v", err)
	}
}

// TestExternalTLS drives a server over TLS that Assay didn't start, verified with a CA
// from a ConfigMap: the API server itself, gently.
func TestExternalTLS(t *testing.T) {
	t.Parallel()
	c := theCluster
	ns := c.namespace(t)
	c.configMap(t, ns, "other", map[string]string{"ca.crt": otherAuthority(t)})
	for authority, message := range map[string]string{"kube-root-ca.crt": "", "other": "issued by an unknown CA"} {
		run := wrapper.NewRun(ns, "external-"+authority[:4], "").Lane("external-tls").Path("/version").Requests(1, 50).ReadyWithin(20).Obj()
		run.Spec.Target = v1alpha1.Target{Readiness: run.Spec.Target.Readiness, Server: v1alpha1.Server{External: &v1alpha1.ExternalServer{
			URL: "https://kubernetes.default.svc", CertificateAuthority: &v1alpha1.CertificateAuthority{ConfigMapName: authority},
		}}}
		c.create(t, run)
		done := c.finished(t, run, 2*time.Minute)
		if message != "" {
			wantFailed(t, done, v1alpha1.ReasonTargetNotReady, message)
			continue
		}
		wantSucceeded(t, done)
		wantAll(t, done, 50)
		if got := done.Status.Target.TLS; got == nil || got.Protocol != "TLSv1.3" {
			t.Errorf("negotiated TLS %+v", got)
		}
	}
}

func otherAuthority(t *testing.T) string {
	t.Helper()
	made, err := certificate.Issue(certificate.Request{Algorithm: "ECDSA", Size: 256, Lifetime: time.Hour}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return string(made.CA)
}

var certManagerGroup = schema.GroupVersion{Group: "cert-manager.io", Version: "v1"}

// object returns an object of cert-manager.
func object(kind, ns, name string, spec map[string]any) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	obj.SetGroupVersionKind(certManagerGroup.WithKind(kind))
	obj.SetNamespace(ns)
	obj.SetName(name)
	return obj
}

// TestIssuedCertificates makes cert-manager issue the certificates of the server and
// the clients. The issuer is created late.
func TestIssuedCertificates(t *testing.T) {
	t.Parallel()
	c := theCluster
	ns := c.namespace(t)
	issuer := &v1alpha1.IssuerReference{Name: "bench-ca"}
	spec := &v1alpha1.TLS{
		Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv13},
		Certificate: &v1alpha1.Certificate{
			IssuerRef: issuer, PrivateKey: &v1alpha1.PrivateKey{Algorithm: v1alpha1.KeyECDSA, Size: ptr.To(int32(384))}, DNSNames: []string{"bench.example"},
		},
		ClientAuthentication: &v1alpha1.ClientAuthentication{Certificate: v1alpha1.Certificate{IssuerRef: issuer}},
	}
	run := tlsRun(ns, "issued", tomcatImage, v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{Protocol: v1alpha1.TomcatNIO2}}}, spec)
	run.Spec.PodRetention = ""
	c.create(t, run)
	c.until(t, run, time.Minute, "cert-manager's own word on the issuer that isn't there", func(r *v1alpha1.BenchmarkRun) bool {
		return strings.Contains(condition(r, v1alpha1.ConditionTargetReady).Message, `"bench-ca" not found`)
	})
	c.create(t, object("Issuer", ns, "self", map[string]any{"selfSigned": map[string]any{}}))
	c.create(t, object("Certificate", ns, "ca", map[string]any{
		"isCA": true, "commonName": "Bench CA", "secretName": "bench-ca", "issuerRef": map[string]any{"name": "self"},
	}))
	c.create(t, object("Issuer", ns, "bench-ca", map[string]any{"ca": map[string]any{"secretName": "bench-ca"}}))
	done := c.finished(t, run, 3*time.Minute)
	wantSucceeded(t, done)
	wantAll(t, done, 200)
	if got := done.Status.Target.TLS; got.Issuer != "CN=Bench CA" || got.KeyAlgorithm != "ECDSA" || *got.KeySize != 384 ||
		got.ClientCertificate != v1alpha1.ClientCertificateRequested || got.Protocol != "TLSv1.3" {
		t.Errorf("negotiated TLS %+v", got)
	}
	c.nothingLeft(t, done, time.Minute)
	c.noneIssued(t, ns)
}

// noneIssued waits until the Certificates of a run are deleted.
func (c *cluster) noneIssued(t *testing.T, ns string) {
	t.Helper()
	var names []string
	if err := wait.PollUntilContextTimeout(t.Context(), 250*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(certManagerGroup.WithKind("CertificateList"))
		if err := c.List(ctx, list, client.InNamespace(ns)); err != nil {
			return false, err
		}
		names = nil
		for i := range list.Items {
			names = append(names, list.Items[i].GetName())
		}
		return len(names) == 1, nil // that of the CA
	}); err != nil {
		t.Errorf("Certificates not deleted: %v (%v)", names, err)
	}
}
