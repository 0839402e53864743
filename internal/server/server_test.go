package server

import (
	"testing"

	"github.com/assay-dev/assay/api/v1alpha1"
)

func TestRenderWithoutServer(t *testing.T) {
	if _, err := Render(&v1alpha1.Target{}, nil); err == nil {
		t.Error("a target without a server was rendered")
	}
}

func TestReadinessPath(t *testing.T) {
	spec := &v1alpha1.BenchmarkRunSpec{Load: v1alpha1.Load{Requests: []v1alpha1.Request{{Path: "/first"}, {Path: "/second"}}}}
	if got := ReadinessPath(spec); got != "/first" {
		t.Errorf("without a path of its own: %q", got)
	}
	spec.Target.Readiness.Path = "/health"
	if got := ReadinessPath(spec); got != "/health" {
		t.Errorf("with a path of its own: %q", got)
	}
}

func TestLabel(t *testing.T) {
	tomcat := func(protocol v1alpha1.TomcatProtocol, tls *v1alpha1.TLS) *v1alpha1.Target {
		return &v1alpha1.Target{TLS: tls, Server: v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{Protocol: protocol}}}}
	}
	for _, tc := range []struct {
		description string
		target      *v1alpha1.Target
		want        string
	}{
		{"Tomcat NIO", tomcat(v1alpha1.TomcatNIO, nil), "Tomcat NIO"},
		{"Tomcat NIO", tomcat(v1alpha1.TomcatNIO, &v1alpha1.TLS{}), "Tomcat NIO + JSSE"},
		{"Tomcat NIO2", tomcat(v1alpha1.TomcatNIO2, &v1alpha1.TLS{Implementation: v1alpha1.TLSOpenSSL}), "Tomcat NIO2 + OpenSSL"},
		{"Tomcat APR", tomcat(v1alpha1.TomcatAPR, nil), "Tomcat APR"},
		{"Tomcat APR", tomcat(v1alpha1.TomcatAPR, &v1alpha1.TLS{}), "Tomcat APR + OpenSSL"},
		{"HTTPD Event", &v1alpha1.Target{TLS: &v1alpha1.TLS{}, Server: v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{}}}, "HTTPD Event"},
		{"Generic", &v1alpha1.Target{Image: "example.org:5000/web/nginx:1.28@sha256:0f", Server: v1alpha1.Server{Generic: &v1alpha1.GenericServer{}}}, "Generic nginx:1.28"},
		{"Generic", &v1alpha1.Target{Image: "nginx", Server: v1alpha1.Server{Generic: &v1alpha1.GenericServer{}}}, "Generic nginx"},
		{"External", &v1alpha1.Target{Server: v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: "https://www.example.org"}}}, "External https://www.example.org"},
	} {
		if got := Describe(tc.target); got != tc.description {
			t.Errorf("described as %q, want %q", got, tc.description)
		}
		if got := Label(tc.description, tc.target); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

func TestConcurrency(t *testing.T) {
	three := int32(3)
	tomcat := func(c v1alpha1.TomcatConnector) v1alpha1.Server {
		return v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{Connector: c}}
	}
	httpd := func(h v1alpha1.HTTPDServer) v1alpha1.Server { return v1alpha1.Server{HTTPD: &h} }
	jetty := func(j v1alpha1.JettyServer) v1alpha1.Server { return v1alpha1.Server{Jetty: &j} }
	for name, tc := range map[string]struct {
		server   v1alpha1.Server
		setting  string
		requests int64
	}{
		"Tomcat":                  {tomcat(v1alpha1.TomcatConnector{}), "maxThreads", 200},
		"Tomcat, few threads":     {tomcat(v1alpha1.TomcatConnector{MaxThreads: &three, Executor: v1alpha1.TomcatShared}), "maxThreads", 3},
		"Tomcat, virtual threads": {tomcat(v1alpha1.TomcatConnector{Executor: v1alpha1.TomcatVirtualThreads}), "", 0},
		"Tomcat, own server.xml":  {v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{Configuration: &v1alpha1.Configuration{ConfigMapName: "a"}}}, "", 0},
		"httpd":                   {httpd(v1alpha1.HTTPDServer{}), "maxRequestWorkers", 400},
		"httpd Prefork":           {httpd(v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDPrefork}), "maxRequestWorkers", 256},
		"httpd, three processes":  {httpd(v1alpha1.HTTPDServer{ServerLimit: &three}), "maxRequestWorkers", 75},
		"httpd Prefork, three":    {httpd(v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDPrefork, MaxRequestWorkers: &three}), "maxRequestWorkers", 3},
		"Jetty":                   {jetty(v1alpha1.JettyServer{}), "threads.max", 200},
		"Jetty, few threads":      {jetty(v1alpha1.JettyServer{Threads: &v1alpha1.JettyThreads{Max: &three}}), "threads.max", 3},
		"nginx":                   {v1alpha1.Server{Nginx: &v1alpha1.NginxServer{}}, "", 0},
		"an external server":      {v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: "http://a"}}, "", 0},
	} {
		setting, requests := Concurrency(&v1alpha1.Target{Server: tc.server})
		if setting != tc.setting || requests != tc.requests {
			t.Errorf("%s: %s %d, want %s %d", name, setting, requests, tc.setting, tc.requests)
		}
	}
}
