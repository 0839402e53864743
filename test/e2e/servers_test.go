//go:build e2e

package e2e

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/wrapper"
)

const (
	tomcat101Image = "localhost/assay-test/tomcat:10.1"
	tomcat11Image  = "localhost/assay-test/tomcat:11"
	// tomcat11Java25Image has Java 25.
	tomcat11Java25Image = "localhost/assay-test/tomcat:11-jdk25"
	httpdImage          = "localhost/assay-test/httpd:2.4"
	nginxImage          = "localhost/assay-test/nginx:1"
	jdkHTTPImage        = "localhost/assay-test/jdkhttp:dev"
	nanoHTTPDImage      = "localhost/assay-test/nanohttpd:dev"

	// A scenario has matrixClients clients with matrixConnections connections
	// each. Together they make matrixRequests requests for a file of matrixBytes.
	matrixClients     = 2
	matrixConnections = 4
	matrixRequests    = 400
	matrixBytes       = 31819
)

// scenario is a declared server and what must be observed of it.
type scenario struct {
	name  string
	image string
	// target declares it.
	target func(*v1alpha1.Target)
	// logged lists texts that the server's log must contain.
	logged []string
	// connector and version are the connector and the prefix of the version that
	// status.target must have.
	connector, version string
	// protocol and cipher must be negotiated. They are empty without TLS.
	protocol, cipher string
	// perConnection is the number of requests after which the server closes a
	// connection. 0 means that it has no limit, or one that a client can't reach.
	perConnection int64
	// collects says that the server's Java virtual machine collects garbage while it is measured.
	collects bool
}

// furtherScenarios are those of servers whose scenarios are in files of their own,
// which append them.
var furtherScenarios []scenario

// TestServers starts every kind of server and verifies its configuration by its log,
// by what it negotiates, and by how many connections it makes clients open.
func TestServers(t *testing.T) {
	scenarios := slices.Concat(tomcatScenarios(), laterTomcats(), httpdScenarios(), nginxScenarios(), genericScenarios(), furtherScenarios)
	lanes := []string{"servers-0", "servers-1", "servers-2"}
	ns := theCluster.namespace(t)
	for i, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(t, ns, lanes[i%len(lanes)])
		})
	}
}

// declared returns the run of a scenario.
func (s *scenario) declared(ns, lane string) *v1alpha1.BenchmarkRun {
	run := wrapper.NewRun(ns, strings.ToLower(strings.ReplaceAll(s.name, ".", "-")), s.image).Lane(lane).Content("/js/a.js", matrixBytes).Path("/js/a.js").
		TargetResources("300m", "256Mi").Clients(matrixClients, "50m", "64Mi").Requests(matrixConnections, matrixRequests/matrixClients).Retain(v1alpha1.RetainAlways).Obj()
	run.Spec.Target.Server = v1alpha1.Server{}
	s.target(&run.Spec.Target)
	return run
}

func (s *scenario) run(t *testing.T, ns, lane string) {
	c := theCluster
	run := s.declared(ns, lane)
	c.create(t, run)
	done := c.finished(t, run, 15*time.Minute) // it waits for the others of its lane
	wantSucceeded(t, done)
	r := done.Status.Result
	if *r.Requests != matrixRequests || *r.Errors.Total != 0 || *r.BodyBytesReceived != matrixRequests*matrixBytes {
		t.Errorf("%d requests, %d errors, %d bytes", *r.Requests, *r.Errors.Total, *r.BodyBytesReceived)
	}
	stored := c.artifact(t, done)
	s.checkConnections(t, &stored.Merged.Counts)
	if s.collects && (stored.Server == nil || stored.Server.Spent().GCPauses < 1 || stored.Server.Spent().GCPause < 1) {
		t.Errorf("no garbage collection in %+v", stored.Server)
	}
	s.check(t, done)
	log := string(c.logs(t, c.targetOf(t, done), "server"))
	for _, text := range s.logged {
		if !strings.Contains(log, text) {
			t.Errorf("the server's log does not contain %q:\n%s", text, log)
		}
	}
	if t.Failed() {
		t.Logf("status.target: %+v", done.Status.Target)
	}
	if err := c.Delete(t.Context(), run); err != nil {
		t.Error(err)
	}
}

// checkConnections compares the connections with the server's limit. The
// connections of a client share its requests as they come to them: a fast one takes
// many, and one that finds none left is not opened. The server closes a connection
// at its limit, and the client opens it again for its next request. So of the
// connections that were opened, those that the server closed carried the limit of
// requests each, and the others, at most one for each connection of the load, fewer
// than that.
func (s *scenario) checkConnections(t *testing.T, counts *result.Counts) {
	t.Helper()
	if counts.KeepAlive != matrixRequests-counts.Connections {
		t.Errorf("%d requests on open connections, want all %d but the first of each of %d connections", counts.KeepAlive, matrixRequests, counts.Connections)
	}
	closed, others := counts.ClosedByServer, counts.Connections-counts.ClosedByServer
	carried, limit := matrixRequests-s.perConnection*closed, s.perConnection
	if limit == 0 {
		limit = matrixRequests + 1
	}
	if others < 0 || others > matrixClients*matrixConnections || carried < others || carried > others*(limit-1) || s.perConnection == 0 && closed != 0 {
		t.Errorf("%d connections, of which the server closed %d, with a limit of %d requests on each", counts.Connections, closed, s.perConnection)
	}
}

// check compares the target in the status with the declared one.
func (s *scenario) check(t *testing.T, done *v1alpha1.BenchmarkRun) {
	t.Helper()
	target := done.Status.Target
	if target.Connector != s.connector || !strings.HasPrefix(target.ServerVersion, s.version) {
		t.Errorf("status.target: version %q, connector %q", target.ServerVersion, target.Connector)
	}
	if target.ImageID == "" || target.Kernel == "" || target.Node == "" || target.CPUs == "" {
		t.Errorf("status.target is incomplete: %+v", target)
	}
	if s.protocol == "" {
		if target.TLS != nil {
			t.Errorf("TLS was negotiated: %+v", target.TLS)
		}
		return
	}
	if target.TLS == nil {
		t.Fatal("no TLS was negotiated")
	}
	if target.TLS.Protocol != s.protocol || s.cipher != "" && target.TLS.Cipher != s.cipher {
		t.Errorf("negotiated %s, %s; want %s, %s", target.TLS.Protocol, target.TLS.Cipher, s.protocol, s.cipher)
	}
	if l := done.Status.Result.Latency.TLS; l == nil || *l.Count != *done.Status.Result.Latency.Connect.Count {
		t.Errorf("the handshakes were not measured: %+v", l)
	}
}

// targetOf returns the pod of a run's target.
func (c *cluster) targetOf(t *testing.T, run *v1alpha1.BenchmarkRun) *corev1.Pod {
	t.Helper()
	return c.pod(t, run.Namespace, client.MatchingLabels{manifest.LabelRunUID: string(run.UID), manifest.LabelRole: manifest.RoleTarget})
}

// selfSigned returns TLS settings with a certificate that the operator issues.
func selfSigned() *v1alpha1.TLS {
	return &v1alpha1.TLS{
		Protocols:   []v1alpha1.TLSProtocol{v1alpha1.TLSv12},
		Ciphers:     []v1alpha1.CipherSuite{"ECDHE-RSA-AES256-GCM-SHA384"},
		Certificate: &v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}},
	}
}

// tomcatScenarios returns scenarios of Tomcat 9's connectors, without TLS and with
// each of their TLS implementations, with keep-alive and without.
func tomcatScenarios() []scenario {
	kinds := []struct {
		protocol       v1alpha1.TomcatProtocol
		implementation v1alpha1.TLSImplementation
		handler        string
	}{
		{v1alpha1.TomcatNIO, "", "http-nio-8080"},
		{v1alpha1.TomcatNIO2, "", "http-nio2-8080"},
		{v1alpha1.TomcatAPR, "", "http-apr-8080"},
		{v1alpha1.TomcatNIO, v1alpha1.TLSJSSE, "https-jsse-nio-8443"},
		{v1alpha1.TomcatNIO2, v1alpha1.TLSJSSE, "https-jsse-nio2-8443"},
		{v1alpha1.TomcatNIO, v1alpha1.TLSOpenSSL, "https-openssl-nio-8443"},
		{v1alpha1.TomcatNIO2, v1alpha1.TLSOpenSSL, "https-openssl-nio2-8443"},
		{v1alpha1.TomcatAPR, v1alpha1.TLSOpenSSL, "https-openssl-apr-8443"},
	}
	var all []scenario
	for _, kind := range kinds {
		for word, limit := range map[string]int32{"kept": -1, "closed": 1} { // Tomcat's default is 100
			s := scenario{
				name:  fmt.Sprintf("tomcat9-%s-%s-%s", kind.protocol, orPlain(kind.implementation), word),
				image: tomcatImage, version: "Apache Tomcat/9.0.98", connector: kind.handler, perConnection: max(0, int64(limit)),
				logged: []string{`Starting ProtocolHandler ["` + kind.handler + `"]`, "Apache Tomcat/9.0.98"},
				target: func(target *v1alpha1.Target) {
					target.Server.Tomcat = &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{
						Protocol: kind.protocol, TLSImplementation: kind.implementation, MaxThreads: ptr.To(int32(20)), KeepAlive: &v1alpha1.TomcatKeepAlive{MaxRequests: ptr.To(limit)},
					}}
					if kind.implementation != "" {
						target.TLS = selfSigned()
					}
				},
			}
			if kind.implementation != "" {
				s.protocol, s.cipher = "TLSv1.2", "ECDHE-RSA-AES256-GCM-SHA384"
			}
			all = append(all, s)
		}
	}
	return all
}

func orPlain(implementation v1alpha1.TLSImplementation) string {
	if implementation == "" {
		return "plain"
	}
	return string(implementation)
}

// laterTomcats returns scenarios of Tomcat 10.1 and 11: NIO without TLS, and NIO2
// with TLS 1.3.
func laterTomcats() []scenario {
	unlimited := &v1alpha1.TomcatKeepAlive{MaxRequests: ptr.To(int32(-1))}
	var all []scenario
	for image, version := range map[string]string{tomcat101Image: "10.1.34", tomcat11Image: "11.0.21"} {
		all = append(all, scenario{
			name: "tomcat" + version + "-nio", image: image, version: "Apache Tomcat/" + version, connector: "http-nio-8080",
			logged: []string{`Starting ProtocolHandler ["http-nio-8080"]`},
			target: func(target *v1alpha1.Target) {
				target.Server.Tomcat = &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{KeepAlive: unlimited}}
			},
		}, scenario{
			name: "tomcat" + version + "-nio2-jsse", image: image, version: "Apache Tomcat/" + version, connector: "https-jsse-nio2-8443",
			logged:   []string{`Starting ProtocolHandler ["https-jsse-nio2-8443"]`},
			protocol: "TLSv1.3",
			target: func(target *v1alpha1.Target) {
				target.Server.Tomcat = &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{Protocol: v1alpha1.TomcatNIO2, KeepAlive: unlimited}}
				target.TLS = &v1alpha1.TLS{
					Protocols:   []v1alpha1.TLSProtocol{v1alpha1.TLSv13},
					Certificate: &v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}, PrivateKey: &v1alpha1.PrivateKey{Algorithm: v1alpha1.KeyECDSA, Size: ptr.To(int32(384))}},
				}
			},
		})
	}
	// Tomcat logs attributes that it doesn't know, and such a run fails.
	for image, version := range map[string]string{tomcatImage: "9.0.98", tomcat101Image: "10.1.34", tomcat11Image: "11.0.21"} {
		all = append(all, scenario{
			name: "tomcat" + version + "-limits", image: image, version: "Apache Tomcat/" + version, connector: "http-nio-8080",
			target: func(target *v1alpha1.Target) {
				target.Server.Tomcat = &v1alpha1.TomcatServer{
					Connector: v1alpha1.TomcatConnector{
						KeepAlive: unlimited, ConnectionTimeoutMilliseconds: ptr.To(int32(20000)), MinSpareThreads: ptr.To(int32(5)),
						Compression: v1alpha1.Enabled, CompressionMinSizeBytes: ptr.To(int32(1024)), HTTP2: v1alpha1.Enabled,
						HTTP2Limits: &v1alpha1.TomcatHTTP2Limits{
							MaxConcurrentStreams: ptr.To(int32(200)), MaxConcurrentStreamExecution: ptr.To(int32(100)),
							Attributes: []v1alpha1.TomcatAttribute{{Name: "overheadCountFactor", Value: "0"}},
						},
						Attributes: []v1alpha1.TomcatAttribute{{Name: "processorCache", Value: "500"}, {Name: "tcpNoDelay", Value: "true"}},
					},
					JVMOptions: []string{"-Xmx128m", `-Da=?&|;"'\$(b)`},
				}
			},
		})
	}
	for implementation, s := range map[v1alpha1.TLSImplementation]scenario{
		v1alpha1.TLSOpenSSL:    {name: "tomcat11-native2", image: tomcat11Image, connector: "https-openssl-nio-8443", logged: []string{"Loaded Apache Tomcat Native library [2.0.14]"}},
		v1alpha1.TLSOpenSSLFFM: {name: "tomcat11-ffm", image: tomcat11Java25Image, connector: "https-opensslffm-nio-8443", logged: []string{"OpenSSL successfully initialized using FFM"}},
	} {
		s.version, s.protocol, s.cipher = "Apache Tomcat/11.0.21", "TLSv1.2", "ECDHE-RSA-AES256-GCM-SHA384"
		s.target = func(target *v1alpha1.Target) {
			target.Server.Tomcat = &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{
				KeepAlive: unlimited, TLSImplementation: implementation, HonorCipherOrder: v1alpha1.Enabled,
			}}
			target.TLS = selfSigned()
		}
		all = append(all, s)
	}
	return all
}

// httpdScenarios returns scenarios of httpd's MPMs, one of them with TLS: without a
// limit of requests per connection, with ten, and without keep-alive.
func httpdScenarios() []scenario {
	// httpd's default is 100. It counts from the second request of a connection.
	unlimited, ten := &v1alpha1.HTTPDKeepAlive{MaxRequests: ptr.To(int32(0))}, &v1alpha1.HTTPDKeepAlive{MaxRequests: ptr.To(int32(9))}
	all := []scenario{
		{name: "httpd-Event", connector: "mpm_event", target: func(target *v1alpha1.Target) {
			target.Server.HTTPD = &v1alpha1.HTTPDServer{KeepAlive: unlimited, ThreadsPerChild: ptr.To(int32(10)), MaxRequestWorkers: ptr.To(int32(20))}
		}},
		{name: "httpd-Worker", connector: "mpm_worker", protocol: "TLSv1.2", cipher: "ECDHE-RSA-AES256-GCM-SHA384", target: func(target *v1alpha1.Target) {
			target.Server.HTTPD = &v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDWorker, KeepAlive: unlimited}
			target.TLS = selfSigned()
		}},
		{name: "httpd-Worker-ten", connector: "mpm_worker", perConnection: 10, target: func(target *v1alpha1.Target) {
			target.Server.HTTPD = &v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDWorker, KeepAlive: ten}
		}},
		{name: "httpd-Prefork", connector: "mpm_prefork", perConnection: 1, target: func(target *v1alpha1.Target) {
			target.Server.HTTPD = &v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDPrefork, KeepAlive: &v1alpha1.HTTPDKeepAlive{Mode: v1alpha1.Disabled}}
		}},
	}
	for i := range all {
		all[i].image, all[i].version = httpdImage, "Apache/2.4."
		all[i].logged = []string{"[" + all[i].connector + ":notice]", "resuming normal operations"}
	}
	return all
}

// nginxScenarios returns scenarios of nginx: without TLS with two workers, and with
// TLS without keep-alive.
func nginxScenarios() []scenario {
	return []scenario{
		{
			name: "nginx-plain", image: nginxImage, version: "nginx/1.", connector: "epoll",
			logged: []string{"start worker processes"},
			target: func(target *v1alpha1.Target) {
				target.Server.Nginx = &v1alpha1.NginxServer{WorkerProcesses: ptr.To(int32(2)), Sendfile: v1alpha1.Enabled}
			},
		},
		{
			name: "nginx-tls", image: nginxImage, version: "nginx/1.", connector: "epoll", protocol: "TLSv1.3", perConnection: 1,
			target: func(target *v1alpha1.Target) {
				target.Server.Nginx = &v1alpha1.NginxServer{KeepAlive: &v1alpha1.NginxKeepAlive{Mode: v1alpha1.Disabled}}
				target.TLS = &v1alpha1.TLS{
					Protocols:   []v1alpha1.TLSProtocol{v1alpha1.TLSv12, v1alpha1.TLSv13},
					Certificate: &v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}, PrivateKey: &v1alpha1.PrivateKey{Algorithm: v1alpha1.KeyECDSA}},
				}
			},
		},
	}
}

// genericScenarios returns scenarios of two Java servers of R3.
func genericScenarios() []scenario {
	var all []scenario
	for name, image := range map[string]string{"jdkhttp": jdkHTTPImage, "nanohttpd": nanoHTTPDImage} {
		all = append(all, scenario{
			name: name, image: image, logged: []string{"Picked up JDK_JAVA_OPTIONS: -Xlog:gc"},
			target: func(target *v1alpha1.Target) {
				target.Server.Generic = &v1alpha1.GenericServer{ContentPath: "/www", GCLog: v1alpha1.Enabled}
				// So small a young generation is collected every few dozen requests.
				target.Env = []v1alpha1.EnvironmentVariable{{Name: "THREADS", Value: ptr.To("4")}, {Name: "JAVA_TOOL_OPTIONS", Value: ptr.To("-Xmn1m -XX:+UseSerialGC")}}
			},
			collects: true,
		})
	}
	return all
}

// TestOwnApplications checks that Tomcats deploy applications of their own: here one that a volume has as ROOT.war, with the content's
// files added to it in one of two runs.
func TestOwnApplications(t *testing.T) {
	c := theCluster
	ns := c.namespace(t)
	var war bytes.Buffer
	archive := zip.NewWriter(&war)
	page, err := archive.Create("page.jsp")
	if err == nil {
		_, err = page.Write([]byte(`<%@ page session="false" %><%= application.getRealPath("/") %>`))
	}
	if err := errors.Join(err, archive.Close()); err != nil {
		t.Fatal(err)
	}
	c.create(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "applications"}, BinaryData: map[string][]byte{"ROOT.war": war.Bytes()}})
	for name, image := range map[string]string{"9.0": tomcatImage, "10.1": tomcat101Image, "11": tomcat11Image} {
		for _, withContent := range []bool{false, true} {
			t.Run(fmt.Sprint(name, "/", withContent), func(t *testing.T) {
				t.Parallel()
				r := wrapper.NewRun(ns, strings.ReplaceAll(fmt.Sprintf("own-%s-%t", name, withContent), ".", "-"), image).Tomcat().Path("/page.jsp").
					TargetResources("300m", "256Mi").Clients(1, "50m", "64Mi").Requests(2, 20)
				if withContent {
					r = r.Content("/index.html", 100)
					r.Spec.Target.Server.Tomcat.Applications = v1alpha1.ApplicationsImage
					r.Spec.Load.Requests = append(r.Spec.Load.Requests, v1alpha1.Request{Path: "/index.html"})
				}
				run := r.Obj()
				run.Spec.Target.Volumes = []v1alpha1.PodVolume{{Name: "applications", ConfigMap: &v1alpha1.ConfigMapVolume{Name: "applications"}}}
				run.Spec.Target.VolumeMounts = []v1alpha1.VolumeMount{{Name: "applications", MountPath: "/usr/local/tomcat/webapps"}}
				c.create(t, run)
				done := c.finished(t, run, 10*time.Minute)
				wantSucceeded(t, done)
				if r := done.Status.Result; *r.Requests != 20 || *r.Errors.Total != 0 {
					t.Errorf("%d requests, %d errors", *r.Requests, *r.Errors.Total)
				}
			})
		}
	}
}
