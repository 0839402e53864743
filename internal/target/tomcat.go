package target

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// tomcatHome is where the official image has Tomcat.
const tomcatHome = "/usr/local/tomcat"

// tomcatFolders are those that Tomcat writes to while it runs.
var tomcatFolders = []string{"logs", "temp", "work"}

// tomcatProtocols are the connectors' classes
// (https://tomcat.apache.org/tomcat-9.0-doc/config/http.html).
var tomcatProtocols = map[v1alpha1.TomcatProtocol]string{
	v1alpha1.TomcatNIO:  "org.apache.coyote.http11.Http11NioProtocol",
	v1alpha1.TomcatNIO2: "org.apache.coyote.http11.Http11Nio2Protocol",
}

// tomcatAdapter replaces conf/server.xml of an image with the layout of the
// official one and keeps the rest of its configuration.
var tomcatAdapter = adapter{
	is:            func(server *v1alpha1.Server) bool { return server.Tomcat != nil },
	port:          func(server *v1alpha1.Server, tls bool) int32 { return portOr(server.Tomcat.Connector.Port, tls) },
	configuration: func(server *v1alpha1.Server) *v1alpha1.Configuration { return server.Tomcat.Configuration },
	render:        renderTomcat,
	read:          func(string) Logged { return Logged{} },
	check:         func(*input, Logged) []Contradiction { return nil },
}

func renderTomcat(in *input) (*rendered, error) {
	t := in.server.Tomcat
	r := &rendered{
		description: fmt.Sprintf("Tomcat %s", t.Connector.Protocol),
		port:        portOr(t.Connector.Port, in.tls != nil),
		container: corev1.Container{
			Command: []string{tomcatHome + "/bin/catalina.sh"},
			Args:    []string{"run"},
			Env: []corev1.EnvVar{
				{Name: "CATALINA_OPTS", Value: literal(strings.Join(t.JVMOptions, " "))},
			},
		},
	}
	r.configure(in, "server.xml", tomcatServerXML(&t.Connector), tomcatHome+"/conf/server.xml")
	r.serveContent(tomcatHome + "/webapps/ROOT")
	for _, folder := range tomcatFolders {
		r.empty(in, folder, tomcatHome+"/"+folder, corev1.StorageMediumDefault)
	}
	return r, nil
}

// The elements of server.xml that a run has: one service with one connector,
// one host and one web application; no shutdown port, no access log, no
// automatic deployment.
type (
	tomcatServerElement struct {
		XMLName  xml.Name             `xml:"Server"`
		Port     int                  `xml:"port,attr"`
		Shutdown string               `xml:"shutdown,attr"`
		Service  tomcatServiceElement `xml:"Service"`
	}
	tomcatServiceElement struct {
		Name      string                 `xml:"name,attr"`
		Connector tomcatConnectorElement `xml:"Connector"`
		Engine    tomcatEngineElement    `xml:"Engine"`
	}
	tomcatConnectorElement struct {
		Attributes []xml.Attr `xml:",any,attr"`
	}
	tomcatEngineElement struct {
		Name        string            `xml:"name,attr"`
		DefaultHost string            `xml:"defaultHost,attr"`
		Host        tomcatHostElement `xml:"Host"`
	}
	tomcatHostElement struct {
		Name            string               `xml:"name,attr"`
		AppBase         string               `xml:"appBase,attr"`
		CreateDirs      bool                 `xml:"createDirs,attr"`
		AutoDeploy      bool                 `xml:"autoDeploy,attr"`
		DeployOnStartup bool                 `xml:"deployOnStartup,attr"`
		Context         tomcatContextElement `xml:"Context"`
	}
	tomcatContextElement struct {
		Path    string `xml:"path,attr"`
		DocBase string `xml:"docBase,attr"`
	}
)

func tomcatServerXML(c *v1alpha1.TomcatConnector) string {
	server := tomcatServerElement{
		Port:     -1,
		Shutdown: "SHUTDOWN",
		Service: tomcatServiceElement{
			Name:      "Catalina",
			Connector: tomcatConnectorElement{Attributes: tomcatConnectorAttributes(c)},
			Engine: tomcatEngineElement{
				Name:        "Catalina",
				DefaultHost: "localhost",
				Host: tomcatHostElement{
					Name:    "localhost",
					AppBase: "webapps",
					Context: tomcatContextElement{Path: "", DocBase: "ROOT"},
				},
			},
		},
	}
	// The structure has nothing that can't be marshalled.
	out, _ := xml.MarshalIndent(server, "", "  ")
	return xml.Header + string(out) + "\n"
}

func tomcatConnectorAttributes(c *v1alpha1.TomcatConnector) []xml.Attr {
	attribute := func(name, value string) xml.Attr { return xml.Attr{Name: xml.Name{Local: name}, Value: value} }
	attributes := []xml.Attr{
		attribute("port", strconv.Itoa(int(portOr(c.Port, false)))),
		attribute("protocol", tomcatProtocols[c.Protocol]),
	}
	keepAlive := ptr.Deref(c.KeepAlive, v1alpha1.TomcatKeepAlive{})
	for _, optional := range []struct {
		name  string
		value *int32
	}{
		{"maxThreads", c.MaxThreads},
		{"acceptCount", c.AcceptCount},
		{"maxKeepAliveRequests", keepAlive.MaxRequests},
		{"keepAliveTimeout", keepAlive.TimeoutMilliseconds},
	} {
		if optional.value != nil {
			attributes = append(attributes, attribute(optional.name, strconv.Itoa(int(*optional.value))))
		}
	}
	return attributes
}
