package sessioncertificate

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/assay-dev/assay/internal/session"
)

var secretName = types.NamespacedName{Namespace: "ns", Name: "issued"}

// issuer is a CA outside the manager.
type issuer struct {
	pem  []byte
	pair tls.Certificate
}

func newIssuer(t *testing.T, now time.Time) *issuer {
	t.Helper()
	certificate, key, err := sign(caTemplate(now), nil)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	return &issuer{pem: certificate, pair: pair}
}

func caTemplate(now time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject: pkix.Name{CommonName: "issuer"}, NotBefore: now.Add(-clockTolerance), NotAfter: now.Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
}

// renewed returns the CA with a new certificate for the same key.
func (i *issuer) renewed(t *testing.T, now time.Time) *issuer {
	t.Helper()
	template := caTemplate(now)
	template.SerialNumber, template.NotBefore = i.pair.Leaf.SerialNumber, now.Add(-time.Minute)
	key := i.pair.PrivateKey.(*ecdsa.PrivateKey)
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &issuer{
		pem:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pair: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf},
	}
}

// issue returns what cert-manager writes into the Secret of a Certificate. change
// modifies the certificate before it is signed.
func (i *issuer) issue(t *testing.T, now time.Time, change func(*x509.Certificate)) map[string][]byte {
	t.Helper()
	template := &x509.Certificate{
		DNSNames: []string{session.ServerName}, NotBefore: now.Add(-clockTolerance), NotAfter: now.Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if change != nil {
		change(template)
	}
	certificate, key, err := sign(template, &i.pair)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{servingCertKey: certificate, servingKeyKey: key, caCertKey: i.pem}
}

func TestParseIssuedSaysWhatIsWrong(t *testing.T) {
	now := time.Now()
	ca, other := newIssuer(t, now), newIssuer(t, now)
	good := ca.issue(t, now, nil)
	if _, err := parseIssued(good, now); err != nil {
		t.Fatalf("a good certificate was refused: %v", err)
	}
	with := func(key string, value []byte) map[string][]byte {
		data := maps.Clone(good)
		data[key] = value
		return data
	}
	for name, c := range map[string]struct {
		data map[string][]byte
		want []string
	}{
		"nothing":        {nil, []string{"key tls.crt: not found", "Certificate is ready"}},
		"no key":         {with(servingKeyKey, nil), []string{"key tls.key: not found"}},
		"no CA":          {with(caCertKey, nil), []string{"ca.crt has no CA certificate", "issuer that writes its CA certificate"}},
		"broken CA":      {with(caCertKey, []byte("x")), []string{"ca.crt has no CA certificate"}},
		"another key":    {with(servingKeyKey, other.issue(t, now, nil)[servingKeyKey]), []string{"tls.crt and tls.key", "private key does not match"}},
		"another issuer": {with(caCertKey, other.pem), []string{"tls.crt was not issued by the CA in ca.crt"}},
		"another name": {
			ca.issue(t, now, func(c *x509.Certificate) { c.DNSNames = []string{"a.example", "b.example"} }),
			[]string{"is not valid for assay-session", "[a.example b.example]", "add assay-session to the dnsNames"},
		},
		"another usage": {
			ca.issue(t, now, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }),
			[]string{`add "server auth" to the usages`},
		},
		"expired": {
			ca.issue(t, now, func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Minute) }),
			[]string{"has expired"},
		},
	} {
		_, err := parseIssued(c.data, now)
		if err == nil {
			t.Errorf("%s: it was accepted", name)
			continue
		}
		for _, text := range c.want {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: the error doesn't say %q: %v", name, text, err)
			}
		}
	}
}

func TestParseIssuedTakesAChain(t *testing.T) {
	now := time.Now()
	root := newIssuer(t, now)
	certificate, key, err := sign(caTemplate(now), &root.pair)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	data := (&issuer{pem: root.pem, pair: pair}).issue(t, now, nil)
	data[servingCertKey] = append(data[servingCertKey], certificate...)
	if _, err := parseIssued(data, now); err != nil {
		t.Error(err)
	}
}

// loading is a Loader of a Secret that a test writes.
type loading struct {
	*Loader
	clock  *clocktesting.FakeClock
	client client.Client
}

func newLoading(data map[string][]byte) *loading {
	clock := clocktesting.NewFakeClock(time.Now())
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: secretName.Namespace, Name: secretName.Name}, Data: data}
	l := &loading{Loader: NewLoader(secretName, clock), clock: clock, client: fake.NewClientBuilder().WithObjects(secret).Build()}
	l.reader = l.client
	return l
}

// look replaces the Secret's data, unless data is nil, and reconciles the Loader.
func (l *loading) look(t *testing.T, data map[string][]byte) (time.Duration, error) {
	t.Helper()
	if data != nil {
		secret := &corev1.Secret{}
		if err := l.client.Get(t.Context(), secretName, secret); err != nil {
			t.Fatal(err)
		}
		secret.Data = data
		if err := l.client.Update(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	result, err := l.Reconcile(t.Context(), reconcile.Request{})
	return result.RequeueAfter, err
}

// serves returns the certificate that the Loader serves, in PEM.
func serves(t *testing.T, s Source) string {
	t.Helper()
	certificate, err := s.TLSConfig().GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]}))
}

func TestLoaderServesARenewedCertificateAtOnce(t *testing.T) {
	ca := newIssuer(t, time.Now())
	l := newLoading(ca.issue(t, time.Now(), nil))
	if err := l.Ready(nil); err == nil {
		t.Error("it is ready before it looked")
	}
	if _, err := l.look(t, nil); err != nil {
		t.Fatal(err)
	}
	if err := l.Ready(nil); err != nil {
		t.Error(err)
	}
	<-l.Changed()
	renewed := ca.issue(t, l.clock.Now(), nil)
	if wait, err := l.look(t, renewed); wait != 0 || err != nil {
		t.Errorf("it waits %s: %v", wait, err)
	}
	if serves(t, l) != string(renewed[servingCertKey]) {
		t.Error("it doesn't serve the renewed certificate")
	}
	select {
	case <-l.Changed():
		t.Error("it says that the CA changed, which didn't")
	default:
	}
}

func TestLoaderServesAtOnceWhenTheCAKeptItsKey(t *testing.T) {
	ca := newIssuer(t, time.Now())
	l := newLoading(ca.issue(t, time.Now(), nil))
	if _, err := l.look(t, nil); err != nil {
		t.Fatal(err)
	}
	renewed := ca.renewed(t, l.clock.Now()).issue(t, l.clock.Now(), nil)
	if wait, err := l.look(t, renewed); wait != 0 || err != nil {
		t.Errorf("it waits %s although running pods trust the certificate: %v", wait, err)
	}
	if serves(t, l) != string(renewed[servingCertKey]) {
		t.Error("it doesn't serve the renewed certificate")
	}
}

func TestLoaderServesTheOldUntilPodsKnowANewCA(t *testing.T) {
	old, next := newIssuer(t, time.Now()), newIssuer(t, time.Now())
	before, after := old.issue(t, time.Now(), nil), next.issue(t, time.Now(), nil)
	l := newLoading(before)
	if _, err := l.look(t, nil); err != nil {
		t.Fatal(err)
	}
	<-l.Changed()
	if wait, err := l.look(t, after); wait != overlap || err != nil {
		t.Errorf("it waits %s, want %s: %v", wait, overlap, err)
	}
	<-l.Changed()
	if serves(t, l) != string(before[servingCertKey]) {
		t.Error("it serves with a certificate that no running pod trusts yet")
	}
	if want := string(next.pem) + string(old.pem); string(l.CA()) != want {
		t.Errorf("new pods are given %s, want both CAs", l.CA())
	}
	l.clock.Step(overlap / 2)
	if wait, err := l.look(t, nil); wait != overlap/2 || err != nil {
		t.Errorf("after half of the overlap it waits %s: %v", wait, err)
	}
	l.clock.Step(overlap / 2)
	if wait, err := l.look(t, nil); wait != 0 || err != nil {
		t.Errorf("after the overlap it waits %s: %v", wait, err)
	}
	if serves(t, l) != string(after[servingCertKey]) || string(l.CA()) != string(next.pem) {
		t.Error("after the overlap it doesn't serve with the new certificate alone")
	}
}

func TestLoaderServesTheNewWhenTheOldHasExpired(t *testing.T) {
	l := newLoading(newIssuer(t, time.Now()).issue(t, time.Now(), nil))
	if _, err := l.look(t, nil); err != nil {
		t.Fatal(err)
	}
	l.clock.Step(2 * time.Hour)
	if err := l.Ready(nil); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("with an expired certificate it is ready: %v", err)
	}
	after := newIssuer(t, l.clock.Now()).issue(t, l.clock.Now(), nil)
	if wait, err := l.look(t, after); wait != 0 || err != nil || serves(t, l) != string(after[servingCertKey]) {
		t.Errorf("it waits %s with an expired certificate: %v", wait, err)
	}
}

func TestLoaderServesOnWhenTheSecretBecomesBad(t *testing.T) {
	good := newIssuer(t, time.Now()).issue(t, time.Now(), nil)
	l := newLoading(good)
	if _, err := l.look(t, nil); err != nil {
		t.Fatal(err)
	}
	bad := maps.Clone(good)
	delete(bad, caCertKey)
	if _, err := l.look(t, bad); err == nil || !strings.Contains(err.Error(), "Secret ns/issued") {
		t.Errorf("a Secret without ca.crt: %v", err)
	}
	if l.Ready(nil) == nil {
		t.Error("it is ready with a Secret that it can't take")
	}
	if serves(t, l) != string(good[servingCertKey]) {
		t.Error("it doesn't serve on with the good certificate")
	}
	if err := l.client.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "issued"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.look(t, nil); err == nil || !strings.Contains(err.Error(), "secret ns/issued: not found") {
		t.Errorf("no Secret: %v", err)
	}
}
