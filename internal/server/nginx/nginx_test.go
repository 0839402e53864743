package nginx_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/server/servertest"
)

// specs were all started with real nginxes; see docs/servers/nginx.md.
var specs = map[string]servertest.Web{
	"defaults": {Nginx: &v1alpha1.NginxServer{}},
	"everything": {CPU: "1500m", Nginx: &v1alpha1.NginxServer{
		Executable: "/usr/sbin/nginx", Port: ptr.To(int32(8081)), WorkerConnections: ptr.To(int32(2048)), Backlog: ptr.To(int32(4096)),
		KeepAlive: &v1alpha1.NginxKeepAlive{Mode: v1alpha1.Enabled, MaxRequests: ptr.To(int32(2)), TimeoutMilliseconds: ptr.To(int32(1500))},
		Sendfile:  v1alpha1.Enabled, AccessLog: v1alpha1.Enabled,
	}},
	"http2":     {Nginx: &v1alpha1.NginxServer{HTTP2: v1alpha1.Enabled}},
	"tls-http2": {TLS: &v1alpha1.TLS{}, Nginx: &v1alpha1.NginxServer{HTTP2: v1alpha1.Enabled, Backlog: ptr.To(int32(512))}},
	"workers": {CPU: "1", Nginx: &v1alpha1.NginxServer{
		WorkerProcesses: ptr.To(int32(3)), Sendfile: v1alpha1.Disabled, KeepAlive: &v1alpha1.NginxKeepAlive{Mode: v1alpha1.Disabled},
	}},
	"forward": {Nginx: &v1alpha1.NginxServer{Forward: servertest.Forwards}},
	"forward-keep-alive": {Nginx: &v1alpha1.NginxServer{
		ReusePort: v1alpha1.Enabled, Forward: []v1alpha1.Forward{{PathPrefix: "/", Backend: "app"}},
		UpstreamKeepAlive: &v1alpha1.NginxUpstreamKeepAlive{Connections: ptr.To(int32(32)), MaxRequests: ptr.To(int32(100000)), TimeoutMilliseconds: ptr.To(int32(90000))},
	}},
	"forward-no-keep-alive": {Nginx: &v1alpha1.NginxServer{
		Forward: []v1alpha1.Forward{{PathPrefix: "/", Backend: "app"}}, UpstreamKeepAlive: &v1alpha1.NginxUpstreamKeepAlive{Connections: ptr.To(int32(0))},
	}},
	"forward-all": {Nginx: &v1alpha1.NginxServer{Forward: []v1alpha1.Forward{{PathPrefix: "/", Backend: "app"}}}},
	"forward-folder": {Nginx: &v1alpha1.NginxServer{Forward: []v1alpha1.Forward{
		{PathPrefix: "/app/", Backend: "app"}, {PathPrefix: "/app", Backend: "api"},
	}}},
	"configuration": {Nginx: &v1alpha1.NginxServer{}, Files: map[string]string{
		"z.conf": "location /z { return 200 z; }\n",
		"a.conf": "add_header X-Order a;\nlisten [::]:8080;",
	}},
	"contexts": {CPU: "2", Nginx: &v1alpha1.NginxServer{Backlog: ptr.To(int32(4096)), Forward: []v1alpha1.Forward{{PathPrefix: "/app", Backend: "app"}}}, Files: map[string]string{
		"main.conf":           "worker_rlimit_nofile 20000;\nworker_cpu_affinity auto;\nworker_shutdown_timeout 5s;\n",
		"events.conf":         "multi_accept on;\nuse epoll;\n",
		"10-tuning.http.conf": "tcp_nopush on;\naccess_log /assay/logs/mine.log combined;\nopen_file_cache max=1000 inactive=20s;\nmap $uri $kind { default other; ~\\.js$ script; }\n",
		"20-cache.http.conf":  "proxy_cache_path /assay/run/cache levels=1:2 keys_zone=pages:1m;\nupstream others { server 127.0.0.1:9001; keepalive 8; }\n",
		"other.http.conf":     "server { listen 8090; location / { return 200 other; } }\n",
		"server.conf":         "proxy_set_header X-Kind $kind;\nroot /assay/content/;\n",
		"index.http.conf":     "index index.htm index.html;\n",
		"z.conf":              "location /others { proxy_pass http://others; proxy_cache pages; }\n",
	}},
	// What docs/servers/nginx.md says that files can set.
	"tuning": {CPU: "1", TLS: &v1alpha1.TLS{}, Nginx: &v1alpha1.NginxServer{HTTP2: v1alpha1.Enabled, Sendfile: v1alpha1.Enabled}, Files: map[string]string{
		"main.conf":   "worker_cpu_affinity auto;\nworker_priority 0;\nworker_rlimit_nofile 20000;\nthread_pool files threads=2;\npcre_jit on;\n",
		"events.conf": "multi_accept on;\naccept_mutex on;\nuse epoll;\n",
		"http.conf": `tcp_nopush on; tcp_nodelay on;
open_file_cache max=1000 inactive=20s; open_file_cache_valid 60s; open_file_cache_min_uses 1;
gzip on; gzip_comp_level 1; gzip_types text/css application/javascript; gzip_min_length 100; gzip_static on;
aio threads=files; directio 8m; output_buffers 2 32k; etag off; reset_timedout_connection on;
http2_max_concurrent_streams 256; http2_recv_buffer_size 512k; http2_chunk_size 16k;
keepalive_disable none; client_header_timeout 10s; send_timeout 10s;
ssl_buffer_size 4k; ssl_session_cache shared:sessions:1m; ssl_session_timeout 1h; ssl_stapling off;
log_format mine "$request"; access_log /assay/logs/mine.log mine buffer=32k;
proxy_cache_path /assay/run/cache keys_zone=pages:1m;
limit_req_zone $binary_remote_addr zone=clients:1m rate=1000r/s;
map $uri $kind { default 1; }
split_clients $remote_addr $half { 50% a; * b; }
upstream mine { server 127.0.0.1:9001; keepalive 3; }
server { listen 8091; return 204; }
`,
		"server.conf": `ssl_prefer_server_ciphers on; ssl_ecdh_curve X25519; ssl_conf_command Options PrioritizeChaCha;
proxy_cache pages; proxy_buffers 8 16k; limit_req zone=clients burst=5;
location /others { proxy_pass http://mine; }
`,
	}},
	"own-main": {Nginx: &v1alpha1.NginxServer{}, Files: map[string]string{
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
	"own-main-daemon": {Nginx: &v1alpha1.NginxServer{}, Files: map[string]string{
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

func init() {
	for name, tls := range servertest.TLS {
		specs[name] = servertest.Web{Nginx: &v1alpha1.NginxServer{}, TLS: tls, CPU: "1"}
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

func TestRenderRefusesFilesThatNothingIncludes(t *testing.T) {
	_, err := server.Render(servertest.Web{Nginx: &v1alpha1.NginxServer{}, Files: map[string]string{"nginx.conf": "events {}", "a.conf": ""}}.Target())
	if err == nil || !strings.HasPrefix(err.Error(), "spec.target.server.nginx.configuration: nginx.conf replaces the file") {
		t.Errorf("got the error %v", err)
	}
}

func TestDaemonOffOnce(t *testing.T) {
	for text, want := range map[string]bool{
		"daemon off;":                     true,
		"worker_processes 1; daemon off;": true,
		"\n  daemon\toff ;\n":             true,
		"# daemon off;":                   false,
		"pid a; # daemon off;":            false,
		"daemon on;":                      false,
		"events {}":                       false,
		"":                                false,
	} {
		r, err := server.Render(servertest.Web{Nginx: &v1alpha1.NginxServer{}, Files: map[string]string{"nginx.conf": text}}.Target())
		if err != nil {
			t.Fatal(err)
		}
		args := r.Containers[0].Args
		if got := !slices.Contains(args, "-g"); got != want {
			t.Errorf("%q: left to the file: %t, want %t (%v)", text, got, want, args)
		}
	}
}
