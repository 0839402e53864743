package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/assay-dev/assay/controllers/sessioncertificate"
)

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"": true, "0": true, "127.0.0.1:6060": true, "[::1]:6060": true,
		":6060": false, "0.0.0.0:6060": false, "[::]:6060": false, "10.0.0.1:6060": false, "localhost:6060": false, "6060": false,
	} {
		if got := loopback(address); got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}

// TestMetricsAreForThoseWhoMayReadThem asks a manager's metrics with several tokens. The API server knows the users of
// three of them, and says who of them may get the URL.
func TestMetricsAreForThoseWhoMayReadThem(t *testing.T) {
	var reviews atomic.Int32
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/apis/authentication.k8s.io/v1/tokenreviews":
			reviews.Add(1)
			var review authenticationv1.TokenReview
			_ = json.NewDecoder(r.Body).Decode(&review)
			if review.Spec.Token == "broken" {
				http.Error(w, "broken", http.StatusInternalServerError)
				return
			}
			user, known := strings.CutPrefix(review.Spec.Token, "token-of-")
			review.Status = authenticationv1.TokenReviewStatus{Authenticated: known, User: authenticationv1.UserInfo{Username: user}}
			_ = json.NewEncoder(w).Encode(review)
		case "/apis/authorization.k8s.io/v1/subjectaccessreviews":
			var review authorizationv1.SubjectAccessReview
			_ = json.NewDecoder(r.Body).Decode(&review)
			url := review.Spec.NonResourceAttributes
			review.Status.Allowed = review.Spec.User == "reader" && url != nil && url.Path == "/metrics" && url.Verb == "get"
			_ = json.NewEncoder(w).Encode(review)
		default:
			http.NotFound(w, r)
		}
	}))
	defer api.Close()
	secrets := fake.NewClientBuilder().Build()
	server, err := metricsServer(t.Context(), &rest.Config{Host: api.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, api.Client(), secrets, &options{metricsAddr: "127.0.0.1:0", secureMetrics: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- server.Start(ctx) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // as a ServiceMonitor does
	for _, test := range []struct {
		token, path string
		want        int
		reviews     int32
	}{
		{"", "/metrics", http.StatusUnauthorized, 0},
		{"unknown", "/metrics", http.StatusUnauthorized, 1},
		{"unknown", "/metrics", http.StatusUnauthorized, 1}, // both are known for a minute
		{"token-of-somebody", "/metrics", http.StatusForbidden, 2},
		{"token-of-reader", "/metrics", http.StatusOK, 3},
		{"token-of-reader", "/metrics", http.StatusOK, 3},
		{"token-of-reader", "/debug/pprof/", http.StatusNotFound, 3},
		{"broken", "/metrics", http.StatusInternalServerError, 4},
		{"broken", "/metrics", http.StatusInternalServerError, 5}, // nothing is known of it
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+server.Listener.Addr().String()+test.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if test.token != "" {
			request.Header.Set("Authorization", "Bearer "+test.token)
		}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if response.StatusCode != test.want || err != nil || reviews.Load() != test.reviews || test.want == http.StatusOK && !strings.Contains(string(body), "go_goroutines") {
			t.Errorf("%s of %q: %s after %d reviews, %v: %.100s", test.path, test.token, response.Status, reviews.Load(), err, body)
		}
	}
}

// TestScrapersVerifyMetrics scrapes a manager by the CA that is published in the Secret of the session certificate, as the chart's
// ServiceMonitor does, before and after there is one.
func TestScrapersVerifyMetrics(t *testing.T) {
	secrets := fake.NewClientBuilder().Build()
	keeper := sessioncertificate.NewKeeper(secrets, types.NamespacedName{Namespace: "assay-system", Name: "perf-session-tls"}, clock.RealClock{})
	pair, err := selfSigned(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	served := &metricsCertificate{secrets: secrets, secret: keeper.Secret, current: pair}
	if got, err := served.get(nil); got != pair || err != nil {
		t.Errorf("without a Secret: %v, %v", got, err)
	}
	if err := keeper.Ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := served.get(nil); got != pair || err != nil {
		t.Errorf("the Secret is read for each scrape: %v, %v", got, err)
	}
	served.next = time.Time{}
	var secret corev1.Secret
	if err := secrets.Get(t.Context(), keeper.Secret, &secret); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{GetCertificate: served.get, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(secret.Data["ca.crt"])
	address := strings.TrimPrefix(server.URL, "https://")
	connection, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: "assay-session", MinVersion: tls.VersionTLS12}}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	_ = connection.Close()
	// A Secret that holds something else, or that is gone, leaves what is served.
	before := served.current
	secret.Data["tls.crt"] = nil
	if err := secrets.Update(t.Context(), &secret); err != nil {
		t.Fatal(err)
	}
	served.next = time.Time{}
	if got, err := served.get(nil); got != before || err != nil {
		t.Errorf("with a broken Secret: %v, %v", got, err)
	}
}
