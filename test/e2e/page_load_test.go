//go:build e2e

package e2e

import (
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestPageLoad loads pages from the server of known behavior. A single user per client goes through three pages in
// order, so that all counts are known: of 20 requests for /failures in turn, 3 fail.
func TestPageLoad(t *testing.T) {
	t.Parallel()
	const document, element, form, failing = "/fixed/2000/500", "/fixed/1000/100", "/fixed/0/10", "/failures/50"
	const rounds, clients, failures = 100, 2, 2 * 100 * 3 / 20
	run := loadRun(t, "page-load", document).Obj()
	run.Spec.Load.Order = v1alpha1.OrderSequential
	run.Spec.Load.Pages = &v1alpha1.Pages{ConnectionsPerUser: ptr.To(int32(3))}
	run.Spec.Load.Requests = []v1alpha1.Request{
		{Path: document, Elements: []v1alpha1.ElementPath{element, element, element, element, element, element}},
		{Path: form, Method: v1alpha1.MethodPost, Body: &v1alpha1.Body{Text: "x=1"}, Elements: []v1alpha1.ElementPath{element}},
		{Path: failing},
	}
	run.Spec.Load.Closed = &v1alpha1.ClosedLoad{Users: 1, RequestCount: ptr.To(int64(3 * rounds)), ThinkTime: &v1alpha1.ThinkTime{MinMilliseconds: 1}}
	c := theCluster
	c.create(t, run)
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	stored, server := c.artifact(t, done), c.serverReport(t, done)
	m := &stored.Merged
	if m.Pages != 3*rounds*clients || m.FailedPages != failures || m.Rounds != rounds*clients-failures || m.FailedRounds != failures {
		t.Errorf("%d pages, %d failed; %d rounds, %d failed", m.Pages, m.FailedPages, m.Rounds, m.FailedRounds)
	}
	if m.Requests != (7+2+1)*rounds*clients || m.Errors.Total() != failures {
		t.Errorf("%d requests, errors %v", m.Requests, m.Errors)
	}
	for path, want := range map[string]int64{document: rounds * clients, element: 7 * rounds * clients, form: rounds * clients, failing: rounds * clients} {
		if got := server[path].Requests; got != want {
			t.Errorf("the server counted %d requests for %s, want %d", got, path, want)
		}
	}
	if got := server[form]; got.Methods["POST"] != rounds*clients {
		t.Errorf("the server got the forms %+v", got)
	}
	// The first page takes the time of its document, and that of its elements twice.
	times := m.Latencies.Get(result.Page)
	if times.Count() != m.SucceededPages() || times.Max() < 4000 || times.Percentile(100*2.0/3) < 1000 {
		t.Errorf("%d page times up to %d µs", times.Count(), times.Max())
	}
	if stored.Run.UserConnections != 3 || stored.Run.Connections != 1 || len(stored.Run.Requests) != 3 || stored.Run.Requests[0].Elements != 6 {
		t.Errorf("the run is described as %+v", stored.Run)
	}
	if report := plugin(t, 0, "report", "-n", run.Namespace, run.Name); !strings.Contains(report, "Users:                  2, with up to 3 connections each") {
		t.Errorf("the report has no users:\n%s", report)
	}
}

// TestPagesOfFront is R5 in small: httpd's worker MPM serves files, makes pages with its own module, and forwards
// JSP to Tomcat by AJP.
func TestPagesOfFront(t *testing.T) {
	for _, protocol := range []v1alpha1.ForwardProtocol{v1alpha1.ForwardAJP, v1alpha1.ForwardHTTP} {
		t.Run(string(protocol), func(t *testing.T) {
			t.Parallel()
			c := theCluster
			ns := c.namespace(t)
			pages := map[string]string{}
			for _, name := range []string{"page.jsp", "order.jsp"} {
				text, err := os.ReadFile("../servers/dynamic/" + name)
				if err != nil {
					t.Fatal(err)
				}
				pages[name] = string(text)
			}
			c.configMap(t, ns, "pages", pages)
			c.configMap(t, ns, "native", map[string]string{
				"native.conf": "LoadModule native_module modules/mod_native.so\n<Location \"/native\">\n    SetHandler native\n</Location>\n",
			})
			run := wrapper.NewRun(ns, "front", httpdImage).Lane("front-"+strings.ToLower(string(protocol))).Content("/static.html", 5000).
				TargetResources("300m", "128Mi").Clients(1, "50m", "64Mi").Retain(v1alpha1.RetainAlways).Obj()
			target := &run.Spec.Target
			for name := range pages {
				target.Content = append(target.Content, v1alpha1.ContentFile{Path: "/" + name, ConfigMapKeyRef: &v1alpha1.ConfigMapKeyReference{Name: "pages", Key: name}})
			}
			target.Server = v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{
				MPM: v1alpha1.HTTPDWorker, Forward: []v1alpha1.Forward{{PathSuffix: ".jsp", Backend: "tomcat", Protocol: protocol}},
				Configuration: &v1alpha1.Configuration{ConfigMapName: "native"},
			}}
			target.Backends = []v1alpha1.Backend{{
				Name: "tomcat", Image: tomcatImage, Resources: wrapper.Resources("300m", "256Mi"),
				Server: v1alpha1.BackendServer{Tomcat: &v1alpha1.TomcatServer{
					Connector: v1alpha1.TomcatConnector{Port: ptr.To(int32(8081))}, AJP: &v1alpha1.TomcatAJP{},
				}},
			}}
			target.Readiness.Path = "/page.jsp"
			exactly := func(n int64) *v1alpha1.Expectation { return &v1alpha1.Expectation{BodyBytes: &n} }
			run.Spec.Load.Order, run.Spec.Load.Pages = v1alpha1.OrderSequential, &v1alpha1.Pages{ConnectionsPerUser: ptr.To(int32(2))}
			run.Spec.Load.Requests = []v1alpha1.Request{
				{Path: "/static.html", Elements: []v1alpha1.ElementPath{"/static.html", "/page.jsp?rows=50", "/native?rows=50"}},
				{Path: "/page.jsp?rows=50", Expect: exactly(pageBytes), Elements: []v1alpha1.ElementPath{"/static.html"}},
				{Path: "/native?rows=50", Expect: exactly(pageBytes)},
				{
					Path: "/order.jsp", Method: v1alpha1.MethodPost, Body: &v1alpha1.Body{Text: "b=2&a=1"}, Expect: exactly(int64(len("a: 1\nb: 2\n"))),
					Headers: []v1alpha1.Header{{Name: "Content-Type", Value: "application/x-www-form-urlencoded"}},
				},
				{Path: "/native", Method: v1alpha1.MethodPost, Body: &v1alpha1.Body{SizeBytes: ptr.To(int64(100_000))}, Expect: exactly(int64(len("100000 bytes\n")))},
			}
			run.Spec.Load.Closed = &v1alpha1.ClosedLoad{Users: 2, RequestCount: ptr.To(int64(200))}
			c.create(t, run)
			done := c.finished(t, run, 3*time.Minute)
			wantSucceeded(t, done)
			stored := c.artifact(t, done)
			if m := &stored.Merged; m.Pages != 200 || m.FailedPages != 0 || m.Errors.Total() != 0 {
				t.Errorf("%d pages, %d failed, errors %v", m.Pages, m.FailedPages, m.Errors)
			}
			log := string(c.logs(t, c.targetOf(t, done), "tomcat"))
			if !strings.Contains(log, `Starting ProtocolHandler ["ajp-nio-127.0.0.1-8009"]`) {
				t.Errorf("Tomcat's log:\n%s", log)
			}
			if s := done.Status.Target; s.Connector != "mpm_worker" || len(s.Backends) != 1 || !strings.Contains(s.Backends[0].Connector, "http-nio-8081") {
				t.Errorf("status.target: %+v", s)
			}
		})
	}
}
