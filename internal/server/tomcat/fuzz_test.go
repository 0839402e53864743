package tomcat

import (
	"cmp"
	"encoding/xml"
	"maps"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
	"github.com/assay-dev/assay/internal/server/jsse"
)

// FuzzRender sets any text wherever a user can. An error names the field. Otherwise the
// text changes nothing but its own place.
func FuzzRender(f *testing.F) {
	// Each text alone in each place, and all at once.
	for _, x := range []string{
		"/usr/local/tomcat", "/opt/a\" x=\"y", "/opt/a b", "/opt/a:b", "/opt/../etc", "/a/..", "/a//b", "relative", "/a\nb", "/a$(id)", "/<![CDATA[",
		"-Xmx1g", "-Da -Db", "-Dx=$(id)", "-Dx=`id`", "-Dx=${HOME}", "-Dx=\n-Dy", "-D;x", "-Dx='", "-Djava.library.path=/x", "-Djava.security.properties=/x",
		"AES128-SHA", "AES128-SHA:ALL", "AES\"><Connector port=\"1", "TLS_AES_128_GCM_SHA256", "AES128-SHA\njdk.certpath.disabledAlgorithms=",
		"TLSv1", "TLSv1.3", "TLSv1.2\" a=\"b", "NIO2", "APR", "BIO", "OpenSSL", "",
		"server.xml", "logging.properties", "java.security", "..", ".", "../server.xml", "a/b", "a:b", "\x00", "\xff",
	} {
		for place := range 9 {
			f.Add(x, x, x, x, x, x, x, x, x, uint16(1<<(7+place)|0x7f))
		}
		f.Add(x, x, x, x, x, x, x, x, x, uint16(0xffff))
	}

	f.Fuzz(func(t *testing.T, home, base, option, another, cipher, protocol, name, connector, by string, bits uint16) {
		on := func(bit int) bool { return bits>>bit&1 == 1 }
		// One rejected text would hide all others.
		for i, text := range []struct {
			fuzzed  *string
			instead string
		}{
			{&home, defaultHome}, {&base, ""}, {&option, "-Xmx1g"}, {&another, "-server"}, {&cipher, "ECDHE-RSA-AES128-SHA"},
			{&protocol, "TLSv1.2"}, {&name, "context.xml"}, {&connector, "NIO"}, {&by, "JSSE"},
		} {
			if !on(7 + i) {
				*text.fuzzed = text.instead
			}
		}
		tomcat := &v1alpha1.TomcatServer{
			Home: home, Base: base, JVMOptions: []string{option, another},
			Connector: v1alpha1.TomcatConnector{Protocol: v1alpha1.TomcatProtocol(connector), MaxThreads: ptr.To(int32(7)), TLSImplementation: v1alpha1.TLSImplementation(by)},
		}
		in := &adapter.Input{Name: adapter.ContainerName, Server: &v1alpha1.Server{Tomcat: tomcat}, CPUs: 1, Content: []string{"/a"}}
		if on(0) {
			in.TLS = &v1alpha1.TLS{
				Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSProtocol(protocol)},
				Ciphers:   []v1alpha1.CipherSuite{v1alpha1.CipherSuite(cipher)},
			}
			if on(1) {
				in.TLS.ClientAuthentication = &v1alpha1.ClientAuthentication{}
			}
			if on(2) {
				in.TLS.SessionResumption = v1alpha1.Enabled
			}
		}
		if on(3) {
			in.Files = map[string]string{name: "text"}
			tomcat.Configuration = &v1alpha1.Configuration{ConfigMapName: "mine"}
		}
		if on(4) {
			tomcat.Connector.Executor = v1alpha1.TomcatShared
		}
		if on(5) {
			tomcat.Connector.HTTP2 = v1alpha1.Enabled
		}
		if on(6) {
			tomcat.AccessLog = v1alpha1.Enabled
		}

		r, err := Server{}.Render(in)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "spec.target.") {
				t.Fatalf("the error names no field: %v", err)
			}
			return
		}
		checkRenderedFiles(t, r, in)
		checkRenderedContainer(t, &r.Container, in, home, base, []string{option, another})
	})
}

// checkRenderedFiles parses the files again.
func checkRenderedFiles(t *testing.T, r *adapter.Rendering, in *adapter.Input) {
	t.Helper()
	for file, text := range r.Files {
		switch file {
		case "server_server.xml":
			var read xmlElement
			if err := xml.Unmarshal([]byte(text), &read); err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			if diff := gocmp.Diff(serverElement(in), read); diff != "" {
				t.Fatalf("server.xml says another thing than was declared:\n%s", diff)
			}
		case "server_java.security":
			if !strings.HasPrefix(text, "jdk.tls.disabledAlgorithms=SSLv3, ") || strings.Count(text, "\n") != 1 || strings.ContainsAny(text, "\\\r") {
				t.Fatalf("java.security has more than one property: %q", text)
			}
		case "server_logging.properties":
			if text != logging {
				t.Fatalf("logging.properties isn't the rendered one: %q", text)
			}
		case "server_" + optionFile:
			// In quotes a backslash stands before a backslash and a quote.
			var read []string
			for line := range strings.Lines(text) {
				line = strings.TrimSuffix(line, "\n")
				if inner, quoted := strings.CutPrefix(line, `"`); quoted {
					line = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(strings.TrimSuffix(inner, `"`))
				} else if strings.ContainsAny(line, "\"'\\#") {
					t.Fatalf("an option that must be quoted: %q", line)
				}
				read = append(read, line)
			}
			if diff := gocmp.Diff(in.Server.Tomcat.JVMOptions, read); diff != "" {
				t.Fatalf("the file of options: %s", diff)
			}
		case "server_start.sh":
			// All of it is constant except the two directories.
			home, base := directories(in.Server.Tomcat)
			want := jsse.TrustStoreScript("STORE", "COMMAND")
			want = strings.ReplaceAll(want, "STORE", base+"/temp/client-authorities.p12")
			want = strings.ReplaceAll(want, "COMMAND", home+"/bin/catalina.sh run")
			if text != want {
				t.Fatalf("start.sh: %s", gocmp.Diff(want, text))
			}
		default:
			name, own := strings.CutPrefix(file, "server_conf_")
			if _, given := in.Files[name]; !own || !given {
				t.Fatalf("a file that nobody declared: %q", file)
			}
		}
	}
}

// checkRenderedContainer parses the command line and the environment.
func checkRenderedContainer(t *testing.T, c *corev1.Container, in *adapter.Input, home, base string, options []string) {
	t.Helper()
	env := map[string]string{}
	for _, v := range c.Env {
		env[v.Name] = strings.ReplaceAll(v.Value, "$$", "$") // as Kubernetes does
	}
	want := []string{"CATALINA_BASE", "CATALINA_HOME", "CATALINA_OPTS"}
	if !slices.ContainsFunc(options, func(o string) bool { return strings.HasPrefix(o, "-Xlog") }) {
		want = append(want, "JDK_JAVA_OPTIONS")
	}
	if names := slices.Sorted(maps.Keys(env)); !slices.Equal(names, want) {
		t.Fatalf("environment %v, want %v", names, want)
	}
	if slices.ContainsFunc(options, func(o string) bool { return !plainOption.MatchString(o) }) {
		options = []string{"@" + ownDirectory + "/" + optionFile}
	}
	given := strings.Fields(env["CATALINA_OPTS"])
	own := len(given) - len(options)
	if own < 2 || own > 6 || !slices.Equal(given[own:], options) {
		t.Fatalf("%q has other options than %q", env["CATALINA_OPTS"], options)
	}
	// The shell must only split at spaces, except in the rendered search path.
	for _, option := range given {
		if strings.ContainsAny(option, "$`\\\"'|&;<>(){}[]*?!#\x00") && option != "-Djava.library.path="+libraryPath(in) {
			t.Fatalf("option %q means more to a shell than itself", option)
		}
	}
	for _, folder := range []struct{ given, name, used string }{{home, "CATALINA_HOME", defaultHome}, {base, "CATALINA_BASE", env["CATALINA_HOME"]}} {
		if want := cmp.Or(folder.given, folder.used); env[folder.name] != want {
			t.Fatalf("%s is %q, not %q", folder.name, env[folder.name], want)
		}
	}
	seen := map[string]bool{}
	for _, m := range c.VolumeMounts {
		if seen[m.MountPath] {
			t.Fatalf("two mounts at %q", m.MountPath)
		}
		seen[m.MountPath] = true
		inBase := strings.HasPrefix(m.MountPath, env["CATALINA_BASE"]+"/")
		if !inBase && !strings.HasPrefix(m.MountPath, "/assay/") || strings.Contains(m.MountPath, "/../") || strings.HasSuffix(m.MountPath, "/..") || strings.Contains(m.MountPath, ":") {
			t.Fatalf("a mount at %q", m.MountPath)
		}
	}
}
