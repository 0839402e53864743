package nginx_test

import (
	"strings"
	"testing"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/server/servertest"
)

// TestMisplacedDirectivesAreRefused has files with which a real nginx wouldn't start, or would ignore them without
// a word, and what the error must say. Some must be accepted.
func TestMisplacedDirectivesAreRefused(t *testing.T) {
	for name, test := range map[string]struct{ file, text, want string }{
		"the usual default.conf": {
			"default.conf", "server {\n    listen       80;\n    server_name  localhost;\n    location / { root /usr/share/nginx/html; }\n}\n",
			"default.conf of the ConfigMap is included in the context server, where there must be no server {: leave that line out with its }",
		},
		"a further server's remedy":             {"default.conf", "server { }", "give the file the key default.http.conf"},
		"a whole file":                          {"my.conf", "events {}\nhttp { server { listen 8080; } }\n", "there must be no events {: give what is inside of it the key events.conf"},
		"http in http":                          {"http.conf", "# a comment with { \nhttp { gzip on; }\n", "there must be no http {: give what is inside of it the key http.conf"},
		"upstream in server":                    {"a.conf", "upstream a { server 127.0.0.1:9; }", "nginx has no directive upstream: give it the key http.conf"},
		"a module":                              {"a.conf", "load_module modules/a.so;", "nginx has no directive load_module: give it the key main.conf"},
		"multi_accept":                          {"main.conf", "multi_accept on;", "give it the key events.conf"},
		"location in http":                      {"a.http.conf", "location / { return 204; }", "give it the key server.conf"},
		"server in main":                        {"main.conf", "server { listen 8081; }", "there must be no server {"},
		"the rendered listen":                   {"server.conf", "listen 0.0.0.0:8080 reuseport;", "listens on port 8080 already: remove listen, and use the fields backlog, reusePort and http2"},
		"a server that gets no requests":        {"http.conf", "server { listen *:8080; }", "gets no requests beside the rendered one: give it a server_name"},
		"a } too much":                          {"a.conf", "location / { return 204; }\n}\n", "a.conf of the ConfigMap: there is a } without its {"},
		"a } too few":                           {"a.conf", "location / { return 204;\n", `the block of "location" has no } at its end`},
		"no ; at the end":                       {"a.conf", "gzip on", `the directive "gzip" has no ; at its end`},
		"no ; before a }":                       {"a.conf", "location / { return 204 }", `the directive "return" has no ; at its end`},
		"a { alone":                             {"a.conf", "{ gzip on; }", "a { without a directive"},
		"too many blocks":                       {"a.conf", strings.Repeat("a {", 100), "too many in each other"},
		"words with braces, quotes and escapes": {"a.conf", "set $a \"}\\\"{;\"; set $b '}'; set $c ${a}b}; location ~ \"^/x{2}\\.js$\" { return 200 \\{; }", ""},
		"Lua":                                   {"a.conf", "location / { content_by_lua_block { local t = {} -- don't\n ngx.say(t) } }", ""},
		"Lua without an end":                    {"a.conf", "content_by_lua_block { {}", `the block of "content_by_lua_block" has no } at its end`},
		"IPv6 beside IPv4":                      {"server.conf", "listen [::]:8080;", ""},
		"a virtual server by name":              {"b.http.conf", "server { listen 8080; server_name b; location / { return 204; } }", ""},
		"a virtual server in place of the rendered": {"b.http.conf", "server { listen 8080 default_server; }", ""},
		"a stream": {"main.conf", "stream { upstream a { server b:1; } server { listen 9000; } }", ""},
		"nothing":  {"a.conf", "\n# listen 8080;", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := server.Render(servertest.Web{Nginx: &v1alpha1.NginxServer{}, Files: map[string]string{test.file: test.text}}.Target())
			if test.want == "" {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), "spec.target.server.nginx.configuration: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want one with %q", err, test.want)
			}
		})
	}
}
