package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
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
	server, err := metricsServer(t.Context(), &rest.Config{Host: api.URL}, api.Client(), &options{metricsAddr: "127.0.0.1:0", secureMetrics: true})
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
		{"unknown", "/metrics", http.StatusInternalServerError, 1}, // as package filters answers
		{"token-of-somebody", "/metrics", http.StatusForbidden, 2},
		{"token-of-reader", "/metrics", http.StatusOK, 3},
		{"token-of-reader", "/metrics", http.StatusOK, 3}, // it is known for a minute
		{"token-of-reader", "/debug/pprof/", http.StatusNotFound, 3},
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
