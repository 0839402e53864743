package server_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/server/adapter"
)

var mine = &v1alpha1.Configuration{ConfigMapName: "mine"}

// TestDeadFieldsAreRefused checks that no field is silently without effect beside the user's own configuration:
// neither one that a replaced file would have, nor one that an included file sets too.
func TestDeadFieldsAreRefused(t *testing.T) {
	seven, tls := ptr.To(int32(7)), &v1alpha1.TLS{Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv12}}
	nginx := func(n v1alpha1.NginxServer) v1alpha1.Server {
		n.Configuration = mine
		return v1alpha1.Server{Nginx: &n}
	}
	httpd := func(h v1alpha1.HTTPDServer) v1alpha1.Server {
		h.Configuration = mine
		return v1alpha1.Server{HTTPD: &h}
	}
	tomcat := func(s v1alpha1.TomcatServer) v1alpha1.Server {
		s.Configuration = mine
		return v1alpha1.Server{Tomcat: &s}
	}
	jetty := func(j v1alpha1.JettyServer) v1alpha1.Server {
		j.Configuration = mine
		return v1alpha1.Server{Jetty: &j}
	}
	replaces := func(main string) map[string]string { return map[string]string{main: "events {}\n"} }
	for name, test := range map[string]struct {
		server v1alpha1.Server
		files  map[string]string
		// want are the fields that the error names and a text that it has, or nothing if there is none.
		want []string
	}{
		"nginx.conf": {
			nginx(v1alpha1.NginxServer{WorkerProcesses: seven, KeepAlive: &v1alpha1.NginxKeepAlive{Mode: v1alpha1.Enabled, MaxRequests: seven}, AccessLog: v1alpha1.Disabled}), replaces("nginx.conf"),
			[]string{"nginx.accessLog, ", "nginx.keepAlive.maxRequests, ", "nginx.keepAlive.mode, ", "nginx.workerProcesses. ", "nginx.configuration: nginx.conf of the ConfigMap replaces"},
		},
		"nginx.conf and what it keeps": {nginx(v1alpha1.NginxServer{Executable: "/usr/sbin/nginx", Port: ptr.To(int32(8081))}), replaces("nginx.conf"), nil},
		"httpd.conf":                   {httpd(v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDEvent, MaxRequestWorkers: seven}), replaces("httpd.conf"), []string{"httpd.maxRequestWorkers, ", "httpd.mpm. "}},
		"httpd.conf and what it keeps": {httpd(v1alpha1.HTTPDServer{Home: "/usr/lib/apache2", Executable: "/usr/sbin/apache2", Port: ptr.To(int32(8081))}), replaces("httpd.conf"), nil},
		"server.xml": {
			tomcat(v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{MaxThreads: seven, Protocol: v1alpha1.TomcatNIO2}, AccessLog: v1alpha1.Enabled, AJP: &v1alpha1.TomcatAJP{MaxThreads: seven}}),
			replaces("server.xml"), []string{"tomcat.accessLog, ", "tomcat.ajp.maxThreads, ", "tomcat.connector.maxThreads, ", "tomcat.connector.protocol. "},
		},
		"server.xml and what it keeps": {
			tomcat(v1alpha1.TomcatServer{Home: "/opt/tomcat", Connector: v1alpha1.TomcatConnector{Port: ptr.To(int32(8081))}, JVMOptions: []string{"-Xmx1g"}, GCLog: v1alpha1.Disabled}), replaces("server.xml"), nil,
		},
		"context.xml":                 {tomcat(v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{MaxThreads: seven}}), replaces("context.xml"), nil},
		"assay.ini":                   {jetty(v1alpha1.JettyServer{Threads: &v1alpha1.JettyThreads{Max: seven}, Modules: []string{"ee10-deploy"}}), replaces("assay.ini"), []string{"jetty.modules, ", "jetty.threads.max. "}},
		"assay.ini and what it keeps": {jetty(v1alpha1.JettyServer{Connector: &v1alpha1.JettyConnector{Port: ptr.To(int32(8081)), HTTP2: v1alpha1.Enabled}}), replaces("assay.ini"), nil},

		"nginx, in a file too":       {nginx(v1alpha1.NginxServer{KeepAlive: &v1alpha1.NginxKeepAlive{TimeoutMilliseconds: seven}}), map[string]string{"a.http.conf": "gzip on;\nkeepalive_timeout 5s;\n"}, []string{"nginx.keepAlive.timeoutMilliseconds is set, and keepalive_timeout in a.http.conf"}},
		"nginx, in a location":       {nginx(v1alpha1.NginxServer{Sendfile: v1alpha1.Enabled}), map[string]string{"a.conf": "location /a { sendfile off; }"}, nil},
		"nginx, in another server":   {nginx(v1alpha1.NginxServer{Sendfile: v1alpha1.Enabled}), map[string]string{"http.conf": "server { listen 8090; sendfile off; }"}, nil},
		"nginx, others":              {nginx(v1alpha1.NginxServer{KeepAlive: &v1alpha1.NginxKeepAlive{MaxRequests: seven}}), map[string]string{"http.conf": "keepalive_timeout 5s; # keepalive_requests 1;\n"}, nil},
		"nginx, TLS":                 {nginx(v1alpha1.NginxServer{}), map[string]string{"server.conf": "ssl_protocols TLSv1.3;"}, []string{"spec.target.tls.protocols is set, and ssl_protocols in server.conf"}},
		"httpd, in a file too":       {httpd(v1alpha1.HTTPDServer{KeepAlive: &v1alpha1.HTTPDKeepAlive{MaxRequests: seven}}), map[string]string{"a.conf": "<IfModule mpm_event_module>\n  MAXKeepAliveRequests \\\n 5\n</IfModule>\n"}, []string{"httpd.keepAlive.maxRequests is set, and maxkeepaliverequests in a.conf"}},
		"httpd, turned off":          {httpd(v1alpha1.HTTPDServer{KeepAlive: &v1alpha1.HTTPDKeepAlive{MaxRequests: seven}}), map[string]string{"a.conf": "KeepAlive Off\n"}, []string{"httpd.keepAlive.maxRequests is set, and keepalive in a.conf"}},
		"httpd, in a section":        {httpd(v1alpha1.HTTPDServer{Sendfile: v1alpha1.Enabled}), map[string]string{"a.conf": "<Location \"/a\">\nEnableSendfile off\n</Location>\n"}, nil},
		"httpd, after a section":     {httpd(v1alpha1.HTTPDServer{Sendfile: v1alpha1.Enabled}), map[string]string{"a.conf": "<Location \"/a\">\n</Location>\nEnableSendfile off\n"}, []string{"httpd.sendfile is set"}},
		"Jetty, in a file too":       {jetty(v1alpha1.JettyServer{Threads: &v1alpha1.JettyThreads{Max: seven}}), map[string]string{"a.ini": "--modules=gzip\njetty.threadPool.maxThreads=9\n"}, []string{"jetty.threads.max is set, and maxThreads in a.ini"}},
		"Jetty, of the other scheme": {jetty(v1alpha1.JettyServer{Connector: &v1alpha1.JettyConnector{Acceptors: seven}}), map[string]string{"a.ini": "jetty.http.acceptors=9\n"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := server.Render(&v1alpha1.Target{Image: "a:1", Server: test.server, TLS: tls}, server.Configurations{server.ContainerName: test.files})
			if (err == nil) != (test.want == nil) {
				t.Fatalf("got the error %v", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got the error %v, which has no %q", err, want)
				}
			}
			if err != nil && !strings.HasPrefix(err.Error(), "spec.target.") {
				t.Errorf("the error %v doesn't begin with a field", err)
			}
		})
	}
}

// TestOwnConfigurationIsRecorded checks what the status records of a user's own configuration, and what follows
// from it: the name of the server, and its limits.
func TestOwnConfigurationIsRecorded(t *testing.T) {
	for name, test := range map[string]struct {
		server    v1alpha1.Server
		files     map[string]string
		want      v1alpha1.ConfigurationStatus
		described string
		keepAlive adapter.Limit
	}{
		"replaced": {
			v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{Configuration: mine}}, map[string]string{"httpd.conf": "KeepAlive off\n", "a.conf": ""},
			v1alpha1.ConfigurationStatus{Extent: v1alpha1.ConfigurationReplaced, Files: []string{"a.conf", "httpd.conf"}}, "HTTPD (own httpd.conf)", adapter.Limit{},
		},
		"without a file": {
			v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{Configuration: mine}}, map[string]string{},
			v1alpha1.ConfigurationStatus{Extent: v1alpha1.ConfigurationExtended}, "HTTPD Event", adapter.Limit{Setting: "keepAlive.maxRequests", Value: 100},
		},
		"extended": {
			v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{Configuration: mine}}, map[string]string{"a.conf": "MaxConnectionsPerChild 9\n"},
			v1alpha1.ConfigurationStatus{Extent: v1alpha1.ConfigurationExtended, Files: []string{"a.conf"}}, "HTTPD Event", adapter.Limit{Setting: "keepAlive.maxRequests", Value: 100},
		},
		"extended with what follows from a limit": {
			v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{Configuration: mine, MaxRequestWorkers: ptr.To(int32(100))}}, map[string]string{"a.conf": "AsyncRequestWorkerFactor 4\n"},
			v1alpha1.ConfigurationStatus{Extent: v1alpha1.ConfigurationExtended, Files: []string{"a.conf"}, Fields: []string{"maxRequestWorkers"}}, "HTTPD Event", adapter.Limit{Setting: "keepAlive.maxRequests", Value: 100},
		},
		"extended with a limit": {
			v1alpha1.Server{Nginx: &v1alpha1.NginxServer{Configuration: mine}}, map[string]string{"a.conf": "location /a { keepalive_requests 9; }\n"},
			v1alpha1.ConfigurationStatus{Extent: v1alpha1.ConfigurationExtended, Files: []string{"a.conf"}, Fields: []string{"keepAlive.maxRequests"}}, "Nginx", adapter.Limit{},
		},
		"extended with all of a field": {
			v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{Configuration: mine}}, map[string]string{"a.conf": "KeepAlive off\n"},
			v1alpha1.ConfigurationStatus{Extent: v1alpha1.ConfigurationExtended, Files: []string{"a.conf"}, Fields: []string{"keepAlive"}}, "HTTPD Event", adapter.Limit{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			target := &v1alpha1.Target{Image: "a:1", Server: test.server}
			rendering, err := server.Render(target, server.Configurations{server.ContainerName: test.files})
			if err != nil {
				t.Fatal(err)
			}
			var status v1alpha1.TargetStatus
			rendering.Own.Record(server.ContainerName, &status.ServerStatus)
			if diff := cmp.Diff(&test.want, status.Configuration); diff != "" {
				t.Error(diff)
			}
			own := server.OwnIn(&status)
			if got := server.Describe(target, own); got != test.described || got != rendering.Description {
				t.Errorf("described as %q and %q, want %q", got, rendering.Description, test.described)
			}
			if diff := cmp.Diff(test.keepAlive, server.LimitsOf(target, own).KeepAlive); diff != "" {
				t.Error(diff)
			}
			if got := server.LimitsOf(target, nil); got != (server.Limits{}) {
				t.Errorf("limits %+v of a configuration that isn't known", got)
			}
		})
	}
}

// TestOwnBacklogOfJetty checks that a limit is unknown that a file of the user's sets.
func TestOwnBacklogOfJetty(t *testing.T) {
	target := &v1alpha1.Target{Image: "a:1", Server: v1alpha1.Server{Jetty: &v1alpha1.JettyServer{Configuration: mine}}}
	for text, want := range map[string]string{"jetty.http.acceptQueueSize=9\n": "", "jetty.http.acceptors=9\n": "connector.acceptQueueSize"} {
		rendering, err := server.Render(target, server.Configurations{server.ContainerName: {"a.ini": text}})
		if err != nil {
			t.Fatal(err)
		}
		var status v1alpha1.TargetStatus
		rendering.Own.Record(server.ContainerName, &status.ServerStatus)
		if got := server.LimitsOf(target, server.OwnIn(&status)).Backlog.Setting; got != want {
			t.Errorf("%q: the backlog is that of %q, want %q", text, got, want)
		}
	}
}
