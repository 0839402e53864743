// Package httpd is the adapter of Apache httpd.
package httpd

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
	"github.com/assay-dev/assay/internal/server/webserver"
)

const (
	// defaultHome is the directory of httpd in the official image.
	defaultHome = "/usr/local/apache2"
	// defaultMaxKeepAliveRequests is httpd's own (https://httpd.apache.org/docs/2.4/mod/core.html#maxkeepaliverequests).
	defaultMaxKeepAliveRequests = 100

	directory    = "/assay/httpd"
	mainFile     = "httpd.conf"
	mimeFile     = directory + "/mime.types"
	ownDirectory = directory + "/conf.d"
)

// Server is the adapter. It starts httpd with a configuration of its own
// (https://httpd.apache.org/docs/2.4/mod/directives.html).
type Server struct{}

var _ adapter.Verifiable = Server{}

// Describe implements adapter.Server: it names the multi-processing module.
func (Server) Describe(in *adapter.Input) *adapter.Description {
	h := in.Server.HTTPD
	if h == nil {
		return nil
	}
	d := &adapter.Description{Name: "HTTPD", Port: in.Port(h.Port), Configuration: h.Configuration, Files: rules}
	if !in.Own.Changes() {
		d.Name += " " + mpmOf(in)
	}
	if counts, err := processesOf(in); err == nil && !in.Own.Changes("serverLimit", "threadsPerChild") {
		d.Concurrency = adapter.Limit{Setting: "maxRequestWorkers", Value: cmp.Or(counts.maxRequestWorkers, defaultWorkers(h.MPM))}
		d.Connections = d.Concurrency // each has a thread or process until it ends
		if mpmOf(in) == string(v1alpha1.HTTPDEvent) {
			d.Connections.Value *= eventConnections
		}
	}
	keepAlive := ptr.Deref(h.KeepAlive, v1alpha1.HTTPDKeepAlive{})
	d.KeepAlive = adapter.LimitOf("keepAlive.maxRequests", keepAlive.MaxRequests, defaultMaxKeepAliveRequests)
	if d.KeepAlive.Value == 0 { // no limit
		d.KeepAlive.Value = -1
	}
	if keepAlive.Mode == v1alpha1.Disabled {
		d.KeepAlive = adapter.Limit{Setting: "keepAlive.mode"}
	}
	d.Backlog = adapter.LimitOf("listenBacklog", h.ListenBacklog, 0)
	return d
}

// Render implements adapter.Server.
func (Server) Render(in *adapter.Input) (*adapter.Rendering, error) {
	h := in.Server.HTTPD
	home := homeOf(in)
	executable := cmp.Or(h.Executable, home+"/bin/httpd")
	if err := in.CheckPath("httpd.home", home, defaultHome); err != nil {
		return nil, err
	}
	if err := in.CheckPath("httpd.executable", executable, "/usr/sbin/apache2"); err != nil {
		return nil, err
	}
	if err := webserver.CheckFiles(in, "httpd.configuration", mainFile); err != nil {
		return nil, err
	}
	text, err := mainText(in)
	if err != nil {
		return nil, err
	}
	r := &adapter.Rendering{Container: corev1.Container{
		Command: []string{executable},
		Args:    []string{"-D", "FOREGROUND", "-f", directory + "/" + mainFile},
	}}
	own := adapter.Text{}
	for _, name := range in.FileNames() {
		if name == mainFile {
			text = in.Files[name] + "\n"
			continue
		}
		r.Configure(in, "conf_"+name, in.Files[name], ownDirectory+"/"+name)
		own.Line(`Include "%s/%s"`, ownDirectory, name)
	}
	r.Configure(in, mainFile, text+own.String(), directory+"/"+mainFile)
	r.Configure(in, "mime.types", webserver.MIMETypes("%s %s\n"), mimeFile)
	r.MountContent(webserver.ContentDirectory)
	r.MountTLS(in)
	r.AddEmptyDir(in, "run", webserver.RunDirectory, corev1.StorageMediumMemory)
	r.AddEmptyDir(in, "logs", adapter.LogDirectory, corev1.StorageMediumDefault)
	return r, nil
}

// homeOf returns ServerRoot.
func homeOf(in *adapter.Input) string { return cmp.Or(in.Server.HTTPD.Home, defaultHome) }

// mainText returns the whole configuration without the user's own. What isn't in
// it has httpd's own default.
func mainText(in *adapter.Input) (string, error) {
	h := in.Server.HTTPD
	processes, err := processesOf(in)
	if err != nil {
		return "", err
	}
	routes, err := webserver.Routes(in, in.Field("httpd.forward"), h.Forward)
	if err != nil {
		return "", err
	}
	if err := in.CheckTLS(); err != nil {
		return "", err
	}
	c := &adapter.Text{}
	c.Line(`ServerRoot "%s"`, homeOf(in))
	c.Line(`ServerName localhost`)
	scheme, http2, logLevel := "", "h2c", "notice"
	if in.TLS != nil {
		// The warnings of mod_ssl are about a name in the certificate other than ServerName and
		// about the missing session cache, which are both intended.
		scheme, http2, logLevel = " https", "h2", "notice ssl:error"
	}
	c.Line(`Listen %d%s`, in.Port(h.Port), scheme)
	c.LineIfSet(`ListenBacklog %d`, h.ListenBacklog)

	c.Line(``)
	for _, module := range modules(in) {
		// Some distributions have some of them built in. Those can't be loaded.
		c.Block(`<IfModule !%s_module>`, module)
		c.Line(`LoadModule %s_module modules/mod_%s.so`, module, module)
		c.End(`</IfModule>`)
	}

	c.Line(``)
	for _, d := range processes.directives() {
		if d.value != 0 {
			c.Line(`%s %d`, d.name, d.value)
		}
	}
	c.Block(`<IfModule unixd_module>`)
	c.Line(`# For images that run as root: its processes don't.`)
	c.Line(`User "#65534"`)
	c.Line(`Group "#65534"`)
	c.End(`</IfModule>`)

	c.Line(``)
	c.Line(`# Without a ScoreBoardFile the processes share memory that has no file.`)
	c.Line(`DefaultRuntimeDir "%s"`, webserver.RunDirectory)
	c.Line(`PidFile "%s/httpd.pid"`, webserver.RunDirectory)
	c.Line(`ErrorLog "/proc/self/fd/2"`)
	c.Line(`LogLevel %s`, logLevel)
	if h.AccessLog == v1alpha1.Enabled {
		c.Line(`CustomLog "%s" "%%h %%l %%u %%t \"%%r\" %%>s %%b \"%%{Referer}i\" \"%%{User-Agent}i\""`, webserver.AccessLog)
	}

	c.Line(``)
	if k := h.KeepAlive; k != nil {
		c.Line(`KeepAlive %s`, adapter.OnOff(cmp.Or(k.Mode, v1alpha1.Enabled)))
		c.LineIfSet(`MaxKeepAliveRequests %d`, k.MaxRequests)
		c.LineIfSet(`KeepAliveTimeout %dms`, k.TimeoutMilliseconds)
	}
	if h.HTTP2 == v1alpha1.Enabled {
		c.Line(`Protocols %s http/1.1`, http2)
	}
	if h.Sendfile != "" {
		c.Line(`EnableSendfile %s`, adapter.OnOff(h.Sendfile))
	}
	// The Server header names the version and the libraries, as by default.
	c.Line(`ServerTokens Full`)
	c.Line(`TypesConfig "%s"`, mimeFile)
	c.Line(`DocumentRoot "%s"`, webserver.ContentDirectory)
	c.Line(`DirectoryIndex index.html`)
	c.Block(`<Directory "/">`)
	c.Line(`AllowOverride None`)
	c.Line(`Require all denied`)
	c.End(`</Directory>`)
	c.Block(`<Directory "%s">`, webserver.ContentDirectory)
	// Without it httpd checks every directory of a path for links.
	c.Line(`Options FollowSymLinks`)
	c.Line(`Require all granted`)
	c.End(`</Directory>`)

	writeTLS(c, in.TLS)
	writeRoutes(c, routes)
	return c.String(), nil
}

// modules returns the modules that the configuration needs.
func modules(in *adapter.Input) []string {
	h := in.Server.HTTPD
	modules := []string{"mpm_" + strings.ToLower(mpmOf(in)), "unixd", "authz_core", "mime", "dir"}
	if h.AccessLog == v1alpha1.Enabled {
		modules = append(modules, "log_config")
	}
	if h.HTTP2 == v1alpha1.Enabled {
		modules = append(modules, "http2")
	}
	if len(h.Forward) > 0 {
		modules = append(modules, "proxy", "proxy_http")
	}
	if slices.ContainsFunc(h.Forward, func(f v1alpha1.Forward) bool { return f.Protocol == v1alpha1.ForwardAJP }) {
		modules = append(modules, "proxy_ajp")
	}
	if in.TLS != nil {
		if adapter.Resumes(in.TLS) {
			modules = append(modules, "socache_shmcb")
		}
		modules = append(modules, "ssl")
	}
	return modules
}

// writeTLS makes httpd speak TLS (https://httpd.apache.org/docs/2.4/mod/mod_ssl.html).
func writeTLS(c *adapter.Text, tls *v1alpha1.TLS) {
	if tls == nil {
		return
	}
	ciphers, suites := adapter.OpenSSLCiphers(tls, "DEFAULT")
	c.Line(``)
	c.Line(`SSLEngine on`)
	c.Line(`SSLCertificateFile "%s"`, adapter.CertificateFile)
	c.Line(`SSLCertificateKeyFile "%s"`, adapter.PrivateKeyFile)
	c.Line(`SSLProtocol -all +%s`, strings.Join(adapter.Protocols(tls), " +"))
	if ciphers != "" {
		c.Line(`SSLCipherSuite "%s"`, ciphers)
	}
	if suites != "" {
		c.Line(`SSLCipherSuite TLSv1.3 "%s"`, suites)
	}
	if adapter.Resumes(tls) {
		c.Line(`SSLSessionCache "shmcb:%s/sessions(%d)"`, webserver.RunDirectory, adapter.SessionCacheBytes)
		c.Line(`SSLSessionTickets on`)
	} else {
		c.Line(`SSLSessionCache none`)
		c.Line(`SSLSessionTickets off`)
	}
	if tls.ClientAuthentication != nil {
		c.Line(`SSLVerifyClient require`)
		c.Line(`SSLVerifyDepth %d`, adapter.VerifyDepth)
		c.Line(`SSLCACertificateFile "%s"`, adapter.ClientCAFile)
	}
}

// writeRoutes forwards requests; the first route that fits counts
// (https://httpd.apache.org/docs/2.4/mod/mod_proxy.html#proxypass).
func writeRoutes(c *adapter.Text, routes []webserver.Route) {
	if len(routes) == 0 {
		return
	}
	c.Line(``)
	c.Line(`ProxyPreserveHost On`)
	shared := map[int32]bool{}
	for _, r := range routes {
		if r.Suffix != "" {
			reuse := ""
			if !shared[r.Port] {
				// Otherwise each request opens a connection. All routes to a backend share
				// the setting of the first.
				reuse = " enablereuse=on"
			}
			shared[r.Port] = true
			c.Line(`ProxyPassMatch "^/(.*%s)$" "%s://127.0.0.1:%d/$1"%s`, webserver.QuotePattern(r.Suffix), schemeOf(r), r.Port, reuse)
		} else {
			c.Line(`ProxyPass "%s" "%s://127.0.0.1:%d%s"`, r.Prefix, schemeOf(r), r.Port, r.Prefix)
		}
	}
}

func schemeOf(r webserver.Route) string {
	if r.AJP {
		return "ajp"
	}
	return "http"
}
