package tomcat

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
)

const (
	// serviceName is the name of the service in the rendered server.xml, which
	// Tomcat logs: Tomcat's own is Catalina.
	serviceName  = "Assay"
	executorName = "requests"
)

// executors are the classes of the executors
// (https://tomcat.apache.org/tomcat-11.0-doc/config/executor.html).
var executors = map[v1alpha1.TomcatExecutor]string{
	v1alpha1.TomcatShared:         "org.apache.catalina.core.StandardThreadExecutor",
	v1alpha1.TomcatVirtualThreads: "org.apache.catalina.core.StandardVirtualThreadExecutor",
}

// xmlElement is an element of server.xml.
type xmlElement struct {
	XMLName    xml.Name
	Attributes []xml.Attr   `xml:",any,attr"`
	Children   []xmlElement `xml:",any"`
}

// element makes an element from its name and its attributes' names and values.
func element(name string, attributes ...string) xmlElement {
	e := xmlElement{XMLName: xml.Name{Local: name}}
	for i := 0; i < len(attributes); i += 2 {
		e.set(attributes[i], attributes[i+1])
	}
	return e
}

func (e *xmlElement) set(name, value string) {
	e.Attributes = append(e.Attributes, xml.Attr{Name: xml.Name{Local: name}, Value: value})
}

// setNumber sets an attribute, if there is a value: otherwise Tomcat's default applies.
func (e *xmlElement) setNumber(name string, value *int32) {
	if value != nil {
		e.set(name, strconv.Itoa(int(*value)))
	}
}

// setAll sets the user's own attributes.
func (e *xmlElement) setAll(attributes []v1alpha1.TomcatAttribute) {
	for _, a := range attributes {
		e.set(a.Name, a.Value)
	}
}

func (e *xmlElement) add(children ...xmlElement) {
	e.Children = append(e.Children, children...)
}

func (e xmlElement) text() string {
	// Marshalling can't fail: there are only strings.
	out, _ := xml.MarshalIndent(e, "", "  ")
	return xml.Header + string(out) + "\n"
}

// serverElement returns the rendered server.xml: one service with one connector, one
// host and one web application, no shutdown port and no automatic deployment.
func serverElement(in *adapter.Input) xmlElement {
	server := element("Server", "port", "-1", "shutdown", "SHUTDOWN")
	// Arguments, environment and properties may contain secrets.
	server.add(element("Listener", "className", "org.apache.catalina.startup.VersionLoggerListener",
		"logArgs", "false", "logEnv", "false", "logProps", "false"))
	if protocolOf(in.Server.Tomcat) == v1alpha1.TomcatAPR || tlsImplementation(in) == v1alpha1.TLSOpenSSL {
		server.add(element("Listener", "className", "org.apache.catalina.core.AprLifecycleListener", "SSLEngine", "on"))
	}
	if tlsImplementation(in) == v1alpha1.TLSOpenSSLFFM {
		server.add(element("Listener", "className", ffmListener))
	}

	service := element("Service", "name", serviceName)
	if executor := executorElement(&in.Server.Tomcat.Connector); executor != nil {
		service.add(*executor)
	}
	host := element("Host", "name", "localhost", "appBase", "webapps",
		"createDirs", "false", "autoDeploy", "false", "deployOnStartup", "false")
	if deploysImage(in) {
		host = element("Host", "name", "localhost", "appBase", applicationDirectory,
			"createDirs", "false", "autoDeploy", "false", "deployOnStartup", "true")
	} else {
		host.add(element("Context", "path", "", "docBase", "ROOT"))
	}
	if in.Server.Tomcat.AccessLog == v1alpha1.Enabled {
		host.add(element("Valve", "className", "org.apache.catalina.valves.AccessLogValve",
			"directory", "logs", "prefix", "localhost_access_log", "rotatable", "false", "pattern", "common"))
	}
	engine := element("Engine", "name", "Catalina", "defaultHost", "localhost")
	engine.add(host)
	service.add(connectorElement(in))
	if ajp := in.Server.Tomcat.AJP; ajp != nil {
		service.add(ajpElement(ajp))
	}
	service.add(engine)
	server.add(service)
	return server
}

func executorElement(c *v1alpha1.TomcatConnector) *xmlElement {
	class, shared := executors[c.Executor]
	if !shared {
		return nil
	}
	executor := element("Executor", "name", executorName, "className", class)
	if c.Executor == v1alpha1.TomcatShared {
		executor.setNumber("maxThreads", c.MaxThreads)
		executor.setNumber("minSpareThreads", spareThreads(c))
	}
	return &executor
}

// spareThreads limits the default of a shared executor, 25 threads, to maxThreads:
// otherwise the executor wouldn't start.
func spareThreads(c *v1alpha1.TomcatConnector) *int32 {
	const spare = 25
	if c.MinSpareThreads == nil && c.MaxThreads != nil && *c.MaxThreads < spare {
		return c.MaxThreads
	}
	return c.MinSpareThreads
}

func connectorElement(in *adapter.Input) xmlElement {
	c := &in.Server.Tomcat.Connector
	connector := element("Connector", "port", strconv.Itoa(int(in.Port(c.Port))),
		"protocol", protocols[protocolOf(in.Server.Tomcat)])
	if _, shared := executors[c.Executor]; shared {
		connector.set("executor", executorName)
	} else {
		connector.setNumber("maxThreads", c.MaxThreads)
		connector.setNumber("minSpareThreads", c.MinSpareThreads)
	}
	connector.setNumber("acceptCount", c.AcceptCount)
	connector.setNumber("maxConnections", c.MaxConnections)
	connector.setNumber("connectionTimeout", c.ConnectionTimeoutMilliseconds)
	keepAlive := ptr.Deref(c.KeepAlive, v1alpha1.TomcatKeepAlive{})
	connector.setNumber("maxKeepAliveRequests", keepAlive.MaxRequests)
	connector.setNumber("keepAliveTimeout", keepAlive.TimeoutMilliseconds)
	if c.Sendfile != "" {
		connector.set("useSendfile", strconv.FormatBool(c.Sendfile == v1alpha1.Enabled))
	}
	if c.Compression != "" {
		connector.set("compression", adapter.OnOff(c.Compression))
	}
	connector.setNumber("compressionMinSize", c.CompressionMinSizeBytes)
	connector.setAll(c.Attributes)
	addTLS(in, &connector)
	if c.HTTP2 == v1alpha1.Enabled {
		limits := ptr.Deref(c.HTTP2Limits, v1alpha1.TomcatHTTP2Limits{})
		http2 := element("UpgradeProtocol", "className", "org.apache.coyote.http2.Http2Protocol")
		http2.setNumber("maxConcurrentStreams", limits.MaxConcurrentStreams)
		http2.setNumber("maxConcurrentStreamExecution", limits.MaxConcurrentStreamExecution)
		http2.setAll(limits.Attributes)
		connector.add(http2)
	}
	return connector
}

// connectorAttributes and http2Attributes are the attributes of the elements that follow from the spec.
// Those of certificates and class names would undo it.
var (
	connectorAttributes = regexp.MustCompile(`^(port|protocol|address|executor|maxThreads|minSpareThreads|acceptCount|maxConnections|connectionTimeout` +
		`|maxKeepAliveRequests|keepAliveTimeout|useSendfile|compression|compressionMinSize|scheme|secure|SSLEnabled|sslImplementationName|className)$`)
	http2Attributes = regexp.MustCompile(`^(maxConcurrentStreams|maxConcurrentStreamExecution|className)$`)
	attributeName   = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.]*$`)
	attributeValue  = regexp.MustCompile(`^[!-~]+( [!-~]+)*$`)
)

// checkAttributes rejects attributes, which are those of field, that another field sets.
func checkAttributes(in *adapter.Input, field string, attributes []v1alpha1.TomcatAttribute, reserved *regexp.Regexp) error {
	for i, a := range attributes {
		switch {
		case !attributeName.MatchString(a.Name):
			return fmt.Errorf("%s[%d].name: %q must be the name of an attribute, such as processorCache", in.Field(field), i, a.Name)
		case !attributeValue.MatchString(a.Value):
			return fmt.Errorf("%s[%d].value: %q must have printable ASCII characters only", in.Field(field), i, a.Value)
		case strings.Contains(a.Value, "${"):
			return fmt.Errorf("%s[%d].value: %q must not have ${, which Tomcat replaces by system properties", in.Field(field), i, a.Value)
		case reserved.MatchString(a.Name):
			return fmt.Errorf("%s[%d].name: %s is what other fields of the server set: use these", in.Field(field), i, a.Name)
		}
	}
	return nil
}

// ajpElement returns the connector for AJP. Whoever reaches it can pretend to be any client, so that it
// listens on the pod's loopback interface alone (https://tomcat.apache.org/tomcat-9.0-doc/config/ajp.html).
// Tomcat starts it without a secret only if told to.
func ajpElement(ajp *v1alpha1.TomcatAJP) xmlElement {
	connector := element("Connector", "port", strconv.Itoa(int(ptr.Deref(ajp.Port, defaultAJPPort))),
		"protocol", "org.apache.coyote.ajp.AjpNioProtocol", "address", "127.0.0.1", "secretRequired", "false")
	connector.setNumber("maxThreads", ajp.MaxThreads)
	return connector
}
