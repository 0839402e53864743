//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestServersThatFail declares what the version in the image doesn't support, and
// configurations with which a server can't start. The run must fail with the last
// lines of the server's log, and must not fall back to anything else.
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
		}}, v1alpha1.ReasonTargetCrashed, []string{"137", "ncrease spec.target.resources.memory"}}, // OOMKilled, unless the runtime learns of it too late
		{scenario{name: "port-taken", image: tomcatImage, target: func(target *v1alpha1.Target) {
			target.Server.Tomcat = &v1alpha1.TomcatServer{}
			target.Backends = []v1alpha1.Backend{{ // it listens on another port than declared
				Name: "taker", Image: harness.ServerImage, Resources: wrapper.Resources("50m", "32Mi"),
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

// TestExternal drives a server that Assay didn't start, by the DNS name of its
// Service.
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
		return strings.Contains(condition(r, v1alpha1.ConditionTargetReady).Message, "The readiness probe failed")
	})
	c.create(t, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "external", Labels: labels},
		Spec: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To(int64(65532)), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{{Name: "server", Image: harness.ServerImage, SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}}},
		},
	})
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	if r := done.Status.Result; *r.Requests != 400 || *r.Errors.Total != 0 || r.Target != nil {
		t.Errorf("%d requests, %d errors, usage of the target %+v", *r.Requests, *r.Errors.Total, r.Target)
	}
	if message := condition(done, v1alpha1.ConditionValid).Message; !strings.Contains(message, "TargetUsageUnknown") {
		t.Errorf("Valid does not report that the target's usage is not available: %s", message)
	}
	c.nothingLeft(t, done, time.Minute)
}
