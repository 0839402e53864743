package live

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/internal/live"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// leaderPod is a leader that serves updates.
type leaderPod struct {
	server *httptest.Server
	ca     string
	// requests are those that it got.
	requests chan *http.Request
}

// newLeader returns a leader whose certificate has a name.
func newLeader(t *testing.T, name string, serve http.HandlerFunc) *leaderPod {
	t.Helper()
	issued, err := certificate.Issue(certificate.Request{Algorithm: "ECDSA", Size: 256, DNSNames: []string{name}, Lifetime: time.Hour}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(issued.Certificate, issued.Key)
	if err != nil {
		t.Fatal(err)
	}
	l := &leaderPod{ca: string(issued.CA), requests: make(chan *http.Request, 16)}
	l.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.requests <- r
		serve(w, r)
	}))
	l.server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert}
	l.server.StartTLS()
	t.Cleanup(l.server.Close)
	return l
}

func (l *leaderPod) port(t *testing.T) int {
	t.Helper()
	_, text, err := net.SplitHostPort(l.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// operator is a cluster whose leader can change.
type operator struct {
	t         *testing.T
	clientset *fake.Clientset
	source    *Source
	forwards  int
}

func newOperator(t *testing.T) *operator {
	o := &operator{t: t, clientset: fake.NewClientset()}
	o.source = &Source{config: &rest.Config{BearerToken: "secret"}, lease: leaseReader{o.clientset.CoordinationV1(), "assay-system", "assay-manager"}}
	o.source.forward = func(ctx context.Context, _, _ string, port int) (string, <-chan struct{}, error) {
		o.forwards++
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), ctx.Done(), nil
	}
	t.Cleanup(o.source.Close)
	return o
}

func (o *operator) lead(pod string, l *leaderPod) {
	o.t.Helper()
	o.lease(pod, live.Endpoint{Port: l.port(o.t), CA: l.ca}.String())
}

func (o *operator) lease(pod, endpoint string) {
	o.t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "assay-system", Name: "assay-manager", Annotations: map[string]string{live.EndpointAnnotation: endpoint}}}
	lease.Spec.HolderIdentity = &pod
	leases := o.clientset.CoordinationV1().Leases("assay-system")
	_, err := leases.Create(o.t.Context(), lease, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = leases.Update(o.t.Context(), lease, metav1.UpdateOptions{})
	}
	if err != nil {
		o.t.Fatal(err)
	}
}

// stream serves updates, and then ends.
func stream(t *testing.T, updates ...live.Update) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := range updates {
			if err := json.NewEncoder(w).Encode(&updates[i]); err != nil {
				t.Error(err)
			}
		}
	}
}

func at(second int64) []result.Second { return []result.Second{{Second: second, Seconds: 1}} }

// TestFollow checks that the states grow with the updates, that the user's token reaches the leader alone, and that a
// change of the leader ends the stream and is followed by the next call.
func TestFollow(t *testing.T) {
	o := newOperator(t)
	first := newLeader(t, session.ServerName, stream(t, live.Update{UID: "u", Seconds: at(0)}, live.Update{UID: "u", From: 1, Seconds: at(1)}))
	o.lead("manager-1", first)
	var passed []int64
	collect := func(u *live.Update) error {
		passed = append(passed, u.Passed())
		return nil
	}
	err := o.source.Follow(t.Context(), "shop", "demo", collect)
	var unavailable *Unavailable
	if !errors.As(err, &unavailable) || unavailable.Denied || !strings.Contains(err.Error(), "manager-1") {
		t.Errorf("a stream that ends: %v", err)
	}
	r := <-first.requests
	if r.Header.Get("Authorization") != "Bearer secret" || r.URL.Path != live.Path("shop", "demo") {
		t.Errorf("the leader was asked for %s with %v", r.URL, r.Header)
	}
	second := newLeader(t, session.ServerName, stream(t, live.Update{UID: "u", Seconds: append(at(0), at(1)...)}, live.Update{UID: "u", From: 2, Seconds: at(2), State: "Finished"}))
	o.lead("manager-2", second)
	if err := o.source.Follow(t.Context(), "shop", "demo", collect); err != nil {
		t.Errorf("the next leader's stream, which ends with the run: %v", err)
	}
	if got, want := fmt.Sprint(passed), "[1 2 2 3]"; got != want {
		t.Errorf("%s seconds had passed, want %s", got, want)
	}
	if err := o.source.Follow(t.Context(), "shop", "demo", collect); err != nil || o.forwards != 2 {
		t.Errorf("%v, %d ports were forwarded, want one for each leader", err, o.forwards)
	}
}

// TestUnavailable checks that each obstacle has a reason that says what to do, and that no token is sent to who isn't the
// leader.
func TestUnavailable(t *testing.T) {
	answer := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, text, status) }
	}
	for name, test := range map[string]struct {
		prepare func(*operator)
		want    string
		denied  bool
	}{
		"no Lease":  {func(*operator) {}, "Set --operator-namespace", false},
		"no leader": {func(o *operator) { o.lease("", "") }, "No manager leads", false},
		"disabled":  {func(o *operator) { o.lease("manager-1", "") }, "live.enabled=false", false},
		"damaged":   {func(o *operator) { o.lease("manager-1", "{}") }, "is damaged", false},
		"no CA":     {func(o *operator) { o.lease("manager-1", live.Endpoint{Port: 1, CA: "nonsense"}.String()) }, "has no CA", false},
		"no right to get the Lease": {func(o *operator) {
			o.clientset.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, apierrors.NewForbidden(schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}, "assay-manager", nil)
			})
		}, "You may not get leases in namespace assay-system", true},
		"not the leader": {func(o *operator) {
			impostor, leader := newLeader(o.t, session.ServerName, stream(o.t)), newLeader(o.t, session.ServerName, stream(o.t))
			impostor.ca = leader.ca
			o.lead("manager-1", impostor)
			o.t.Cleanup(func() {
				if len(impostor.requests) > 0 {
					o.t.Error("the impostor got a request")
				}
			})
		}, "isn't the leader's", false},
		"another name": {func(o *operator) { o.lead("manager-1", newLeader(o.t, "other", stream(o.t))) }, "isn't the leader's", false},
		"unknown user": {func(o *operator) {
			o.lead("manager-1", newLeader(o.t, session.ServerName, answer(http.StatusUnauthorized, "who are you")))
		}, "who are you", true},
		"forbidden": {func(o *operator) {
			o.lead("manager-1", newLeader(o.t, session.ServerName, answer(http.StatusForbidden, "not you")))
		}, "not you", true},
		"too many": {func(o *operator) {
			o.lead("manager-1", newLeader(o.t, session.ServerName, answer(http.StatusTooManyRequests, "later")))
		}, "later", false},
		"nonsense": {func(o *operator) {
			o.lead("manager-1", newLeader(o.t, session.ServerName, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "<html>") }))
		}, "something else than figures", false},
		"impersonation": {func(o *operator) { o.source.config.Impersonate.UserName = "ann" }, "--as", true},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOperator(t)
			test.prepare(o)
			err := o.source.Follow(t.Context(), "shop", "demo", func(*live.Update) error {
				t.Error("there are figures")
				return nil
			})
			var unavailable *Unavailable
			if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), test.want) || unavailable.Denied != test.denied {
				t.Errorf("%v (denied: %t), want %q", err, unavailable != nil && unavailable.Denied, test.want)
			}
		})
	}
}

// TestCertificate checks that a client certificate of the kubeconfig is presented to the leader.
func TestCertificate(t *testing.T) {
	own, err := certificate.Issue(certificate.Request{Algorithm: "ECDSA", Size: 256, DNSNames: []string{"ann"}, Client: true, Lifetime: time.Hour}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	o := newOperator(t)
	o.source.config = &rest.Config{TLSClientConfig: rest.TLSClientConfig{CertData: own.Certificate, KeyData: own.Key}}
	l := newLeader(t, session.ServerName, stream(t, live.Update{State: "Finished"}))
	o.lead("manager-1", l)
	if err := o.source.Follow(t.Context(), "shop", "demo", func(*live.Update) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if r := <-l.requests; len(r.TLS.PeerCertificates) != 1 || r.TLS.PeerCertificates[0].DNSNames[0] != "ann" {
		t.Error("the leader didn't get the user's certificate")
	}
}

// TestForwardForbidden checks that a user without the right to forward ports is told which one is missing.
func TestForwardForbidden(t *testing.T) {
	apiServer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if want := "/api/v1/namespaces/assay-system/pods/manager-1/portforward"; r.URL.Path != want {
			t.Errorf("%s, want %s", r.URL.Path, want)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		err := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "manager-1", errors.New("no such right"))
		_ = json.NewEncoder(w).Encode(err.Status())
	}))
	defer apiServer.Close()
	host, err := url.Parse(apiServer.URL)
	if err != nil {
		t.Fatal(err)
	}
	f, err := newForwarder(&rest.Config{Host: host.Host})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = f.forward(t.Context(), "assay-system", "manager-1", live.DefaultPort)
	var unavailable *Unavailable
	if !errors.As(err, &unavailable) || !unavailable.Denied || !strings.Contains(err.Error(), "pods/portforward in namespace assay-system") {
		t.Errorf("%v", err)
	}
}
