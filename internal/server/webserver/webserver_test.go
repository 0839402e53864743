package webserver_test

import (
	"strings"
	"testing"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/server/servertest"
)

// TestRefusals checks the error for what can't be rendered: the field and the remedy.
func TestRefusals(t *testing.T) {
	forwarding := func(all ...v1alpha1.Forward) []v1alpha1.Forward { return all }
	tests := map[string]struct {
		executable    string
		forward       []v1alpha1.Forward
		tls           *v1alpha1.TLS
		configuration map[string]string
		want          string
	}{
		"an executable with a space": {executable: "/usr/sbin/a b", want: `spec.target.server.SERVER.executable: "/usr/sbin/a b" must be an absolute path`},
		"an executable that climbs":  {executable: "/usr/../sbin", want: `spec.target.server.SERVER.executable: "/usr/../sbin" must be an absolute path`},
		"neither suffix nor prefix":  {forward: forwarding(v1alpha1.Forward{Backend: "app"}), want: `spec.target.server.SERVER.forward[0] must have exactly one of`},
		"a suffix of two":            {forward: forwarding(v1alpha1.Forward{PathSuffix: ".j.sp", Backend: "app"}), want: `spec.target.server.SERVER.forward[0].pathSuffix: ".j.sp" must be a dot followed by`},
		"a prefix with a sign":       {forward: forwarding(v1alpha1.Forward{PathPrefix: "/a;b", Backend: "app"}), want: `spec.target.server.SERVER.forward[0].pathPrefix: "/a;b" must begin with a slash`},
		"a prefix with no segment":   {forward: forwarding(v1alpha1.Forward{PathPrefix: "/a//b", Backend: "app"}), want: `spec.target.server.SERVER.forward[0].pathPrefix: "/a//b" has an empty segment`},
		"a prefix that climbs":       {forward: forwarding(v1alpha1.Forward{PathPrefix: "/a/../b", Backend: "app"}), want: `spec.target.server.SERVER.forward[0].pathPrefix: "/a/../b" has an empty segment`},
		"an unknown backend":         {forward: forwarding(v1alpha1.Forward{PathPrefix: "/a", Backend: "none"}), want: `spec.target.server.SERVER.forward[0].backend: "none" must be the name of a member of spec.target.backends`},
		"a route twice": {
			forward: forwarding(v1alpha1.Forward{PathSuffix: ".jsp", Backend: "app"}, v1alpha1.Forward{PathSuffix: ".jsp", Backend: "api"}),
			want:    `spec.target.server.SERVER.forward[1] gets no request, because spec.target.server.SERVER.forward[0] matches them all`,
		},
		"a route behind a wider one": {
			forward: forwarding(v1alpha1.Forward{PathPrefix: "/app", Backend: "app"}, v1alpha1.Forward{PathPrefix: "/app/x", Backend: "api"}),
			want:    `spec.target.server.SERVER.forward[1] gets no request, because spec.target.server.SERVER.forward[0] matches them all`,
		},
		"a route behind all": {
			forward: forwarding(v1alpha1.Forward{PathPrefix: "/", Backend: "app"}, v1alpha1.Forward{PathSuffix: ".jsp", Backend: "api"}),
			want:    `spec.target.server.SERVER.forward[1] gets no request, because spec.target.server.SERVER.forward[0] matches them all`,
		},
		"AJP to one without": {
			forward: forwarding(v1alpha1.Forward{PathSuffix: ".jsp", Backend: "api", Protocol: v1alpha1.ForwardAJP}),
			want:    `spec.target.server.SERVER.forward[0].protocol is AJP, but spec.target.backends[api].server.tomcat.ajp is not set: set it to {}`,
		},
		"an unknown protocol": {tls: &v1alpha1.TLS{Protocols: []v1alpha1.TLSProtocol{"SSLv3"}}, want: `spec.target.tls.protocols: "SSLv3" must be one of`},
		"an unknown cipher":   {tls: &v1alpha1.TLS{Ciphers: []v1alpha1.CipherSuite{"NULL"}}, want: `spec.target.tls.ciphers: "NULL" is not a cipher suite that the clients support`},
		"a file without .conf": {
			configuration: map[string]string{"mime.types": ""},
			want:          `spec.target.server.SERVER.configuration: the ConfigMap has the key "mime.types", which would have no effect: name it SERVER.conf`,
		},
	}
	for name, test := range tests {
		for _, kind := range []string{"httpd", "nginx"} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				spec := servertest.Web{TLS: test.tls, Files: test.configuration}
				if kind == "httpd" {
					spec.HTTPD = &v1alpha1.HTTPDServer{Executable: test.executable, Forward: test.forward}
				} else {
					spec.Nginx = &v1alpha1.NginxServer{Executable: test.executable, Forward: test.forward}
				}
				_, err := server.Render(spec.Target())
				if want := strings.ReplaceAll(test.want, "SERVER", kind); err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("got the error %v, want %s", err, want)
				}
			})
		}
	}
}
