// Package loadplan turns the load of a run into one plan per client. The same spec gives the same
// plans.
package loadplan

import (
	"cmp"
	"hash/fnv"
	"net/http"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
)

const microsecondsPerSecond = 1_000_000

// Plans returns the plan of each client, by index. The run is one that the API server accepted,
// with its defaults; lengths are those of the files that the target serves, by path. The plans share what they have in
// common, which must not be changed.
func Plans(run *v1alpha1.BenchmarkRun, lengths map[string]int64) []*session.Plan {
	spec := &run.Spec
	plans := make([]*session.Plan, Replicas(spec))
	// What is the same for all clients is there once: a thousand of them may have megabytes of bodies.
	common := session.Plan{
		Streams:             Streams(spec),
		KeepAlive:           spec.Load.Client.KeepAlive != v1alpha1.Disabled,
		TimeoutMicroseconds: int64(ptr.Deref(spec.Load.Client.TimeoutSeconds, 30)) * microsecondsPerSecond,
		Host:                server.Host(run),
		TLS:                 server.SessionTLS(run),
		Requests:            requests(spec, lengths),
		Sequential:          spec.Load.Order == v1alpha1.OrderSequential,
		Cookies:             spec.Load.Client.Cookies == v1alpha1.Enabled,
		Authentication:      authentication(spec.Load.Authentication),
		Form:                form(spec.Load.Authentication),
		Slices:              Slices(spec),
	}
	if tool := spec.Clients.Tool; tool != nil {
		common.Tool = string(tool.Name)
	}
	pages(&common, spec, lengths)
	segments := ""
	if spec.Script != nil {
		segments = sequence(len(plans))
	}
	for i := range plans {
		if spec.Script != nil {
			plans[i] = &session.Plan{Host: common.Host, TLS: common.TLS, Script: script(run, i, len(plans), segments)}
			continue
		}
		plan := common
		plan.Seed = seed(i)
		plans[i] = &plan
		shape(&plan, spec, sharing{per: spec.Load.LoadIsPer, index: i, clients: len(plans)})
	}
	for i, p := range plans {
		if i == 0 && server.IsExternal(&spec.Target) || p.Form != nil { // they log in to a target that answers
			p.Probes = Probes(spec)
		}
	}
	return plans
}

// Probes returns the readiness probes of a run's target: the first request of the load, with what target.readiness declares in its place.
// Those of another port are followed by one of the load's port, since that one's response and handshake are recorded.
func Probes(spec *v1alpha1.BenchmarkRunSpec) []session.Probe {
	first := session.Probe{Request: session.Get("/")}
	if len(spec.Load.Requests) > 0 {
		first.Request = request(&spec.Load.Requests[0], nil)
	}
	declared := &spec.Target.Readiness
	q := first
	switch a := spec.Load.Authentication; {
	// What is probed again and again must not change the target.
	case declared.Path != "" || first.Request.Method != "" && first.Request.Method != http.MethodHead:
		q.Request = session.Get(cmp.Or(declared.Path, first.Request.Path))
		q.Request.Host, q.Request.Headers = first.Request.Host, first.Request.Headers
	case a != nil:
		q.Authentication = string(a.Scheme)
	}
	q.Request.Host = cmp.Or(declared.Host, q.Request.Host)
	if len(declared.Headers) > 0 {
		q.Request.Headers = headers(declared.Headers)
	}
	if declared.Port == nil {
		return []session.Probe{q}
	}
	q.Port = int(*declared.Port)
	if first.Request.Method != http.MethodHead {
		first.Request.Method, first.Request.Body, first.Request.GeneratedBytes = "", nil, 0
	}
	first.AnyStatus = true
	return []session.Probe{q, first}
}

// AddList gives plans the list of requests that their run has from elsewhere, as package
// requestlist encodes it; lengths are as in Plans.
func AddList(plans []*session.Plan, list []byte, lengths map[string]int64) {
	for _, p := range plans {
		p.RequestList, p.Lengths = list, lengths
	}
}

// Replicas is the number of clients.
func Replicas(spec *v1alpha1.BenchmarkRunSpec) int { return int(ptr.Deref(spec.Clients.Replicas, 1)) }

// Streams is the number of concurrent requests on each HTTP/2 connection; 0 for HTTP/1.1.
func Streams(spec *v1alpha1.BenchmarkRunSpec) int {
	if spec.Load.Client.Protocol != v1alpha1.HTTP2 {
		return 0
	}
	return int(ptr.Deref(spec.Load.Client.Streams, 1))
}

// requests returns the requests of a run, with the lengths of their responses where known.
func requests(spec *v1alpha1.BenchmarkRunSpec, lengths map[string]int64) []session.PlannedRequest {
	planned := make([]session.PlannedRequest, 0, len(spec.Load.Requests))
	for i := range spec.Load.Requests {
		planned = append(planned, request(&spec.Load.Requests[i], lengths))
	}
	return planned
}

func request(r *v1alpha1.Request, lengths map[string]int64) session.PlannedRequest {
	p := session.PlannedRequest{
		Name: r.Name, Path: r.Path, Host: r.Host, Headers: headers(r.Headers), Weight: int(ptr.Deref(r.Weight, 1)), Length: length(r, lengths),
		Follow: r.Redirects == v1alpha1.RedirectsFollow,
	}
	if r.Method != "" && r.Method != v1alpha1.MethodGet {
		p.Method = string(r.Method)
	}
	if r.Body != nil {
		p.Body, p.GeneratedBytes = []byte(r.Body.Text), ptr.Deref(r.Body.SizeBytes, 0)
	}
	if r.Expect != nil {
		p.Statuses = statuses(r.Expect.Statuses)
	}
	p.Decoded = p.Length >= 0 && (r.Expect == nil || r.Expect.BodyBytes == nil)
	return p
}

func headers(declared []v1alpha1.Header) []session.Header {
	var all []session.Header
	for _, h := range declared {
		all = append(all, session.Header{Name: h.Name, Value: h.Value})
	}
	return all
}

func statuses(declared []int32) []int {
	var all []int
	for _, status := range declared {
		all = append(all, int(status))
	}
	return all
}

// length returns the declared length, or that of a file that a success must be, or -1.
func length(r *v1alpha1.Request, lengths map[string]int64) int64 {
	if r.Expect != nil && r.Expect.BodyBytes != nil {
		return *r.Expect.BodyBytes
	}
	isGet := r.Method == "" || r.Method == v1alpha1.MethodGet
	if length, known := lengths[r.Path]; known && isGet && (r.Expect == nil || len(r.Expect.Statuses) == 0) {
		return length
	}
	return -1
}

func authentication(a *v1alpha1.Authentication) string {
	if a == nil {
		return ""
	}
	return string(a.Scheme)
}

// seed keeps clients from sending the same requests in step. It is the same in every run.
func seed(index int) uint64 {
	h := fnv.New64a()
	h.Write([]byte{byte(index), byte(index >> 8), byte(index >> 16)})
	return h.Sum64()
}

// form returns the form that connections log in with, or nil if they don't log in.
func form(a *v1alpha1.Authentication) *session.Form {
	if a == nil || a.Form == nil {
		return nil
	}
	f := &session.Form{
		Page: a.Form.Page, Path: a.Form.Path,
		UsernameField: cmp.Or(a.Form.UsernameField, "username"), PasswordField: cmp.Or(a.Form.PasswordField, "password"),
		Statuses: []int{http.StatusFound, http.StatusSeeOther},
	}
	for _, field := range a.Form.Fields {
		f.Fields = append(f.Fields, session.FormField{Name: field.Name, Value: ptr.Deref(field.Value, "")})
	}
	if expect := a.Form.Expect; expect != nil {
		f.Location = expect.Location
		if len(expect.Statuses) > 0 {
			f.Statuses = statuses(expect.Statuses)
		}
	}
	return f
}
