package target

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

const (
	nginxExecutable  = "/usr/sbin/nginx"
	nginxFolder      = "/assay/nginx"
	nginxMain        = "nginx.conf"
	nginxMIMEFile    = nginxFolder + "/mime.types"
	nginxOwnFolder   = nginxFolder + "/conf.d"
	nginxConnections = 16384
	// nginxIdle is how many idle connections to each backend a worker keeps.
	nginxIdle = 1024
)

// nginxTemporary are the folders for what doesn't fit into memory; nginx makes
// them when it starts, used or not.
var nginxTemporary = []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}

// nginxAdapter starts nginx with a configuration of its own
// (https://nginx.org/en/docs/dirindex.html).
var nginxAdapter = adapter{
	is:            func(server *v1alpha1.Server) bool { return server.Nginx != nil },
	port:          func(server *v1alpha1.Server, tls bool) int32 { return portOr(server.Nginx.Port, tls) },
	configuration: func(server *v1alpha1.Server) *v1alpha1.Configuration { return server.Nginx.Configuration },
	render:        renderNginx,
	read:          readNginx,
	check:         checkNginx,
}

func renderNginx(in *input) (*rendered, error) {
	n := in.server.Nginx
	executable := cmp.Or(n.Executable, nginxExecutable)
	if err := acceptPath(in.field("nginx.executable"), executable, nginxExecutable); err != nil {
		return nil, err
	}
	if err := acceptOwnFiles(in.field("nginx.configuration"), in.configuration, nginxMain); err != nil {
		return nil, err
	}
	text, err := nginxConf(in)
	if err != nil {
		return nil, err
	}
	own, replaced := in.configuration[nginxMain]
	if replaced && len(in.configuration) > 1 && !strings.Contains(own, "conf.d") {
		return nil, fmt.Errorf("%s: %s takes the place of the file that includes the others: add include conf.d/*.conf; to its server block, or leave them out",
			in.field("nginx.configuration"), nginxMain)
	}
	r := &rendered{
		description: "Nginx",
		port:        portOr(n.Port, in.tls != nil),
		container: corev1.Container{
			Command: []string{executable},
			Args:    []string{"-c", nginxFolder + "/" + nginxMain, "-g", "daemon off;"},
		},
	}
	for _, name := range files(in.configuration) {
		if name != nginxMain {
			r.configure(in, "conf_"+name, in.configuration[name], nginxOwnFolder+"/"+name)
		}
	}
	if replaced {
		text = own
		if nginxStaysInFront.MatchString(own) {
			// Given twice, nginx refuses it.
			r.container.Args = r.container.Args[:2]
		}
	}
	r.configure(in, nginxMain, text, nginxFolder+"/"+nginxMain)
	r.configure(in, "mime.types", nginxMIMETypes(), nginxMIMEFile)
	r.serveContent(webContent)
	r.serveTLS(in, tlsFolder)
	r.empty(in, "run", webRun, corev1.StorageMediumDefault)
	r.empty(in, "logs", logFolder, corev1.StorageMediumDefault)
	return r, nil
}

// nginxStaysInFront finds that a configuration says that nginx is to stay in
// the foreground.
var nginxStaysInFront = regexp.MustCompile(`(?m)^([^#"']*[;}\s])?daemon\s+off\s*;`)

// nginxConf is the whole configuration without the user's own. What isn't in it
// has nginx's own default.
func nginxConf(in *input) (string, error) {
	n := in.server.Nginx
	routes, err := in.routes(in.field("nginx.forward"), n.Forward)
	if err != nil {
		return "", err
	}
	tls, err := newOpenSSL(in.tls)
	if err != nil {
		return "", err
	}
	connections := ptr.Deref(n.WorkerConnections, nginxConnections)

	c := &confText{}
	c.line(`worker_processes %d;`, nginxWorkers(in))
	c.line(`# A connection may have a file beside it.`)
	c.line(`worker_rlimit_nofile %d;`, 2*connections)
	c.line(`pid "%s/nginx.pid";`, webRun)
	c.line(`error_log stderr notice;`)
	c.line(``)
	c.block(`events {`)
	c.line(`worker_connections %d;`, connections)
	c.end(`}`)
	c.line(``)
	c.block(`http {`)
	for _, name := range nginxTemporary {
		c.line(`%s_temp_path "%s/%s";`, name, webRun, name)
	}
	c.line(`include "%s";`, nginxMIMEFile)
	c.line(`default_type application/octet-stream;`)
	if n.AccessLog == v1alpha1.Enabled {
		c.line(`access_log "%s" combined;`, webAccessLog)
	} else {
		c.line(`access_log off;`)
	}
	// The Server header names the version, as by default.
	c.line(`server_tokens on;`)
	c.line(`client_max_body_size 0;`)
	if n.Sendfile != "" {
		c.line(`sendfile %s;`, onOff(n.Sendfile))
	}
	writeNginxKeepAlive(c, n.KeepAlive)
	writeNginxBackends(c, routes)
	c.line(``)
	c.block(`server {`)
	listen := fmt.Sprintf("listen %d", portOr(n.Port, tls != nil))
	if tls != nil {
		listen += " ssl"
	}
	if n.HTTP2 == v1alpha1.Enabled {
		listen += " http2"
	}
	if n.Backlog != nil {
		listen += fmt.Sprintf(" backlog=%d", *n.Backlog)
	}
	c.line(`%s;`, listen)
	c.line(`root "%s";`, webContent)
	c.line(`index index.html;`)
	tls.writeNginx(c)
	writeNginxRoutes(c, routes)
	for _, name := range files(in.configuration) {
		if name != nginxMain {
			c.line(`include "%s/%s";`, nginxOwnFolder, name)
		}
	}
	c.end(`}`)
	c.end(`}`)
	return c.String(), nil
}

// nginxWorkers is the number of worker processes.
func nginxWorkers(in *input) int32 {
	return ptr.Deref(in.server.Nginx.WorkerProcesses, max(in.cpus, 1))
}

func writeNginxKeepAlive(c *confText, k *v1alpha1.NginxKeepAlive) {
	switch {
	case k == nil:
		return
	case k.Mode == v1alpha1.Disabled:
		c.line(`keepalive_timeout 0;`)
	default:
		c.given(`keepalive_timeout %dms;`, k.TimeoutMilliseconds)
	}
	c.given(`keepalive_requests %d;`, k.MaxRequests)
}

// writeNginx has nginx speak TLS
// (https://nginx.org/en/docs/http/ngx_http_ssl_module.html).
func (o *openSSL) writeNginx(c *confText) {
	if o == nil {
		return
	}
	c.line(`ssl_certificate "%s";`, certificateFile)
	c.line(`ssl_certificate_key "%s";`, keyFile)
	c.line(`ssl_protocols %s;`, strings.Join(o.protocols, " "))
	if o.ciphers != "" {
		c.line(`ssl_ciphers "%s";`, o.ciphers)
	}
	if o.suites != "" {
		c.line(`ssl_conf_command Ciphersuites "%s";`, o.suites)
	}
	if o.resume {
		c.line(`ssl_session_cache shared:sessions:%d;`, webSessionBytes)
		c.line(`ssl_session_tickets on;`)
	} else {
		c.line(`ssl_session_cache off;`)
		c.line(`ssl_session_tickets off;`)
	}
	if o.demand {
		c.line(`ssl_verify_client on;`)
		c.line(`ssl_verify_depth %d;`, webVerifyDepth)
		c.line(`ssl_client_certificate "%s";`, clientAuthorityFile)
	}
}

// writeNginxBackends are the backends that requests are forwarded to. Their
// names have a prefix, lest one means something else.
func writeNginxBackends(c *confText, routes []route) {
	written := map[string]bool{}
	for _, r := range routes {
		if written[r.backend] {
			continue
		}
		written[r.backend] = true
		c.line(``)
		c.block(`upstream backend-%s {`, r.backend)
		c.line(`server 127.0.0.1:%d;`, r.port)
		c.line(`keepalive %d;`, nginxIdle)
		c.end(`}`)
	}
	if len(routes) > 0 {
		c.line(``)
		c.line(`proxy_http_version 1.1;`)
		c.line(`proxy_set_header Connection "";`)
		c.line(`proxy_set_header Host $http_host;`)
	}
}

// writeNginxRoutes forwards requests; the first route that fits counts. nginx
// tries regular expressions in their order, after the prefixes with ^~. So
// that is what a prefix can be unless a suffix comes before it
// (https://nginx.org/en/docs/http/ngx_http_core_module.html#location).
func writeNginxRoutes(c *confText, routes []route) {
	location := func(match string, r route) {
		c.block(`location %s {`, match)
		c.line(`proxy_pass http://backend-%s;`, r.backend)
		c.end(`}`)
	}
	folders, afterSuffix := map[string]bool{}, false
	for _, r := range routes {
		folder := strings.TrimSuffix(r.prefix, "/") + "/"
		switch {
		case r.suffix != "":
			location(fmt.Sprintf(`~ "%s$"`, quotePattern(r.suffix)), r)
			afterSuffix = true
		case afterSuffix && r.prefix == folder:
			location(fmt.Sprintf(`~ "^%s"`, quotePattern(r.prefix)), r)
		case afterSuffix:
			location(fmt.Sprintf(`~ "^%s(/|$)"`, quotePattern(r.prefix)), r)
		default:
			if r.prefix != folder {
				location(fmt.Sprintf(`= "%s"`, r.prefix), r)
			}
			if !folders[folder] {
				location(fmt.Sprintf(`^~ "%s"`, folder), r)
			}
			folders[folder] = true
		}
	}
}
