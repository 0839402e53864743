package nginx

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/server/adapter"
)

// The contexts of nginx's configuration in which files of the user's own are included
// (https://nginx.org/en/docs/beginners_guide.html#conf_structure).
const (
	inMain   = "main"
	inEvents = "events"
	inHTTP   = "http"
	inServer = "server"
)

// rules are those of the user's own files.
var rules = &adapter.FileRules{
	Kind: "nginx", Main: mainFile, Kept: []string{"executable", "port"}, Settings: settings,
	Fields: map[string][]string{
		"worker_processes": {"workerProcesses"}, "worker_connections": {"workerConnections"},
		"keepalive_timeout": {"keepAlive.mode", "keepAlive.timeoutMilliseconds"}, "keepalive_requests": {"keepAlive.maxRequests"},
		"sendfile": {"sendfile"}, "access_log": {"accessLog"}, "http2": {"http2"},
		"ssl_protocols": {"tls.protocols"}, "ssl_ciphers": {"tls.ciphers"}, "ssl_verify_client": {"tls.clientAuthentication"},
	},
}

// only has the directives that nginx takes in one context alone, as far as people put them into
// another (https://nginx.org/en/docs/dirindex.html).
var only = map[string]string{}

func init() {
	for context, names := range map[string]string{
		inMain: "load_module user worker_processes worker_rlimit_nofile worker_rlimit_core worker_cpu_affinity worker_priority worker_shutdown_timeout " +
			"pid daemon master_process env thread_pool pcre_jit timer_resolution lock_file ssl_engine working_directory stream mail",
		inEvents: "worker_connections use multi_accept accept_mutex accept_mutex_delay worker_aio_requests",
		inHTTP: "server upstream map map_hash_bucket_size map_hash_max_size geo split_clients log_format limit_req_zone limit_conn_zone proxy_cache_path " +
			"fastcgi_cache_path uwsgi_cache_path scgi_cache_path server_names_hash_bucket_size server_names_hash_max_size variables_hash_max_size",
		inServer: "listen server_name location",
	} {
		for name := range strings.FieldsSeq(names) {
			only[name] = context
		}
	}
}

// contextOf returns the context in which a file is included: by what its name has before .conf and
// after an earlier dot, such as http in cache.http.conf.
func contextOf(file string) string {
	name := strings.TrimSuffix(file, ".conf")
	name = name[strings.LastIndex(name, ".")+1:]
	if slices.Contains([]string{inMain, inEvents, inHTTP}, name) {
		return name
	}
	return inServer
}

// settings returns what a file sets that is included.
func settings(in *adapter.Input, file string) ([]adapter.Setting, error) {
	directives, err := parse(in.Files[file])
	if err != nil {
		return nil, fmt.Errorf("%s of the ConfigMap: %w", file, err)
	}
	context := contextOf(file)
	for _, d := range directives {
		if err := checkPlace(in, file, context, d); err != nil {
			return nil, err
		}
	}
	var all []adapter.Setting
	var add func(directives []directive, part bool)
	add = func(directives []directive, part bool) {
		for _, d := range directives {
			// Another server has its own.
			if d.name == "server" || d.name == "upstream" {
				continue
			}
			all = append(all, adapter.Setting{Name: d.name, Part: part})
			add(d.block, true)
		}
	}
	add(directives, false)
	return all, nil
}

// checkPlace returns an error with the remedy if nginx wouldn't start with a directive in the context, or would
// ignore it.
func checkPlace(in *adapter.Input, file, context string, d directive) error {
	port := strconv.Itoa(int(in.Port(in.Server.Nginx.Port)))
	where := fmt.Sprintf("%s of the ConfigMap is included in the context %s, where", file, context)
	base := strings.TrimSuffix(strings.TrimSuffix(file, ".conf"), "."+context)
	switch place, one := only[d.name]; {
	case d.name == "http" || d.name == "events":
		return fmt.Errorf("%s there must be no %s {: give what is inside of it the key %s.conf, or give all of the file the key %s, which replaces the rendered file", where, d.name, d.name, mainFile)
	case d.name == "server" && context != inHTTP:
		return fmt.Errorf("%s there must be no server {: leave that line out with its }, its listen and its server_name, which the rendered server block has, "+
			"or, if it is a further server, give the file the key %s.http.conf", where, base)
	case one && place != context:
		return fmt.Errorf("%s nginx has no directive %s: give it the key %s.conf", where, d.name, place)
	case d.name == "listen" && listensOn(d, port):
		return fmt.Errorf("%s the rendered server block listens on port %s already: remove listen, and use the fields backlog, reusePort and http2", where, port)
	case d.name == "server" && slices.ContainsFunc(d.block, func(l directive) bool {
		return l.name == "listen" && listensOn(l, port) && !slices.Contains(l.args, "default_server")
	}) && !slices.ContainsFunc(d.block, func(l directive) bool { return l.name == "server_name" }):
		return fmt.Errorf("%s a server that listens on port %s gets no requests beside the rendered one: give it a server_name or another port, or leave out server { with its }, "+
			"listen and server_name, and give the file the key %s.server.conf", where, port, base)
	}
	return nil
}

// listensOn reports whether a listen is for a port of all IPv4 addresses, as the rendered one is.
func listensOn(listen directive, port string) bool {
	return len(listen.args) > 0 && slices.Contains([]string{port, "*:" + port, "0.0.0.0:" + port}, listen.args[0])
}

// directive is a directive of nginx, with its block if it has one.
type directive struct {
	name  string
	args  []string
	block []directive
}

// parse reads a configuration as nginx does (ngx_conf_file.c).
func parse(text string) ([]directive, error) {
	p := &parser{rest: text}
	all, err := p.block(0)
	if err == nil && p.closed {
		err = errors.New("there is a } without its {")
	}
	return all, err
}

// maxDepth bounds the blocks within blocks. nginx has no more than five.
const maxDepth = 32

type parser struct {
	rest string
	// closed reports whether the last block ended with a }.
	closed bool
}

// block reads directives up to the end of their block.
func (p *parser) block(depth int) ([]directive, error) {
	var all []directive
	var words []string
	for {
		word, quoted, ok := p.next()
		p.closed = word == "}" && !quoted
		switch {
		case (!ok || p.closed) && len(words) > 0:
			return nil, fmt.Errorf("the directive %.64q has no ; at its end", words[0])
		case !ok || p.closed:
			return all, nil
		case word == ";" && !quoted:
			if len(words) > 0 {
				all = append(all, directive{name: words[0], args: words[1:]})
			}
			words = nil
		case word == "{" && !quoted && len(words) > 0 && depth < maxDepth:
			d := directive{name: words[0], args: words[1:]}
			var err error
			if strings.HasSuffix(d.name, "_by_lua_block") {
				p.skipLua()
			} else if d.block, err = p.block(depth + 1); err != nil {
				return nil, err
			}
			if !p.closed {
				return nil, fmt.Errorf("the block of %.64q has no } at its end", d.name)
			}
			all, words = append(all, d), nil
		case word == "{" && !quoted:
			return nil, errors.New("there is a { without a directive, or too many in each other")
		default:
			words = append(words, word)
		}
	}
}

// next reads a word or one of ; { and }. It returns false at the end.
func (p *parser) next() (word string, quoted, ok bool) {
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\r\n")
		if !strings.HasPrefix(p.rest, "#") {
			break
		}
		_, p.rest, _ = strings.Cut(p.rest, "\n")
	}
	if p.rest == "" {
		return "", false, false
	}
	if strings.ContainsRune(";{}", rune(p.rest[0])) {
		word, p.rest = p.rest[:1], p.rest[1:]
		return word, false, true
	}
	quote := p.rest[0]
	if quoted = quote == '"' || quote == '\''; quoted {
		p.rest = p.rest[1:]
	}
	for i := 0; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '\\':
			i++
		case quoted && c == quote:
			word, p.rest = p.rest[:i], p.rest[i+1:]
			return word, true, true
		case !quoted && c == '{' && i > 0 && p.rest[i-1] == '$': // as in ${name}
		case !quoted && strings.ContainsRune(" \t\r\n;{", rune(c)):
			word, p.rest = p.rest[:i], p.rest[i:]
			return word, false, true
		}
	}
	word, p.rest = p.rest, ""
	return word, quoted, true
}

// skipLua reads a block of Lua to its end. Its braces come in pairs.
func (p *parser) skipLua() {
	depth := 1
	for i, c := range p.rest {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			p.rest, p.closed = p.rest[i+1:], true
			return
		}
	}
	p.rest = ""
}
