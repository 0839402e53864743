package httpd_test

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/httpd"
	"github.com/assay-dev/assay/internal/server/servertest"
)

// The syntax of a line of httpd.conf: a directive, or the begin or end of a section.
var (
	httpdSection   = regexp.MustCompile(`\A<(/?[A-Za-z]+)((?: (?:"(?:[^"\\]|\\.)*"|[^\s"'<>\\]+))*)>\z`)
	httpdDirective = regexp.MustCompile(`\A([A-Za-z]+)((?: (?:"(?:[^"\\]|\\.)*"|[^\s"'<>\\#]+))+)\z`)
	httpdArgument  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[^\s"]+`)
)

// parse returns one string per directive of httpd.conf, with its sections and its
// quoted arguments.
func parse(text string) ([]string, error) {
	var all, open []string
	for _, line := range strings.Split(text, "\n") {
		for _, r := range line {
			if r < ' ' || r == 0x7f {
				return nil, fmt.Errorf("the character %q", r)
			}
		}
		line = strings.TrimLeft(line, " ")
		switch {
		case line == "" || strings.HasPrefix(line, "#") && !strings.HasSuffix(line, `\`):
			continue
		case strings.HasSuffix(line, `\`):
			return nil, fmt.Errorf("a continued line: %s", line)
		}
		if section := httpdSection.FindStringSubmatch(line); section != nil {
			if name, end := strings.CutPrefix(section[1], "/"); end {
				if len(open) == 0 || !strings.HasPrefix(open[len(open)-1], name+" ") {
					return nil, fmt.Errorf("%s ends nothing", line)
				}
				open = open[:len(open)-1]
			} else {
				open = append(open, name+" "+arguments(section[2]))
			}
			continue
		}
		directive := httpdDirective.FindStringSubmatch(line)
		if directive == nil {
			return nil, fmt.Errorf("no directive: %s", line)
		}
		all = append(all, strings.Join(append(slices.Clone(open), directive[1]+" "+arguments(directive[2])), " > "))
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("%v aren't ended", open)
	}
	return all, nil
}

func arguments(text string) string {
	var all []string
	for _, argument := range httpdArgument.FindAllString(text, -1) {
		if inner, quoted := strings.CutPrefix(argument, `"`); quoted {
			argument = strings.TrimSuffix(inner, `"`)
		}
		all = append(all, fmt.Sprintf("%q", argument))
	}
	return strings.Join(all, " ")
}

// expect returns the directives for the strings, by other code than the adapter's.
func expect(s servertest.Strings) []string {
	quote := func(format string, values ...any) string { return fmt.Sprintf("%q", fmt.Sprintf(format, values...)) }
	home, mpm := s.Home, strings.ToLower(s.MPM)
	if home == "" {
		home = "/usr/local/apache2"
	}
	if mpm == "" {
		mpm = "event"
	}
	all := []string{"ServerRoot " + quote("%s", home), `ServerName "localhost"`, `Listen "8443" "https"`}
	for _, m := range []string{"mpm_" + mpm, "unixd", "authz_core", "mime", "dir", "proxy", "proxy_http", "ssl"} {
		all = append(all, fmt.Sprintf(`IfModule "!%s_module" > LoadModule "%s_module" "modules/mod_%s.so"`, m, m, m))
	}
	all = append(all,
		`IfModule "unixd_module" > User "#65534"`, `IfModule "unixd_module" > Group "#65534"`,
		`DefaultRuntimeDir "/assay/run"`, `PidFile "/assay/run/httpd.pid"`, `ErrorLog "/proc/self/fd/2"`, `LogLevel "notice" "ssl:error"`,
		`ServerTokens "Full"`, `TypesConfig "/assay/httpd/mime.types"`, `DocumentRoot "/assay/content"`, `DirectoryIndex "index.html"`,
		`Directory "/" > AllowOverride "None"`, `Directory "/" > Require "all" "denied"`,
		`Directory "/assay/content" > Options "FollowSymLinks"`, `Directory "/assay/content" > Require "all" "granted"`,
		`SSLEngine "on"`, `SSLCertificateFile "/assay/tls/tls.crt"`, `SSLCertificateKeyFile "/assay/tls/tls.key"`,
		`SSLProtocol "-all" `+quote("+%s", s.Protocol),
	)
	old := []string{}
	switch {
	case !s.TLS13():
		old = append(old, s.Cipher)
	case s.Oldest():
		old = append(old, "DEFAULT")
	}
	if s.Oldest() {
		old = append(old, "@SECLEVEL=0")
	}
	if len(old) > 0 {
		all = append(all, "SSLCipherSuite "+quote("%s", strings.Join(old, ":")))
	}
	if s.TLS13() {
		all = append(all, `SSLCipherSuite "TLSv1.3" `+quote("%s", s.Cipher))
	}
	all = append(all, `SSLSessionCache "none"`, `SSLSessionTickets "off"`, `ProxyPreserveHost "On"`,
		fmt.Sprintf(`ProxyPass %q "http://127.0.0.1:9001%s"`, s.Prefix, s.Prefix),
		"ProxyPassMatch "+quote(`^/(.*%s)$`, regexp.QuoteMeta(s.Suffix))+` "http://127.0.0.1:9001/$1" "enablereuse=on"`,
		`ProxyPass "/last" "http://127.0.0.1:9001/last"`,
		"Include "+quote("/assay/httpd/conf.d/%s", s.Key),
	)
	return all
}

var fuzz = servertest.Fuzz{
	Adapter: httpd.Server{},
	Spec: func(s servertest.Strings) *v1alpha1.Server {
		return &v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{
			Home: s.Home, Executable: s.Executable, MPM: v1alpha1.HTTPDMPM(s.MPM), Forward: s.Forward(),
			Configuration: &v1alpha1.Configuration{ConfigMapName: "mine"},
		}}
	},
	Main: "httpd.conf", Parse: parse, Expect: expect,
	Command: func(s servertest.Strings) string { return cmp.Or(s.Home, "/usr/local/apache2") + "/bin/httpd" },
}

func FuzzRender(f *testing.F) {
	servertest.Seed(f)
	f.Fuzz(func(t *testing.T, home, executable, suffix, prefix, backend, cipher, protocol, mpm, key string) {
		fuzz.Check(t, servertest.Strings{
			Home: home, Executable: executable, Suffix: suffix, Prefix: prefix, Backend: backend, Cipher: cipher, Protocol: protocol, MPM: mpm, Key: key,
		})
	})
}

func TestHarmlessStringsAreRendered(t *testing.T) {
	if _, err := fuzz.Adapter.Render(servertest.Harmless.Input(fuzz.Spec(servertest.Harmless))); err != nil {
		t.Error(err)
	}
}
