package target

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// TestWebRefusals has what can't be rendered, with the field and the mend.
func TestWebRefusals(t *testing.T) {
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
			want:    `spec.target.server.SERVER.forward[1] gets no request, since spec.target.server.SERVER.forward[0] has them all`,
		},
		"a route behind a wider one": {
			forward: forwarding(v1alpha1.Forward{PathPrefix: "/app", Backend: "app"}, v1alpha1.Forward{PathPrefix: "/app/x", Backend: "api"}),
			want:    `spec.target.server.SERVER.forward[1] gets no request, since spec.target.server.SERVER.forward[0] has them all`,
		},
		"a route behind all": {
			forward: forwarding(v1alpha1.Forward{PathPrefix: "/", Backend: "app"}, v1alpha1.Forward{PathSuffix: ".jsp", Backend: "api"}),
			want:    `spec.target.server.SERVER.forward[1] gets no request, since spec.target.server.SERVER.forward[0] has them all`,
		},
		"an unknown protocol": {tls: &v1alpha1.TLS{Protocols: []v1alpha1.TLSProtocol{"SSLv3"}}, want: `spec.target.tls.protocols: "SSLv3" must be one of`},
		"an unknown cipher":   {tls: &v1alpha1.TLS{Ciphers: []v1alpha1.CipherSuite{"NULL"}}, want: `spec.target.tls.ciphers: "NULL" isn't a cipher suite that the clients have`},
		"a file without .conf": {
			configuration: map[string]string{"mime.types": ""},
			want:          `spec.target.server.SERVER.configuration: the ConfigMap has the key "mime.types", which would have no effect: name it SERVER.conf`,
		},
	}
	for name, test := range tests {
		for _, server := range []string{"httpd", "nginx"} {
			t.Run(server+"/"+name, func(t *testing.T) {
				spec := webSpec{tls: test.tls, configuration: test.configuration}
				if server == "httpd" {
					spec.httpd = &v1alpha1.HTTPDServer{Executable: test.executable, Forward: test.forward}
				} else {
					spec.nginx = &v1alpha1.NginxServer{Executable: test.executable, Forward: test.forward}
				}
				_, err := Render(spec.target())
				if want := strings.ReplaceAll(test.want, "SERVER", server); err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("got the error %v, want %s", err, want)
				}
			})
		}
	}
}

func TestNginxRefusesFilesThatNothingIncludes(t *testing.T) {
	_, err := Render(webSpec{nginx: &v1alpha1.NginxServer{}, configuration: map[string]string{"nginx.conf": "events {}", "a.conf": ""}}.target())
	if err == nil || !strings.HasPrefix(err.Error(), "spec.target.server.nginx.configuration: nginx.conf takes the place") {
		t.Errorf("got the error %v", err)
	}
}

func TestNginxStaysInFrontOnce(t *testing.T) {
	for text, want := range map[string]bool{
		"daemon off;":                     true,
		"worker_processes 1; daemon off;": true,
		"\n  daemon\toff ;\n":             true,
		"# daemon off;":                   false,
		"pid a; # daemon off;":            false,
		"daemon on;":                      false,
		"events {}":                       false,
		"":                                false,
	} {
		r, err := Render(webSpec{nginx: &v1alpha1.NginxServer{}, configuration: map[string]string{"nginx.conf": text}}.target())
		if err != nil {
			t.Fatal(err)
		}
		args := r.Containers[0].Args
		if got := !slices.Contains(args, "-g"); got != want {
			t.Errorf("%q: left to the file: %t, want %t (%v)", text, got, want, args)
		}
	}
}

func TestMIMETypes(t *testing.T) {
	types := map[string]string{}
	for _, m := range mimeTypes {
		for _, extension := range strings.Fields(m.extensions) {
			if other, taken := types[extension]; taken {
				t.Errorf("%s is both %s and %s", extension, other, m.name)
			}
			types[extension] = m.name
		}
	}
	var httpd, nginx []string
	for line := range strings.Lines(httpdMIMETypes()) {
		httpd = append(httpd, strings.TrimSpace(line))
	}
	for line := range strings.Lines(nginxMIMETypes()) {
		if text, entry := strings.CutSuffix(strings.TrimSpace(line), ";"); entry {
			nginx = append(nginx, text)
		}
	}
	if diff := cmp.Diff(httpd, nginx); diff != "" || len(httpd) != len(mimeTypes) {
		t.Errorf("httpd and nginx differ (-httpd +nginx):\n%s", diff)
	}
}
