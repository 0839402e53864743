package jetty_test

import (
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/server/servertest"
)

// jettySpec is a target whose rendered files are in testdata.
type jettySpec struct {
	jetty v1alpha1.JettyServer
	tls   *v1alpha1.TLS
	files map[string]string
	// empty reports whether the run has no content.
	empty bool
}

func (s *jettySpec) target() (*v1alpha1.Target, server.Configurations) {
	j := s.jetty
	t := &v1alpha1.Target{
		Image: "example/jetty:1", ImagePullPolicy: corev1.PullIfNotPresent,
		Server: v1alpha1.Server{Jetty: &j}, TLS: s.tls,
	}
	if !s.empty {
		t.Content = []v1alpha1.ContentFile{{Path: "/index.html", SizeBytes: 1}, {Path: "/js/a.js", SizeBytes: 2}}
	}
	if s.files == nil {
		return t, nil
	}
	j.Configuration = &v1alpha1.Configuration{ConfigMapName: "mine"}
	return t, server.Configurations{server.ContainerName: s.files}
}

// specs were all started with a real Jetty 12.1.12, some also with 12.0.31; see
// docs/servers/jetty.md.
var specs = map[string]jettySpec{
	"defaults": {},
	"everything": {jetty: v1alpha1.JettyServer{
		Home: "/usr/local/jetty", Base: "/var/lib/jetty",
		Connector: &v1alpha1.JettyConnector{
			Port: ptr.To(int32(8081)), Acceptors: ptr.To(int32(2)), Selectors: ptr.To(int32(3)), AcceptQueueSize: ptr.To(int32(1024)),
			MaxConnections: ptr.To(int32(5000)), HTTP2: v1alpha1.Enabled,
			KeepAlive: &v1alpha1.JettyKeepAlive{Mode: v1alpha1.Enabled, TimeoutMilliseconds: ptr.To(int32(1500))},
		},
		Threads:    &v1alpha1.JettyThreads{Type: v1alpha1.JettyPlatformThreads, Max: ptr.To(int32(150)), Min: ptr.To(int32(20))},
		JVMOptions: []string{"-Xmx256m", "-Xlog:gc*:stdout:time,uptime", "-Da=b"},
		AccessLog:  v1alpha1.Enabled,
	}},
	"close": {jetty: v1alpha1.JettyServer{
		Connector: &v1alpha1.JettyConnector{KeepAlive: &v1alpha1.JettyKeepAlive{Mode: v1alpha1.Disabled}},
	}},
	"few-threads": {jetty: v1alpha1.JettyServer{
		Connector: &v1alpha1.JettyConnector{Acceptors: ptr.To(int32(0)), Selectors: ptr.To(int32(1))},
		Threads:   &v1alpha1.JettyThreads{Max: ptr.To(int32(6))},
	}},
	"virtual-threads": {jetty: v1alpha1.JettyServer{
		Threads: &v1alpha1.JettyThreads{Type: v1alpha1.JettyVirtualThreads, Max: ptr.To(int32(64))},
	}},
	"modules": {jetty: v1alpha1.JettyServer{Modules: []string{"ee10-deploy", "ee10-jsp", "statistics"}}},
	"image":   {jetty: v1alpha1.JettyServer{Modules: []string{"ee10-deploy"}}, empty: true},
	"image-content": {jetty: v1alpha1.JettyServer{
		Modules: []string{"ee10-deploy"}, Applications: v1alpha1.ApplicationsImage, JVMOptions: []string{"-Dpattern=$(HOME)?a&b|c;d"},
	}},
	"configuration": {files: map[string]string{
		"limits.ini":  "--modules=thread-limit\njetty.threadlimit.threadLimit=4\n",
		"headers.xml": "<?xml version=\"1.0\"?>\n<Configure/>\n",
		"mine.mod":    "[description]\nmine\n",
	}},
	"own-main": {files: map[string]string{
		"assay.ini": "--modules=http\njetty.http.port=8080\n/assay/jetty/content.xml\n",
	}},

	"tls": {tls: &v1alpha1.TLS{Certificate: servertest.SelfSigned}},
	"tls-http2": {
		jetty: v1alpha1.JettyServer{Connector: &v1alpha1.JettyConnector{HTTP2: v1alpha1.Enabled}},
		tls:   &v1alpha1.TLS{Certificate: servertest.SelfSigned},
	},
}

func init() {
	for name, tls := range servertest.TLS {
		specs[name] = jettySpec{tls: tls}
	}
}

func TestRenderIsGolden(t *testing.T) {
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			rendering, err := server.Render(spec.target())
			if err != nil {
				t.Fatal(err)
			}
			files := rendering.Files
			rendering.Files = nil
			servertest.GoldenRendering(t, filepath.Join("golden", name), rendering, files, "server_keystore.xml", "server_tls.xml")
		})
	}
}

func TestRenderRefuses(t *testing.T) {
	const jetty = "spec.target.server.jetty."
	tests := map[string]struct {
		spec jettySpec
		want string
	}{
		"home that leads elsewhere": {jettySpec{jetty: v1alpha1.JettyServer{Home: "/usr/../etc"}}, jetty + "home: "},
		"base with a line break":    {jettySpec{jetty: v1alpha1.JettyServer{Base: "/a\nb"}}, jetty + "base: "},
		"two modules in one":        {jettySpec{jetty: v1alpha1.JettyServer{Modules: []string{"http2", "a,b"}}}, jetty + "modules[1]: "},
		"module with a line break":  {jettySpec{jetty: v1alpha1.JettyServer{Modules: []string{"a\n--exec"}}}, jetty + "modules[0]: "},
		"nothing to serve":          {jettySpec{empty: true}, jetty + "modules: "},
		"content that isn't there":  {jettySpec{empty: true, jetty: v1alpha1.JettyServer{Modules: []string{"ee10-deploy"}, Applications: v1alpha1.ApplicationsContent}}, jetty + "applications: "},
		"applications undeployed":   {jettySpec{jetty: v1alpha1.JettyServer{Applications: v1alpha1.ApplicationsImage}}, jetty + "applications: "},
		"two options in one":        {jettySpec{jetty: v1alpha1.JettyServer{JVMOptions: []string{"-Da=b -Dc=d"}}}, jetty + "jvmOptions[0]: "},
		"file in another directory": {jettySpec{files: map[string]string{"../a.ini": ""}}, jetty + "configuration: "},
		"file of no use":            {jettySpec{files: map[string]string{"a.conf": ""}}, jetty + "configuration: "},
		"unknown protocol":          {jettySpec{tls: &v1alpha1.TLS{Protocols: []v1alpha1.TLSProtocol{"SSLv3"}}}, "spec.target.tls.protocols: "},
		"unknown cipher":            {jettySpec{tls: &v1alpha1.TLS{Ciphers: []v1alpha1.CipherSuite{"NULL"}}}, "spec.target.tls.ciphers: "},
		"two java.security": {jettySpec{
			jetty: v1alpha1.JettyServer{JVMOptions: []string{"-Djava.security.properties=/mine"}},
			tls:   &v1alpha1.TLS{Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv11, v1alpha1.TLSv12}},
		}, jetty + "jvmOptions: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := server.Render(test.spec.target())
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%v doesn't begin with %q", err, test.want)
			}
		})
	}
}
