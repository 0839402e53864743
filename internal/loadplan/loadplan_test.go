package loadplan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
)

func TestPlans(t *testing.T) {
	run := &v1alpha1.BenchmarkRun{Spec: v1alpha1.BenchmarkRunSpec{
		Clients: v1alpha1.Clients{Replicas: ptr.To(int32(2))},
		Load: v1alpha1.Load{
			Requests: []v1alpha1.Request{{Path: "/a", Weight: ptr.To(int32(3))}, {Path: "/b"}},
			Client:   v1alpha1.LoadClient{KeepAlive: v1alpha1.Disabled, TimeoutSeconds: ptr.To(int32(2))},
			Closed:   &v1alpha1.ClosedLoad{Connections: 25, RequestCount: ptr.To(int64(50000))},
			Warmup:   &v1alpha1.Warmup{DurationSeconds: ptr.To(int32(5))},
		},
	}}
	want := &session.Plan{
		Connections:         25,
		TimeoutMicroseconds: 2_000_000,
		Requests:            []session.PlannedRequest{{Path: "/a", Weight: 3, Length: 7, Decoded: true}, {Path: "/b", Weight: 1, Length: -1}},
		Warmup:              &session.Amount{DurationMicroseconds: 5_000_000},
		Measurement:         session.Amount{Requests: 50000},
	}
	plans := Plans(run, map[string]int64{"/a": 7})
	if len(plans) != 2 {
		t.Fatalf("%d plans, want 2", len(plans))
	}
	if plans[0].Seed == plans[1].Seed {
		t.Error("both clients have the same seed")
	}
	for i, plan := range plans {
		if err := plan.Check(); err != nil {
			t.Errorf("client %d: %v", i, err)
		}
		plan.Seed = 0
		if diff := cmp.Diff(want, plan); diff != "" {
			t.Errorf("client %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestPlansAreTheSameEachTime(t *testing.T) {
	run := &v1alpha1.BenchmarkRun{Spec: v1alpha1.BenchmarkRunSpec{
		Clients: v1alpha1.Clients{Replicas: ptr.To(int32(300))},
		Load: v1alpha1.Load{
			Requests: []v1alpha1.Request{{Path: "/"}},
			Closed:   &v1alpha1.ClosedLoad{Connections: 1, DurationSeconds: ptr.To(int32(1))},
		},
	}}
	first := Plans(run, nil)
	if diff := cmp.Diff(first, Plans(run, nil)); diff != "" {
		t.Errorf("(-first +second):\n%s", diff)
	}
	seeds := map[uint64]bool{}
	for _, plan := range first {
		seeds[plan.Seed] = true
	}
	if len(seeds) != len(first) {
		t.Errorf("%d clients share %d seeds", len(first), len(seeds))
	}
}

func TestPlansOfRequests(t *testing.T) {
	run := &v1alpha1.BenchmarkRun{Spec: v1alpha1.BenchmarkRunSpec{Load: v1alpha1.Load{
		Requests: []v1alpha1.Request{
			{Path: "/f", Method: v1alpha1.MethodGet, Redirects: v1alpha1.RedirectsIgnore},
			{Path: "/f", Method: v1alpha1.MethodHead, Redirects: v1alpha1.RedirectsFollow},
			{Path: "/f", Expect: &v1alpha1.Expectation{Statuses: []int32{200, 404}}},
			{Path: "/f", Expect: &v1alpha1.Expectation{BodyBytes: ptr.To(int64(0))}},
			{
				Path: "/p", Method: v1alpha1.MethodPost, Host: "a.example:81",
				Headers: []v1alpha1.Header{{Name: "A", Value: "b"}}, Body: &v1alpha1.Body{Text: "<ß>"},
			},
			{Path: "/p", Method: v1alpha1.MethodPut, Body: &v1alpha1.Body{SizeBytes: ptr.To(int64(99))}},
		},
		Order:          v1alpha1.OrderSequential,
		Authentication: &v1alpha1.Authentication{Scheme: v1alpha1.AuthenticationDigest, SecretName: "s"},
		Client:         v1alpha1.LoadClient{Cookies: v1alpha1.Enabled},
		Closed:         &v1alpha1.ClosedLoad{Connections: 1, DurationSeconds: ptr.To(int32(1))},
	}}}
	want := []session.PlannedRequest{
		{Path: "/f", Weight: 1, Length: 7, Decoded: true},
		{Path: "/f", Method: "HEAD", Weight: 1, Length: -1, Follow: true},
		{Path: "/f", Weight: 1, Length: -1, Statuses: []int{200, 404}},
		{Path: "/f", Weight: 1, Length: 0},
		{
			Path: "/p", Method: "POST", Host: "a.example:81", Weight: 1, Length: -1,
			Headers: []session.Header{{Name: "A", Value: "b"}}, Body: []byte("<ß>"),
		},
		{Path: "/p", Method: "PUT", Weight: 1, Length: -1, GeneratedBytes: 99},
	}
	plan := Plans(run, map[string]int64{"/f": 7})[0]
	if diff := cmp.Diff(want, plan.Requests, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !plan.Sequential || !plan.Cookies || plan.Authentication != session.AuthenticationDigest {
		t.Errorf("the plan %+v", plan)
	}
	if err := plan.Check(); err != nil {
		t.Error(err)
	}
}

func TestPlansOfTLS(t *testing.T) {
	run := &v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "run"},
		Spec: v1alpha1.BenchmarkRunSpec{
			Clients: v1alpha1.Clients{Replicas: ptr.To(int32(2))},
			Load: v1alpha1.Load{
				Requests: []v1alpha1.Request{{Path: "/"}},
				Closed:   &v1alpha1.ClosedLoad{Connections: 1, DurationSeconds: ptr.To(int32(1))},
			},
		},
	}
	tests := map[string]struct {
		target v1alpha1.Target
		host   string
		tls    *session.TLS
		probes bool
	}{
		"none": {target: v1alpha1.Target{Server: v1alpha1.Server{Generic: &v1alpha1.GenericServer{}}}},
		"made for the run": {
			target: v1alpha1.Target{
				Server: v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{}},
				TLS: &v1alpha1.TLS{
					Protocols: []v1alpha1.TLSProtocol{"TLSv1.2"}, Ciphers: []v1alpha1.CipherSuite{"AES128-SHA"}, Groups: []v1alpha1.KeyExchangeGroup{"P-256"},
					Certificate:          &v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}},
					SessionResumption:    v1alpha1.Enabled,
					ClientAuthentication: &v1alpha1.ClientAuthentication{},
				},
			},
			host: "run-target.ns.svc:8443",
			tls: &session.TLS{
				ServerName: "run-target.ns.svc", Protocols: []string{"TLSv1.2"}, Ciphers: []string{"AES128-SHA"}, Groups: []string{"P-256"}, Resume: true, ClientCertificate: true,
			},
		},
		"the user's": {
			target: v1alpha1.Target{
				Server: v1alpha1.Server{Generic: &v1alpha1.GenericServer{Port: ptr.To(int32(443))}},
				TLS:    &v1alpha1.TLS{ServerName: "a.example", Verification: v1alpha1.TLSVerifyNone, Certificate: &v1alpha1.Certificate{SecretName: "s"}},
			},
			host: "a.example:443",
			tls:  &session.TLS{ServerName: "a.example", Unverified: true},
		},
		"external": {
			target: v1alpha1.Target{Server: v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: "https://b.example:444"}}},
			host:   "b.example:444", tls: &session.TLS{ServerName: "b.example"}, probes: true,
		},
		"external, plain, with a Host": {
			target: v1alpha1.Target{Server: v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: "http://10.0.0.1", Host: "c.example"}}},
			host:   "c.example", probes: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			run.Spec.Target = test.target
			plans := Plans(run, nil)
			for i, plan := range plans {
				if diff := cmp.Diff(test.tls, plan.TLS); diff != "" || plan.Host != test.host {
					t.Errorf("client %d has the Host %q; TLS (-want +got):\n%s", i, plan.Host, diff)
				}
			}
			if (len(plans[0].Probes) > 0) != test.probes || len(plans[1].Probes) > 0 {
				t.Errorf("the clients ask for %v and %v first", plans[0].Probes, plans[1].Probes)
			}
		})
	}
}
