package httpd_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/server/servertest"
)

func TestMismatches(t *testing.T) {
	const field = "spec.target.server.httpd."
	httpd := func(h v1alpha1.HTTPDServer) servertest.Web { return servertest.Web{HTTPD: &h} }
	own := map[string]string{"httpd.conf": "# mine"}
	tests := map[string]struct {
		spec servertest.Web
		log  string
		want []server.Mismatch
	}{
		"as declared":            {spec: httpd(v1alpha1.HTTPDServer{}), log: "httpd-event"},
		"worker as declared":     {spec: httpd(v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDWorker}), log: "httpd-worker"},
		"reached isn't declared": {spec: httpd(v1alpha1.HTTPDServer{}), log: "httpd-event-workers-reached"},
		"another mpm": {
			spec: httpd(v1alpha1.HTTPDServer{}), log: "httpd-prefork",
			want: []server.Mismatch{{Field: field + "mpm", Declared: "Event", Real: "mpm_prefork"}},
		},
		"another mpm by a configuration of one's own": {spec: servertest.Web{HTTPD: &v1alpha1.HTTPDServer{}, Files: own}, log: "httpd-prefork"},
		"an mpm built in": {
			spec: httpd(v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDWorker}), log: "httpd-two-mpms",
			want: []server.Mismatch{{Field: field + "mpm", Declared: "Worker", Real: "More than one MPM loaded", Unsupported: true}},
		},
		"lowered": {
			spec: httpd(v1alpha1.HTTPDServer{MaxRequestWorkers: ptr.To(int32(1000))}), log: "httpd-event-workers-lowered",
			want: []server.Mismatch{{Field: field + "maxRequestWorkers", Declared: "1000", Real: "MaxRequestWorkers 100"}},
		},
		"lowered, with a configuration of one's own": {
			spec: servertest.Web{HTTPD: &v1alpha1.HTTPDServer{MaxRequestWorkers: ptr.To(int32(1000))}, Files: own}, log: "httpd-event-workers-lowered",
			want: []server.Mismatch{{Field: field + "maxRequestWorkers", Declared: "1000", Real: "MaxRequestWorkers 100"}},
		},
		"what isn't the spec's lowered":      {spec: servertest.Web{HTTPD: &v1alpha1.HTTPDServer{}, Files: own}, log: "httpd-event-workers-lowered"},
		"prefork lowered":                    {spec: httpd(v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDPrefork, MaxRequestWorkers: ptr.To(int32(300))}), log: "httpd-prefork-workers-lowered", want: []server.Mismatch{{Field: field + "maxRequestWorkers", Declared: "300", Real: "MaxRequestWorkers 100"}}},
		"a module that the image has not":    {spec: httpd(v1alpha1.HTTPDServer{}), log: "httpd-module-missing", want: []server.Mismatch{{Field: field + "home", Declared: "/usr/local/apache2", Real: "Cannot load modules/mod_none.so into server: /usr/local/apache2/modules/mod_none.so: cannot open shared object file: No such file or directory", Unsupported: true}}},
		"a cipher that OpenSSL has not":      {spec: servertest.Web{HTTPD: &v1alpha1.HTTPDServer{}, TLS: &v1alpha1.TLS{Ciphers: []v1alpha1.CipherSuite{"AES128-SHA"}}}, log: "httpd-event-tls-cipher-unknown", want: []server.Mismatch{{Field: "spec.target.tls.ciphers", Declared: "AES128-SHA", Real: "Unable to configure permitted SSL ciphers", Unsupported: true}}},
		"one that its own configuration has": {spec: servertest.Web{HTTPD: &v1alpha1.HTTPDServer{}, Files: own}, log: "httpd-event-tls-cipher-unknown"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			servertest.Mismatches(t, server.ReadLogs, test.spec, servertest.Log(t, "logs/"+test.log), test.want)
		})
	}
	t.Run("modules", func(t *testing.T) {
		for module, want := range map[string]string{
			"mpm_event": field + "mpm", "proxy_http": field + "forward", "ssl": "spec.target.tls", "socache_shmcb": "spec.target.tls",
		} {
			log := strings.ReplaceAll(servertest.Log(t, "logs/httpd-module-missing"), "mod_none", "mod_"+module)
			target, _ := specs["defaults"].Target()
			_, got := server.ReadLogs(target, nil, map[string]string{server.ContainerName: log})
			if len(got) != 1 || got[0].Field != want || !got[0].Unsupported {
				t.Errorf("%s: got %v, want %s", module, got, want)
			}
		}
	})
}

// TestStartedWithoutMismatch reads the logs of httpds that were started with the
// rendered files.
func TestStartedWithoutMismatch(t *testing.T) {
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			l := servertest.Mismatches(t, server.ReadLogs, spec, servertest.Log(t, "rendered-logs/"+name), nil)
			if spec.Files == nil && (l.Version == "" || l.Connector == "") {
				t.Errorf("read no more than %+v", l)
			}
			if spec.TLS != nil && !slices.Equal(l.Libraries, []string{"OpenSSL 3.0.20"}) {
				t.Errorf("read the libraries %v", l.Libraries)
			}
		})
	}
}
