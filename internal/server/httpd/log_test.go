package httpd

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/assay-dev/assay/internal/server/adapter"
	"github.com/assay-dev/assay/internal/server/servertest"
)

const (
	debianHTTPD = "Apache/2.4.68 (Debian)"
	debianSSL   = "OpenSSL 3.0.20"
)

func TestReadLog(t *testing.T) {
	plain := func(mpm string) logged { return logged{Log: adapter.Log{Version: debianHTTPD, Connector: mpm}} }
	tls := func(mpm string) logged {
		return logged{Log: adapter.Log{Version: debianHTTPD, Connector: mpm, Libraries: []string{debianSSL}}}
	}
	adjusted := func(l logged, configured, real string) logged {
		l.adjustments = []adjustment{{setting: "MaxRequestWorkers", configured: configured, real: real}}
		return l
	}
	for name, want := range map[string]logged{
		"httpd-event":                    plain("mpm_event"),
		"httpd-event-info":               plain("mpm_event"),
		"httpd-worker":                   plain("mpm_worker"),
		"httpd-prefork":                  plain("mpm_prefork"),
		"httpd-event-tls":                tls("mpm_event"),
		"httpd-event-tls-info":           tls("mpm_event"),
		"httpd-event-tls13":              tls("mpm_event"),
		"httpd-worker-tls":               tls("mpm_worker"),
		"httpd-prefork-tls":              tls("mpm_prefork"),
		"httpd-event-workers-lowered":    adjusted(plain("mpm_event"), "1000", "100"),
		"httpd-event-workers-rounded":    adjusted(plain("mpm_event"), "60", "50"),
		"httpd-prefork-workers-lowered":  adjusted(plain("mpm_prefork"), "300", "100"),
		"httpd-event-workers-reached":    plain("mpm_event"),
		"httpd-prefork-workers-reached":  plain("mpm_prefork"),
		"httpd-event-port-taken":         {},
		"httpd-no-mpm":                   {},
		"httpd-two-mpms":                 {},
		"httpd-event-tls-cipher-unknown": {},
		"httpd-module-missing":           {},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, readLog(servertest.Log(t, "logs/"+name)), cmp.AllowUnexported(logged{}, adjustment{}), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("other components", func(t *testing.T) {
		got := readLog("[Sat Nov 21 12:50:11.905346 2026] [mpm_event:notice] [pid 1:tid 1] AH00489: Apache/2.4.62 (Unix) OpenSSL/3.0.15 mod_perl/2.0.13 Perl/v5.36.0 configured -- resuming normal operations\n")
		want := logged{Log: adapter.Log{Version: "Apache/2.4.62 (Unix)", Connector: "mpm_event", Libraries: []string{"OpenSSL 3.0.15", "mod_perl 2.0.13", "Perl v5.36.0"}}}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(logged{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
