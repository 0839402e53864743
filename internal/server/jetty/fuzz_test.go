package jetty

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
)

// FuzzRender puts any text wherever a user may set one. An error names the field;
// otherwise the text is in its own place and adds no line to start.d.
func FuzzRender(f *testing.F) {
	harmless := []string{"/usr/local/jetty", "/var/lib/jetty", "-Xmx1g", "ee10-deploy", "mine.ini", "AES128-SHA", "TLSv1.2"}
	add := func(s []string) { f.Add(s[0], s[1], s[2], s[3], s[4], s[5], s[6]) }
	add(harmless)
	for _, nasty := range []string{
		"", "/a\" x=\"y", "/a b", "/a/../b", "/a\n--exec", "relative", "-Da -Db", "-Dx=$(HOME)", "-Dx='\"`;&|", "-D\n-jar", "a,b", "a\n--exec", "a=b", "logging/slf4j", "../a.ini",
		"a.conf", "assay.ini", "b.xml", "c.mod", "AES128-SHA,ALL", "TLS_AES_128_GCM_SHA256", "TLSv1", "TLSv1.3", "TLSv1\njetty.ssl.port=1", "\x00", "\xff", "ä",
	} {
		for i := range harmless {
			s := slices.Clone(harmless)
			s[i] = nasty
			add(s)
		}
	}
	f.Fuzz(func(t *testing.T, home, base, option, module, file, cipher, protocol string) {
		in := &adapter.Input{
			Name: adapter.ContainerName,
			Server: &v1alpha1.Server{Jetty: &v1alpha1.JettyServer{
				Home: home, Base: base, JVMOptions: []string{option}, Modules: []string{module},
				Connector:     &v1alpha1.JettyConnector{Acceptors: ptr.To(int32(2))},
				Configuration: &v1alpha1.Configuration{ConfigMapName: "mine"},
			}},
			TLS:   &v1alpha1.TLS{Ciphers: []v1alpha1.CipherSuite{v1alpha1.CipherSuite(cipher)}, Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSProtocol(protocol)}},
			Files: map[string]string{file: "# mine"}, Content: []string{"/a"},
		}
		r, err := Server{}.Render(in)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "spec.target.") || strings.ContainsAny(err.Error(), "\n\x00") {
				t.Errorf("the error isn't clear: %q", err)
			}
			return
		}
		// The same with harmless texts has the same lines but for their values.
		plain := settingNames(settings(in))
		in.Server.Jetty.Modules = []string{harmless[3]}
		if want := settingNames(settings(in)); len(plain) != len(want) {
			t.Errorf("%d settings, want %d: %q", len(plain), len(want), plain)
		}
		for name, text := range r.Files {
			if strings.HasSuffix(name, ".xml") && !strings.HasPrefix(name, "server_own_") {
				checkXML(t, text)
			}
		}
		seen := map[string]bool{}
		for _, m := range r.Container.VolumeMounts {
			if seen[m.MountPath] || strings.Contains(m.MountPath, "/../") || strings.ContainsAny(m.MountPath, ":\n") {
				t.Errorf("a mount at %q", m.MountPath)
			}
			seen[m.MountPath] = true
		}
		args := r.Container.Args
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "$$", "$") // as Kubernetes does
		}
		if !slices.Contains(args, option) || args[len(args)-1] != "jetty.base="+baseOf(in.Server.Jetty) {
			t.Errorf("arguments %q", args)
		}
	})
}

// settingNames returns what is left of each line's value. The lines of a module
// that deploys differ.
func settingNames(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), "=")
		if name != "" && !strings.HasPrefix(name, "#") && name != "jetty.deploy.scanInterval" && name != contentFile {
			names = append(names, name)
		}
	}
	return names
}

func checkXML(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}
