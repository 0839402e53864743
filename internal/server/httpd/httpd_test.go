package httpd_test

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/server/servertest"
)

// specs were all started with real httpds; see docs/servers/httpd.md.
var specs = map[string]servertest.Web{
	"defaults": {HTTPD: &v1alpha1.HTTPDServer{}},
	"debian":   {HTTPD: &v1alpha1.HTTPDServer{Home: "/usr/lib/apache2", Executable: "/usr/sbin/apache2"}},
	"event": {HTTPD: &v1alpha1.HTTPDServer{
		MPM: v1alpha1.HTTPDEvent, Port: ptr.To(int32(8081)), StartServers: ptr.To(int32(2)), ServerLimit: ptr.To(int32(4)),
		ThreadsPerChild: ptr.To(int32(100)), MaxRequestWorkers: ptr.To(int32(400)), ListenBacklog: ptr.To(int32(2048)),
		KeepAlive: &v1alpha1.HTTPDKeepAlive{Mode: v1alpha1.Enabled, MaxRequests: ptr.To(int32(2)), TimeoutMilliseconds: ptr.To(int32(1500))},
		Sendfile:  v1alpha1.Enabled, AccessLog: v1alpha1.Enabled,
	}},
	"http2":     {HTTPD: &v1alpha1.HTTPDServer{HTTP2: v1alpha1.Enabled}},
	"tls-http2": {TLS: &v1alpha1.TLS{}, HTTPD: &v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDWorker, HTTP2: v1alpha1.Enabled}},
	"worker":    {HTTPD: &v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDWorker, MaxRequestWorkers: ptr.To(int32(1000)), Sendfile: v1alpha1.Disabled}},
	"prefork": {HTTPD: &v1alpha1.HTTPDServer{
		MPM: v1alpha1.HTTPDPrefork, MaxRequestWorkers: ptr.To(int32(300)), StartServers: ptr.To(int32(10)),
		KeepAlive: &v1alpha1.HTTPDKeepAlive{Mode: v1alpha1.Disabled},
	}},
	"prefork-few": {HTTPD: &v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDPrefork, MaxRequestWorkers: ptr.To(int32(2))}},
	"forward":     {HTTPD: &v1alpha1.HTTPDServer{Forward: servertest.Forwards}},
	"forward-all": {HTTPD: &v1alpha1.HTTPDServer{Forward: []v1alpha1.Forward{{PathPrefix: "/", Backend: "app"}}}},
	"forward-ajp": {HTTPD: &v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDWorker, Forward: []v1alpha1.Forward{
		{PathSuffix: ".jsp", Backend: "app", Protocol: v1alpha1.ForwardAJP}, {PathSuffix: ".do", Backend: "app", Protocol: v1alpha1.ForwardAJP},
		{PathPrefix: "/app/", Backend: "app", Protocol: v1alpha1.ForwardAJP}, {PathPrefix: "/api", Backend: "api", Protocol: v1alpha1.ForwardHTTP},
	}}},
	"forward-prefork": {HTTPD: &v1alpha1.HTTPDServer{MPM: v1alpha1.HTTPDPrefork, Forward: []v1alpha1.Forward{{PathSuffix: ".jsp", Backend: "app"}}}},
	"configuration": {HTTPD: &v1alpha1.HTTPDServer{}, Files: map[string]string{
		"z.conf": "Header set X-Order \"z\"\n",
		"a.conf": "LoadModule headers_module modules/mod_headers.so\nHeader set X-Order \"a\"",
	}},
	// What docs/servers/httpd.md says that files can set.
	"tuning": {TLS: &v1alpha1.TLS{}, HTTPD: &v1alpha1.HTTPDServer{HTTP2: v1alpha1.Enabled, Sendfile: v1alpha1.Enabled, MaxRequestWorkers: ptr.To(int32(100)), Forward: []v1alpha1.Forward{{PathPrefix: "/app", Backend: "app"}}}, Files: map[string]string{
		"processes.conf": "ListenBacklog 1024\nMinSpareThreads 25\nMaxSpareThreads 100\nMaxConnectionsPerChild 10000\nAsyncRequestWorkerFactor 4\nThreadStackSize 262144\n",
		"protocols.conf": "H2MaxWorkers 64\nH2MinWorkers 8\nH2MaxSessionStreams 200\nH2WindowSize 65535\nH2Direct on\n" +
			"SSLHonorCipherOrder on\nSSLSessionCacheTimeout 60\nSSLOpenSSLConfCmd Curves X25519\nSSLUseStapling off\n",
		"deflate.conf": `LoadModule filter_module modules/mod_filter.so
LoadModule deflate_module modules/mod_deflate.so
LoadModule brotli_module modules/mod_brotli.so
LoadModule headers_module modules/mod_headers.so
LoadModule rewrite_module modules/mod_rewrite.so
LoadModule cache_module modules/mod_cache.so
AddOutputFilterByType DEFLATE text/html
DeflateCompressionLevel 1
`,
		"core.conf": `EnableMMAP off
AcceptFilter https none
Mutex pthread
Timeout 30
LoadModule reqtimeout_module modules/mod_reqtimeout.so
RequestReadTimeout header=20
SendBufferSize 0
HostnameLookups Off
ExtendedStatus Off
`,
		"proxy.conf": `ProxyPass "/others" "http://127.0.0.1:9001/others" max=8 ttl=60 keepalive=On
ProxyTimeout 30
Listen 8090
<VirtualHost *:8090>
    SSLEngine off
    KeepAlive Off
</VirtualHost>
`,
	}},
	"own-main": {HTTPD: &v1alpha1.HTTPDServer{}, Files: map[string]string{
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
	for name, tls := range servertest.TLS {
		specs[name] = servertest.Web{HTTPD: &v1alpha1.HTTPDServer{}, TLS: tls}
	}
	for _, mpm := range []v1alpha1.HTTPDMPM{v1alpha1.HTTPDWorker, v1alpha1.HTTPDPrefork} {
		specs["tls-"+strings.ToLower(string(mpm))] = servertest.Web{
			HTTPD: &v1alpha1.HTTPDServer{MPM: mpm}, TLS: &v1alpha1.TLS{Certificate: servertest.SelfSigned, SessionResumption: v1alpha1.Enabled},
		}
	}
}

func TestRenderIsGolden(t *testing.T) {
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) {
			target, configurations := spec.Target()
			rendering, err := server.Render(target, configurations)
			if err != nil {
				t.Fatal(err)
			}
			files := rendering.Files
			rendering.Files = nil
			servertest.GoldenRendering(t, filepath.Join("golden", name), rendering, files, "server_mime.types")
		})
	}
}
