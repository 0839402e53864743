//go:build e2e

package e2e

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/wrapper"
)

const (
	jettyImage = "localhost/assay-test/jetty:12.1"
	// These have Java 25.
	jetty120Image     = "localhost/assay-test/jetty:12.0-jdk25"
	jettyVirtualImage = "localhost/assay-test/jetty:12.1-jdk25"
)

// The scenarios are Jetty plain with and without kept connections, with TLS 1.2
// and HTTP/2 on offer, and with TLS 1.3 and modules of the user's.
func init() {
	keyed := &v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}, PrivateKey: &v1alpha1.PrivateKey{Algorithm: v1alpha1.KeyECDSA, Size: ptr.To(int32(384))}}
	all := []scenario{
		{name: "jetty-kept", connector: "HTTP/1.1 (http/1.1) 8080", target: func(target *v1alpha1.Target) {
			target.Server.Jetty = &v1alpha1.JettyServer{
				Threads:    &v1alpha1.JettyThreads{Max: ptr.To(int32(20))},
				JVMOptions: []string{"-Xmx64m", "-Xlog:gc*:stdout:time"},
			}
		}},
		{name: "jetty-closed", connector: "HTTP/1.1 (http/1.1) 8080", perConnection: 1, target: func(target *v1alpha1.Target) {
			target.Server.Jetty = &v1alpha1.JettyServer{
				Connector: &v1alpha1.JettyConnector{Selectors: ptr.To(int32(2)), KeepAlive: &v1alpha1.JettyKeepAlive{Mode: v1alpha1.Disabled}},
				AccessLog: v1alpha1.Enabled,
			}
		}},
		{name: "jetty-tls12", connector: "SSL (ssl, alpn, h2, http/1.1) 8443", protocol: "TLSv1.2", cipher: "ECDHE-RSA-AES256-GCM-SHA384", target: func(target *v1alpha1.Target) {
			target.Server.Jetty = &v1alpha1.JettyServer{Connector: &v1alpha1.JettyConnector{HTTP2: v1alpha1.Enabled}}
			target.TLS = selfSigned()
		}},
		{name: "jetty-tls13-modules", connector: "SSL (ssl, http/1.1) 8443", protocol: "TLSv1.3", target: func(target *v1alpha1.Target) {
			target.Server.Jetty = &v1alpha1.JettyServer{Modules: []string{"ee10-deploy", "statistics"}}
			target.TLS = &v1alpha1.TLS{
				Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv13}, Certificate: keyed,
				ClientAuthentication: &v1alpha1.ClientAuthentication{Certificate: v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}}},
			}
		}},
	}
	all = append(all, scenario{name: "jetty-image", connector: "HTTP/1.1 (http/1.1) 8080", target: func(target *v1alpha1.Target) {
		target.Server.Jetty = &v1alpha1.JettyServer{Modules: []string{"ee10-deploy"}, Applications: v1alpha1.ApplicationsImage}
	}})
	for i := range all {
		all[i].image, all[i].version = jettyImage, "jetty-12.1.12"
		all[i].logged = []string{"Started oejs.ServerConnector@", "jetty-12.1.12; built: "}
	}
	furtherScenarios = append(furtherScenarios, all...)
	furtherScenarios = append(furtherScenarios, scenario{
		name: "jetty-12.0-tls12", image: jetty120Image, version: "jetty-12.0.31", connector: "SSL (ssl, http/1.1) 8443",
		protocol: "TLSv1.2", cipher: "ECDHE-RSA-AES256-GCM-SHA384", target: func(target *v1alpha1.Target) {
			target.Server.Jetty = &v1alpha1.JettyServer{Connector: &v1alpha1.JettyConnector{MaxConnections: ptr.To(int32(1000))}}
			target.TLS = selfSigned()
		},
	})
}

// waitingPage is a page that waits until as many requests are in it at a time.
const waitingPage = `<%@ page session="false" %><%! final java.util.concurrent.CyclicBarrier all = new java.util.concurrent.CyclicBarrier(250); %>` +
	`<% all.await(60, java.util.concurrent.TimeUnit.SECONDS); %>`

// TestJettyVirtualThreads checks that Jetty of each line works on more requests at a time than it does by default, 200.
func TestJettyVirtualThreads(t *testing.T) {
	for name, image := range map[string]string{"12.0": jetty120Image, "12.1": jettyVirtualImage} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := theCluster
			ns := c.namespace(t)
			page := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "page"}, Data: map[string]string{"waiting.jsp": waitingPage}}
			c.create(t, page)
			run := wrapper.NewRun(ns, "virtual", image).Content("/index.html", 100).ContentFrom("/waiting.jsp", "page", "waiting.jsp").Path("/waiting.jsp").
				TargetResources("500m", "512Mi").Clients(1, "200m", "128Mi").Requests(250, 500).Obj()
			run.Spec.Target.Readiness.Path = "/index.html"
			run.Spec.Load.Client.TimeoutSeconds = ptr.To(int32(90))
			run.Spec.Target.Server = v1alpha1.Server{Jetty: &v1alpha1.JettyServer{
				Modules: []string{"ee10-deploy", "ee10-jsp"},
				Threads: &v1alpha1.JettyThreads{Type: v1alpha1.JettyVirtualThreads, Max: ptr.To(int32(300))},
			}}
			c.create(t, run)
			done := c.finished(t, run, 10*time.Minute)
			wantSucceeded(t, done)
			if r := done.Status.Result; *r.Requests != 500 || *r.Errors.Total != 0 {
				t.Errorf("%d requests, %d errors", *r.Requests, *r.Errors.Total)
			}
		})
	}
}
