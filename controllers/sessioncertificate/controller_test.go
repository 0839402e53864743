package sessioncertificate

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/assay-dev/assay/internal/session"
)

func keeper(t *testing.T, objects ...client.Object) (*Keeper, *clocktesting.FakeClock) {
	t.Helper()
	now := clocktesting.NewFakeClock(time.Now())
	return NewKeeper(fake.NewClientBuilder().WithObjects(objects...).Build(), types.NamespacedName{Namespace: "ns", Name: SecretName}, now), now
}

func ensure(t *testing.T, k *Keeper) map[string][]byte {
	t.Helper()
	if err := k.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	var secret corev1.Secret
	if err := k.Client.Get(t.Context(), types.NamespacedName{Namespace: "ns", Name: SecretName}, &secret); err != nil {
		t.Fatal(err)
	}
	return secret.Data
}

func TestEnsureKeepsAGoodCertificate(t *testing.T) {
	k, clock := keeper(t)
	first := ensure(t, k)
	clock.Step(servingLifetime - servingMargin - time.Hour)
	if again := ensure(t, k); !bytes.Equal(first[servingCertKey], again[servingCertKey]) {
		t.Error("a certificate with enough time left was renewed")
	}
}

func TestEnsureRenewsTheServingCertificateAlone(t *testing.T) {
	k, clock := keeper(t)
	first := ensure(t, k)
	clock.Step(servingLifetime - servingMargin + time.Hour)
	second := ensure(t, k)
	if bytes.Equal(first[servingCertKey], second[servingCertKey]) {
		t.Error("the serving certificate wasn't renewed")
	}
	if !bytes.Equal(first[caCertKey], second[caCertKey]) {
		t.Error("the CA was renewed with it: running pods would no longer trust the manager")
	}
}

func TestEnsureRenewsTheCA(t *testing.T) {
	k, clock := keeper(t)
	first := ensure(t, k)
	clock.Step(caLifetime - caMargin + time.Hour)
	if second := ensure(t, k); bytes.Equal(first[caCertKey], second[caCertKey]) {
		t.Error("the CA wasn't renewed")
	}
}

func TestEnsureReplacesWhatIsBroken(t *testing.T) {
	k, _ := keeper(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: SecretName},
		Data:       map[string][]byte{servingCertKey: []byte("nonsense")},
	})
	if _, err := parse(ensure(t, k), k.Clock.Now()); err != nil {
		t.Error(err)
	}
}

func TestPodsTrustTheManager(t *testing.T) {
	k, _ := keeper(t)
	ensure(t, k)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", k.TLSConfig())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func(connection net.Conn) {
				_ = connection.(*tls.Conn).Handshake()
				_ = connection.Close()
			}(connection)
		}
	}()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(k.CA())
	for name, wantError := range map[string]bool{session.ServerName: false, "somebody-else": true} {
		connection, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{RootCAs: roots, ServerName: name, MinVersion: tls.VersionTLS13})
		if (err != nil) != wantError {
			t.Errorf("as %s: %v", name, err)
		}
		if err == nil {
			_ = connection.Close()
		}
	}
}
