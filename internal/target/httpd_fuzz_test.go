package target

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// webStrings are all strings of users that enter a file or a command line of
// httpd or nginx.
type webStrings struct {
	Home, Executable, Suffix, Prefix, Backend, Cipher, Protocol, MPM, Key string
}

// harmless has every string once, so that each place is known.
var harmless = webStrings{
	Home: "/benign/home", Executable: "/benign/executable", Suffix: ".benignsuffix", Prefix: "/benignprefix", Backend: "benignbackend",
	Cipher: "AES128-SHA", Protocol: "TLSv1.2", MPM: "Worker", Key: "benignkey.conf",
}

func seedWebStrings(f *testing.F) {
	f.Helper()
	add := func(s webStrings) {
		f.Add(s.Home, s.Executable, s.Suffix, s.Prefix, s.Backend, s.Cipher, s.Protocol, s.MPM, s.Key)
	}
	add(harmless)
	add(webStrings{
		Home: "/usr/lib/apache2", Executable: "/usr/sbin/apache2", Suffix: ".jsp", Prefix: "/app/v1.0/", Backend: "a-1",
		Cipher: "TLS_AES_128_GCM_SHA256", Protocol: "TLSv1.3", MPM: "Prefork", Key: "z.conf",
	})
	add(webStrings{Home: "/", Executable: "", Suffix: "", Prefix: "/", Backend: "a", Cipher: "", Protocol: "", MPM: "", Key: "httpd.conf"})
	for _, nasty := range []string{
		"/a\nUser root", "/a\" \"b", "/a b", "/a;b", "/a{b}", "/a$(HOME)", "/a\\", "/a#b", "/a/../b", "/a//b", ".j(s|p)", ".jsp$", ".jsp\n", "/a/./b", "/%{b}", "${HOME}",
		"a b.conf", "../a.conf", "a.conf\n", "*.conf", "AES128-SHA:ALL", "AES128-SHA@SECLEVEL=0", "TLSv1.2 ssl_x", "a;b", "ä", "\x00", "",
	} {
		for i := range 9 {
			s := harmless
			*[]*string{&s.Home, &s.Executable, &s.Suffix, &s.Prefix, &s.Backend, &s.Cipher, &s.Protocol, &s.MPM, &s.Key}[i] = nasty
			add(s)
		}
	}
}

// The patterns and names that the API server accepts, as in api/v1alpha1.
var (
	crdPath      = regexp.MustCompile(`\A(/[A-Za-z0-9_][A-Za-z0-9._-]*)+\z`)
	crdSuffix    = regexp.MustCompile(`\A[.][A-Za-z0-9_-]+\z`)
	crdPrefix    = regexp.MustCompile(`\A/[A-Za-z0-9._/-]*\z`)
	crdBackend   = regexp.MustCompile(`\A[a-z]([-a-z0-9]*[a-z0-9])?\z`)
	crdCipher    = regexp.MustCompile(`\A(TLS_)?[A-Z0-9]+([-_][A-Z0-9]+)+\z`)
	crdProtocol  = regexp.MustCompile(`\ATLSv1(\.[123])?\z`)
	crdMPM       = regexp.MustCompile(`\A(Event|Worker|Prefork)?\z`)
	configMapKey = regexp.MustCompile(`\A[-._a-zA-Z0-9]{1,253}\z`)
)

// acceptable is whether the API server accepts them.
func (s webStrings) acceptable() bool {
	return (s.Home == "" || crdPath.MatchString(s.Home)) && (s.Executable == "" || crdPath.MatchString(s.Executable)) &&
		crdSuffix.MatchString(s.Suffix) && crdPrefix.MatchString(s.Prefix) && crdBackend.MatchString(s.Backend) &&
		crdCipher.MatchString(s.Cipher) && crdProtocol.MatchString(s.Protocol) && crdMPM.MatchString(s.MPM)
}

func (s webStrings) input(server *v1alpha1.Server) *input {
	forward := []v1alpha1.Forward{{PathPrefix: s.Prefix, Backend: s.Backend}, {PathSuffix: s.Suffix, Backend: s.Backend}, {PathPrefix: "/last", Backend: s.Backend}}
	own := &v1alpha1.Configuration{ConfigMapName: "mine"}
	if server.HTTPD != nil {
		server.HTTPD = &v1alpha1.HTTPDServer{Home: s.Home, Executable: s.Executable, MPM: v1alpha1.HTTPDMPM(s.MPM), Forward: forward, Configuration: own}
	} else {
		server.Nginx = &v1alpha1.NginxServer{Executable: s.Executable, Forward: forward, Configuration: own}
	}
	return &input{
		name: ContainerName, cpus: 1, server: server, backends: map[string]int32{s.Backend: 9001},
		configuration: map[string]string{s.Key: "# mine"},
		tls: &v1alpha1.TLS{
			Certificate: selfSigned, Ciphers: []v1alpha1.CipherSuite{v1alpha1.CipherSuite(s.Cipher)}, Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSProtocol(s.Protocol)},
		},
	}
}

// fuzzRender checks a rendering against what was given: either a clear error,
// or the same directives as of harmless strings, with the given ones in their
// places.
func fuzzRender(t *testing.T, render func(*input) (*rendered, error), server *v1alpha1.Server, main string, s webStrings, parse func(string) ([]string, error), expect func(webStrings) []string) {
	t.Helper()
	r, err := render(s.input(server))
	if err != nil {
		if !strings.HasPrefix(err.Error(), "spec.target.") || strings.ContainsAny(err.Error(), "\n\x00") {
			t.Errorf("the error isn't clear: %q", err)
		}
		return
	}
	if !s.acceptable() {
		t.Fatalf("rendered, although the API server accepts no %+v", s)
	}
	if s.Key == main { // the user's own file
		return
	}
	got, err := parse(r.files["server_"+main])
	if err != nil {
		t.Fatalf("%v in\n%s", err, r.files["server_"+main])
	}
	if diff := cmp.Diff(expect(s), got); diff != "" {
		t.Errorf("other directives than declared (-want +got):\n%s", diff)
	}
	wantCommand := s.Executable
	switch {
	case wantCommand != "":
	case server.HTTPD == nil:
		wantCommand = "/usr/sbin/nginx"
	case s.Home == "":
		wantCommand = "/usr/local/apache2/bin/httpd"
	default:
		wantCommand = s.Home + "/bin/httpd"
	}
	if diff := cmp.Diff([]string{wantCommand}, r.container.Command); diff != "" {
		t.Errorf("another command (-want +got):\n%s", diff)
	}
	for _, arg := range slices.Concat(r.container.Command, r.container.Args) {
		if strings.Contains(arg, "$(") {
			t.Errorf("Kubernetes expands %q", arg)
		}
	}
	mounts, err := json.Marshal(r.container.VolumeMounts)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range slices.Collect(maps.Keys(r.files)) {
		if !configMapKey.MatchString(key) || !strings.Contains(string(mounts), fmt.Sprintf("%q", key)) {
			t.Errorf("the file %q can't be mounted", key)
		}
	}
}

// httpdDirective is a line of httpd.conf without continuation: a directive, or
// the begin or end of a section.
var (
	httpdSection   = regexp.MustCompile(`\A<(/?[A-Za-z]+)((?: (?:"(?:[^"\\]|\\.)*"|[^\s"'<>\\]+))*)>\z`)
	httpdDirective = regexp.MustCompile(`\A([A-Za-z]+)((?: (?:"(?:[^"\\]|\\.)*"|[^\s"'<>\\#]+))+)\z`)
	httpdArgument  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[^\s"]+`)
)

// parseHTTPD takes httpd.conf apart into one string per directive, with its
// section and its arguments, quoted.
func parseHTTPD(text string) ([]string, error) {
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

// modern is whether the cipher suite is one of TLS 1.3.
func (s webStrings) modern() bool { return strings.HasPrefix(s.Cipher, "TLS_") }

// oldest is whether the protocol needs the lowest security level.
func (s webStrings) oldest() bool { return s.Protocol == "TLSv1" || s.Protocol == "TLSv1.1" }

// expectHTTPD are the directives that follow from the strings, written here
// once more and by another way.
func expectHTTPD(s webStrings) []string {
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
	case !s.modern():
		old = append(old, s.Cipher)
	case s.oldest():
		old = append(old, "DEFAULT")
	}
	if s.oldest() {
		old = append(old, "@SECLEVEL=0")
	}
	if len(old) > 0 {
		all = append(all, "SSLCipherSuite "+quote("%s", strings.Join(old, ":")))
	}
	if s.modern() {
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

func FuzzHTTPDRender(f *testing.F) {
	seedWebStrings(f)
	f.Fuzz(func(t *testing.T, home, executable, suffix, prefix, backend, cipher, protocol, mpm, key string) {
		s := webStrings{Home: home, Executable: executable, Suffix: suffix, Prefix: prefix, Backend: backend, Cipher: cipher, Protocol: protocol, MPM: mpm, Key: key}
		fuzzRender(t, renderHTTPD, &v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{}}, httpdMain, s, parseHTTPD, expectHTTPD)
	})
}

func TestHarmlessStringsAreRendered(t *testing.T) {
	if _, err := renderHTTPD(harmless.input(&v1alpha1.Server{HTTPD: &v1alpha1.HTTPDServer{}})); err != nil {
		t.Error(err)
	}
	if _, err := renderNginx(harmless.input(&v1alpha1.Server{Nginx: &v1alpha1.NginxServer{}})); err != nil {
		t.Error(err)
	}
}
