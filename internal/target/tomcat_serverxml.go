package target

import (
	"encoding/xml"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

const (
	// tomcatService is the name of the service in the rendered server.xml, which
	// Tomcat logs: Tomcat's own is Catalina.
	tomcatService  = "Assay"
	tomcatExecutor = "requests"
)

// tomcatExecutors are the classes of what runs requests
// (https://tomcat.apache.org/tomcat-11.0-doc/config/executor.html).
var tomcatExecutors = map[v1alpha1.TomcatExecutor]string{
	v1alpha1.TomcatShared:         "org.apache.catalina.core.StandardThreadExecutor",
	v1alpha1.TomcatVirtualThreads: "org.apache.catalina.core.StandardVirtualThreadExecutor",
}

// tomcatElement is an element of server.xml.
type tomcatElement struct {
	XMLName    xml.Name
	Attributes []xml.Attr      `xml:",any,attr"`
	Children   []tomcatElement `xml:",any"`
}

// element makes an element from its name and its attributes' names and values.
func element(name string, attributes ...string) tomcatElement {
	e := tomcatElement{XMLName: xml.Name{Local: name}}
	for i := 0; i < len(attributes); i += 2 {
		e.set(attributes[i], attributes[i+1])
	}
	return e
}

func (e *tomcatElement) set(name, value string) {
	e.Attributes = append(e.Attributes, xml.Attr{Name: xml.Name{Local: name}, Value: value})
}

// setNumber leaves the attribute out where the version's own default is to hold.
func (e *tomcatElement) setNumber(name string, value *int32) {
	if value != nil {
		e.set(name, strconv.Itoa(int(*value)))
	}
}

func (e *tomcatElement) add(children ...tomcatElement) {
	e.Children = append(e.Children, children...)
}

func (e tomcatElement) text() string {
	// The structure has nothing that can't be marshalled.
	out, _ := xml.MarshalIndent(e, "", "  ")
	return xml.Header + string(out) + "\n"
}

// tomcatServer is what a run has: one service with one connector, one host and
// one web application; no shutdown port and no automatic deployment.
func tomcatServer(in *input) tomcatElement {
	server := element("Server", "port", "-1", "shutdown", "SHUTDOWN")
	// Arguments, environment and properties may hold secrets.
	server.add(element("Listener", "className", "org.apache.catalina.startup.VersionLoggerListener",
		"logArgs", "false", "logEnv", "false", "logProps", "false"))
	if tomcatProtocol(in.server.Tomcat) == v1alpha1.TomcatAPR || tomcatTLSBy(in) == v1alpha1.TLSOpenSSL {
		server.add(element("Listener", "className", "org.apache.catalina.core.AprLifecycleListener", "SSLEngine", "on"))
	}

	service := element("Service", "name", tomcatService)
	if executor := tomcatExecutorOf(&in.server.Tomcat.Connector); executor != nil {
		service.add(*executor)
	}
	host := element("Host", "name", "localhost", "appBase", "webapps",
		"createDirs", "false", "autoDeploy", "false", "deployOnStartup", "false")
	host.add(element("Context", "path", "", "docBase", "ROOT"))
	if in.server.Tomcat.AccessLog == v1alpha1.Enabled {
		host.add(element("Valve", "className", "org.apache.catalina.valves.AccessLogValve",
			"directory", "logs", "prefix", "localhost_access_log", "rotatable", "false", "pattern", "common"))
	}
	engine := element("Engine", "name", "Catalina", "defaultHost", "localhost")
	engine.add(host)
	service.add(tomcatConnector(in), engine)
	server.add(service)
	return server
}

func tomcatExecutorOf(c *v1alpha1.TomcatConnector) *tomcatElement {
	class, shared := tomcatExecutors[c.Executor]
	if !shared {
		return nil
	}
	executor := element("Executor", "name", tomcatExecutor, "className", class)
	if c.Executor == v1alpha1.TomcatShared {
		executor.setNumber("maxThreads", c.MaxThreads)
		executor.setNumber("minSpareThreads", spareThreads(c))
	}
	return &executor
}

// spareThreads keeps the default of a shared executor, 25 threads, from being
// more than all that it may have: it wouldn't start.
func spareThreads(c *v1alpha1.TomcatConnector) *int32 {
	const spare = 25
	if c.MinSpareThreads == nil && c.MaxThreads != nil && *c.MaxThreads < spare {
		return c.MaxThreads
	}
	return c.MinSpareThreads
}

func tomcatConnector(in *input) tomcatElement {
	c := &in.server.Tomcat.Connector
	connector := element("Connector", "port", strconv.Itoa(int(portOr(c.Port, in.tls != nil))),
		"protocol", tomcatProtocols[tomcatProtocol(in.server.Tomcat)])
	if _, shared := tomcatExecutors[c.Executor]; shared {
		connector.set("executor", tomcatExecutor)
	} else {
		connector.setNumber("maxThreads", c.MaxThreads)
		connector.setNumber("minSpareThreads", c.MinSpareThreads)
	}
	connector.setNumber("acceptCount", c.AcceptCount)
	connector.setNumber("maxConnections", c.MaxConnections)
	keepAlive := ptr.Deref(c.KeepAlive, v1alpha1.TomcatKeepAlive{})
	connector.setNumber("maxKeepAliveRequests", keepAlive.MaxRequests)
	connector.setNumber("keepAliveTimeout", keepAlive.TimeoutMilliseconds)
	if c.Sendfile != "" {
		connector.set("useSendfile", strconv.FormatBool(c.Sendfile == v1alpha1.Enabled))
	}
	switch c.Compression {
	case v1alpha1.Enabled:
		connector.set("compression", "on")
	case v1alpha1.Disabled:
		connector.set("compression", "off")
	}
	speakTomcatTLS(in, &connector)
	if c.HTTP2 == v1alpha1.Enabled {
		connector.add(element("UpgradeProtocol", "className", "org.apache.coyote.http2.Http2Protocol"))
	}
	return connector
}
