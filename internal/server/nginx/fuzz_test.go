package nginx_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/nginx"
	"github.com/assay-dev/assay/internal/server/servertest"
)

// tokenSyntax matches a token of nginx.conf: a comment, a punctuation mark, or a word,
// quoted or not.
var tokenSyntax = regexp.MustCompile(`\A(?:#[^\n]*|[;{}]|"(?:[^"\\\x00-\x1f]|\\.)*"|[^\s;{}"'#\\\x00-\x1f]+)`)

// parse returns one string per directive of nginx.conf, with its blocks and its quoted
// arguments.
func parse(text string) ([]string, error) {
	var all, open, words []string
	for {
		text = strings.TrimLeft(text, " \n")
		if text == "" {
			break
		}
		token := tokenSyntax.FindString(text)
		text = text[len(token):]
		switch {
		case token == "":
			return nil, fmt.Errorf("no token: %.40q", text)
		case strings.HasPrefix(token, "#"):
		case token == "}":
			if len(words) > 0 || len(open) == 0 {
				return nil, fmt.Errorf("a block ends too early, after %q", words)
			}
			open = open[:len(open)-1]
		case token == ";" || token == "{":
			if len(words) == 0 {
				return nil, fmt.Errorf("%s without a directive", token)
			}
			if token == "{" {
				open = append(open, strings.Join(words, " "))
			} else {
				all = append(all, strings.Join(append(append([]string{}, open...), strings.Join(words, " ")), " > "))
			}
			words = nil
		default:
			if len(text) > 0 && !strings.ContainsAny(text[:1], " \n;{") {
				return nil, fmt.Errorf("%s isn't ended", token)
			}
			word := strings.Trim(token, `"`)
			if len(words) > 0 {
				word = fmt.Sprintf("%q", word)
			}
			words = append(words, word)
		}
	}
	if len(open)+len(words) > 0 {
		return nil, fmt.Errorf("%q isn't ended", append(open, words...))
	}
	return all, nil
}

// expect returns the directives for the strings, by other code than the adapter's.
func expect(s servertest.Strings) []string {
	all := []string{
		`worker_processes "1"`, `worker_rlimit_nofile "32768"`, `pid "/assay/run/nginx.pid"`, `error_log "stderr" "notice"`,
		`events > worker_connections "16384"`,
		`http > client_body_temp_path "/assay/run/client_body"`, `http > proxy_temp_path "/assay/run/proxy"`, `http > fastcgi_temp_path "/assay/run/fastcgi"`,
		`http > uwsgi_temp_path "/assay/run/uwsgi"`, `http > scgi_temp_path "/assay/run/scgi"`,
		`http > include "/assay/nginx/mime.types"`, `http > default_type "application/octet-stream"`, `http > access_log "off"`,
		`http > server_tokens "on"`, `http > client_max_body_size "0"`,
		fmt.Sprintf(`http > upstream "backend-%s" > server "127.0.0.1:9001"`, s.Backend), fmt.Sprintf(`http > upstream "backend-%s" > keepalive "1024"`, s.Backend),
		`http > proxy_http_version "1.1"`, `http > proxy_set_header "Connection" ""`, `http > proxy_set_header "Host" "$http_host"`,
	}
	server := func(format string, values ...any) {
		all = append(all, "http > server > "+fmt.Sprintf(format, values...))
	}
	server(`listen "8443" "ssl"`)
	server(`root "/assay/content"`)
	server(`index "index.html"`)
	server(`ssl_certificate "/assay/tls/tls.crt"`)
	server(`ssl_certificate_key "/assay/tls/tls.key"`)
	server(`ssl_protocols %q`, s.Protocol)
	switch {
	case s.Oldest() && s.TLS13():
		server(`ssl_ciphers "DEFAULT:@SECLEVEL=0"`)
	case s.Oldest():
		server(`ssl_ciphers %q`, s.Cipher+":@SECLEVEL=0")
	case !s.TLS13():
		server(`ssl_ciphers %q`, s.Cipher)
	}
	if s.TLS13() {
		server(`ssl_conf_command "Ciphersuites" %q`, s.Cipher)
	}
	server(`ssl_session_cache "off"`)
	server(`ssl_session_tickets "off"`)
	location := func(match string) { server(`location %s > proxy_pass "http://backend-%s"`, match, s.Backend) }
	if !strings.HasSuffix(s.Prefix, "/") {
		location(fmt.Sprintf(`"=" %q`, s.Prefix))
		location(fmt.Sprintf(`"^~" %q`, s.Prefix+"/"))
	} else {
		location(fmt.Sprintf(`"^~" %q`, s.Prefix))
	}
	location(fmt.Sprintf(`"~" %q`, regexp.QuoteMeta(s.Suffix)+"$"))
	location(`"~" "^/last(/|$)"`)
	server(`include "/assay/nginx/conf.d/%s"`, s.Key)
	return all
}

var fuzz = servertest.Fuzz{
	Adapter: nginx.Server{},
	Spec: func(s servertest.Strings) *v1alpha1.Server {
		return &v1alpha1.Server{Nginx: &v1alpha1.NginxServer{
			Executable: s.Executable, Forward: s.Forward(), Configuration: &v1alpha1.Configuration{ConfigMapName: "mine"},
		}}
	},
	Main: "nginx.conf", Parse: parse, Expect: expect,
	Command: func(servertest.Strings) string { return "/usr/sbin/nginx" },
}

func FuzzRender(f *testing.F) {
	servertest.Seed(f)
	f.Fuzz(func(t *testing.T, _, executable, suffix, prefix, backend, cipher, protocol, _, key string) {
		fuzz.Check(t, servertest.Strings{ // nginx has neither home nor MPM
			Executable: executable, Suffix: suffix, Prefix: prefix, Backend: backend, Cipher: cipher, Protocol: protocol, Key: key,
		})
	})
}

func TestHarmlessStringsAreRendered(t *testing.T) {
	if _, err := fuzz.Adapter.Render(servertest.Harmless.Input(fuzz.Spec(servertest.Harmless))); err != nil {
		t.Error(err)
	}
}
