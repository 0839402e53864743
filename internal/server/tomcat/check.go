package tomcat

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
	"github.com/assay-dev/assay/internal/server/jsse"
)

const (
	javaLibrary     = "Java "
	fieldOfTLS      = "spec.target.tls"
	imageWithNative = "use an image with it in a directory of java.library.path (the official one has it in native-jni-lib)"
)

// handlerName matches the name of a protocol handler:
// AbstractProtocol.getName and the getNamePrefix of its subclasses.
var handlerName = regexp.MustCompile(`^(https?)(?:-(jsse|openssl|opensslffm))?-(nio2|nio|apr)-(?:.+-)?(\d+)$`)

var (
	handlerProtocols       = map[string]v1alpha1.TomcatProtocol{"nio": v1alpha1.TomcatNIO, "nio2": v1alpha1.TomcatNIO2, "apr": v1alpha1.TomcatAPR}
	handlerImplementations = map[string]v1alpha1.TLSImplementation{"jsse": v1alpha1.TLSJSSE, "openssl": v1alpha1.TLSOpenSSL}
)

// check compares what was declared with the log. The log shows whether server.xml is
// the user's own: the service of the rendered one has another name.
func check(in *adapter.Input, l logged) []adapter.Mismatch {
	if found := unsupported(in, l); len(found) > 0 {
		return found
	}
	if in.Server.Tomcat.Configuration != nil && l.service != serviceName {
		return checkPort(in, l)
	}
	found := append(checkConnector(in, l), checkOmitted(in, l)...)
	if no := l.refused("Sendfile is not supported"); no != "" && in.Server.Tomcat.Connector.Sendfile == v1alpha1.Enabled {
		found = append(found, adapter.Mismatch{
			Field: in.Field("tomcat.connector.sendfile"), Declared: string(v1alpha1.Enabled), Real: no,
			Remedy: "remove sendfile or tls",
		})
	}
	return found
}

// unsupported returns what this Tomcat, its Java or its image can't do. With a
// server.xml of the user's own it returns only what the log itself says.
func unsupported(in *adapter.Input, l logged) []adapter.Mismatch {
	t := in.Server.Tomcat
	own := t.Configuration != nil && l.service != serviceName
	var found []adapter.Mismatch
	add := func(field, declared, real, remedy string) {
		found = append(found, adapter.Mismatch{Field: field, Declared: declared, Real: real, Remedy: remedy, Unsupported: true})
	}
	protocol, asked := in.Field("tomcat.connector.protocol"), string(protocolOf(t))
	if protocolOf(t) == v1alpha1.TomcatAPR {
		if !own && atLeast(l.Version, 10, 1) || l.refused("ClassNotFoundException: org.apache.coyote.http11.Http11AprProtocol") != "" {
			add(protocol, asked, cmp.Or(l.Version, "this Tomcat has no Http11AprProtocol"),
				"the APR connector was removed in Tomcat 10.1: use protocol NIO or NIO2, with tls.implementation OpenSSL for OpenSSL, or an image of Tomcat 9.0")
			return found
		}
	}
	executor := in.Field("tomcat.connector.executor")
	if t.Connector.Executor == v1alpha1.TomcatVirtualThreads {
		if l.refused("ClassNotFoundException: "+executors[v1alpha1.TomcatVirtualThreads]) != "" {
			add(executor, string(t.Connector.Executor), cmp.Or(l.Version, "this Tomcat has no StandardVirtualThreadExecutor"),
				"use an image of Tomcat 9.0.76, 10.1.10, 11 or later, or the executor Internal or Shared")
		} else if java := javaMajor(l.Libraries); !own && java > 0 && java < 21 {
			add(executor, string(t.Connector.Executor), l.Libraries[0],
				"virtual threads need Java 21: use an image with it, or the executor Internal or Shared")
		}
	}
	field, declared := protocol, asked
	if protocolOf(t) != v1alpha1.TomcatAPR {
		field, declared = fieldOfTLS+".implementation", string(tlsImplementation(in))
	}
	if protocolOf(t) == v1alpha1.TomcatAPR || tlsImplementation(in) == v1alpha1.TLSOpenSSL {
		without := "or protocol NIO or NIO2"
		if field != protocol {
			without = "or the implementation JSSE"
		}
		if tooOld := l.refused("An incompatible version"); tooOld != "" {
			add(field, declared, tooOld, "use an image with a Tomcat Native that this Tomcat supports, "+without)
		} else if missing := cmp.Or(l.refused("was not found"), l.refused("failed to load"), l.refused("requires the APR/native library")); missing != "" {
			add(field, declared, missing, imageWithNative+", "+without)
		}
	}
	return found
}

// checkConnector compares the connector with the declared one.
func checkConnector(in *adapter.Input, l logged) []adapter.Mismatch {
	handlers := handlersOf(l)
	if len(handlers) == 0 {
		return nil
	}
	h := handlers[0]
	var found []adapter.Mismatch
	differs := func(field, declared, remedy string) {
		found = append(found, adapter.Mismatch{Field: field, Declared: declared, Real: h.name, Remedy: remedy})
	}
	if declared := protocolOf(in.Server.Tomcat); h.protocol != declared {
		differs(in.Field("tomcat.connector.protocol"), string(declared), "check whether the image replaces conf/server.xml when it starts")
	}
	if port := adapter.Port(in.Server.Tomcat.Connector.Port, in.TLS != nil); h.port != port {
		differs(in.Field("tomcat.connector.port"), strconv.Itoa(int(port)), "check whether the image replaces conf/server.xml when it starts")
	}
	if in.TLS != nil {
		if declared := tlsImplementation(in); h.implementation != declared {
			differs(fieldOfTLS+".implementation", string(declared), "check whether the image replaces conf/server.xml when it starts")
		}
	} else if h.tls {
		differs(fieldOfTLS, "not set", "check whether the image replaces conf/server.xml when it starts")
	}
	return found
}

// checkPort reports whether a server.xml of the user's own has the connector that
// the clients need.
func checkPort(in *adapter.Input, l logged) []adapter.Mismatch {
	handlers := handlersOf(l)
	if len(handlers) == 0 {
		return nil
	}
	port := adapter.Port(in.Server.Tomcat.Connector.Port, in.TLS != nil)
	at := slices.IndexFunc(handlers, func(h handler) bool { return h.port == port })
	switch {
	case at < 0:
		return []adapter.Mismatch{{
			Field: in.Field("tomcat.connector.port"), Declared: strconv.Itoa(int(port)), Real: l.Connector,
			Remedy: "make a Connector in server.xml listen on this port, or declare its port",
		}}
	case in.TLS != nil && !handlers[at].tls:
		return []adapter.Mismatch{{
			Field: fieldOfTLS, Declared: "set", Real: handlers[at].name,
			Remedy: "set SSLEnabled=\"true\" on the Connector in server.xml, or remove tls",
		}}
	}
	return nil
}

// checkOmitted returns what Tomcat says it omitted of the declared TLS.
func checkOmitted(in *adapter.Input, l logged) []adapter.Mismatch {
	if in.TLS == nil {
		return nil
	}
	var found []adapter.Mismatch
	for _, list := range []struct {
		name     string
		declared []string
	}{
		{"ciphers", adapter.Texts(in.TLS.Ciphers)},
		{"protocols", adapter.Texts(in.TLS.Protocols)},
	} {
		if len(list.declared) == 0 {
			continue
		}
		omitted := adapter.Mismatch{
			Field: fieldOfTLS + "." + list.name, Declared: strings.Join(list.declared, ", "),
			Remedy: "remove those that this Java or OpenSSL doesn't support, or use an image with one that does",
		}
		if none := l.refused("None of the [" + list.name + "]"); none != "" {
			omitted.Real, omitted.Unsupported = none, true
			found = append(found, omitted)
		} else if some := l.refused("Some of the specified [" + list.name + "]"); some != "" {
			omitted.Real = some
			found = append(found, omitted)
		}
	}
	return found
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
	for _, refusal := range l.refusals {
		if strings.Contains(refusal, text) {
			return refusal
		}
	}
	return ""
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
