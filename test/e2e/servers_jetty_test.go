//go:build e2e

package e2e

import (
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

const jettyImage = "localhost/assay-test/jetty:12.1"

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
	for i := range all {
		all[i].image, all[i].version = jettyImage, "jetty-12.1.12"
		all[i].logged = []string{"Started oejs.ServerConnector@", "jetty-12.1.12; built: "}
	}
	furtherScenarios = append(furtherScenarios, all...)
}
