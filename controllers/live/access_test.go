package live

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/assay-dev/assay/internal/certificate"
)

// apiServer answers reviews: tokens are names, but forged isn't, and ann may get everything.
type apiServer struct {
	t *testing.T
	// clientCA is what the API server publishes as the CA of users' certificates; forbidden if it is empty.
	clientCA string

	mu    sync.Mutex
	asked []authorizationv1.SubjectAccessReviewSpec
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	var answer any
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/tokenreviews"):
		review := &authenticationv1.TokenReview{}
		s.decode(r, review)
		if review.Spec.Token != "forged" {
			review.Status.Authenticated, review.Status.User.Username = true, review.Spec.Token
		}
		answer = review
	case strings.HasSuffix(path, "/subjectaccessreviews"):
		review := &authorizationv1.SubjectAccessReview{}
		s.decode(r, review)
		s.mu.Lock()
		s.asked = append(s.asked, review.Spec)
		s.mu.Unlock()
		review.Status.Allowed = review.Spec.User == "ann"
		answer = review
	case s.clientCA == "":
		w.WriteHeader(http.StatusForbidden)
		answer = metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden}
	case r.URL.Query().Get("sendInitialEvents") != "": // which an older API server doesn't know
		w.WriteHeader(http.StatusUnprocessableEntity)
		answer = metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity}
	case r.URL.Query().Get("watch") != "":
		<-r.Context().Done()
		return
	default:
		config := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: clientCANamespace, Name: clientCAName}, Data: map[string]string{clientCAKey: s.clientCA}}
		if answer = config; strings.HasSuffix(path, "/configmaps") {
			answer = corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []corev1.ConfigMap{config}}
		}
	}
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		s.t.Error(err)
	}
}

func (s *apiServer) decode(r *http.Request, into any) {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		s.t.Error(err)
	}
}

// access returns an Access that asks the server.
func (s *apiServer) access() Access {
	s.t.Helper()
	server := httptest.NewServer(s)
	s.t.Cleanup(server.Close)
	clientset, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	if err != nil {
		s.t.Fatal(err)
	}
	access, err := NewAccess(s.t.Context(), clientset, logr.Discard())
	if err != nil {
		s.t.Fatal(err)
	}
	return access
}

var demo = types.NamespacedName{Namespace: "shop", Name: "demo"}

// TestAccess checks which questions the API server is asked, and that only its yes to both lets somebody in.
func TestAccess(t *testing.T) {
	s := &apiServer{t: t}
	access := s.access()
	for token, want := range map[string]int{"ann": http.StatusOK, "bob": http.StatusForbidden, "forged": http.StatusUnauthorized, "": http.StatusUnauthorized} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		user, status, err := access.Check(r, demo)
		if status != want || (err == nil) != (want == http.StatusOK) || err == nil && user != token {
			t.Errorf("token %q: user %q, status %d, %v; want %d", token, user, status, err, want)
		}
	}
	if len(s.asked) != 2 {
		t.Fatalf("asked %d times for rights, want twice: not for those who aren't known", len(s.asked))
	}
	for _, spec := range s.asked {
		a := spec.ResourceAttributes
		if a == nil || a.Verb != "get" || a.Group != "assay.dev" || a.Resource != "benchmarkruns" || a.Namespace != "shop" || a.Name != "demo" {
			t.Errorf("asked for %+v", a)
		}
	}
}

// presented returns a request with a client certificate of ann's, of a CA.
func presented(t *testing.T, ca *tls.Certificate) *http.Request {
	t.Helper()
	now := time.Now()
	template := certificate.Leaf([]string{"ann"}, x509.ExtKeyUsageClientAuth, now.Add(-time.Hour), now.Add(time.Hour))
	template.Subject.CommonName = "ann"
	signed, _ := sign(t, template, ca)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{signed.Leaf}}
	return r
}

// sign returns a certificate, and itself in PEM.
func sign(t *testing.T, template *x509.Certificate, ca *tls.Certificate) (tls.Certificate, []byte) {
	t.Helper()
	key, err := certificate.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	signed, _, err := certificate.Sign(template, key, ca)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(signed)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{block.Bytes}, PrivateKey: key, Leaf: leaf}, signed
}

// TestCertificates checks that a client certificate counts if it is of the cluster's CA, and only then.
func TestCertificates(t *testing.T) {
	now := time.Now()
	ca, published := sign(t, certificate.CA("users", now.Add(-time.Hour), now.Add(time.Hour)), nil)
	other, _ := sign(t, certificate.CA("users", now.Add(-time.Hour), now.Add(time.Hour)), nil)
	access := (&apiServer{t: t, clientCA: string(published)}).access()
	good, forged := presented(t, &ca), presented(t, &other)
	for deadline := now.Add(time.Minute); ; time.Sleep(10 * time.Millisecond) { // until the CA has been read
		user, status, err := access.Check(good, demo)
		if err == nil && user == "ann" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a certificate of the cluster's CA: user %q, status %d, %v", user, status, err)
		}
	}
	if user, status, err := access.Check(forged, demo); err == nil || status != http.StatusUnauthorized {
		t.Errorf("a certificate of another CA: user %q, status %d, %v", user, status, err)
	}
	if _, status, err := (&apiServer{t: t}).access().Check(good, demo); err == nil || status != http.StatusUnauthorized {
		t.Errorf("without the right to read the CA: status %d, %v", status, err)
	}
}
