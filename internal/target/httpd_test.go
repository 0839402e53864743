package target

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// webSpec is a target with httpd or nginx of which every rendered file is kept
// in testdata.
type webSpec struct {
	httpd         *v1alpha1.HTTPDServer
	nginx         *v1alpha1.NginxServer
	tls           *v1alpha1.TLS
	cpu           string
	configuration map[string]string
}

// target has two backends if requests are forwarded.
func (s webSpec) target() (*v1alpha1.Target, Configurations) {
	t := &v1alpha1.Target{
		Image: "example/server:1", ImagePullPolicy: corev1.PullIfNotPresent,
		Server: v1alpha1.Server{HTTPD: s.httpd, Nginx: s.nginx}, TLS: s.tls,
	}
	if s.httpd != nil && s.httpd.Forward != nil || s.nginx != nil && s.nginx.Forward != nil {
		t.Backends = []v1alpha1.Backend{
			{Name: "app", Image: "example/tomcat:1", Server: v1alpha1.BackendServer{Generic: &v1alpha1.GenericServer{Port: ptr.To(int32(9001)), ContentPath: "/srv"}}},
			{Name: "api", Image: "example/api:1", Server: v1alpha1.BackendServer{Generic: &v1alpha1.GenericServer{Port: ptr.To(int32(9002)), ContentPath: "/srv"}}},
		}
	}
	if s.cpu != "" {
		t.Resources.CPU = ptr.To(resource.MustParse(s.cpu))
	}
	if s.configuration == nil {
		return t, nil
	}
	own := &v1alpha1.Configuration{ConfigMapName: "mine"}
	if s.httpd != nil {
		t.Server.HTTPD = ptr.To(*s.httpd)
		t.Server.HTTPD.Configuration = own
	} else {
		t.Server.Nginx = ptr.To(*s.nginx)
		t.Server.Nginx.Configuration = own
	}
	return t, Configurations{ContainerName: s.configuration}
}

// forwards has all kinds of routes, and an order that counts.
var forwards = []v1alpha1.Forward{
	{PathPrefix: "/app/static", Backend: "api"},
	{PathPrefix: "/v1/", Backend: "api"},
	{PathSuffix: ".jsp", Backend: "app"},
	{PathPrefix: "/app", Backend: "api"},
	{PathPrefix: "/v2.0/", Backend: "app"},
	{PathSuffix: ".do", Backend: "app"},
}

// webTLS are the ways to speak TLS, for both servers.
var webTLS = map[string]*v1alpha1.TLS{
	"tls": {Certificate: selfSigned},
	"tls-old": {
		Certificate: selfSigned, Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv10, v1alpha1.TLSv11, v1alpha1.TLSv12},
	},
	"tls-10-cipher": {
		Certificate: selfSigned, Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv10}, Ciphers: []v1alpha1.CipherSuite{"AES128-SHA"},
	},
	"tls-12-cipher": {
		Certificate: selfSigned, Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv12}, SessionResumption: v1alpha1.Disabled,
		Ciphers: []v1alpha1.CipherSuite{"ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"},
	},
	"tls-12-resume": {
		Certificate: selfSigned, Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv12}, SessionResumption: v1alpha1.Enabled,
	},
	"tls-13-cipher": {
		Certificate: selfSigned, Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv13}, Ciphers: []v1alpha1.CipherSuite{"TLS_CHACHA20_POLY1305_SHA256"},
	},
	"tls-13-resume": {
		Certificate: selfSigned, Protocols: []v1alpha1.TLSProtocol{v1alpha1.TLSv13}, SessionResumption: v1alpha1.Enabled,
	},
	"tls-ciphers": {
		Certificate: selfSigned,
		Ciphers:     []v1alpha1.CipherSuite{"TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-SHA", "AES256-GCM-SHA384"},
	},
	"tls-mutual": {Certificate: selfSigned, ClientAuthentication: mutual()},
}

// httpdSpecs were all started for real; see docs/servers/httpd.md.
var httpdSpecs = map[string]webSpec{
	"defaults": {httpd: &v1alpha1.HTTPDServer{}},
	"debian":   {httpd: &v1alpha1.HTTPDServer{Home: "/usr/lib/apache2", Executable: "/usr/sbin/apache2"}},
	"event": {httpd: &v1alpha1.HTTPDServer{
		MPM: v1alpha1.HTTPDEvent, Port: ptr.To(int32(8081)), StartServers: ptr.To(int32(2)), ServerLimit: ptr.To(int32(4)),
		ThreadsPerChild: ptr.To(int32(100)), MaxRequestWorkers: ptr.To(int32(400)), ListenBacklog: ptr.To(int32(2048)),
		KeepAlive: &v1alpha1.HTTPDKeepAlive{Mode: v1alpha1.Enabled, MaxRequests: ptr.To(int32(2)), TimeoutMilliseconds: ptr.To(int32(1500))},
		Sendfile:  v1alpha1.Enabled, AccessLog: v1alpha1.Enabled,
	}},
	"http2":     {httpd: &v1alpha1.HTTPDServer{HTTP2: v1alpha1.Enabled}},
	"tls-http2": {tls: &v1alpha1.TLS{}, httpd: &v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDWorker, HTTP2: v1alpha1.Enabled}},
	"worker":    {httpd: &v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDWorker, MaxRequestWorkers: ptr.To(int32(1000)), Sendfile: v1alpha1.Disabled}},
	"prefork": {httpd: &v1alpha1.HTTPDServer{
		MPM: v1alpha1.HTTPDPrefork, MaxRequestWorkers: ptr.To(int32(300)), StartServers: ptr.To(int32(10)),
		KeepAlive: &v1alpha1.HTTPDKeepAlive{Mode: v1alpha1.Disabled},
	}},
	"prefork-few":     {httpd: &v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDPrefork, MaxRequestWorkers: ptr.To(int32(2))}},
	"forward":         {httpd: &v1alpha1.HTTPDServer{Forward: forwards}},
	"forward-all":     {httpd: &v1alpha1.HTTPDServer{Forward: []v1alpha1.Forward{{PathPrefix: "/", Backend: "app"}}}},
	"forward-prefork": {httpd: &v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDPrefork, Forward: []v1alpha1.Forward{{PathSuffix: ".jsp", Backend: "app"}}}},
	"configuration": {httpd: &v1alpha1.HTTPDServer{}, configuration: map[string]string{
		"z.conf": "Header set X-Order \"z\"\n",
		"a.conf": "LoadModule headers_module modules/mod_headers.so\nHeader set X-Order \"a\"",
	}},
	"own-main": {httpd: &v1alpha1.HTTPDServer{}, configuration: map[string]string{
		"extra.conf": "Header set X-Extra yes\n",
		"httpd.conf": `ServerRoot /usr/local/apache2
ServerName localhost
Listen 8080
LoadModule mpm_worker_module modules/mod_mpm_worker.so
<IfModule !unixd_module>
LoadModule unixd_module modules/mod_unixd.so
</IfModule>
LoadModule authz_core_module modules/mod_authz_core.so
LoadModule headers_module modules/mod_headers.so
DefaultRuntimeDir /assay/run
PidFile /assay/run/httpd.pid
ErrorLog /proc/self/fd/2
LogLevel notice
DocumentRoot /assay/content`,
	}},
}

func init() {
	for name, tls := range webTLS {
		httpdSpecs[name] = webSpec{httpd: &v1alpha1.HTTPDServer{}, tls: tls}
		nginxSpecs[name] = webSpec{nginx: &v1alpha1.NginxServer{}, tls: tls, cpu: "1"}
	}
	for _, mpm := range []v1alpha1.HTTPDMPM{v1alpha1.HTTPDWorker, v1alpha1.HTTPDPrefork} {
		httpdSpecs["tls-"+strings.ToLower(string(mpm))] = webSpec{
			httpd: &v1alpha1.HTTPDServer{MPM: mpm}, tls: &v1alpha1.TLS{Certificate: selfSigned, SessionResumption: v1alpha1.Enabled},
		}
	}
}

func TestHTTPDIsGolden(t *testing.T) { goldenSpecs(t, "httpd", httpdSpecs) }

func goldenSpecs(t *testing.T, server string, specs map[string]webSpec) {
	t.Helper()
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			rendering, err := Render(spec.target())
			if err != nil {
				t.Fatal(err)
			}
			folder := filepath.Join(server, name)
			if *update {
				if err := os.MkdirAll(filepath.Join("testdata", folder), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for file, text := range rendering.Files {
				if file == "server_mime.types" { // always the same
					golden(t, filepath.Join(server, "mime.types"), text)
				} else {
					golden(t, filepath.Join(folder, file), text)
				}
			}
			rendering.Files = nil
			pod, err := json.MarshalIndent(rendering, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join(folder, "pod.json"), string(pod)+"\n")
		})
	}
}
