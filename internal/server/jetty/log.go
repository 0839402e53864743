package jetty

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
	"github.com/assay-dev/assay/internal/server/jsse"
)

// What Jetty says of itself. A user's module may give the lines another
// beginning. Jetty 12.0 doesn't abbreviate the package of ServerConnector.
var (
	logsVersion   = regexp.MustCompile(`\b(jetty-\d[^\s;]*); built: `)
	logsJava      = regexp.MustCompile(`\bjetty-\d[^\s;]*; built: .*; jvm (\S+)`)
	logsConnector = regexp.MustCompile(`Started (?:oejs\.)?ServerConnector@[0-9a-f]+\{([^,{}]+), \(([^(){}]*)\)\}\{[^{}]*:(\d+)\}`)

	unknownModule  = regexp.MustCompile(`Unknown module=\[?([^\]\s]*)\]?`)
	missingFile    = regexp.MustCompile(`Cannot read file: etc/\S+`)
	noVirtual      = regexp.MustCompile(`Virtual Threads not supported`)
	tooFewThreads  = regexp.MustCompile(`Insufficient configured threads: required=\d+ < max=\d+`)
	noKeyAlgorithm = regexp.MustCompile(`PKCS#8 KeyFactory not available`)
)

// maxConnectors limits how many connectors are read from a log.
const maxConnectors = 16

// connector is a connector that Jetty has started.
type connector struct {
	// name and protocols are as logged, as in "SSL" and "ssl, alpn, h2, http/1.1".
	name, protocols string
	port            int
}

func (c connector) String() string { return fmt.Sprintf("%s (%s) %d", c.name, c.protocols, c.port) }

func (c connector) tls() bool { return c.name == "SSL" }

// has reports whether a protocol is among the connector's.
func (c connector) has(protocol string) bool {
	return slices.Contains(strings.Split(c.protocols, ", "), protocol)
}

// ReadLog implements adapter.Verifiable.
func (Server) ReadLog(in *adapter.Input, log string) (adapter.Log, []adapter.Mismatch) {
	l := adapter.Log{Version: adapter.FirstMatch(log, logsVersion)}
	if java := adapter.FirstMatch(log, logsJava); java != "" {
		l.Libraries = []string{"Java " + java}
	}
	connectors := connectorsIn(log)
	var names []string
	for _, c := range connectors {
		names = append(names, c.String())
	}
	l.Connector = strings.Join(names, "; ")
	if found := unsupported(in, log, adapter.FirstMatch(log, logsJava)); found != nil {
		return l, found
	}
	return l, append(check(in, connectors), checkThreads(in, log)...)
}

func connectorsIn(log string) []connector {
	var all []connector
	for _, m := range logsConnector.FindAllStringSubmatch(log, maxConnectors) {
		if port, err := strconv.Atoi(m[3]); err == nil {
			all = append(all, connector{name: m[1], protocols: m[2], port: port})
		}
	}
	return all
}

// unsupported returns what this Jetty, its Java or its image can't do.
func unsupported(in *adapter.Input, log, java string) []adapter.Mismatch {
	j := in.Server.Jetty
	var found []adapter.Mismatch
	add := func(field, declared, real, remedy string) {
		found = append(found, adapter.Mismatch{Field: field, Declared: declared, Real: real, Remedy: remedy, Unsupported: true})
	}
	if module := unknownModule.FindStringSubmatch(log); module != nil {
		const remedy = "use an image of a Jetty that has the module"
		switch module[1] {
		case virtualModule:
			add(in.Field("jetty.threads.type"), string(v1alpha1.JettyVirtualThreads), module[0], remedy+", or the type Platform")
		case limitModule:
			add(in.Field("jetty.connector.maxConnections"), fmt.Sprint(ptr.Deref(connectorOf(j).MaxConnections, 0)), module[0], remedy+", or don't set it")
		default:
			add(in.Field("jetty.modules"), strings.Join(j.Modules, ", "), module[0], remedy+", or remove it")
		}
	}
	if missing := missingFile.FindString(log); missing != "" {
		add(in.Field("jetty.modules"), strings.Join(j.Modules, ", "), missing,
			"use an image in which the files of the module are, as start.jar --add-modules creates them")
	}
	if no := noVirtual.FindString(log); no != "" {
		add(in.Field("jetty.threads.type"), string(v1alpha1.JettyVirtualThreads), no+javaOf(java),
			"virtual threads need Java 21: use an image with it, or the type Platform")
	}
	if no := noKeyAlgorithm.FindString(log); no != "" && in.TLS != nil {
		add("spec.target.tls.certificate", "set", "tls.key isn't an RSA or ECDSA key in PKCS#8 ("+no+")",
			"convert it: openssl pkcs8 -topk8 -nocrypt -in tls.key -out tls-pkcs8.key")
	}
	return found
}

// javaOf returns the version of Java for a message, or an empty string if it is
// unknown.
func javaOf(version string) string {
	if jsse.Major(version) == 0 {
		return ""
	}
	return " by Java " + version
}

// check compares what was declared with the connectors that Jetty started. With a
// configuration of the user's own, one of them must be as the clients need it.
func check(in *adapter.Input, connectors []connector) []adapter.Mismatch {
	if len(connectors) == 0 {
		return nil
	}
	var found []adapter.Mismatch
	remedy := "see whether the image sets another one, in start.ini or in a file of modules"
	if in.Server.Jetty.Configuration != nil {
		remedy = "have the configuration set it as declared, or declare what it sets"
	}
	differs := func(field, declared, real string) {
		found = append(found, adapter.Mismatch{Field: field, Declared: declared, Real: real, Remedy: remedy})
	}
	port := int(adapter.Port(connectorOf(in.Server.Jetty).Port, in.TLS != nil))
	at := slices.IndexFunc(connectors, func(c connector) bool { return c.port == port })
	if at < 0 {
		differs(in.Field("jetty.connector.port"), strconv.Itoa(port), connectors[0].String())
		return found
	}
	c := connectors[at]
	switch {
	case in.TLS != nil && !c.tls():
		differs("spec.target.tls", "set", c.String())
	case in.TLS == nil && c.tls():
		differs("spec.target.tls", "not set", c.String())
	}
	http2 := connectorOf(in.Server.Jetty).HTTP2 == v1alpha1.Enabled
	if has := c.has("h2") || c.has("h2c"); http2 && !has {
		differs(in.Field("jetty.connector.http2"), string(v1alpha1.Enabled), c.String())
	}
	return found
}

// checkThreads returns that Jetty needs more threads than it may have. It doesn't
// start then.
func checkThreads(in *adapter.Input, log string) []adapter.Mismatch {
	few := tooFewThreads.FindString(log)
	if few == "" {
		return nil
	}
	declared := "not set"
	if t := in.Server.Jetty.Threads; t != nil && t.Max != nil {
		declared = strconv.Itoa(int(*t.Max))
	}
	return []adapter.Mismatch{{
		Field: in.Field("jetty.threads.max"), Declared: declared, Real: few,
		Remedy: "set it to more than Jetty requires, or set fewer connector.acceptors and connector.selectors",
	}}
}
