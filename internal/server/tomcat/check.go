package tomcat

import (
	"cmp"
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

// javaLibrary begins the version of Java in Log.Libraries.
const javaLibrary = "Java "

// handlerName matches the name of a protocol handler:
// AbstractProtocol.getName and the getNamePrefix of its subclasses.
var handlerName = regexp.MustCompile(`^(https?)(?:-(jsse|openssl|opensslffm))?-(nio2|nio|apr)-(?:.+-)?(\d+)$`)

var (
	handlerProtocols       = map[string]v1alpha1.TomcatProtocol{"nio": v1alpha1.TomcatNIO, "nio2": v1alpha1.TomcatNIO2, "apr": v1alpha1.TomcatAPR}
	handlerImplementations = map[string]v1alpha1.TLSImplementation{
		"jsse": v1alpha1.TLSJSSE, "openssl": v1alpha1.TLSOpenSSL, "opensslffm": v1alpha1.TLSOpenSSLFFM,
	}
)

// check adds where the log differs from what was declared. The log shows whether server.xml is the
// user's own: the service of the rendered one has another name.
func check(found *adapter.Mismatches, l logged) {
	t := found.In.Server.Tomcat
	own := t.Configuration != nil && l.service != serviceName
	checkSupport(found, l, own)
	switch {
	case len(found.All) > 0:
	case own:
		checkPort(found, l)
	default:
		checkConnector(found, l)
		checkOmitted(found, l)
		checkAttributesSet(found, l)
		if no := l.refused("Sendfile is not supported"); no != "" && t.Connector.Sendfile == v1alpha1.Enabled {
			found.Differs("tomcat.connector.sendfile", string(v1alpha1.Enabled), no, "remove sendfile or tls")
		}
	}
}

// checkSupport adds what this Tomcat, its Java or its image can't do. With a server.xml of the user's
// own it adds only what the log itself says.
func checkSupport(found *adapter.Mismatches, l logged, own bool) {
	t, implementation := found.In.Server.Tomcat, tlsImplementation(found.In)
	const protocol, executor = "tomcat.connector.protocol", "tomcat.connector.executor"
	apr := protocolOf(t) == v1alpha1.TomcatAPR
	if apr && (!own && atLeast(l.Version, 10, 1) || l.refused("ClassNotFoundException: "+protocols[v1alpha1.TomcatAPR]) != "") {
		found.Unsupported(protocol, string(v1alpha1.TomcatAPR), cmp.Or(l.Version, "this Tomcat has no Http11AprProtocol"),
			"the APR connector was removed in Tomcat 10.1: use protocol NIO or NIO2, with tlsImplementation OpenSSL for OpenSSL, or an image of Tomcat 9.0")
		return
	}
	if t.Connector.Executor == v1alpha1.TomcatVirtualThreads {
		if l.refused("ClassNotFoundException: "+executors[v1alpha1.TomcatVirtualThreads]) != "" {
			found.Unsupported(executor, string(t.Connector.Executor), cmp.Or(l.Version, "this Tomcat has no StandardVirtualThreadExecutor"),
				"use an image of Tomcat 9.0.76, 10.1.10, 11 or later, or the executor Internal or Shared")
		} else if java := javaMajor(l.Libraries); !own && java > 0 && java < 21 {
			found.Unsupported(executor, string(t.Connector.Executor), l.Libraries[0],
				"virtual threads need Java 21: use an image with it, or the executor Internal or Shared")
		}
	}
	if implementation == v1alpha1.TLSOpenSSLFFM {
		missing, needs := cmp.Or(l.refused("ClassNotFoundException: "+ffmListener), l.refused("The FFM API from Java 22")), "an image of Tomcat 9.0.83, 10.1.16, 11 or later, with Java 22"
		if missing == "" {
			missing, needs = l.refused("Cannot open library"), "an image with OpenSSL's library by that name, as in Debian's libssl-dev, in a directory of LD_LIBRARY_PATH"
		}
		if missing != "" {
			found.Unsupported("tomcat.connector.tlsImplementation", string(implementation), missing, "use "+needs+", or tlsImplementation OpenSSL or JSSE")
		}
	}
	if implementation != v1alpha1.TLSOpenSSL && !apr {
		return
	}
	field, declared, without := "tomcat.connector.tlsImplementation", string(implementation), "or tlsImplementation JSSE"
	if apr {
		field, declared, without = protocol, string(v1alpha1.TomcatAPR), "or protocol NIO or NIO2"
	}
	if tooOld := l.refused("An incompatible version"); tooOld != "" {
		found.Unsupported(field, declared, tooOld, "use an image with a Tomcat Native that this Tomcat supports, "+without)
	} else if missing := cmp.Or(l.refused("was not found"), l.refused("failed to load"), l.refused("requires the APR/native library")); missing != "" {
		found.Unsupported(field, declared, missing,
			"use an image with it in a directory of java.library.path (the official one has it in native-jni-lib), "+without)
	}
}

// checkConnector compares the connector with the declared one.
func checkConnector(found *adapter.Mismatches, l logged) {
	handlers := handlersOf(l)
	if len(handlers) == 0 {
		return
	}
	in, h := found.In, handlers[0]
	const remedy = "check whether the image replaces conf/server.xml when it starts"
	if declared := protocolOf(in.Server.Tomcat); h.protocol != declared {
		found.Differs("tomcat.connector.protocol", string(declared), h.name, remedy)
	}
	if port := in.Port(in.Server.Tomcat.Connector.Port); h.port != port {
		found.Differs("tomcat.connector.port", strconv.Itoa(int(port)), h.name, remedy)
	}
	switch declared := tlsImplementation(in); {
	case in.TLS != nil && h.implementation != declared:
		found.Differs("tomcat.connector.tlsImplementation", string(declared), h.name, remedy)
	case in.TLS == nil && h.tls:
		found.Differs("tls", "not set", h.name, remedy)
	}
}

// checkPort compares a server.xml of the user's own with the connector that the clients need.
func checkPort(found *adapter.Mismatches, l logged) {
	handlers := handlersOf(l)
	if len(handlers) == 0 {
		return
	}
	port := found.In.Port(found.In.Server.Tomcat.Connector.Port)
	at := slices.IndexFunc(handlers, func(h handler) bool { return h.port == port })
	switch {
	case at < 0:
		found.Differs("tomcat.connector.port", strconv.Itoa(int(port)), l.Connector,
			"make a Connector in server.xml listen on this port, or declare its port")
	case found.In.TLS != nil && !handlers[at].tls:
		found.Differs("tls", "set", handlers[at].name, "set SSLEnabled=\"true\" on the Connector in server.xml, or remove tls")
	}
}

// checkOmitted adds what Tomcat says it omitted of the declared TLS.
func checkOmitted(found *adapter.Mismatches, l logged) {
	tls := ptr.Deref(found.In.TLS, v1alpha1.TLS{})
	const remedy = "remove those that this Java or OpenSSL doesn't support, or use an image with one that does"
	for _, list := range []struct {
		name     string
		declared []string
	}{
		{"ciphers", adapter.Texts(tls.Ciphers)},
		{"protocols", adapter.Texts(tls.Protocols)},
	} {
		if len(list.declared) == 0 {
			continue
		}
		declared := strings.Join(list.declared, ", ")
		if none := l.refused("None of the [" + list.name + "]"); none != "" {
			found.Unsupported("tls."+list.name, declared, none, remedy)
		} else if some := l.refused("Some of the specified [" + list.name + "]"); some != "" {
			found.Differs("tls."+list.name, declared, some, remedy)
		}
	}
}

// failedToSet matches what Tomcat says of an attribute that it doesn't know. Group 1 is empty for the Connector.
var failedToSet = regexp.MustCompile(`^Match \[Server/Service/Connector(/\w+)*\] failed to set property \[([^\]]+)\] to \[(.*)\]`)

// checkAttributesSet adds the attributes of the connector that this Tomcat ignores.
func checkAttributesSet(found *adapter.Mismatches, l logged) {
	for _, refusal := range l.refusals {
		m := failedToSet.FindStringSubmatch(refusal)
		if m == nil {
			continue
		}
		field, own := "tomcat.connector.attributes", found.In.Server.Tomcat.Connector.Attributes
		if limits := found.In.Server.Tomcat.Connector.HTTP2Limits; m[1] != "" && limits != nil {
			field, own = "tomcat.connector.http2Limits.attributes", limits.Attributes
		}
		if !slices.ContainsFunc(own, func(a v1alpha1.TomcatAttribute) bool { return a.Name == m[2] }) {
			field = "tomcat.connector"
		}
		found.Unsupported(field, m[2]+"="+m[3], m[0], "remove what this Tomcat doesn't know, or use an image of another version")
	}
}

// handler is a protocol handler, as its name describes it.
type handler struct {
	name           string
	tls            bool
	implementation v1alpha1.TLSImplementation
	protocol       v1alpha1.TomcatProtocol
	port           int32
}

// handlersOf returns the protocol handlers of HTTP whose names are understood.
func handlersOf(l logged) []handler {
	var handlers []handler
	for name := range strings.SplitSeq(l.Connector, ", ") {
		m := handlerName.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		port, err := strconv.ParseUint(m[4], 10, 16)
		if err != nil {
			continue
		}
		handlers = append(handlers, handler{
			name: name, tls: m[1] == "https", implementation: handlerImplementations[m[2]],
			protocol: handlerProtocols[m[3]], port: int32(port),
		})
	}
	return handlers
}

// refused returns the first refusal that contains text, or an empty string.
func (l *logged) refused(text string) string {
	at := slices.IndexFunc(l.refusals, func(refusal string) bool { return strings.Contains(refusal, text) })
	if at < 0 {
		return ""
	}
	return l.refusals[at]
}

// atLeast reports whether version, such as Apache Tomcat/10.1.34, is known to be
// at least major.minor.
func atLeast(version string, major, minor int) bool {
	var isMajor, isMinor int
	if _, err := fmt.Sscanf(version, "Apache Tomcat/%d.%d", &isMajor, &isMinor); err != nil {
		return false
	}
	return isMajor > major || isMajor == major && isMinor >= minor
}

// javaMajor returns the feature release of Java, or 0 if it is unknown.
func javaMajor(libraries []string) int {
	for _, library := range libraries {
		if version, isJava := strings.CutPrefix(library, javaLibrary); isJava {
			return jsse.Major(version)
		}
	}
	return 0
}
