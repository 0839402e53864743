package server_test

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
)

// TestContainersHaveDifferentPorts checks that Render rejects targets whose
// servers listen on the same port, set or by default.
func TestContainersHaveDifferentPorts(t *testing.T) {
	tomcat := func(port *int32) v1alpha1.BackendServer {
		return v1alpha1.BackendServer{Tomcat: &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{Port: port}}}
	}
	generic := func(port *int32) v1alpha1.BackendServer {
		return v1alpha1.BackendServer{Generic: &v1alpha1.GenericServer{Port: port}}
	}
	httpd := func(port *int32) v1alpha1.Server { return v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{Port: port}} }
	tls := &v1alpha1.TLS{Certificate: &v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}}}
	tests := map[string]struct {
		server   v1alpha1.Server
		tls      *v1alpha1.TLS
		backends []v1alpha1.BackendServer
		want     string
	}{
		"by default":         {httpd(nil), nil, []v1alpha1.BackendServer{tomcat(nil)}, "server and b0 have the same port 8080"},
		"with TLS":           {httpd(nil), tls, []v1alpha1.BackendServer{generic(ptr.To(int32(8443)))}, "server and b0 have the same port 8443"},
		"set":                {httpd(ptr.To(int32(9000))), nil, []v1alpha1.BackendServer{generic(ptr.To(int32(9000)))}, "server and b0 have the same port 9000"},
		"backends":           {httpd(nil), nil, []v1alpha1.BackendServer{generic(ptr.To(int32(9000))), tomcat(ptr.To(int32(9000)))}, "b0 and b1 have the same port 9000"},
		"backends, defaults": {httpd(nil), tls, []v1alpha1.BackendServer{generic(nil), tomcat(nil)}, "b0 and b1 have the same port 8080"},
		"AJP and HTTP": {httpd(nil), nil, []v1alpha1.BackendServer{
			generic(ptr.To(int32(8009))),
			{Tomcat: &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{Port: ptr.To(int32(9001))}, AJP: &v1alpha1.TomcatAJP{}}},
		}, "b0 and b1 have the same port 8009"},
		"AJP and the server": {httpd(nil), nil, []v1alpha1.BackendServer{
			{Tomcat: &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{Port: ptr.To(int32(9001))}, AJP: &v1alpha1.TomcatAJP{Port: ptr.To(int32(8080))}}},
		}, "server and b0 have the same port 8080"},
		"its own": {httpd(nil), nil, []v1alpha1.BackendServer{
			{Tomcat: &v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{Port: ptr.To(int32(9001))}, AJP: &v1alpha1.TomcatAJP{Port: ptr.To(int32(9001))}}},
		}, "b0 and b0 have the same port 9001"},
		"other ports":      {httpd(nil), nil, []v1alpha1.BackendServer{generic(ptr.To(int32(9000))), tomcat(ptr.To(int32(9001)))}, ""},
		"8080 next to TLS": {httpd(nil), tls, []v1alpha1.BackendServer{tomcat(nil)}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			target := &v1alpha1.Target{Server: test.server, TLS: test.tls}
			for i, backend := range test.backends {
				target.Backends = append(target.Backends, v1alpha1.Backend{Name: "b" + string(rune('0'+i)), Server: backend})
			}
			_, err := server.Render(target, nil)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
