//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestHTTP2 drives each kind of server over HTTP/2, with TLS and without. The
// servers' access logs must confirm the protocol.
func TestHTTP2(t *testing.T) {
	ns := theCluster.namespace(t)
	c := theCluster
	c.configMap(t, ns, "http2-nginx", map[string]string{"log.conf": "access_log /proc/self/fd/2 combined;\n"})
	c.configMap(t, ns, "http2-httpd", map[string]string{"log.conf": `CustomLog "/proc/self/fd/2" "%r"` + "\n"})
	configuration := func(name string) *v1alpha1.Configuration { return &v1alpha1.Configuration{ConfigMapName: name} }
	nginx := v1alpha1.Server{Nginx: &v1alpha1.NginxServer{HTTP2: v1alpha1.Enabled, Configuration: configuration("http2-nginx")}}
	httpd := v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{
		HTTP2: v1alpha1.Enabled, AccessLog: v1alpha1.Enabled, Configuration: configuration("http2-httpd"),
	}}
	tomcat := v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{HTTP2: v1alpha1.Enabled}}}
	for name, s := range map[string]struct {
		image  string
		server v1alpha1.Server
		tls    *v1alpha1.TLS
		logs   bool // whether the server logs each request with its protocol
		// Whether the server now and then ends requests by itself; see docs/servers/tomcat.md.
		endsRequests bool
	}{
		"http2-nginx-tls":  {nginxImage, nginx, selfSigned(), true, false},
		"http2-nginx":      {nginxImage, nginx, nil, true, false},
		"http2-httpd-tls":  {httpdImage, httpd, selfSigned(), true, false},
		"http2-tomcat-tls": {tomcatImage, tomcat, selfSigned(), false, true},
		"http2-tomcat":     {tomcatImage, tomcat, nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const clients, connections, streams, requests = 2, 2, 8, 160
			run := wrapper.NewRun(ns, name, s.image).Lane(name).Content("/a.bin", 1000).
				TargetResources("300m", "256Mi").Clients(clients, "50m", "64Mi").Requests(connections, requests).Retain(v1alpha1.RetainAlways).Obj()
			run.Spec.Target.Server, run.Spec.Target.TLS = s.server, s.tls
			run.Spec.Load.Client.Protocol, run.Spec.Load.Client.Streams = v1alpha1.HTTP2, ptr.To(int32(streams))
			c.create(t, run)
			done := c.finished(t, run, 4*time.Minute)
			wantSucceeded(t, done)
			stored := c.artifact(t, done)
			if s.endsRequests && *done.Status.Result.Errors.Total > 0 {
				wantEndedByTomcat(t, done, stored, clients*requests, streams)
				return
			}
			wantAll(t, done, clients*requests)
			if t.Failed() {
				t.Logf("causes %+v, connections %d", stored.Causes, stored.Merged.Connections)
			}
			if stored.Environment.HTTP != result.HTTP2 || stored.Run.Streams != streams || stored.Merged.Connections != clients*connections {
				t.Errorf("%q with %d streams on %d connections", stored.Environment.HTTP, stored.Run.Streams, stored.Merged.Connections)
			}
			if got := *done.Status.Result.BodyBytesReceived; got != clients*requests*1000 {
				t.Errorf("%d bytes of bodies; the server's log:\n%s", got, c.logs(t, c.targetOf(t, done), "server"))
			}
			if !s.logs {
				return
			}
			log := string(c.logs(t, c.targetOf(t, done), "server"))
			// One more is the readiness probe.
			if n := strings.Count(log, "GET /a.bin HTTP/2.0"); n != clients*requests+1 {
				t.Errorf("the server logged %d requests over HTTP/2, want %d", n, clients*requests+1)
			}
		})
	}
}

// wantEndedByTomcat checks a run in which Tomcat failed to read from a new connection:
// it ends at most the requests that were open there, one per stream, and Assay counts
// each of them once, as an error.
func wantEndedByTomcat(t *testing.T, run *v1alpha1.BenchmarkRun, stored *result.Result, requests int64, streams int64) {
	t.Helper()
	r := run.Status.Result
	failed := *r.Errors.Total
	t.Logf("Tomcat ended %d of %d requests: %+v", failed, *r.Requests, stored.Merged.Errors)
	if *r.Requests != requests || failed > streams {
		t.Errorf("%d requests with %d errors, want %d with at most %d", *r.Requests, failed, requests, streams)
	}
	if *r.BodyBytesReceived < (requests-failed)*1000 {
		t.Errorf("%d bytes of bodies of %d requests that succeeded", *r.BodyBytesReceived, requests-failed)
	}
}

// TestHTTP2ThatNobodySpeaks checks that the run fails before the load starts, with
// the cause in its message.
func TestHTTP2ThatNobodySpeaks(t *testing.T) {
	ns := theCluster.namespace(t)
	c := theCluster
	c.configMap(t, ns, "plain", map[string]string{"plain.conf": "add_header X-Plain yes;\n"})
	run := wrapper.NewRun(ns, "http2-none", nginxImage).Lane("http2-none").Content("/a.bin", 1000).
		TargetResources("300m", "256Mi").Clients(1, "50m", "64Mi").Requests(1, 100).Obj()
	run.Spec.Target.Server = v1alpha1.Server{Nginx: &v1alpha1.NginxServer{Configuration: &v1alpha1.Configuration{ConfigMapName: "plain"}}}
	run.Spec.Target.TLS = selfSigned()
	run.Spec.Target.Readiness.TimeoutSeconds = ptr.To(int32(10))
	run.Spec.Load.Client.Protocol = v1alpha1.HTTP2
	c.create(t, run)
	done := c.finished(t, run, 3*time.Minute)
	text := fmt.Sprint(done.Status.Conditions)
	if done.Status.Result != nil || !strings.Contains(text, "the server doesn't speak HTTP/2") || !strings.Contains(text, "load.client.protocol") {
		t.Errorf("the conditions: %s", text)
	}
}
