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

// What Jetty logs about itself. A user's module may give the lines another
// beginning. Jetty 12.0 doesn't abbreviate the package of ServerConnector.
var (
	logsVersion   = regexp.MustCompile(`\b(jetty-\d[^\s;]*); built: `)
	logsJava      = regexp.MustCompile(`\bjetty-\d[^\s;]*; built: .*; jvm (\S+)`)
	logsConnector = regexp.MustCompile(`Started (?:oejs\.)?ServerConnector@[0-9a-f]+\{([^,{}]+), \(([^(){}]*)\)\}\{[^{}]*:(\d+)\}`)

	noVirtual      = regexp.MustCompile(`Virtual Threads not supported`)
	tooFewThreads  = regexp.MustCompile(`Insufficient configured threads: required=\d+ < max=\d+`)
	noKeyAlgorithm = regexp.MustCompile(`PKCS#8 KeyFactory not available`)
)

// refusals are the lines that Jetty logs if it or its image can't do what is declared.
var refusals = []adapter.Refusal{
	adapter.Refuses(`Unknown module=\[?`+virtualModule+`\]?`, "jetty.threads.type", threadType,
		"use an image of a Jetty that has the module, or the type Platform"),
	adapter.Refuses(`Unknown module=\[?`+limitModule+`\]?`, "jetty.connector.maxConnections", maxConnections,
		"use an image of a Jetty that has the module, or don't set it"),
	adapter.Refuses(`Unknown module=\[?[^\]\s]*\]?`, "jetty.modules", modules,
		"use an image of a Jetty that has the module, or remove it"),
	adapter.Refuses(`NoSuchMethodException: \S+( \S+)?\.setMaxThreads\(int\)`, "jetty.threads.max", maxThreads,
		"this Jetty can't limit virtual threads: use an image of a later one, such as 12.0.31, or don't set max"),
	adapter.Refuses(`Cannot read file: etc/\S+`, "jetty.modules", modules,
		"use an image in which the files of the module are, as start.jar --add-modules creates them"),
}

func threadType(*adapter.Input) string { return string(v1alpha1.JettyVirtualThreads) }

func maxConnections(in *adapter.Input) string {
	return fmt.Sprint(ptr.Deref(connectorOf(in.Server.Jetty).MaxConnections, 0))
}

func maxThreads(in *adapter.Input) string {
	return fmt.Sprint(ptr.Deref(ptr.Deref(in.Server.Jetty.Threads, v1alpha1.JettyThreads{}).Max, 0))
}

func modules(in *adapter.Input) string { return strings.Join(in.Server.Jetty.Modules, ", ") }

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

// logsError matches a line of the level WARN or ERROR: Jetty's own components log errors as warnings.
var logsError = regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+:(?:WARN|ERROR) ?:`)

// IsError implements adapter.Verifiable.
func (Server) IsError(line string) bool {
	return logsError.MatchString(line) || adapter.IsJavaError(line)
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
	found := adapter.Mismatches{In: in}
	checkSupport(&found, log)
	if len(found.All) == 0 {
		checkConnectors(&found, connectors)
		checkThreads(&found, log)
	}
	return l, found.All
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

// checkSupport adds what this Jetty, its Java or its image can't do.
func checkSupport(found *adapter.Mismatches, log string) {
	found.Refusals(log, refusals)
	if no := noVirtual.FindString(log); no != "" {
		found.Unsupported("jetty.threads.type", string(v1alpha1.JettyVirtualThreads), no+javaOf(adapter.FirstMatch(log, logsJava)),
			"virtual threads need Java 21: use an image with it, or the type Platform")
	}
	if no := noKeyAlgorithm.FindString(log); no != "" && found.In.TLS != nil {
		found.Unsupported("tls.certificate", "set", "tls.key isn't an RSA or ECDSA key in PKCS#8 ("+no+")",
			"convert it: openssl pkcs8 -topk8 -nocrypt -in tls.key -out tls-pkcs8.key")
	}
}

// javaOf returns the version of Java for a message, or an empty string if it is unknown.
func javaOf(version string) string {
	if jsse.Major(version) == 0 {
		return ""
	}
	return " by Java " + version
}

// checkConnectors compares what was declared with the connectors that Jetty started. With a
// configuration of the user's own, one of them must be as the clients need it.
func checkConnectors(found *adapter.Mismatches, connectors []connector) {
	if len(connectors) == 0 {
		return
	}
	in, declared := found.In, connectorOf(found.In.Server.Jetty)
	remedy := "see whether the image sets another one, in start.ini or in a file of modules"
	if in.Server.Jetty.Configuration != nil {
		remedy = "have the configuration set it as declared, or declare what it sets"
	}
	port := int(in.Port(declared.Port))
	at := slices.IndexFunc(connectors, func(c connector) bool { return c.port == port })
	if at < 0 {
		found.Differs("jetty.connector.port", strconv.Itoa(port), connectors[0].String(), remedy)
		return
	}
	c := connectors[at]
	switch {
	case in.TLS != nil && !c.tls():
		found.Differs("tls", "set", c.String(), remedy)
	case in.TLS == nil && c.tls():
		found.Differs("tls", "not set", c.String(), remedy)
	}
	if declared.HTTP2 == v1alpha1.Enabled && !c.has("h2") && !c.has("h2c") {
		found.Differs("jetty.connector.http2", string(v1alpha1.Enabled), c.String(), remedy)
	}
}

// checkThreads adds that Jetty needs more threads than it may have. It doesn't start then.
func checkThreads(found *adapter.Mismatches, log string) {
	few := tooFewThreads.FindString(log)
	if few == "" {
		return
	}
	declared := "not set"
	if t := found.In.Server.Jetty.Threads; t != nil && t.Max != nil {
		declared = strconv.Itoa(int(*t.Max))
	}
	found.Differs("jetty.threads.max", declared, few,
		"set it to more than Jetty requires, or set fewer connector.acceptors and connector.selectors")
}
