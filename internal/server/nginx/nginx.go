// Package nginx is the adapter of nginx.
package nginx

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
	"github.com/assay-dev/assay/internal/server/webserver"
)

const (
	defaultExecutable  = "/usr/sbin/nginx"
	directory          = "/assay/nginx"
	mainFile           = "nginx.conf"
	mimeFile           = directory + "/mime.types"
	ownDirectory       = directory + "/conf.d"
	defaultConnections = 16384
	// idleConnections is the number of idle connections to each backend that a worker keeps.
	idleConnections = 1024
)

// temporaryDirectories are the directories for data that doesn't fit into memory. nginx
// creates them when it starts, used or not.
var temporaryDirectories = []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}

// Server is the adapter. It starts nginx with a configuration of its own
// (https://nginx.org/en/docs/dirindex.html).
type Server struct{}

var _ adapter.Verifiable = Server{}

// Describe implements adapter.Server.
func (Server) Describe(in *adapter.Input) *adapter.Description {
	n := in.Server.Nginx
	if n == nil {
		return nil
	}
	d := &adapter.Description{Name: "Nginx", Port: in.Port(n.Port), Configuration: n.Configuration, Files: rules}
	keepAlive := ptr.Deref(n.KeepAlive, v1alpha1.NginxKeepAlive{})
	d.KeepAlive = adapter.LimitOf("keepAlive.maxRequests", keepAlive.MaxRequests, 0) // whose default depends on the version
	if keepAlive.Mode == v1alpha1.Disabled {
		d.KeepAlive = adapter.Limit{Setting: "keepAlive.mode"}
	}
	d.Backlog = adapter.LimitOf("backlog", n.Backlog, 0)
	if !in.Own.Changes("workerProcesses") {
		d.Connections = adapter.LimitOf("workerConnections", n.WorkerConnections, defaultConnections)
		d.Connections.Value *= workerProcesses(in)
	}
	return d
}

// Render implements adapter.Server.
func (Server) Render(in *adapter.Input) (*adapter.Rendering, error) {
	n := in.Server.Nginx
	executable := cmp.Or(n.Executable, defaultExecutable)
	if err := in.CheckPath("nginx.executable", executable, defaultExecutable); err != nil {
		return nil, err
	}
	if err := webserver.CheckFiles(in, "nginx.configuration", mainFile); err != nil {
		return nil, err
	}
	text, err := mainText(in)
	if err != nil {
		return nil, err
	}
	own, replaced := in.Files[mainFile]
	if replaced && len(in.Files) > 1 && !strings.Contains(own, "conf.d") {
		return nil, fmt.Errorf("%s: %s replaces the file that includes the others: add include conf.d/*.conf; to its server block, or remove the others",
			in.Field("nginx.configuration"), mainFile)
	}
	r := &adapter.Rendering{Container: corev1.Container{
		Command: []string{executable},
		Args:    []string{"-c", directory + "/" + mainFile, "-g", "daemon off;"},
	}}
	for _, name := range in.FileNames() {
		if name != mainFile {
			r.Configure(in, "conf_"+name, in.Files[name], ownDirectory+"/"+name)
		}
		if inForeground.MatchString(in.Files[name]) {
			// Given twice, nginx refuses it.
			r.Container.Args = r.Container.Args[:2]
		}
	}
	if replaced {
		text = own
	}
	r.Configure(in, mainFile, text, directory+"/"+mainFile)
	r.Configure(in, "mime.types", "types {\n"+webserver.MIMETypes("    %s %s;\n")+"}\n", mimeFile)
	r.MountContent(webserver.ContentDirectory)
	r.MountTLS(in)
	r.AddEmptyDir(in, "run", webserver.RunDirectory, corev1.StorageMediumDefault)
	r.AddEmptyDir(in, "logs", adapter.LogDirectory, corev1.StorageMediumDefault)
	return r, nil
}

// inForeground matches a configuration that makes nginx stay in the foreground.
var inForeground = regexp.MustCompile(`(?m)^([^#"']*[;}\s])?daemon\s+off\s*;`)

// mainText returns the whole configuration without the user's own. What isn't in
// it has nginx's own default.
func mainText(in *adapter.Input) (string, error) {
	n := in.Server.Nginx
	routes, err := webserver.Routes(in, in.Field("nginx.forward"), n.Forward)
	if err != nil {
		return "", err
	}
	for i, r := range routes {
		if r.AJP {
			return "", fmt.Errorf("%s[%d].protocol must be HTTP: nginx doesn't speak AJP", in.Field("nginx.forward"), i)
		}
	}
	if err := in.CheckTLS(); err != nil {
		return "", err
	}
	c, err := newText(in)
	if err != nil {
		return "", err
	}
	connections := ptr.Deref(n.WorkerConnections, defaultConnections)
	c.Line(`worker_processes %d;`, workerProcesses(in))
	c.Line(`# A connection may have a file beside it.`)
	c.Line(`worker_rlimit_nofile %d;`, 2*connections)
	c.Line(`pid "%s/nginx.pid";`, webserver.RunDirectory)
	c.Line(`error_log stderr notice;`)
	c.include(in, inMain)
	c.Line(``)
	c.Block(`events {`)
	c.Line(`worker_connections %d;`, connections)
	c.include(in, inEvents)
	c.End(`}`)
	c.Line(``)
	c.Block(`http {`)
	for _, name := range temporaryDirectories {
		c.Line(name+`_temp_path "%s/%s";`, webserver.RunDirectory, name)
	}
	c.Line(`include "%s";`, mimeFile)
	c.Line(`default_type application/octet-stream;`)
	if n.AccessLog == v1alpha1.Enabled {
		c.Line(`access_log "%s" combined;`, webserver.AccessLog)
	} else {
		c.Line(`access_log off;`)
	}
	// The Server header names the version, as by default.
	c.Line(`server_tokens on;`)
	c.Line(`client_max_body_size 0;`)
	if n.Sendfile != "" {
		c.Line(`sendfile %s;`, adapter.OnOff(n.Sendfile))
	}
	writeKeepAlive(c, n.KeepAlive)
	writeBackends(c, in, routes)
	c.Line(``)
	c.Block(`server {`)
	listen := fmt.Sprintf("listen %d", in.Port(n.Port))
	if in.TLS != nil {
		listen += " ssl"
	}
	if n.HTTP2 == v1alpha1.Enabled {
		listen += " http2"
	}
	if n.Backlog != nil {
		listen += fmt.Sprintf(" backlog=%d", *n.Backlog)
	}
	if n.ReusePort == v1alpha1.Enabled {
		listen += " reuseport"
	}
	c.Line(`%s;`, listen)
	c.Line(`root "%s";`, webserver.ContentDirectory)
	c.Line(`index index.html;`)
	writeTLS(c, in.TLS)
	writeRoutes(c, routes)
	c.include(in, inServer)
	c.End(`}`)
	// After the rendered server, which gets the requests for no other.
	c.include(in, inHTTP)
	c.End(`}`)
	return c.String(), nil
}

// workerProcesses returns the number of worker processes.
func workerProcesses(in *adapter.Input) int32 {
	return ptr.Deref(in.Server.Nginx.WorkerProcesses, max(in.CPUs, 1))
}

func writeKeepAlive(c *text, k *v1alpha1.NginxKeepAlive) {
	switch {
	case k == nil:
		return
	case k.Mode == v1alpha1.Disabled:
		c.Line(`keepalive_timeout 0;`)
	default:
		c.LineIfSet(`keepalive_timeout %dms;`, k.TimeoutMilliseconds)
	}
	c.LineIfSet(`keepalive_requests %d;`, k.MaxRequests)
}

// writeTLS makes nginx speak TLS (https://nginx.org/en/docs/http/ngx_http_ssl_module.html).
func writeTLS(c *text, tls *v1alpha1.TLS) {
	if tls == nil {
		return
	}
	ciphers, suites := adapter.OpenSSLCiphers(tls, "DEFAULT")
	c.Line(`ssl_certificate "%s";`, adapter.CertificateFile)
	c.Line(`ssl_certificate_key "%s";`, adapter.PrivateKeyFile)
	c.Line(`ssl_protocols %s;`, strings.Join(adapter.Protocols(tls), " "))
	if ciphers != "" {
		c.Line(`ssl_ciphers "%s";`, ciphers)
	}
	if suites != "" {
		c.Line(`ssl_conf_command Ciphersuites "%s";`, suites)
	}
	if adapter.Resumes(tls) {
		c.Line(`ssl_session_cache shared:sessions:%d;`, adapter.SessionCacheBytes)
		c.Line(`ssl_session_tickets on;`)
	} else {
		c.Line(`ssl_session_cache off;`)
		c.Line(`ssl_session_tickets off;`)
	}
	if tls.ClientAuthentication != nil {
		c.Line(`ssl_verify_client on;`)
		c.Line(`ssl_verify_depth %d;`, adapter.VerifyDepth)
		c.Line(`ssl_client_certificate "%s";`, adapter.ClientCAFile)
	}
}

// writeBackends writes the backends that requests are forwarded to. Their names have a
// prefix, so that none has another meaning.
func writeBackends(c *text, in *adapter.Input, routes []webserver.Route) {
	keepAlive := ptr.Deref(in.Server.Nginx.UpstreamKeepAlive, v1alpha1.NginxUpstreamKeepAlive{})
	written := map[string]bool{}
	for _, r := range routes {
		if written[r.Backend] {
			continue
		}
		written[r.Backend] = true
		c.Line(``)
		c.Block(`upstream backend-%s {`, r.Backend)
		c.Line(`server 127.0.0.1:%d;`, r.Port)
		if idle := ptr.Deref(keepAlive.Connections, idleConnections); idle > 0 {
			c.Line(`keepalive %d;`, idle)
		}
		c.LineIfSet(`keepalive_requests %d;`, keepAlive.MaxRequests)
		c.LineIfSet(`keepalive_timeout %dms;`, keepAlive.TimeoutMilliseconds)
		c.End(`}`)
	}
	if len(routes) > 0 && !c.own[inServer]["proxy_set_header"] {
		c.Line(``)
		writeProxy(c)
	}
}

// writeProxy sets what requests to backends have. A context with headers of its own inherits none.
func writeProxy(c *text) {
	c.Line(`proxy_http_version 1.1;`)
	c.Line(`proxy_set_header Connection "";`)
	c.Line(`proxy_set_header Host $http_host;`)
}

// writeRoutes forwards requests; the first route that fits counts. nginx tries regular expressions
// in their order, after the prefixes with ^~. So that is what a prefix can be unless a suffix comes
// before it (https://nginx.org/en/docs/http/ngx_http_core_module.html#location).
func writeRoutes(c *text, routes []webserver.Route) {
	location := func(match string, r webserver.Route) {
		c.Block(`location %s {`, match)
		c.Line(`proxy_pass http://backend-%s;`, r.Backend)
		c.End(`}`)
	}
	if len(routes) > 0 && c.own[inServer]["proxy_set_header"] {
		writeProxy(c)
	}
	directories, afterSuffix := map[string]bool{}, false
	for _, r := range routes {
		directory := strings.TrimSuffix(r.Prefix, "/") + "/"
		switch {
		case r.Suffix != "":
			location(fmt.Sprintf(`~ "%s$"`, webserver.QuotePattern(r.Suffix)), r)
			afterSuffix = true
		case afterSuffix && r.Prefix == directory:
			location(fmt.Sprintf(`~ "^%s"`, webserver.QuotePattern(r.Prefix)), r)
		case afterSuffix:
			location(fmt.Sprintf(`~ "^%s(/|$)"`, webserver.QuotePattern(r.Prefix)), r)
		default:
			if r.Prefix != directory {
				location(fmt.Sprintf(`= "%s"`, r.Prefix), r)
			}
			if !directories[directory] {
				location(fmt.Sprintf(`^~ "%s"`, directory), r)
			}
			directories[directory] = true
		}
	}
}
