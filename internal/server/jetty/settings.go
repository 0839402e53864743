package jetty

import (
	"fmt"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
)

const (
	// contentFile is the file of contentXML.
	contentFile = ownDirectory + "/content.xml"

	// threadsFile is the file of threadsXML.
	threadsFile = ownDirectory + "/threads.xml"

	virtualModule = "threadpool-virtual"
	limitModule   = "network-connection-limit"
)

// settings returns the text of mainFile
// (https://jetty.org/docs/jetty/12.1/operations-guide/start/index.html). What isn't in it has Jetty's own default.
// The modules of an environment, such as ee10-deploy, come last: properties after
// them would be that environment's alone.
func settings(in *adapter.Input) string {
	j := in.Server.Jetty
	f := &adapter.Text{}
	writeConnector(f, in)
	writeThreads(f, j.Threads)
	if j.AccessLog == v1alpha1.Enabled {
		f.Line("")
		f.Line("--modules=requestlog")
		f.Line("jetty.requestlog.dir=%s", adapter.LogDirectory)
		f.Line("jetty.requestlog.filePath=%s/access.log", adapter.LogDirectory)
	}
	f.Line("")
	if deploys(j) {
		f.Line("# What is in webapps is deployed once.")
		f.Line("jetty.deploy.scanInterval=0")
	}
	if servesContent(in) {
		f.Line("%s", contentFile)
	}
	for _, module := range j.Modules {
		f.Line("--modules=%s", module)
	}
	return f.String()
}

// writeConnector writes the connector. Its properties have another prefix with TLS.
func writeConnector(f *adapter.Text, in *adapter.Input) {
	c := connectorOf(in.Server.Jetty)
	module, http2, prefix := "http", "http2c", "jetty.http."
	if in.TLS != nil {
		module, http2, prefix = "https", "http2", "jetty.ssl."
	}
	f.Line("--modules=%s", module)
	if c.HTTP2 == v1alpha1.Enabled {
		f.Line("--modules=%s", http2)
	}
	f.Line("%sport=%d", prefix, in.Port(c.Port))
	f.LineIfSet(prefix+"acceptors=%d", c.Acceptors)
	f.LineIfSet(prefix+"selectors=%d", c.Selectors)
	f.LineIfSet(prefix+"acceptQueueSize=%d", c.AcceptQueueSize)
	if k := c.KeepAlive; k != nil {
		f.LineIfSet(prefix+"idleTimeout=%d", k.TimeoutMilliseconds)
		if k.Mode == v1alpha1.Disabled {
			f.Line("jetty.httpConfig.persistentConnectionsEnabled=false")
		}
	}
	if c.MaxConnections != nil {
		f.Line("--modules=%s", limitModule)
		f.LineIfSet("jetty.networkConnectionLimit.maxNetworkConnectionCount=%d", c.MaxConnections)
	}
	writeTLS(f, in)
}

// writeThreads writes the thread pool.
func writeThreads(f *adapter.Text, t *v1alpha1.JettyThreads) {
	if t == nil {
		return
	}
	f.Line("")
	if t.Type == v1alpha1.JettyVirtualThreads {
		f.Line("--modules=%s", virtualModule)
		if t.Max != nil {
			f.Line("%s", threadsFile)
		}
		return
	}
	f.Line("--modules=threadpool")
	f.LineIfSet("jetty.threadPool.maxThreads=%d", t.Max)
	f.LineIfSet("jetty.threadPool.minThreads=%d", t.Min)
}

// limitsVirtual reports whether the number of virtual threads is limited to a declared one.
func limitsVirtual(j *v1alpha1.JettyServer) bool {
	return j.Threads != nil && j.Threads.Type == v1alpha1.JettyVirtualThreads && j.Threads.Max != nil
}

// threadsXML returns a file that limits the virtual threads. The module's property for it has another
// name since 12.1.6, and a Jetty ignores one that it doesn't know; without the method it doesn't start.
func threadsXML(maximum int32) string {
	return fmt.Sprintf(xmlHeader+`<Configure id="threadPool" class="org.eclipse.jetty.util.thread.QueuedThreadPool">
  <Get name="virtualThreadsExecutor"><Set name="maxThreads" type="int">%d</Set></Get>
</Configure>
`, maximum)
}

// contentXML returns a file that makes Jetty serve the content by a resource
// handler, without any module that deploys applications
// (https://jetty.org/docs/jetty/12.1/operations-guide/xml/index.html). If an application has the same context, the handler
// gets the paths of the content alone, and the application all others.
func contentXML(in *adapter.Input) string {
	const handler = `<New class="org.eclipse.jetty.server.handler.ResourceHandler"/>`
	f := &adapter.Text{}
	f.WriteString(xmlHeader + `<Configure id="Contexts" class="org.eclipse.jetty.server.handler.ContextHandlerCollection">
  <Call name="addHandler">
    <Arg>
      <New class="org.eclipse.jetty.server.handler.ContextHandler">
        <Arg type="String">/</Arg>
`)
	f.Line(`        <Set name="baseResourceAsString">%s</Set>`, contentDirectory(in))
	if !deploys(in.Server.Jetty) {
		f.Line(`        <Set name="handler">%s</Set>`, handler)
	} else {
		f.Line(`        <Set name="handler">`)
		f.Line(`          <New class="org.eclipse.jetty.server.handler.ConditionalHandler$DontHandle">`)
		f.Line(`            <Call name="excludePath"><Arg><Array type="java.lang.String">`)
		for _, path := range in.Content {
			f.Line(`              <Item>%s</Item>`, path)
		}
		f.Line(`            </Array></Arg></Call>`)
		f.Line(`            <Set name="handler">%s</Set>`, handler)
		f.Line(`          </New>`)
		f.Line(`        </Set>`)
	}
	f.WriteString(`      </New>
    </Arg>
  </Call>
</Configure>
`)
	return f.String()
}

const xmlHeader = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE Configure PUBLIC "-//Jetty//Configure//EN" "https://jetty.org/configure_10_0.dtd">
`
