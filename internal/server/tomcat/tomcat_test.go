package tomcat_test

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/server/servertest"
)

// tomcatSpec is a target whose rendered files are in testdata.
type tomcatSpec struct {
	tomcat        v1alpha1.TomcatServer
	tls           *v1alpha1.TLS
	configuration map[string]string
	// empty reports whether the run has no content. Otherwise it has content, or an index.
	empty   bool
	content string
}

func (s *tomcatSpec) target() (*v1alpha1.Target, server.Configurations) {
	t := &v1alpha1.Target{
		Image: "example/tomcat:1", ImagePullPolicy: corev1.PullIfNotPresent,
		Server: v1alpha1.Server{Tomcat: &s.tomcat}, TLS: s.tls,
	}
	if !s.empty {
		t.Content = []v1alpha1.ContentFile{{Path: cmp.Or(s.content, "/index.html"), SizeBytes: 1}}
	}
	if s.configuration == nil {
		return t, nil
	}
	s.tomcat.Configuration = &v1alpha1.Configuration{ConfigMapName: "mine"}
	return t, server.Configurations{server.ContainerName: s.configuration}
}

func tomcatBy(p v1alpha1.TomcatProtocol, by ...v1alpha1.TLSImplementation) v1alpha1.TomcatServer {
	c := v1alpha1.TomcatConnector{Protocol: p}
	if len(by) > 0 {
		c.TLSImplementation = by[0]
	}
	return v1alpha1.TomcatServer{Connector: c}
}

var selfSigned = &v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}}

func mutual() *v1alpha1.ClientAuthentication {
	return &v1alpha1.ClientAuthentication{Certificate: *selfSigned}
}

// tomcatSpecs were all started with real Tomcats 9.0.98, 10.1.34 and 11.0.2, as far as
// they support them; see docs/servers/tomcat.md.
var tomcatSpecs = map[string]tomcatSpec{
	"defaults": {tomcat: tomcatBy(v1alpha1.TomcatNIO)},
	"ajp":      {tomcat: v1alpha1.TomcatServer{AJP: &v1alpha1.TomcatAJP{}}},
	"ajp-set": {tomcat: v1alpha1.TomcatServer{
		Connector: v1alpha1.TomcatConnector{Executor: v1alpha1.TomcatShared, Port: ptr.To(int32(8081))},
		AJP:       &v1alpha1.TomcatAJP{Port: ptr.To(int32(8010)), MaxThreads: ptr.To(int32(300))},
	}},
	"nio2-shared": {tomcat: v1alpha1.TomcatServer{
		Connector: v1alpha1.TomcatConnector{
			Protocol: v1alpha1.TomcatNIO2, Port: ptr.To(int32(9090)), Executor: v1alpha1.TomcatShared,
			MaxThreads: ptr.To(int32(150)), MinSpareThreads: ptr.To(int32(20)), AcceptCount: ptr.To(int32(100)),
			MaxConnections: ptr.To(int32(5000)), Sendfile: v1alpha1.Disabled, Compression: v1alpha1.Disabled, HTTP2: v1alpha1.Disabled,
			KeepAlive: &v1alpha1.TomcatKeepAlive{MaxRequests: ptr.To(int32(-1)), TimeoutMilliseconds: ptr.To(int32(15000))},
		},
		JVMOptions: []string{"-server", "-Djava.security.egd=file:/dev/./urandom", "-Xmx256m"},
		AccessLog:  v1alpha1.Enabled,
	}},
	"nio-everything": {tomcat: v1alpha1.TomcatServer{
		Connector: v1alpha1.TomcatConnector{
			Protocol: v1alpha1.TomcatNIO, Port: ptr.To(int32(8081)), Executor: v1alpha1.TomcatInternal,
			MaxThreads: ptr.To(int32(50)), MinSpareThreads: ptr.To(int32(5)), AcceptCount: ptr.To(int32(10)), MaxConnections: ptr.To(int32(100)),
			Sendfile: v1alpha1.Enabled, Compression: v1alpha1.Enabled, HTTP2: v1alpha1.Enabled,
			KeepAlive: &v1alpha1.TomcatKeepAlive{MaxRequests: ptr.To(int32(2)), TimeoutMilliseconds: ptr.To(int32(500))},
		},
	}},
	"limits": {tomcat: v1alpha1.TomcatServer{
		Connector: v1alpha1.TomcatConnector{
			ConnectionTimeoutMilliseconds: ptr.To(int32(20000)), Compression: v1alpha1.Enabled, CompressionMinSizeBytes: ptr.To(int32(1024)), HTTP2: v1alpha1.Enabled,
			HTTP2Limits: &v1alpha1.TomcatHTTP2Limits{
				MaxConcurrentStreams: ptr.To(int32(200)), MaxConcurrentStreamExecution: ptr.To(int32(100)),
				Attributes: []v1alpha1.TomcatAttribute{{Name: "overheadCountFactor", Value: "0"}},
			},
			Attributes: []v1alpha1.TomcatAttribute{{Name: "processorCache", Value: "500"}, {Name: "socket.soReuseAddress", Value: "true"}},
		},
		JVMOptions: []string{"-Xmx256m", "-Durl=a?b&c|d;e", `-Dquoted="a\b"`, "-Dnumber=#1"},
	}},
	"image":         {empty: true},
	"image-content": {tomcat: v1alpha1.TomcatServer{Applications: v1alpha1.ApplicationsImage}},
	"image-own-server": {
		tomcat: v1alpha1.TomcatServer{Applications: v1alpha1.ApplicationsImage}, configuration: map[string]string{"server.xml": "<Server/>\n"},
	},
	"virtual-threads": {tomcat: v1alpha1.TomcatServer{
		Connector: v1alpha1.TomcatConnector{Protocol: v1alpha1.TomcatNIO, Executor: v1alpha1.TomcatVirtualThreads},
	}},
	"base": {tomcat: v1alpha1.TomcatServer{
		Home: "/usr/local/tomcat", Base: "/var/lib/instance", Connector: v1alpha1.TomcatConnector{Protocol: v1alpha1.TomcatNIO},
	}},
	"apr": {tomcat: tomcatBy(v1alpha1.TomcatAPR)},
	"apr-library-path": {tomcat: v1alpha1.TomcatServer{
		Connector:  v1alpha1.TomcatConnector{Protocol: v1alpha1.TomcatAPR, Sendfile: v1alpha1.Disabled},
		JVMOptions: []string{"-Djava.library.path=/usr/lib/x86_64-linux-gnu"},
	}},
	"configuration": {
		tomcat: tomcatBy(v1alpha1.TomcatNIO),
		configuration: map[string]string{
			"context.xml":   "<Context reloadable=\"false\"/>\n",
			"java.security": "# a file of conf that has the name of a rendered one\n",
		},
	},
	"own-server": {
		tomcat: tomcatBy(""),
		configuration: map[string]string{
			"logging.properties": "handlers = java.util.logging.ConsoleHandler\n.level = INFO\n",
			"server.xml": `<Server port="-1">
  <Listener className="org.apache.catalina.startup.VersionLoggerListener"/>
  <Service name="Catalina">
    <Connector port="8080" protocol="HTTP/1.1" maxThreads="7"/>
    <Connector port="8081" protocol="HTTP/1.1"/>
    <Engine name="Catalina" defaultHost="localhost"><Host name="localhost" appBase="webapps"/></Engine>
  </Service>
</Server>
`,
		},
	},

	"tls-jsse":      {tomcat: tomcatBy(v1alpha1.TomcatNIO), tls: &v1alpha1.TLS{Certificate: selfSigned}},
	"tls-jsse-nio2": {tomcat: tomcatBy(v1alpha1.TomcatNIO2), tls: &v1alpha1.TLS{Certificate: selfSigned, SessionResumption: v1alpha1.Enabled}},
	"tls-jsse-old": {tomcat: tomcatBy(v1alpha1.TomcatNIO), tls: &v1alpha1.TLS{
		Certificate: selfSigned, Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv10, v1alpha1.TLSv11, v1alpha1.TLSv12},
	}},
	"tls-jsse-ciphers": {tomcat: tomcatBy(v1alpha1.TomcatNIO), tls: &v1alpha1.TLS{
		Certificate: selfSigned, Ciphers: []v1alpha1.CipherSuite{"ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"},
	}},
	"tls-jsse-static-rsa": {tomcat: tomcatBy(v1alpha1.TomcatNIO2), tls: &v1alpha1.TLS{
		Certificate: selfSigned, Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv12}, Ciphers: []v1alpha1.CipherSuite{"AES128-SHA"},
	}},
	"tls-jsse-13": {tomcat: tomcatBy(v1alpha1.TomcatNIO), tls: &v1alpha1.TLS{
		Certificate: selfSigned, Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv13}, Ciphers: []v1alpha1.CipherSuite{"TLS_AES_256_GCM_SHA384"},
	}},
	"tls-jsse-mutual": {tomcat: tomcatBy(v1alpha1.TomcatNIO), tls: &v1alpha1.TLS{
		Certificate: selfSigned, ClientAuthentication: mutual(), SessionResumption: v1alpha1.Disabled,
	}},
	"tls-jsse-http2": {
		tomcat: v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{Protocol: v1alpha1.TomcatNIO, HTTP2: v1alpha1.Enabled, TLSImplementation: v1alpha1.TLSJSSE}},
		tls:    &v1alpha1.TLS{Certificate: selfSigned},
	},
	"tls-openssl": {tomcat: tomcatBy(v1alpha1.TomcatNIO, v1alpha1.TLSOpenSSL), tls: &v1alpha1.TLS{Certificate: selfSigned}},
	"tls-openssl-nio2": {tomcat: tomcatBy(v1alpha1.TomcatNIO2, v1alpha1.TLSOpenSSL), tls: &v1alpha1.TLS{
		Certificate: selfSigned, SessionResumption: v1alpha1.Enabled,
	}},
	"tls-openssl-old": {tomcat: tomcatBy(v1alpha1.TomcatNIO, v1alpha1.TLSOpenSSL), tls: &v1alpha1.TLS{
		Certificate: selfSigned, Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv10, v1alpha1.TLSv11, v1alpha1.TLSv12},
	}},
	"tls-openssl-ciphers": {tomcat: tomcatBy(v1alpha1.TomcatNIO, v1alpha1.TLSOpenSSL), tls: &v1alpha1.TLS{
		Certificate: selfSigned,
		Ciphers:     []v1alpha1.CipherSuite{"ECDHE-RSA-AES256-GCM-SHA384", "AES128-SHA", "TLS_CHACHA20_POLY1305_SHA256"},
	}},
	"tls-openssl-13": {tomcat: tomcatBy(v1alpha1.TomcatNIO, v1alpha1.TLSOpenSSL), tls: &v1alpha1.TLS{
		Certificate: selfSigned,
		Protocols:   []v1alpha1.TLSProtocol{v1alpha1.TLSv13}, Ciphers: []v1alpha1.CipherSuite{"TLS_AES_256_GCM_SHA384"},
	}},
	"tls-openssl-mutual": {tomcat: tomcatBy(v1alpha1.TomcatNIO, v1alpha1.TLSOpenSSL), tls: &v1alpha1.TLS{
		Certificate: selfSigned, ClientAuthentication: mutual(),
	}},
	"tls-ffm": {
		tomcat: v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{TLSImplementation: v1alpha1.TLSOpenSSLFFM, HonorCipherOrder: v1alpha1.Enabled}},
		tls: &v1alpha1.TLS{
			Certificate: selfSigned, Ciphers: []v1alpha1.CipherSuite{"ECDHE-RSA-AES256-GCM-SHA384", "TLS_CHACHA20_POLY1305_SHA256"},
		},
	},
	"tls-apr": {tomcat: tomcatBy(v1alpha1.TomcatAPR, v1alpha1.TLSOpenSSL), tls: &v1alpha1.TLS{
		Certificate: selfSigned,
		Protocols:   []v1alpha1.TLSProtocol{v1alpha1.TLSv12}, Ciphers: []v1alpha1.CipherSuite{"ECDHE-RSA-AES256-GCM-SHA384"},
	}},
	"tls-apr-13": {tomcat: tomcatBy(v1alpha1.TomcatAPR), tls: &v1alpha1.TLS{
		Certificate: selfSigned, Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv13}, Ciphers: []v1alpha1.CipherSuite{"TLS_AES_256_GCM_SHA384"},
	}},
	"tls-apr-sendfile": {
		tomcat: v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{Protocol: v1alpha1.TomcatAPR, Sendfile: v1alpha1.Enabled}},
		tls:    &v1alpha1.TLS{Certificate: selfSigned, ServerName: "www.example.org", Verification: v1alpha1.TLSVerifyNone},
	},
	"tls-apr-old": {tomcat: tomcatBy(v1alpha1.TomcatAPR), tls: &v1alpha1.TLS{
		Certificate: selfSigned, Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv10, v1alpha1.TLSv11},
	}},
	"tls-apr-mutual": {tomcat: tomcatBy(v1alpha1.TomcatAPR), tls: &v1alpha1.TLS{
		Certificate: selfSigned, ClientAuthentication: mutual(), SessionResumption: v1alpha1.Enabled,
	}},
}

func TestRenderIsGolden(t *testing.T) {
	for name, spec := range tomcatSpecs {
		t.Run(name, func(t *testing.T) {
			rendering, err := server.Render(spec.target())
			if err != nil {
				t.Fatal(err)
			}
			files := rendering.Files
			rendering.Files = nil
			servertest.GoldenRendering(t, filepath.Join("golden", name), rendering, files)
		})
	}
}

func TestRenderRefuses(t *testing.T) {
	tls := func(tls v1alpha1.TLS) *v1alpha1.TLS { tls.Certificate = selfSigned; return &tls }
	const tomcat = "spec.target.server.tomcat."
	tests := map[string]struct {
		spec tomcatSpec
		want string
	}{
		"home that leads elsewhere": {tomcatSpec{tomcat: v1alpha1.TomcatServer{Home: "/usr/local/.."}}, tomcat + "home: "},
		"home in quotes":            {tomcatSpec{tomcat: v1alpha1.TomcatServer{Home: `/a" b="`}}, tomcat + "home: "},
		"base with a space":         {tomcatSpec{tomcat: v1alpha1.TomcatServer{Base: "/a b"}}, tomcat + "base: "},
		"two options in one":        {tomcatSpec{tomcat: v1alpha1.TomcatServer{JVMOptions: []string{"-server", "-Da=b -Dc=d"}}}, tomcat + "jvmOptions[1]: "},
		"option with a space":       {tomcatSpec{tomcat: v1alpha1.TomcatServer{JVMOptions: []string{"-Da= b"}}}, tomcat + "jvmOptions[0]: "},
		"content that isn't there":  {tomcatSpec{empty: true, tomcat: v1alpha1.TomcatServer{Applications: v1alpha1.ApplicationsContent}}, tomcat + "applications: "},
		"context of the content":    {tomcatSpec{content: "/META-INF/context.xml"}, "spec.target.content: Tomcat reads /META-INF/context.xml only of applications that it deploys itself"},
		"APR by FFM":                {tomcatSpec{tomcat: tomcatBy(v1alpha1.TomcatAPR, v1alpha1.TLSOpenSSLFFM), tls: tls(v1alpha1.TLS{})}, tomcat + "connector.tlsImplementation: "},
		"attribute of a field": {tomcatSpec{tomcat: v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{
			Attributes: []v1alpha1.TomcatAttribute{{Name: "maxThreads", Value: "1"}},
		}}}, tomcat + "connector.attributes[0].name: "},
		"attribute of HTTP/2 of a field": {tomcatSpec{tomcat: v1alpha1.TomcatServer{Connector: v1alpha1.TomcatConnector{
			HTTP2: v1alpha1.Enabled, HTTP2Limits: &v1alpha1.TomcatHTTP2Limits{Attributes: []v1alpha1.TomcatAttribute{{Name: "className", Value: "a"}}},
		}}}, tomcat + "connector.http2Limits.attributes[0].name: "},
		"option with a line break": {tomcatSpec{tomcat: v1alpha1.TomcatServer{JVMOptions: []string{"-Da=b\n"}}}, tomcat + "jvmOptions[0]: "},
		"unknown connector":        {tomcatSpec{tomcat: tomcatBy("BIO")}, tomcat + "connector.protocol: "},
		"file above conf":          {tomcatSpec{configuration: map[string]string{"..": "x"}}, tomcat + "configuration: "},
		"file in another folder":   {tomcatSpec{configuration: map[string]string{"Catalina/localhost.xml": "x"}}, tomcat + "configuration: "},
		"APR by JSSE":              {tomcatSpec{tomcat: tomcatBy(v1alpha1.TomcatAPR, v1alpha1.TLSJSSE), tls: tls(v1alpha1.TLS{})}, tomcat + "connector.tlsImplementation: "},
		"unknown implementation":   {tomcatSpec{tomcat: tomcatBy("", "GnuTLS"), tls: tls(v1alpha1.TLS{})}, tomcat + "connector.tlsImplementation: "},
		"unknown protocol":         {tomcatSpec{tls: tls(v1alpha1.TLS{Protocols: []v1alpha1.TLSProtocol{"SSLv3"}})}, "spec.target.tls.protocols: "},
		"cipher that is two":       {tomcatSpec{tls: tls(v1alpha1.TLS{Ciphers: []v1alpha1.CipherSuite{"AES128-SHA:ALL"}})}, "spec.target.tls.ciphers: "},
		"two java.security": {tomcatSpec{
			tomcat: v1alpha1.TomcatServer{JVMOptions: []string{"-Djava.security.properties=/mine"}},
			tls:    tls(v1alpha1.TLS{Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv11, v1alpha1.TLSv12}}),
		}, tomcat + "jvmOptions: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := server.Render(test.spec.target())
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%v doesn't begin with %q", err, test.want)
			}
		})
	}
	own := tomcatSpec{content: "/META-INF/context.xml", configuration: map[string]string{"server.xml": "<Server/>"}}
	if _, err := server.Render(own.target()); err != nil {
		t.Errorf("with a server.xml of the user's own, which may deploy the content: %v", err)
	}
}

// TestNoShellSeesPatterns checks that options with patterns and commands go into a file: the shell of
// catalina.sh expands CATALINA_OPTS.
func TestNoShellSeesPatterns(t *testing.T) {
	options := []string{"-Xmx64m", "-Xlog:gc*:stdout:time,uptime", "-Dname=*", "-Da=$(id)`id`"}
	spec := tomcatSpec{tomcat: v1alpha1.TomcatServer{JVMOptions: options}}
	r, err := server.Render(spec.target())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range r.Containers[0].Env {
		if strings.Contains(v.Value, "*") || v.Name == "CATALINA_OPTS" && !strings.HasSuffix(v.Value, " @/assay/tomcat/jvm.options") {
			t.Errorf("%s=%s", v.Name, v.Value)
		}
	}
	if got, want := r.Files["server_jvm.options"], "-Xmx64m\n-Xlog:gc*:stdout:time,uptime\n-Dname=*\n-Da=$(id)`id`\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTomcatAsBackend checks that messages name the fields of the backend.
func TestTomcatAsBackend(t *testing.T) {
	target := &v1alpha1.Target{
		Image: "example/front:1", Server: v1alpha1.Server{Generic: &v1alpha1.GenericServer{}}, TLS: &v1alpha1.TLS{Certificate: selfSigned},
		Backends: []v1alpha1.Backend{{Name: "jsp", Image: "example/tomcat:1", Server: v1alpha1.BackendServer{Tomcat: &v1alpha1.TomcatServer{
			Connector: v1alpha1.TomcatConnector{Port: ptr.To(int32(9090)), Protocol: v1alpha1.TomcatAPR},
		}}}},
	}
	r, err := server.Render(target, server.Configurations{"jsp": {"context.xml": "<Context/>"}})
	if err != nil {
		t.Fatal(err)
	}
	if xml := r.Files["jsp_server.xml"]; !strings.Contains(xml, `port="9090"`) || strings.Contains(xml, "SSL") && !strings.Contains(xml, "SSLEngine") {
		t.Errorf("the backend's server.xml:\n%s", xml)
	}
	if r.Files["jsp_conf_context.xml"] != "<Context/>" {
		t.Errorf("the backend's files: %v", slices.Sorted(maps.Keys(r.Files)))
	}
	_, found := server.ReadLogs(target, nil, map[string]string{"jsp": servertest.Log(t, "logs/tomcat-11-apr-refused")})
	if len(found) != 1 || found[0].Field != "spec.target.backends[jsp].server.tomcat.connector.protocol" {
		t.Errorf("found %v", found)
	}
}

// TestTomcatSpareThreads checks that a shared executor never has more spare threads than
// maxThreads.
func TestTomcatSpareThreads(t *testing.T) {
	for most, want := range map[int32]string{20: `minSpareThreads="20"`, 25: "", 200: ""} {
		r, err := server.Render(&v1alpha1.Target{Server: v1alpha1.Server{Tomcat: &v1alpha1.TomcatServer{
			Home: "/usr/local/tomcat", Connector: v1alpha1.TomcatConnector{Protocol: v1alpha1.TomcatNIO, Executor: v1alpha1.TomcatShared, MaxThreads: &most},
		}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		file := r.Files["server_server.xml"]
		if has := strings.Contains(file, "minSpareThreads"); has != (want != "") || !strings.Contains(file, want) {
			t.Errorf("with %d threads, want %q:\n%s", most, want, file)
		}
	}
}
