package target

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
)

const (
	httpdHome      = "/usr/local/apache2"
	httpdFolder    = "/assay/httpd"
	httpdMain      = "httpd.conf"
	httpdMIMEFile  = httpdFolder + "/mime.types"
	httpdOwnFolder = httpdFolder + "/conf.d"
)

// httpdAdapter starts Apache httpd with a configuration of its own
// (https://httpd.apache.org/docs/2.4/mod/directives.html).
var httpdAdapter = adapter{
	is:            func(server *v1alpha1.Server) bool { return server.HTTPD != nil },
	port:          func(server *v1alpha1.Server, tls bool) int32 { return portOr(server.HTTPD.Port, tls) },
	configuration: func(server *v1alpha1.Server) *v1alpha1.Configuration { return server.HTTPD.Configuration },
	render:        renderHTTPD,
	read:          readHTTPD,
	check:         checkHTTPD,
}

func renderHTTPD(in *input) (*rendered, error) {
	h := in.server.HTTPD
	home := cmp.Or(h.Home, httpdHome)
	executable := cmp.Or(h.Executable, home+"/bin/httpd")
	if err := acceptPath(in.field("httpd.home"), home, httpdHome); err != nil {
		return nil, err
	}
	if err := acceptPath(in.field("httpd.executable"), executable, "/usr/sbin/apache2"); err != nil {
		return nil, err
	}
	if err := acceptOwnFiles(in.field("httpd.configuration"), in.configuration, httpdMain); err != nil {
		return nil, err
	}
	text, err := httpdConf(in, home)
	if err != nil {
		return nil, err
	}
	mpm := cmp.Or(h.MPM, v1alpha1.HTTPDEvent)
	r := &rendered{
		description: "HTTPD " + string(mpm),
		port:        portOr(h.Port, in.tls != nil),
		container: corev1.Container{
			Command: []string{executable},
			Args:    []string{"-D", "FOREGROUND", "-f", httpdFolder + "/" + httpdMain},
		},
	}
	own := confText{}
	for _, name := range files(in.configuration) {
		if name == httpdMain {
			text = in.configuration[name] + "\n"
			continue
		}
		r.configure(in, "conf_"+name, in.configuration[name], httpdOwnFolder+"/"+name)
		own.line(`Include "%s/%s"`, httpdOwnFolder, name)
	}
	r.configure(in, httpdMain, text+own.String(), httpdFolder+"/"+httpdMain)
	r.configure(in, "mime.types", httpdMIMETypes(), httpdMIMEFile)
	r.serveContent(webContent)
	r.serveTLS(in, tlsFolder)
	r.empty(in, "run", webRun, corev1.StorageMediumMemory)
	r.empty(in, "logs", logFolder, corev1.StorageMediumDefault)
	return r, nil
}

// httpdConf is the whole configuration without the user's own. What isn't in it
// has httpd's own default.
func httpdConf(in *input, home string) (string, error) {
	h := in.server.HTTPD
	processes, err := httpdProcesses(in)
	if err != nil {
		return "", err
	}
	routes, err := in.routes(in.field("httpd.forward"), h.Forward)
	if err != nil {
		return "", err
	}
	tls, err := newOpenSSL(in.tls)
	if err != nil {
		return "", err
	}
	c := &confText{}
	c.line(`ServerRoot "%s"`, home)
	c.line(`ServerName localhost`)
	if tls != nil {
		c.line(`Listen %d https`, portOr(h.Port, true))
	} else {
		c.line(`Listen %d`, portOr(h.Port, false))
	}
	c.given(`ListenBacklog %d`, h.ListenBacklog)

	c.line(``)
	for _, module := range httpdModules(h, tls, len(routes) > 0) {
		// Some distributions have built some of them in, which can't be loaded.
		c.block(`<IfModule !%s_module>`, module)
		c.line(`LoadModule %s_module modules/mod_%s.so`, module, module)
		c.end(`</IfModule>`)
	}

	c.line(``)
	processes.write(c)
	c.block(`<IfModule unixd_module>`)
	c.line(`# For images that run as root: its processes don't.`)
	c.line(`User "#65534"`)
	c.line(`Group "#65534"`)
	c.end(`</IfModule>`)

	c.line(``)
	c.line(`# Without a ScoreBoardFile the processes share memory that has no file.`)
	c.line(`DefaultRuntimeDir "%s"`, webRun)
	c.line(`PidFile "%s/httpd.pid"`, webRun)
	c.line(`ErrorLog "/proc/self/fd/2"`)
	if tls != nil {
		// Its warnings are of a name in the certificate that isn't ServerName and of
		// no session cache, as it should be.
		c.line(`LogLevel notice ssl:error`)
	} else {
		c.line(`LogLevel notice`)
	}
	if h.AccessLog == v1alpha1.Enabled {
		c.line(`CustomLog "%s" "%%h %%l %%u %%t \"%%r\" %%>s %%b \"%%{Referer}i\" \"%%{User-Agent}i\""`, webAccessLog)
	}

	c.line(``)
	if k := h.KeepAlive; k != nil {
		c.line(`KeepAlive %s`, onOff(cmp.Or(k.Mode, v1alpha1.Enabled)))
		c.given(`MaxKeepAliveRequests %d`, k.MaxRequests)
		c.given(`KeepAliveTimeout %dms`, k.TimeoutMilliseconds)
	}
	if h.HTTP2 == v1alpha1.Enabled {
		if tls != nil {
			c.line(`Protocols h2 http/1.1`)
		} else {
			c.line(`Protocols h2c http/1.1`)
		}
	}
	if h.Sendfile != "" {
		c.line(`EnableSendfile %s`, onOff(h.Sendfile))
	}
	// The Server header names the version and the libraries, as by default.
	c.line(`ServerTokens Full`)
	c.line(`TypesConfig "%s"`, httpdMIMEFile)
	c.line(`DocumentRoot "%s"`, webContent)
	c.line(`DirectoryIndex index.html`)
	c.block(`<Directory "/">`)
	c.line(`AllowOverride None`)
	c.line(`Require all denied`)
	c.end(`</Directory>`)
	c.block(`<Directory "%s">`, webContent)
	// Without it httpd looks at every folder of a path for links.
	c.line(`Options FollowSymLinks`)
	c.line(`Require all granted`)
	c.end(`</Directory>`)

	tls.writeHTTPD(c)
	writeHTTPDRoutes(c, routes)
	return c.String(), nil
}

// httpdModules are those that the configuration needs.
func httpdModules(h *v1alpha1.HTTPDServer, tls *openSSL, forwards bool) []string {
	modules := []string{
		"mpm_" + strings.ToLower(string(cmp.Or(h.MPM, v1alpha1.HTTPDEvent))),
		"unixd", "authz_core", "mime", "dir",
	}
	if h.AccessLog == v1alpha1.Enabled {
		modules = append(modules, "log_config")
	}
	if h.HTTP2 == v1alpha1.Enabled {
		modules = append(modules, "http2")
	}
	if forwards {
		modules = append(modules, "proxy", "proxy_http")
	}
	if tls != nil {
		if tls.resume {
			modules = append(modules, "socache_shmcb")
		}
		modules = append(modules, "ssl")
	}
	return modules
}

// writeHTTPD has httpd speak TLS
// (https://httpd.apache.org/docs/2.4/mod/mod_ssl.html).
func (o *openSSL) writeHTTPD(c *confText) {
	if o == nil {
		return
	}
	c.line(``)
	c.line(`SSLEngine on`)
	c.line(`SSLCertificateFile "%s"`, certificateFile)
	c.line(`SSLCertificateKeyFile "%s"`, keyFile)
	c.line(`SSLProtocol -all +%s`, strings.Join(o.protocols, " +"))
	if o.ciphers != "" {
		c.line(`SSLCipherSuite "%s"`, o.ciphers)
	}
	if o.suites != "" {
		c.line(`SSLCipherSuite TLSv1.3 "%s"`, o.suites)
	}
	if o.resume {
		c.line(`SSLSessionCache "shmcb:%s/sessions(%d)"`, webRun, webSessionBytes)
		c.line(`SSLSessionTickets on`)
	} else {
		c.line(`SSLSessionCache none`)
		c.line(`SSLSessionTickets off`)
	}
	if o.demand {
		c.line(`SSLVerifyClient require`)
		c.line(`SSLVerifyDepth %d`, webVerifyDepth)
		c.line(`SSLCACertificateFile "%s"`, clientAuthorityFile)
	}
}

// writeHTTPDRoutes forwards requests; the first route that fits counts
// (https://httpd.apache.org/docs/2.4/mod/mod_proxy.html#proxypass).
func writeHTTPDRoutes(c *confText, routes []route) {
	if len(routes) == 0 {
		return
	}
	c.line(``)
	c.line(`ProxyPreserveHost On`)
	shared := map[int32]bool{}
	for _, r := range routes {
		if r.suffix != "" {
			reuse := ""
			if !shared[r.port] {
				// Otherwise each request has a connection of its own. Those for the same
				// backend share the first one's setting.
				reuse = " enablereuse=on"
			}
			shared[r.port] = true
			c.line(`ProxyPassMatch "^/(.*%s)$" "http://127.0.0.1:%d/$1"%s`, quotePattern(r.suffix), r.port, reuse)
		} else {
			c.line(`ProxyPass "%s" "http://127.0.0.1:%d%s"`, r.prefix, r.port, r.prefix)
		}
	}
}
