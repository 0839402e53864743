package target

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

func readsLogs(t *testing.T, read func(string) Logged, tests map[string]Logged) {
	t.Helper()
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, read(readLog(t, name)), cmp.AllowUnexported(Logged{}, adjustment{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

const (
	debianHTTPD = "Apache/2.4.68 (Debian)"
	debianSSL   = "OpenSSL 3.0.20"
)

func TestReadHTTPD(t *testing.T) {
	plain := func(mpm string) Logged { return Logged{Version: debianHTTPD, Connector: mpm} }
	tls := func(mpm string) Logged {
		return Logged{Version: debianHTTPD, Connector: mpm, Libraries: []string{debianSSL}}
	}
	adjusted := func(l Logged, told, real string) Logged {
		l.adjustments = []adjustment{{setting: "MaxRequestWorkers", told: told, real: real}}
		return l
	}
	readsLogs(t, readHTTPD, map[string]Logged{
		"httpd-event":                   plain("mpm_event"),
		"httpd-event-info":              plain("mpm_event"),
		"httpd-worker":                  plain("mpm_worker"),
		"httpd-prefork":                 plain("mpm_prefork"),
		"httpd-event-tls":               tls("mpm_event"),
		"httpd-event-tls-info":          tls("mpm_event"),
		"httpd-event-tls13":             tls("mpm_event"),
		"httpd-worker-tls":              tls("mpm_worker"),
		"httpd-prefork-tls":             tls("mpm_prefork"),
		"httpd-event-workers-lowered":   adjusted(plain("mpm_event"), "1000", "100"),
		"httpd-event-workers-rounded":   adjusted(plain("mpm_event"), "60", "50"),
		"httpd-prefork-workers-lowered": adjusted(plain("mpm_prefork"), "300", "100"),
		"httpd-event-workers-reached":   plain("mpm_event"),
		"httpd-prefork-workers-reached": plain("mpm_prefork"),
		"httpd-event-port-taken":        {},
		"httpd-no-mpm":                  {},
		"httpd-two-mpms":                {refusals: []string{"More than one MPM loaded"}},
		"httpd-event-tls-cipher-unknown": {
			refusals: []string{"Unable to configure permitted SSL ciphers"},
		},
		"httpd-module-missing": {refusals: []string{
			"Cannot load modules/mod_none.so into server: /usr/local/apache2/modules/mod_none.so: cannot open shared object file: No such file or directory",
		}},
	})
	t.Run("other components", func(t *testing.T) {
		got := readHTTPD("[Sat Nov 21 12:50:11.905346 2026] [mpm_event:notice] [pid 1:tid 1] AH00489: Apache/2.4.62 (Unix) OpenSSL/3.0.15 mod_perl/2.0.13 Perl/v5.36.0 configured -- resuming normal operations\n")
		want := Logged{Version: "Apache/2.4.62 (Unix)", Connector: "mpm_event", Libraries: []string{"OpenSSL 3.0.15", "mod_perl 2.0.13", "Perl v5.36.0"}}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Logged{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// contradicts checks what a target's log contradicts: the field, what is said
// and whether it is unsupported.
func contradicts(t *testing.T, spec webSpec, log string, want []Contradiction) {
	t.Helper()
	target, _ := spec.target()
	got := Contradictions(target, ReadLogs(target, map[string]string{ContainerName: log}))
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Contradiction{}, "Mend"), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, c := range got {
		if c.Mend == "" {
			t.Errorf("%s has no mend", c.Field)
		}
	}
}

func TestHTTPDContradictions(t *testing.T) {
	const field = "spec.target.server.httpd."
	httpd := func(h v1alpha1.HTTPDServer) webSpec { return webSpec{httpd: &h} }
	own := map[string]string{"httpd.conf": "# mine"}
	tests := map[string]struct {
		spec webSpec
		log  string
		want []Contradiction
	}{
		"as declared":            {spec: httpd(v1alpha1.HTTPDServer{}), log: "httpd-event"},
		"worker as declared":     {spec: httpd(v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDWorker}), log: "httpd-worker"},
		"reached isn't declared": {spec: httpd(v1alpha1.HTTPDServer{}), log: "httpd-event-workers-reached"},
		"another mpm": {
			spec: httpd(v1alpha1.HTTPDServer{}), log: "httpd-prefork",
			want: []Contradiction{{Field: field + "mpm", Declared: "Event", Real: "mpm_prefork"}},
		},
		"another mpm by a configuration of one's own": {spec: webSpec{httpd: &v1alpha1.HTTPDServer{}, configuration: own}, log: "httpd-prefork"},
		"an mpm built in": {
			spec: httpd(v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDWorker}), log: "httpd-two-mpms",
			want: []Contradiction{{Field: field + "mpm", Declared: "Worker", Real: "More than one MPM loaded", Unsupported: true}},
		},
		"lowered": {
			spec: httpd(v1alpha1.HTTPDServer{MaxRequestWorkers: ptr.To(int32(1000))}), log: "httpd-event-workers-lowered",
			want: []Contradiction{{Field: field + "maxRequestWorkers", Declared: "1000", Real: "MaxRequestWorkers 100"}},
		},
		"lowered, with a configuration of one's own": {
			spec: webSpec{httpd: &v1alpha1.HTTPDServer{MaxRequestWorkers: ptr.To(int32(1000))}, configuration: own}, log: "httpd-event-workers-lowered",
			want: []Contradiction{{Field: field + "maxRequestWorkers", Declared: "1000", Real: "MaxRequestWorkers 100"}},
		},
		"what isn't the spec's lowered":      {spec: webSpec{httpd: &v1alpha1.HTTPDServer{}, configuration: own}, log: "httpd-event-workers-lowered"},
		"prefork lowered":                    {spec: httpd(v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDPrefork, MaxRequestWorkers: ptr.To(int32(300))}), log: "httpd-prefork-workers-lowered", want: []Contradiction{{Field: field + "maxRequestWorkers", Declared: "300", Real: "MaxRequestWorkers 100"}}},
		"a module that the image has not":    {spec: httpd(v1alpha1.HTTPDServer{}), log: "httpd-module-missing", want: []Contradiction{{Field: field + "home", Declared: "/usr/local/apache2", Real: "Cannot load modules/mod_none.so into server: /usr/local/apache2/modules/mod_none.so: cannot open shared object file: No such file or directory", Unsupported: true}}},
		"a cipher that OpenSSL has not":      {spec: webSpec{httpd: &v1alpha1.HTTPDServer{}, tls: &v1alpha1.TLS{Ciphers: []v1alpha1.CipherSuite{"AES128-SHA"}}}, log: "httpd-event-tls-cipher-unknown", want: []Contradiction{{Field: "spec.target.tls.ciphers", Declared: "AES128-SHA", Real: "Unable to configure permitted SSL ciphers", Unsupported: true}}},
		"one that its own configuration has": {spec: webSpec{httpd: &v1alpha1.HTTPDServer{}, configuration: own}, log: "httpd-event-tls-cipher-unknown"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { contradicts(t, test.spec, readLog(t, test.log), test.want) })
	}
	t.Run("modules", func(t *testing.T) {
		for module, want := range map[string]string{
			"mpm_event": field + "mpm", "proxy_http": field + "forward", "ssl": "spec.target.tls", "socache_shmcb": "spec.target.tls",
		} {
			log := strings.ReplaceAll(readLog(t, "httpd-module-missing"), "mod_none", "mod_"+module)
			target, _ := httpdSpecs["defaults"].target()
			got := Contradictions(target, ReadLogs(target, map[string]string{ContainerName: log}))
			if len(got) != 1 || got[0].Field != want || !got[0].Unsupported {
				t.Errorf("%s: got %v, want %s", module, got, want)
			}
		}
	})
}

// TestStartedWithoutContradiction reads the logs of httpd and nginx that were
// started with the rendered files.
func TestStartedWithoutContradiction(t *testing.T) {
	for server, specs := range map[string]map[string]webSpec{"httpd": httpdSpecs, "nginx": nginxSpecs} {
		for name, spec := range specs {
			t.Run(server+"/"+name, func(t *testing.T) {
				log, err := os.ReadFile(filepath.Join("testdata", server+"-logs", name+".log"))
				if err != nil {
					t.Fatal(err)
				}
				contradicts(t, spec, string(log), nil)
				target, _ := spec.target()
				l := ReadLogs(target, map[string]string{ContainerName: string(log)})[ContainerName]
				if spec.configuration == nil && (l.Version == "" || l.Connector == "") {
					t.Errorf("read no more than %+v", l)
				}
				if server == "httpd" && spec.tls != nil && !slices.Equal(l.Libraries, []string{debianSSL}) {
					t.Errorf("read the libraries %v", l.Libraries)
				}
				if server == "nginx" && spec.configuration == nil && l.workers != int(nginxWorkers(inputs(target, nil)[0])) {
					t.Errorf("read %d workers", l.workers)
				}
			})
		}
	}
}
