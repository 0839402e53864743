package servertest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
)

// Strings are all user-defined strings in the files and command lines of httpd and nginx.
type Strings struct {
	Home, Executable, Suffix, Prefix, Backend, Cipher, Protocol, MPM, Key string
}

// Harmless has a different string for each place.
var Harmless = Strings{
	Home: "/benign/home", Executable: "/benign/executable", Suffix: ".benignsuffix", Prefix: "/benignprefix", Backend: "benignbackend",
	Cipher: "AES128-SHA", Protocol: "TLSv1.2", MPM: "Worker", Key: "benignkey.conf",
}

// Seed adds usual strings, and in each place strings that could add a line.
func Seed(f *testing.F) {
	f.Helper()
	add := func(s Strings) {
		f.Add(s.Home, s.Executable, s.Suffix, s.Prefix, s.Backend, s.Cipher, s.Protocol, s.MPM, s.Key)
	}
	add(Harmless)
	add(Strings{
		Home: "/usr/lib/apache2", Executable: "/usr/sbin/apache2", Suffix: ".jsp", Prefix: "/app/v1.0/", Backend: "a-1",
		Cipher: "TLS_AES_128_GCM_SHA256", Protocol: "TLSv1.3", MPM: "Prefork", Key: "z.conf",
	})
	add(Strings{Home: "/", Executable: "", Suffix: "", Prefix: "/", Backend: "a", Cipher: "", Protocol: "", MPM: "", Key: "httpd.conf"})
	for _, nasty := range []string{
		"/a\nUser root", "/a\" \"b", "/a b", "/a;b", "/a{b}", "/a$(HOME)", "/a\\", "/a#b", "/a/../b", "/a//b", ".j(s|p)", ".jsp$", ".jsp\n", "/a/./b", "/%{b}", "${HOME}",
		"a b.conf", "../a.conf", "a.conf\n", "*.conf", "AES128-SHA:ALL", "AES128-SHA@SECLEVEL=0", "TLSv1.2 ssl_x", "a;b", "ä", "\x00", "",
	} {
		for i := range 9 {
			s := Harmless
			*[]*string{&s.Home, &s.Executable, &s.Suffix, &s.Prefix, &s.Backend, &s.Cipher, &s.Protocol, &s.MPM, &s.Key}[i] = nasty
			add(s)
		}
	}
}

// The syntax that the API server accepts, as in api/v1alpha1.
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

// acceptable reports whether the API server accepts them.
func (s Strings) acceptable() bool {
	return (s.Home == "" || crdPath.MatchString(s.Home)) && (s.Executable == "" || crdPath.MatchString(s.Executable)) &&
		crdSuffix.MatchString(s.Suffix) && crdPrefix.MatchString(s.Prefix) && crdBackend.MatchString(s.Backend) &&
		crdCipher.MatchString(s.Cipher) && crdProtocol.MatchString(s.Protocol) && crdMPM.MatchString(s.MPM)
}

// Input returns the input of an adapter, with backends and with one file of the user's own.
func (s Strings) Input(spec *v1alpha1.Server) *adapter.Input {
	return &adapter.Input{
		Name: adapter.ContainerName, CPUs: 1, Server: spec, Backends: map[string]int32{s.Backend: 9001},
		Files: map[string]string{s.Key: "# mine"},
		TLS: &v1alpha1.TLS{
			Certificate: SelfSigned, Ciphers: []v1alpha1.CipherSuite{v1alpha1.CipherSuite(s.Cipher)}, Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSProtocol(s.Protocol)},
		},
	}
}

// Forward returns routes to the backend.
func (s Strings) Forward() []v1alpha1.Forward {
	return []v1alpha1.Forward{{PathPrefix: s.Prefix, Backend: s.Backend}, {PathSuffix: s.Suffix, Backend: s.Backend}, {PathPrefix: "/last", Backend: s.Backend}}
}

// Fuzz checks the renderings of an adapter.
type Fuzz struct {
	Adapter adapter.Server
	// Spec is the server with the strings in it.
	Spec func(Strings) *v1alpha1.Server
	// Main is the name of the configuration file that Parse splits into one string
	// per directive, and Expect has the directives that follow from the strings.
	Main   string
	Parse  func(text string) ([]string, error)
	Expect func(Strings) []string
	// Command is the server's executable unless the strings have one.
	Command func(Strings) string
}

// Check renders the strings. The result must be a clear error, or the same directives
// as for harmless strings, with s in their places.
func (f Fuzz) Check(t *testing.T, s Strings) {
	t.Helper()
	r, err := f.Adapter.Render(s.Input(f.Spec(s)))
	if err != nil {
		if !strings.HasPrefix(err.Error(), "spec.target.") || strings.ContainsAny(err.Error(), "\n\x00") {
			t.Errorf("unclear error: %q", err)
		}
		return
	}
	if !s.acceptable() {
		t.Fatalf("rendered, although the API server accepts no %+v", s)
	}
	if s.Key == f.Main { // the user's own file
		return
	}
	text := r.Files["server_"+f.Main]
	got, err := f.Parse(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if diff := gocmp.Diff(f.Expect(s), got); diff != "" {
		t.Errorf("other directives than declared (-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff([]string{cmp.Or(s.Executable, f.Command(s))}, r.Container.Command); diff != "" {
		t.Errorf("another command (-want +got):\n%s", diff)
	}
	for _, arg := range slices.Concat(r.Container.Command, r.Container.Args) {
		if strings.Contains(arg, "$(") {
			t.Errorf("Kubernetes expands %q", arg)
		}
	}
	mounts, err := json.Marshal(r.Container.VolumeMounts)
	if err != nil {
		t.Fatal(err)
	}
	for key := range r.Files {
		if !configMapKey.MatchString(key) || !strings.Contains(string(mounts), fmt.Sprintf("%q", key)) {
			t.Errorf("the file %q can't be mounted", key)
		}
	}
}

// TLS13 reports whether the cipher suite is one of TLS 1.3.
func (s Strings) TLS13() bool { return strings.HasPrefix(s.Cipher, "TLS_") }

// Oldest reports whether the protocol needs the lowest security level.
func (s Strings) Oldest() bool { return s.Protocol == "TLSv1" || s.Protocol == "TLSv1.1" }
