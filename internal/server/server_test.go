package server

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/gclog"
	"github.com/assay-dev/assay/internal/server/adapter"
)

func TestRenderWithoutServer(t *testing.T) {
	if _, err := Render(&v1alpha1.Target{}, nil); err == nil {
		t.Error("a target without a server was rendered")
	}
}

// TestGarbageCollectionLog checks when a Java virtual machine logs its garbage collections for the agent: each
// server, also behind another, unless it is disabled or the user's options configure logs.
func TestGarbageCollectionLog(t *testing.T) {
	for name, test := range map[string]struct {
		gcLog   v1alpha1.Switch
		options []string
		want    bool
	}{
		"by default":                       {"", []string{"-Xmx512m"}, true},
		"enabled":                          {v1alpha1.Enabled, nil, true},
		"disabled":                         {v1alpha1.Disabled, nil, false},
		"the user's own unified log":       {v1alpha1.Enabled, []string{"-Xmx512m", "-Xlog:safepoint:stdout"}, false},
		"the user's own log before Java 9": {"", []string{"-Xloggc:/tmp/gc.log"}, false},
	} {
		tomcat := &v1alpha1.TomcatServer{GCLog: test.gcLog, JVMOptions: test.options, Connector: v1alpha1.TomcatConnector{Port: new(int32(8081))}}
		r, err := Render(&v1alpha1.Target{
			Image: "front:1", Content: []v1alpha1.ContentFile{{Path: "/a", SizeBytes: 1}}, Server: v1alpha1.Server{Jetty: &v1alpha1.JettyServer{GCLog: test.gcLog, JVMOptions: test.options}},
			Backends: []v1alpha1.Backend{{Name: "app", Image: "app:1", Server: v1alpha1.BackendServer{Tomcat: tomcat}}},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, volume := range []string{"server-gc", "app-gc"} {
			c := r.Containers[i]
			set := slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "JDK_JAVA_OPTIONS" && e.Value == gclog.Option })
			mounted := slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume && m.MountPath == "/assay/gc" })
			if set != test.want || mounted != test.want {
				t.Errorf("%s: option %t, directory %t, want %t: %+v", name, set, mounted, test.want, c)
			}
		}
	}
}

func TestLabel(t *testing.T) {
	tomcat := func(protocol v1alpha1.TomcatProtocol, tls *v1alpha1.TLS, by ...v1alpha1.TLSImplementation) *v1alpha1.Target {
		connector := v1alpha1.TomcatConnector{Protocol: protocol}
		if len(by) > 0 {
			connector.TLSImplementation = by[0]
		}
		return &v1alpha1.Target{TLS: tls, Server: v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{Connector: connector}}}
	}
	for _, tc := range []struct {
		description string
		target      *v1alpha1.Target
		want        string
	}{
		{"Tomcat NIO", tomcat(v1alpha1.TomcatNIO, nil), "Tomcat NIO"},
		{"Tomcat NIO", tomcat(v1alpha1.TomcatNIO, &v1alpha1.TLS{}), "Tomcat NIO + JSSE"},
		{"Tomcat NIO2", tomcat(v1alpha1.TomcatNIO2, &v1alpha1.TLS{}, v1alpha1.TLSOpenSSL), "Tomcat NIO2 + OpenSSL"},
		{"Tomcat APR", tomcat(v1alpha1.TomcatAPR, nil), "Tomcat APR"},
		{"Tomcat APR", tomcat(v1alpha1.TomcatAPR, &v1alpha1.TLS{}), "Tomcat APR + OpenSSL"},
		{"HTTPD Event", &v1alpha1.Target{TLS: &v1alpha1.TLS{}, Server: v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{}}}, "HTTPD Event"},
		{"Generic", &v1alpha1.Target{Image: "example.org:5000/web/nginx:1.28@sha256:0f", Server: v1alpha1.Server{Generic: &v1alpha1.GenericServer{}}}, "Generic nginx:1.28"},
		{"Generic", &v1alpha1.Target{Image: "nginx", Server: v1alpha1.Server{Generic: &v1alpha1.GenericServer{}}}, "Generic nginx"},
		{"External", &v1alpha1.Target{Server: v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: "https://www.example.org"}}}, "External https://www.example.org"},
	} {
		if got := Describe(tc.target, nil); got != tc.description {
			t.Errorf("described as %q, want %q", got, tc.description)
		}
		if got := Label(tc.description, tc.target); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

func TestLimits(t *testing.T) {
	three := int32(3)
	tomcat := func(c v1alpha1.TomcatConnector) v1alpha1.Server {
		return v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{Connector: c}}
	}
	httpd := func(h v1alpha1.HTTPDServer) v1alpha1.Server { return v1alpha1.Server{HTTPD: &h} }
	nginx := func(n v1alpha1.NginxServer) v1alpha1.Server { return v1alpha1.Server{Nginx: &n} }
	jetty := func(j v1alpha1.JettyServer) v1alpha1.Server { return v1alpha1.Server{Jetty: &j} }
	connections := map[string]int32{
		"Tomcat": 8192, "Jetty": 0, "httpd": 1200, "httpd Prefork": 256, "httpd, three processes": 225, "httpd Prefork, three": 3, "nginx": 16384, "an external server": 0,
	}
	for name, tc := range map[string]struct {
		server                          v1alpha1.Server
		concurrency, keepAlive, backlog string
	}{
		"Tomcat":                  {tomcat(v1alpha1.TomcatConnector{}), "maxThreads 200", "keepAlive.maxRequests 100", "acceptCount 0"},
		"Tomcat, few threads":     {tomcat(v1alpha1.TomcatConnector{MaxThreads: &three, Executor: v1alpha1.TomcatShared}), "maxThreads 3", "keepAlive.maxRequests 100", "acceptCount 0"},
		"Tomcat, virtual threads": {tomcat(v1alpha1.TomcatConnector{Executor: v1alpha1.TomcatVirtualThreads, AcceptCount: &three}), " 0", "keepAlive.maxRequests 100", "acceptCount 3"},
		"Tomcat, no keep-alive":   {tomcat(v1alpha1.TomcatConnector{KeepAlive: &v1alpha1.TomcatKeepAlive{MaxRequests: ptr.To(int32(-1))}}), "maxThreads 200", "keepAlive.maxRequests -1", "acceptCount 0"},
		"Tomcat, own server.xml":  {v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{Configuration: &v1alpha1.Configuration{ConfigMapName: "a"}}}, " 0", " 0", " 0"},
		"httpd":                   {httpd(v1alpha1.HTTPDServer{}), "maxRequestWorkers 400", "keepAlive.maxRequests 100", "listenBacklog 0"},
		"httpd Prefork":           {httpd(v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDPrefork, ListenBacklog: &three}), "maxRequestWorkers 256", "keepAlive.maxRequests 100", "listenBacklog 3"},
		"httpd, three processes":  {httpd(v1alpha1.HTTPDServer{ServerLimit: &three, KeepAlive: &v1alpha1.HTTPDKeepAlive{MaxRequests: &three}}), "maxRequestWorkers 75", "keepAlive.maxRequests 3", "listenBacklog 0"},
		"httpd Prefork, three":    {httpd(v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDPrefork, MaxRequestWorkers: &three}), "maxRequestWorkers 3", "keepAlive.maxRequests 100", "listenBacklog 0"},
		"httpd, no limit":         {httpd(v1alpha1.HTTPDServer{KeepAlive: &v1alpha1.HTTPDKeepAlive{MaxRequests: ptr.To(int32(0))}}), "maxRequestWorkers 400", "keepAlive.maxRequests -1", "listenBacklog 0"},
		"httpd, no keep-alive":    {httpd(v1alpha1.HTTPDServer{KeepAlive: &v1alpha1.HTTPDKeepAlive{Mode: v1alpha1.Disabled}}), "maxRequestWorkers 400", "keepAlive.mode 0", "listenBacklog 0"},
		"Jetty":                   {jetty(v1alpha1.JettyServer{}), "threads.max 200", " 0", "connector.acceptQueueSize 0"},
		"Jetty, few threads":      {jetty(v1alpha1.JettyServer{Threads: &v1alpha1.JettyThreads{Max: &three}, Connector: &v1alpha1.JettyConnector{AcceptQueueSize: &three}}), "threads.max 3", " 0", "connector.acceptQueueSize 3"},
		"Jetty, no keep-alive":    {jetty(v1alpha1.JettyServer{Connector: &v1alpha1.JettyConnector{KeepAlive: &v1alpha1.JettyKeepAlive{Mode: v1alpha1.Disabled}}}), "threads.max 200", "keepAlive.mode 0", "connector.acceptQueueSize 0"},
		"nginx":                   {nginx(v1alpha1.NginxServer{}), " 0", "keepAlive.maxRequests 0", "backlog 0"},
		"nginx, three":            {nginx(v1alpha1.NginxServer{Backlog: &three, KeepAlive: &v1alpha1.NginxKeepAlive{MaxRequests: &three}}), " 0", "keepAlive.maxRequests 3", "backlog 3"},
		"nginx, no keep-alive":    {nginx(v1alpha1.NginxServer{KeepAlive: &v1alpha1.NginxKeepAlive{Mode: v1alpha1.Disabled}}), " 0", "keepAlive.mode 0", "backlog 0"},
		"an external server":      {v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: "http://a"}}, " 0", " 0", " 0"},
	} {
		if want, listed := connections[name]; listed {
			if l := LimitsOf(&v1alpha1.Target{Server: tc.server}, nil); l.Connections.Value != want || (l.Streams.Value == 20) != (name == "Tomcat") {
				t.Errorf("%s: %+v, want %d connections", name, l, want)
			}
		}
		limits := LimitsOf(&v1alpha1.Target{Server: tc.server}, nil)
		text := func(l adapter.Limit) string { return fmt.Sprint(l.Setting, " ", l.Value) }
		got := []string{text(limits.Concurrency), text(limits.KeepAlive), text(limits.Backlog)}
		if want := []string{tc.concurrency, tc.keepAlive, tc.backlog}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
