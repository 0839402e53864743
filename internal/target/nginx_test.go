package target

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// nginxSpecs were all started for real; see docs/servers/nginx.md.
var nginxSpecs = map[string]webSpec{
	"defaults": {nginx: &v1alpha1.NginxServer{}},
	"everything": {cpu: "1500m", nginx: &v1alpha1.NginxServer{
		Executable: "/usr/sbin/nginx", Port: ptr.To(int32(8081)), WorkerConnections: ptr.To(int32(2048)), Backlog: ptr.To(int32(4096)),
		KeepAlive: &v1alpha1.NginxKeepAlive{Mode: v1alpha1.Enabled, MaxRequests: ptr.To(int32(2)), TimeoutMilliseconds: ptr.To(int32(1500))},
		Sendfile:  v1alpha1.Enabled, AccessLog: v1alpha1.Enabled,
	}},
	"http2":     {nginx: &v1alpha1.NginxServer{HTTP2: v1alpha1.Enabled}},
	"tls-http2": {tls: &v1alpha1.TLS{}, nginx: &v1alpha1.NginxServer{HTTP2: v1alpha1.Enabled, Backlog: ptr.To(int32(512))}},
	"workers": {cpu: "1", nginx: &v1alpha1.NginxServer{
		WorkerProcesses: ptr.To(int32(3)), Sendfile: v1alpha1.Disabled, KeepAlive: &v1alpha1.NginxKeepAlive{Mode: v1alpha1.Disabled},
	}},
	"forward":     {nginx: &v1alpha1.NginxServer{Forward: forwards}},
	"forward-all": {nginx: &v1alpha1.NginxServer{Forward: []v1alpha1.Forward{{PathPrefix: "/", Backend: "app"}}}},
	"forward-folder": {nginx: &v1alpha1.NginxServer{Forward: []v1alpha1.Forward{
		{PathPrefix: "/app/", Backend: "app"}, {PathPrefix: "/app", Backend: "api"},
	}}},
	"configuration": {nginx: &v1alpha1.NginxServer{}, configuration: map[string]string{
		"z.conf": "location /z { return 200 z; }\n",
		"a.conf": "add_header X-Order a;\nlisten [::]:8080;",
	}},
	"own-main": {nginx: &v1alpha1.NginxServer{}, configuration: map[string]string{
		"extra.conf": "add_header X-Extra yes;\n",
		"nginx.conf": `pid /assay/run/nginx.pid;
error_log stderr notice;
events {}
http {
    client_body_temp_path /assay/run/client_body;
    proxy_temp_path /assay/run/proxy;
    fastcgi_temp_path /assay/run/fastcgi;
    uwsgi_temp_path /assay/run/uwsgi;
    scgi_temp_path /assay/run/scgi;
    access_log off;
    include mime.types;
    server {
        listen 8080;
        root /assay/content;
        include conf.d/*.conf;
    }
}
`,
	}},
	"own-main-daemon": {nginx: &v1alpha1.NginxServer{}, configuration: map[string]string{
		"nginx.conf": `daemon off; pid /assay/run/nginx.pid; error_log stderr;
events {}
http {
    client_body_temp_path /assay/run/client_body;
    proxy_temp_path /assay/run/proxy;
    fastcgi_temp_path /assay/run/fastcgi;
    uwsgi_temp_path /assay/run/uwsgi;
    scgi_temp_path /assay/run/scgi;
    access_log off;
    server { listen 8080; location / { return 200 own; } }
}
`,
	}},
}

func TestNginxIsGolden(t *testing.T) { goldenSpecs(t, "nginx", nginxSpecs) }
