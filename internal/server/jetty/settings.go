package jetty

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
)

const (
	// contentFile is the file of contentXML.
	contentFile = ownDirectory + "/content.xml"

	virtualModule = "threadpool-virtual"
	limitModule   = "network-connection-limit"
)

// ini is the text of a file of start.d
// (https://jetty.org/docs/jetty/12.1/operations-guide/start/index.html).
type ini struct{ strings.Builder }

func (f *ini) line(format string, values ...any) { _, _ = fmt.Fprintf(f, format+"\n", values...) }

// set sets a property, if there is a value.
func (f *ini) set(property string, value *int32) {
	if value != nil {
		f.line("%s=%d", property, *value)
	}
}

// settings returns the text of mainFile. What isn't in it has Jetty's own default.
// The modules of an environment, such as ee10-deploy, come last: properties after
// them would be that environment's alone.
func settings(in *adapter.Input) string {
	j := in.Server.Jetty
	f := &ini{}
	writeConnector(f, in)
	writeThreads(f, j.Threads)
	if j.AccessLog == v1alpha1.Enabled {
		f.line("")
		f.line("--modules=requestlog")
		f.line("jetty.requestlog.dir=%s", adapter.LogDirectory)
		f.line("jetty.requestlog.filePath=%s/access.log", adapter.LogDirectory)
	}
	f.line("")
	if deploys(j) {
		f.line("# What is in webapps is deployed once.")
		f.line("jetty.deploy.scanInterval=0")
	} else {
		f.line("%s", contentFile)
	}
	for _, module := range j.Modules {
		f.line("--modules=%s", module)
	}
	return f.String()
}

// writeConnector writes the connector. Its properties have another prefix with TLS.
func writeConnector(f *ini, in *adapter.Input) {
	c := connectorOf(in.Server.Jetty)
	module, http2, prefix := "http", "http2c", "jetty.http."
	if in.TLS != nil {
		module, http2, prefix = "https", "http2", "jetty.ssl."
	}
	f.line("--modules=%s", module)
	if c.HTTP2 == v1alpha1.Enabled {
		f.line("--modules=%s", http2)
	}
	f.line("%sport=%d", prefix, adapter.Port(c.Port, in.TLS != nil))
	f.set(prefix+"acceptors", c.Acceptors)
	f.set(prefix+"selectors", c.Selectors)
	f.set(prefix+"acceptQueueSize", c.AcceptQueueSize)
	if k := c.KeepAlive; k != nil {
		f.set(prefix+"idleTimeout", k.TimeoutMilliseconds)
		if k.Mode == v1alpha1.Disabled {
			f.line("jetty.httpConfig.persistentConnectionsEnabled=false")
		}
	}
	if c.MaxConnections != nil {
		f.line("--modules=%s", limitModule)
		f.set("jetty.networkConnectionLimit.maxNetworkConnectionCount", c.MaxConnections)
	}
	writeTLS(f, in)
}

// writeThreads writes the thread pool.
func writeThreads(f *ini, t *v1alpha1.JettyThreads) {
	if t == nil {
		return
	}
	f.line("")
	if t.Type == v1alpha1.JettyVirtualThreads {
		f.line("--modules=%s", virtualModule)
		f.set("jetty.threadPool.virtual.maxConcurrentTasks", t.Max)
		return
	}
	f.line("--modules=threadpool")
	f.set("jetty.threadPool.maxThreads", t.Max)
	f.set("jetty.threadPool.minThreads", t.Min)
}

// contentXML returns a file that makes Jetty serve the content by a resource
// handler, without any module that deploys applications
// (https://jetty.org/docs/jetty/12.1/operations-guide/xml/index.html).
func contentXML(base string) string {
	return fmt.Sprintf(xmlHeader+`<Configure id="Contexts" class="org.eclipse.jetty.server.handler.ContextHandlerCollection">
  <Call name="addHandler">
    <Arg>
      <New class="org.eclipse.jetty.server.handler.ContextHandler">
        <Arg type="String">/</Arg>
        <Set name="baseResourceAsString">%s</Set>
        <Set name="handler"><New class="org.eclipse.jetty.server.handler.ResourceHandler"/></Set>
      </New>
    </Arg>
  </Call>
</Configure>
`, contentDirectory(base))
}

const xmlHeader = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE Configure PUBLIC "-//Jetty//Configure//EN" "https://jetty.org/configure_10_0.dtd">
`
