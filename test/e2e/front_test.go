//go:build e2e

package e2e

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/test/wrapper"
)

// pageBytes returns the length of the response of page.jsp with the given number
// of rows; see its comment.
const pageBytes = 185 + 2 + 70*50

// configMap creates a ConfigMap from files.
func (c *cluster) configMap(t *testing.T, ns, name string, files map[string]string) {
	t.Helper()
	c.create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Data: files})
}

// TestFrontAndBack is a small R5: httpd serves files and forwards pages to Tomcat.
// Each is sampled separately.
func TestFrontAndBack(t *testing.T) {
	t.Parallel()
	c := theCluster
	ns := c.namespace(t)
	page, err := os.ReadFile("../servers/dynamic/page.jsp")
	if err != nil {
		t.Fatal(err)
	}
	c.configMap(t, ns, "pages", map[string]string{"page.jsp": string(page)})
	run := wrapper.NewRun(ns, "front", httpdImage).Lane("front").Content("/static.html", 5000).
		TargetResources("300m", "128Mi").Clients(2, "50m", "64Mi").Requests(2, 300).Retain(v1alpha1.RetainAlways).Obj()
	target := &run.Spec.Target
	target.Content = append(target.Content, v1alpha1.ContentFile{Path: "/page.jsp", ConfigMapKeyRef: &v1alpha1.ConfigMapKeyReference{Name: "pages", Key: "page.jsp"}})
	target.Server = v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{Forward: []v1alpha1.Forward{{PathSuffix: ".jsp", Backend: "pages"}}}}
	target.Backends = []v1alpha1.Backend{{
		Name: "pages", Image: tomcatImage, Resources: wrapper.Resources("300m", "256Mi"),
		Server: v1alpha1.BackendServer{Tomcat: &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{Port: ptr.To(int32(8081))}}},
	}}
	target.Readiness.Path = "/page.jsp" // succeeds only when Tomcat is ready too
	run.Spec.Load.Requests = []v1alpha1.Request{{Path: "/static.html", Weight: ptr.To(int32(7))}, {Path: "/page.jsp?rows=50", Weight: ptr.To(int32(3))}}
	c.create(t, run)
	done := c.finished(t, run, 3*time.Minute)
	wantSucceeded(t, done)
	wantAll(t, done, 600)

	// The number of bytes tells the number of pages.
	pages := (*done.Status.Result.BodyBytesReceived - 600*5000) / (pageBytes - 5000)
	if *done.Status.Result.BodyBytesReceived != pages*pageBytes+(600-pages)*5000 || pages < 120 || pages > 240 {
		t.Errorf("%d bytes are %d pages", *done.Status.Result.BodyBytesReceived, pages)
	}
	if s := done.Status.Target; s.Connector != "mpm_event" || len(s.Backends) != 1 || s.Backends[0].Connector != "http-nio-8081" ||
		!strings.HasPrefix(s.Backends[0].ServerVersion, "Apache Tomcat/9.0") {
		t.Errorf("status.target: %+v", s)
	}
	stored := c.artifact(t, done)
	if stored.Server == nil || len(stored.Backends) != 1 || stored.Backends[0].Name != "pages" {
		t.Fatalf("usage of server and backends: %+v and %+v", stored.Server, stored.Backends)
	}
	httpd, tomcat := stored.Server, &stored.Backends[0].Server
	if tomcat.End.Threads < 10 || tomcat.End.MaxResident < 4*httpd.End.MaxResident {
		t.Errorf("the Tomcat has %d threads and %d bytes, the httpd %d bytes: they are not distinguished",
			tomcat.End.Threads, tomcat.End.MaxResident, httpd.End.MaxResident)
	}
	if tomcat.Spent().UserCPU == 0 {
		t.Error("Tomcat used no CPU")
	}
	log := string(c.logs(t, c.targetOf(t, done), "pages"))
	if !strings.Contains(log, `Starting ProtocolHandler ["http-nio-8081"]`) {
		t.Errorf("Tomcat's log:\n%s", log)
	}
}

// TestOwnConfiguration adds to the rendered configuration, and replaces it, with
// the user's own files.
func TestOwnConfiguration(t *testing.T) {
	ns := theCluster.namespace(t)
	c := theCluster
	c.configMap(t, ns, "httpd", map[string]string{"headers.conf": "ServerTokens ProductOnly\n"})
	c.configMap(t, ns, "nginx", map[string]string{"nginx.conf": `
daemon off;
pid /tmp/nginx.pid;
error_log stderr notice;
events {}
http {
  client_body_temp_path /tmp/b; proxy_temp_path /tmp/p; fastcgi_temp_path /tmp/f; uwsgi_temp_path /tmp/u; scgi_temp_path /tmp/s;
  access_log off;
  server { listen 8080; location / { return 200 "mine"; } }
}
`})
	c.configMap(t, ns, "nginx-parts", map[string]string{
		"main.conf":           "worker_cpu_affinity auto;\n",
		"events.conf":         "multi_accept on;\n",
		"10-tuning.http.conf": "server_tokens off;\ntcp_nopush on;\nopen_file_cache max=1000;\nkeepalive_requests 50;\nmap $uri $kind { default other; ~\\.bin$ binary; }\n",
		"20-backend.http.conf": "upstream others { server 127.0.0.1:8090; keepalive 8; }\n" +
			"server { listen 127.0.0.1:8090; location / { root /assay/content; } }\n",
		"server.conf": "location ~ \\.bin$ { proxy_pass http://others; proxy_http_version 1.1; proxy_set_header Connection \"\"; add_header X-Kind $kind; }\n",
	})
	c.configMap(t, ns, "httpd-parts", map[string]string{
		"processes.conf": "ServerTokens ProductOnly\nMaxConnectionsPerChild 100000\nMinSpareThreads 25\nMaxKeepAliveRequests 49\n",
		"deflate.conf":   "LoadModule filter_module modules/mod_filter.so\nLoadModule deflate_module modules/mod_deflate.so\nAddOutputFilterByType DEFLATE text/html\n",
	})
	c.configMap(t, ns, "default", map[string]string{"default.conf": "server {\n    listen 80;\n    server_name localhost;\n}\n"})
	c.configMap(t, ns, "tomcat", map[string]string{"web.xml": `<?xml version="1.0"?>
<web-app xmlns="http://xmlns.jcp.org/xml/ns/javaee" version="4.0">
  <servlet><servlet-name>default</servlet-name><servlet-class>org.apache.catalina.servlets.DefaultServlet</servlet-class></servlet>
  <servlet-mapping><servlet-name>default</servlet-name><url-pattern>/</url-pattern></servlet-mapping>
  <mime-mapping><extension>bin</extension><mime-type>application/x-assay</mime-type></mime-mapping>
</web-app>
`})
	configuration := func(name string) *v1alpha1.Configuration { return &v1alpha1.Configuration{ConfigMapName: name} }
	for name, s := range map[string]struct {
		image    string
		server   v1alpha1.Server
		software string
		bytes    int64
		// connections is the number of connections for the requests, or 0 if there is no such limit.
		connections int64
		own         v1alpha1.ConfigurationStatus
	}{
		"overlaid-httpd": {httpdImage, v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{Configuration: configuration("httpd")}}, "Apache", 1000, 0,
			v1alpha1.ConfigurationStatus{Extent: v1alpha1.ConfigurationExtended, Files: []string{"headers.conf"}}},
		"parts-httpd": {httpdImage, v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{Configuration: configuration("httpd-parts"), Sendfile: v1alpha1.Enabled}}, "Apache", 1000, 2,
			v1alpha1.ConfigurationStatus{Extent: v1alpha1.ConfigurationExtended, Files: []string{"deflate.conf", "processes.conf"}, Fields: []string{"keepAlive.maxRequests"}}},
		"parts-nginx": {nginxImage, v1alpha1.Server{Nginx: &v1alpha1.NginxServer{Configuration: configuration("nginx-parts"), Sendfile: v1alpha1.Enabled, ReusePort: v1alpha1.Enabled}}, "nginx", 1000, 2,
			v1alpha1.ConfigurationStatus{
				Extent: v1alpha1.ConfigurationExtended, Files: []string{"10-tuning.http.conf", "20-backend.http.conf", "events.conf", "main.conf", "server.conf"}, Fields: []string{"keepAlive.maxRequests"},
			}},
		"replaced-nginx": {nginxImage, v1alpha1.Server{Nginx: &v1alpha1.NginxServer{Configuration: configuration("nginx")}}, "", 4, 0,
			v1alpha1.ConfigurationStatus{Extent: v1alpha1.ConfigurationReplaced, Files: []string{"nginx.conf"}}},
		"replaced-webxml": {tomcatImage, v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{Configuration: configuration("tomcat")}}, "", 1000, 0,
			v1alpha1.ConfigurationStatus{Extent: v1alpha1.ConfigurationExtended, Files: []string{"web.xml"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := wrapper.NewRun(ns, name, s.image).Lane(name).Path("/a.bin").
				TargetResources("300m", "256Mi").Requests(1, 100).Obj()
			run.Spec.Target.Server = s.server
			if s.bytes == 1000 {
				run.Spec.Target.Content = []v1alpha1.ContentFile{{Path: "/a.bin", SizeBytes: 1000}}
			} else {
				run.Spec.Target.Volumes = []v1alpha1.PodVolume{{Name: "tmp", EmptyDir: &v1alpha1.EmptyDirVolume{Medium: corev1.StorageMediumMemory}}}
				run.Spec.Target.VolumeMounts = []v1alpha1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}}
			}
			c.create(t, run)
			done := c.finished(t, run, 3*time.Minute)
			wantSucceeded(t, done)
			wantAll(t, done, 100)
			if got := *done.Status.Result.BodyBytesReceived; got != 100*s.bytes {
				t.Errorf("%d bytes, want %d", got, 100*s.bytes)
			}
			if got := done.Status.Target.ServerSoftware; s.software != "" && got != s.software {
				t.Errorf("Server header %q, want %q", got, s.software)
			}
			if diff := cmp.Diff(&s.own, done.Status.Target.Configuration); diff != "" {
				t.Error(diff)
			}
			stored := c.artifact(t, done)
			if own := stored.Environment.Configuration; own == nil || own.Replaced != (s.own.Extent == v1alpha1.ConfigurationReplaced) || !slices.Equal(own.Files, s.own.Files) {
				t.Errorf("the result has the configuration %+v", own)
			}
			if got := stored.Merged.Connections; s.connections != 0 && got != s.connections {
				t.Errorf("%d connections, want %d", got, s.connections)
			}
		})
	}
	c.configMap(t, ns, "gzip", map[string]string{"http.conf": "gzip on;\n"})
	for name, s := range map[string]struct {
		image  string
		server v1alpha1.Server
	}{
		"compressed-nginx": {nginxImage, v1alpha1.Server{Nginx: &v1alpha1.NginxServer{Configuration: configuration("gzip"), Sendfile: v1alpha1.Enabled}}},
		"compressed-httpd": {httpdImage, v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{Configuration: configuration("httpd-parts"), Sendfile: v1alpha1.Enabled}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const size = 100_000 // more than the 48 KiB from which Tomcat doesn't compress what sendfile sends
			run := wrapper.NewRun(ns, name, s.image).Lane(name).Path("/a.html").TargetResources("300m", "256Mi").Requests(1, 100).Obj()
			run.Spec.Target.Server = s.server
			run.Spec.Target.Content = []v1alpha1.ContentFile{{Path: "/a.html", SizeBytes: size, Fill: v1alpha1.ContentText}}
			run.Spec.Load.Requests[0].Headers = []v1alpha1.Header{{Name: "Accept-Encoding", Value: "gzip"}}
			c.create(t, run)
			done := c.finished(t, run, 3*time.Minute)
			wantSucceeded(t, done)
			wantAll(t, done, 100)
			if got := *done.Status.Result.BodyBytesReceived / size; got < 28 || got > 40 { // percent: there are 100 requests
				t.Errorf("the bodies have %d%% of the files' bytes", got)
			}
		})
	}
	for name, s := range map[string]struct {
		server v1alpha1.NginxServer
		says   string
	}{
		"dead":      {v1alpha1.NginxServer{Configuration: configuration("nginx"), Backlog: ptr.To(int32(9))}, "these fields have no effect: spec.target.server.nginx.backlog"},
		"twice":     {v1alpha1.NginxServer{Configuration: configuration("nginx-parts"), KeepAlive: &v1alpha1.NginxKeepAlive{MaxRequests: ptr.To(int32(9))}}, "spec.target.server.nginx.keepAlive.maxRequests is set, and keepalive_requests in 10-tuning.http.conf"},
		"misplaced": {v1alpha1.NginxServer{Configuration: configuration("default")}, "there must be no server {"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := wrapper.NewRun(ns, name, nginxImage).Lane(name).Obj()
			run.Spec.Target.Server = v1alpha1.Server{Nginx: &s.server}
			c.create(t, run)
			wantFailed(t, c.finished(t, run, 2*time.Minute), v1alpha1.ReasonInvalidSpec, s.says)
		})
	}
	t.Run("missing", func(t *testing.T) {
		t.Parallel()
		run := wrapper.NewRun(ns, "missing", nginxImage).Lane("missing").Obj()
		run.Spec.Target.Server = v1alpha1.Server{Nginx: &v1alpha1.NginxServer{Configuration: configuration("nowhere")}}
		c.create(t, run)
		wantFailed(t, c.finished(t, run, 2*time.Minute), v1alpha1.ReasonConfigurationMissing, "/nowhere: not found")
	})
}

// TestPodSettings puts settings on the pods of target and clients.
func TestPodSettings(t *testing.T) {
	t.Parallel()
	c := theCluster
	ns := c.namespace(t)
	run := wrapper.NewRun(ns, "settings", nginxImage).Lane("settings").Content("/a.bin", 1000).Requests(1, 100).Retain(v1alpha1.RetainAlways).Obj()
	run.Spec.Target.Server = nginxServer()
	settings := v1alpha1.PodSettings{
		Labels:       map[string]string{"example.org/team": "web"},
		Annotations:  map[string]string{"example.org/note": "added"},
		Env:          []v1alpha1.EnvironmentVariable{{Name: "ADDED", Value: ptr.To("yes")}},
		NodeSelector: map[string]string{corev1.LabelOSStable: "linux"},
		Tolerations:  []v1alpha1.Toleration{{Key: "benchmarks", Operator: corev1.TolerationOpExists}},
		SecurityContext: &v1alpha1.SecurityContext{
			FSGroup: ptr.To(int64(12345)), Sysctls: []v1alpha1.Sysctl{{Name: "net.ipv4.ip_local_port_range", Value: "20000 60000"}},
		},
	}
	run.Spec.Target.PodSettings, run.Spec.Clients.PodSettings = settings, settings
	c.create(t, run)
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	pod := c.targetOf(t, done)
	clients := &corev1.PodList{}
	if err := c.List(t.Context(), clients, client.InNamespace(ns), client.MatchingLabels{manifest.LabelRole: manifest.RoleClient, "example.org/team": "web"}); err != nil ||
		len(clients.Items) != 1 || *clients.Items[0].Spec.SecurityContext.FSGroup != 12345 {
		t.Errorf("the clients' pods: %+v, %v", clients.Items, err)
	}
	if pod.Labels["example.org/team"] != "web" || pod.Annotations["example.org/note"] != "added" || pod.Spec.NodeSelector[corev1.LabelOSStable] != "linux" ||
		*pod.Spec.SecurityContext.FSGroup != 12345 || !*pod.Spec.SecurityContext.RunAsNonRoot || len(pod.Spec.Containers) != 2 {
		t.Errorf("the pod: %+v", pod.Spec)
	}
	if pod.Status.QOSClass != corev1.PodQOSGuaranteed {
		t.Errorf("QoS class %s", pod.Status.QOSClass)
	}
}
