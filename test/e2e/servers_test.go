//go:build e2e

package e2e

import (
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
	"github.com/assay-dev/assay/controllers/benchmarkrun"
	"github.com/assay-dev/assay/test/wrapper"
)

const (
	tomcat101Image = "localhost/assay-test/tomcat:10.1"
	tomcat11Image  = "localhost/assay-test/tomcat:11"
	httpdImage     = "localhost/assay-test/httpd:2.4"
	nginxImage     = "localhost/assay-test/nginx:1"
	jdkHTTPImage   = "localhost/assay-test/jdkhttp:dev"
	nanoHTTPDImage = "localhost/assay-test/nanohttpd:dev"

	// What a scenario's two clients ask for in all, and the size of the file.
	matrixRequests = 400
	matrixBytes    = 31819
)

// scenario is a server as it is declared, and what it must say of itself.
type scenario struct {
	name  string
	image string
	// target declares it.
	target func(*v1alpha1.Target)
	// logged are texts that the server's own log must have.
	logged []string
	// connector is what status.target must name, version the beginning of its
	// version.
	connector, version string
	// protocol and cipher are what must be negotiated; empty for no TLS.
	protocol, cipher string
	// reuse is whether the server lets connections carry many requests.
	reuse bool
}

// TestServers starts every kind of server as declared, and asks the server
// itself whether it is: by its log, by what it negotiates, and by what becomes
// of the connections.
func TestServers(t *testing.T) {
	scenarios := slices.Concat(tomcatScenarios(), laterTomcats(), httpdScenarios(), nginxScenarios(), genericScenarios())
	lanes := []string{"servers-0", "servers-1", "servers-2"}
	ns := theCluster.namespace(t)
	for i, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(t, ns, lanes[i%len(lanes)])
		})
	}
}

// declared is a run of a scenario.
func (s *scenario) declared(ns, lane string) *v1alpha1.BenchmarkRun {
	run := wrapper.NewRun(ns, strings.ToLower(strings.ReplaceAll(s.name, ".", "-")), s.image).Lane(lane).Content("/js/a.js", matrixBytes).Path("/js/a.js").
		TargetResources("300m", "256Mi").Clients(2, "50m", "64Mi").Requests(4, matrixRequests/2).Retain(v1alpha1.RetainAlways).Obj()
	run.Spec.Target.Server = v1alpha1.Server{}
	s.target(&run.Spec.Target)
	return run
}

func (s *scenario) run(t *testing.T, ns, lane string) {
	c := theCluster
	run := s.declared(ns, lane)
	c.create(t, run)
	done := c.finished(t, run, 15*time.Minute) // the others of its lane are before it
	wantSucceeded(t, done)
	r := done.Status.Result
	if *r.Requests != matrixRequests || *r.Errors.Total != 0 || *r.BodyBytesReceived != matrixRequests*matrixBytes {
		t.Errorf("%d requests, %d errors, %d bytes", *r.Requests, *r.Errors.Total, *r.BodyBytesReceived)
	}
	if want := int64(matrixRequests - 8); s.reuse && *r.KeepAliveRequests != want {
		t.Errorf("%d requests came on a connection that was there, want %d", *r.KeepAliveRequests, want)
	}
	if !s.reuse && *r.KeepAliveRequests != 0 {
		t.Errorf("%d requests came on a connection that was there, want none", *r.KeepAliveRequests)
	}
	s.check(t, done)
	log := string(c.logs(t, c.targetOf(t, done), "server"))
	for _, text := range s.logged {
		if !strings.Contains(log, text) {
			t.Errorf("the server's log lacks %q:\n%s", text, log)
		}
	}
	if t.Failed() {
		t.Logf("status.target: %+v", done.Status.Target)
	}
	if err := c.Delete(t.Context(), run); err != nil {
		t.Error(err)
	}
}

// check compares what the status says of the target with what was declared.
func (s *scenario) check(t *testing.T, done *v1alpha1.BenchmarkRun) {
	t.Helper()
	target := done.Status.Target
	if target.Connector != s.connector || !strings.HasPrefix(target.ServerVersion, s.version) {
		t.Errorf("status.target says %q, connector %q", target.ServerVersion, target.Connector)
	}
	if target.ImageID == "" || target.Kernel == "" || target.Node == "" || target.CPUs == "" {
		t.Errorf("status.target lacks something: %+v", target)
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
		t.Errorf("negotiated were %s, %s; want %s, %s", target.TLS.Protocol, target.TLS.Cipher, s.protocol, s.cipher)
	}
	if l := done.Status.Result.Latency.TLS; l == nil || *l.Count != *done.Status.Result.Latency.Connect.Count {
		t.Errorf("the handshakes weren't measured: %+v", l)
	}
}

// targetOf is the pod of a run's target.
func (c *cluster) targetOf(t *testing.T, run *v1alpha1.BenchmarkRun) *corev1.Pod {
	t.Helper()
	return c.pod(t, run.Namespace, client.MatchingLabels{benchmarkrun.LabelRunUID: string(run.UID), benchmarkrun.LabelRole: benchmarkrun.RoleTarget})
}

// selfSigned is TLS with a certificate that the operator makes.
func selfSigned(implementation v1alpha1.TLSImplementation) *v1alpha1.TLS {
	return &v1alpha1.TLS{
		Implementation: implementation,
		Protocols:      []v1alpha1.TLSProtocol{v1alpha1.TLSv12},
		Ciphers:        []v1alpha1.CipherSuite{"ECDHE-RSA-AES256-GCM-SHA384"},
		Certificate:    &v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}},
	}
}

// tomcatScenarios are Tomcat 9's connectors, plain and with TLS by all that each
// has, with kept connections and without.
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
		for _, reuse := range []bool{true, false} {
			s := scenario{
				name:  fmt.Sprintf("tomcat9-%s-%s-%s", kind.protocol, orPlain(kind.implementation), keepWord(reuse)),
				image: tomcatImage, version: "Apache Tomcat/9.0.98", connector: kind.handler, reuse: reuse,
				logged: []string{`Starting ProtocolHandler ["` + kind.handler + `"]`, "Apache Tomcat/9.0.98"},
				target: func(target *v1alpha1.Target) {
					connector := v1alpha1.TomcatConnector{Protocol: kind.protocol, MaxThreads: ptr.To(int32(20))}
					if !reuse {
						connector.KeepAlive = &v1alpha1.TomcatKeepAlive{MaxRequests: ptr.To(int32(1))}
					}
					target.Server.Tomcat = &v1alpha1.TomcatServer{Connector: connector}
					if kind.implementation != "" {
						target.TLS = selfSigned(kind.implementation)
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

func keepWord(reuse bool) string {
	if reuse {
		return "kept"
	}
	return "closed"
}

// laterTomcats are Tomcat 10.1 and 11, plain by NIO and with TLS 1.3 by NIO2.
func laterTomcats() []scenario {
	var all []scenario
	for image, version := range map[string]string{tomcat101Image: "10.1.34", tomcat11Image: "11.0.2"} {
		all = append(all, scenario{
			name: "tomcat" + version + "-nio", image: image, version: "Apache Tomcat/" + version, connector: "http-nio-8080", reuse: true,
			logged: []string{`Starting ProtocolHandler ["http-nio-8080"]`},
			target: func(target *v1alpha1.Target) { target.Server.Tomcat = &v1alpha1.TomcatServer{} },
		}, scenario{
			name: "tomcat" + version + "-nio2-jsse", image: image, version: "Apache Tomcat/" + version, connector: "https-jsse-nio2-8443", reuse: true,
			logged:   []string{`Starting ProtocolHandler ["https-jsse-nio2-8443"]`},
			protocol: "TLSv1.3",
			target: func(target *v1alpha1.Target) {
				target.Server.Tomcat = &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{Protocol: v1alpha1.TomcatNIO2}}
				target.TLS = &v1alpha1.TLS{
					Protocols:   []v1alpha1.TLSProtocol{v1alpha1.TLSv13},
					Certificate: &v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}, PrivateKey: &v1alpha1.PrivateKey{Algorithm: v1alpha1.KeyECDSA, Size: ptr.To(int32(384))}},
				}
			},
		})
	}
	return all
}

// httpdScenarios are httpd's MPMs, one with TLS and one that closes connections.
func httpdScenarios() []scenario {
	var all []scenario
	for _, mpm := range []v1alpha1.HTTPDMPM{v1alpha1.HTTPDEvent, v1alpha1.HTTPDWorker, v1alpha1.HTTPDPrefork} {
		connector := "mpm_" + strings.ToLower(string(mpm))
		s := scenario{
			name: "httpd-" + string(mpm), image: httpdImage, version: "Apache/2.4.", connector: connector, reuse: mpm != v1alpha1.HTTPDPrefork,
			logged: []string{"[" + connector + ":notice]", "resuming normal operations"},
			target: func(target *v1alpha1.Target) {
				target.Server.HTTPD = &v1alpha1.HTTPDServer{MPM: mpm}
				switch mpm {
				case v1alpha1.HTTPDPrefork:
					target.Server.HTTPD.KeepAlive = &v1alpha1.HTTPDKeepAlive{Mode: v1alpha1.Disabled}
				case v1alpha1.HTTPDWorker:
					target.TLS = selfSigned("")
				default:
					target.Server.HTTPD.KeepAlive = &v1alpha1.HTTPDKeepAlive{MaxRequests: ptr.To(int32(0))} // httpd's own limit is 100
					target.Server.HTTPD.ThreadsPerChild, target.Server.HTTPD.MaxRequestWorkers = ptr.To(int32(10)), ptr.To(int32(20))
				}
			},
		}
		if mpm == v1alpha1.HTTPDWorker {
			s.protocol, s.cipher = "TLSv1.2", "ECDHE-RSA-AES256-GCM-SHA384"
		}
		all = append(all, s)
	}
	return all
}

// nginxScenarios are nginx plain with two workers, and with TLS, each with and
// without kept connections.
func nginxScenarios() []scenario {
	return []scenario{
		{
			name: "nginx-plain", image: nginxImage, version: "nginx/1.", connector: "epoll", reuse: true,
			logged: []string{"start worker processes"},
			target: func(target *v1alpha1.Target) {
				target.Server.Nginx = &v1alpha1.NginxServer{WorkerProcesses: ptr.To(int32(2)), Sendfile: v1alpha1.Enabled}
			},
		},
		{
			name: "nginx-tls", image: nginxImage, version: "nginx/1.", connector: "epoll", protocol: "TLSv1.3",
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

// genericScenarios are the two Java servers of R3.
func genericScenarios() []scenario {
	var all []scenario
	for name, image := range map[string]string{"jdkhttp": jdkHTTPImage, "nanohttpd": nanoHTTPDImage} {
		all = append(all, scenario{
			name: name, image: image, reuse: true,
			target: func(target *v1alpha1.Target) {
				target.Server.Generic = &v1alpha1.GenericServer{ContentPath: "/www", Env: []v1alpha1.EnvironmentVariable{{Name: "THREADS", Value: ptr.To("4")}}}
			},
		})
	}
	return all
}

// TestServersThatFail declares what the version in the image can't do, and what
// a server can't start with: a clear refusal that has the last lines of its own
// log, and nothing is put in its place.
func TestServersThatFail(t *testing.T) {
	ns := theCluster.namespace(t)
	theCluster.create(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "broken"}, Type: corev1.SecretTypeTLS, Data: map[string][]byte{
		corev1.TLSCertKey: []byte("no certificate"), corev1.TLSPrivateKeyKey: []byte("no key"),
	}})
	broken := &v1alpha1.TLS{ServerName: "a.example", Certificate: &v1alpha1.Certificate{SecretName: "broken"}}
	for _, s := range []struct {
		scenario
		reason string
		texts  []string
	}{
		{scenario{name: "apr-on-10.1", image: tomcat101Image, target: func(target *v1alpha1.Target) {
			target.Server.Tomcat = &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{Protocol: v1alpha1.TomcatAPR}}
		}}, v1alpha1.ReasonTargetUnsupported, []string{"APR", "10.1", "NIO"}},
		{scenario{name: "virtual-on-java-17", image: tomcat11Image, target: func(target *v1alpha1.Target) {
			target.Server.Tomcat = &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{Executor: v1alpha1.TomcatVirtualThreads}}
		}}, v1alpha1.ReasonTargetUnsupported, []string{"VirtualThreads", "17", "21"}},
		{scenario{name: "jvm-option", image: tomcatImage, target: func(target *v1alpha1.Target) {
			target.Server.Tomcat = &v1alpha1.TomcatServer{JVMOptions: []string{"-XX:+NoSuchOption"}}
		}}, v1alpha1.ReasonTargetCrashed, []string{"NoSuchOption"}},
		{scenario{name: "bad-flag", image: nginxImage, target: func(target *v1alpha1.Target) {
			target.Server.Generic = &v1alpha1.GenericServer{Command: []string{"/usr/sbin/nginx", "-Z"}, ContentPath: "/srv"}
		}}, v1alpha1.ReasonTargetCrashed, []string{`invalid option: "Z"`}},
		{scenario{name: "out-of-memory", image: tomcatImage, target: func(target *v1alpha1.Target) {
			target.Server.Tomcat = &v1alpha1.TomcatServer{JVMOptions: []string{"-Xmx4m", "-XX:+ExitOnOutOfMemoryError"}}
		}}, v1alpha1.ReasonTargetCrashed, []string{"OutOfMemoryError"}},
		{scenario{name: "killed-for-memory", image: tomcatImage, target: func(target *v1alpha1.Target) {
			target.Server.Tomcat = &v1alpha1.TomcatServer{JVMOptions: []string{"-Xms200m", "-XX:+AlwaysPreTouch"}}
			target.Resources = wrapper.Resources("300m", "64Mi")
		}}, v1alpha1.ReasonTargetCrashed, []string{"OOMKilled", "raise spec.target.resources.memory"}},
		{scenario{name: "port-taken", image: tomcatImage, target: func(target *v1alpha1.Target) {
			target.Server.Tomcat = &v1alpha1.TomcatServer{}
			target.Backends = []v1alpha1.Backend{{ // it listens elsewhere than it says
				Name: "taker", Image: serverImage, Resources: wrapper.Resources("50m", "32Mi"),
				Server: v1alpha1.BackendServer{Generic: &v1alpha1.GenericServer{Port: ptr.To(int32(9999))}},
			}}
		}}, v1alpha1.ReasonTargetCrashed, []string{"Address already in use"}},
		{scenario{name: "broken-certificate-tomcat", image: tomcatImage, target: func(target *v1alpha1.Target) {
			target.Server.Tomcat, target.TLS = &v1alpha1.TomcatServer{}, broken
		}}, v1alpha1.ReasonTargetCrashed, []string{"KeyStoreException"}},
		{scenario{name: "broken-certificate-nginx", image: nginxImage, target: func(target *v1alpha1.Target) {
			target.Server.Nginx, target.TLS = &v1alpha1.NginxServer{}, broken
		}}, v1alpha1.ReasonTargetCrashed, []string{"cannot load certificate"}},
		{scenario{name: "broken-certificate-httpd", image: httpdImage, target: func(target *v1alpha1.Target) {
			target.Server.HTTPD, target.TLS = &v1alpha1.HTTPDServer{}, broken
		}}, v1alpha1.ReasonTargetCrashed, []string{"certificate"}},
	} {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			run := s.declared(ns, "refused-"+strings.ReplaceAll(s.name, ".", "-"))
			run.Spec.Target.Readiness.TimeoutSeconds = ptr.To(int32(60))
			theCluster.create(t, run)
			wantFailed(t, theCluster.finished(t, run, 3*time.Minute), s.reason, s.texts...)
		})
	}
}

// TestExternal drives a server that Assay didn't start: a Service's address,
// found by its name.
func TestExternal(t *testing.T) {
	t.Parallel()
	c := theCluster
	ns := c.namespace(t)
	labels := map[string]string{"app": "external"}
	c.create(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "external"}, Spec: corev1.ServiceSpec{
		Selector: labels, Ports: []corev1.ServicePort{{Port: 8080}},
	}})
	run := wrapper.NewRun(ns, "external", "").Lane("external").Path("/fixed/1000/10").Requests(2, 200).Clients(2, "50m", "64Mi").Obj()
	run.Spec.Target = v1alpha1.Target{Server: v1alpha1.Server{External: &v1alpha1.ExternalServer{URL: "http://external." + ns + ".svc:8080"}}}
	c.create(t, run)
	c.until(t, run, time.Minute, "a word on the server that isn't there", func(r *v1alpha1.BenchmarkRun) bool {
		return strings.Contains(condition(r, v1alpha1.ConditionTargetReady).Message, "doesn't answer yet")
	})
	c.create(t, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "external", Labels: labels},
		Spec: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To(int64(65532)), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{{Name: "server", Image: serverImage, SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}}},
		},
	})
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	if r := done.Status.Result; *r.Requests != 400 || *r.Errors.Total != 0 || r.Target != nil {
		t.Errorf("%d requests, %d errors, the target's use %+v", *r.Requests, *r.Errors.Total, r.Target)
	}
	if message := condition(done, v1alpha1.ConditionValid).Message; !strings.Contains(message, "TargetUnseen") {
		t.Errorf("Valid doesn't say that nothing was seen of the server: %s", message)
	}
	c.nothingLeft(t, done, time.Minute)
}
