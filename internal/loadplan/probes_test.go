package loadplan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
)

// TestProbes checks what is probed: the first request, and what target.readiness has in its place.
func TestProbes(t *testing.T) {
	tenant := []v1alpha1.Header{{Name: "X-Tenant", Value: "5"}}
	shop := v1alpha1.Request{Path: "/shop?a=b", Host: "shop.test", Headers: tenant, Expect: &v1alpha1.Expectation{Statuses: []int32{204}}, Redirects: v1alpha1.RedirectsFollow}
	as := func(change func(*session.PlannedRequest)) session.PlannedRequest {
		r := session.Get("/shop?a=b")
		r.Host, r.Headers, r.Statuses, r.Follow = "shop.test", []session.Header{{Name: "X-Tenant", Value: "5"}}, []int{204}, true
		change(&r)
		return r
	}
	asIs := as(func(*session.PlannedRequest) {})
	other := func(method v1alpha1.Method) []v1alpha1.Request {
		r := shop
		r.Method, r.Body = method, &v1alpha1.Body{Text: "x"}
		return []v1alpha1.Request{r, {Path: "/second"}}
	}
	health := as(func(r *session.PlannedRequest) { r.Path, r.Statuses, r.Follow = "/health", nil, false })
	for name, test := range map[string]struct {
		load      v1alpha1.Load
		readiness v1alpha1.Readiness
		want      []session.Probe
	}{
		"the first request": {v1alpha1.Load{Requests: []v1alpha1.Request{shop, {Path: "/second"}}}, v1alpha1.Readiness{}, []session.Probe{{Request: asIs}}},
		"with credentials": {v1alpha1.Load{Requests: []v1alpha1.Request{shop}, Authentication: &v1alpha1.Authentication{Scheme: v1alpha1.AuthenticationBasic}},
			v1alpha1.Readiness{}, []session.Probe{{Request: asIs, Authentication: session.AuthenticationBasic}}},
		"a path needs none": {v1alpha1.Load{Requests: []v1alpha1.Request{shop}, Authentication: &v1alpha1.Authentication{Scheme: v1alpha1.AuthenticationDigest}},
			v1alpha1.Readiness{Path: "/health"}, []session.Probe{{Request: health}}},
		"HEAD": {v1alpha1.Load{Requests: []v1alpha1.Request{{Path: "/", Method: v1alpha1.MethodHead}}}, v1alpha1.Readiness{},
			[]session.Probe{{Request: session.PlannedRequest{Method: "HEAD", Path: "/", Weight: 1, Length: -1}}}},
		"POST": {v1alpha1.Load{Requests: other(v1alpha1.MethodPost)}, v1alpha1.Readiness{Path: "/health"}, []session.Probe{{Request: health}}},
		"host and headers": {v1alpha1.Load{Requests: []v1alpha1.Request{shop}},
			v1alpha1.Readiness{Host: "b.test", Headers: []v1alpha1.Header{{Name: "Accept", Value: "a/b"}}},
			[]session.Probe{{Request: as(func(r *session.PlannedRequest) {
				r.Host, r.Headers = "b.test", []session.Header{{Name: "Accept", Value: "a/b"}}
			})}}},
		"another port": {v1alpha1.Load{Requests: []v1alpha1.Request{shop}}, v1alpha1.Readiness{Path: "/health", Port: new(int32(8081))},
			[]session.Probe{{Request: health, Port: 8081}, {Request: asIs, AnyStatus: true}}},
		"another port, POST": {v1alpha1.Load{Requests: other(v1alpha1.MethodPost)}, v1alpha1.Readiness{Path: "/health", Port: new(int32(8081))},
			[]session.Probe{{Request: health, Port: 8081}, {Request: asIs, AnyStatus: true}}},
		"a script": {v1alpha1.Load{}, v1alpha1.Readiness{Path: "/health", Host: "b.test"},
			[]session.Probe{{Request: session.PlannedRequest{Path: "/health", Host: "b.test", Weight: 1, Length: -1}}}},
	} {
		spec := &v1alpha1.BenchmarkRunSpec{Load: test.load, Target: v1alpha1.Target{Readiness: test.readiness}}
		if diff := cmp.Diff(test.want, Probes(spec)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
