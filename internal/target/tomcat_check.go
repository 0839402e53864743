package target

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
)

const (
	tomcatJava      = "Java "
	fieldOfTLS      = "spec.target.tls"
	tomcatHasNative = "use an image with it in a folder of java.library.path (the official one has it in native-jni-lib)"
)

// tomcatHandler takes apart the name of a protocol handler:
// AbstractProtocol.getName and the getNamePrefix of its subclasses.
var tomcatHandler = regexp.MustCompile(`^(https?)(?:-(jsse|openssl|opensslffm))?-(nio2|nio|apr)-(?:.+-)?(\d+)$`)

var (
	tomcatHandlerProtocols       = map[string]v1alpha1.TomcatProtocol{"nio": v1alpha1.TomcatNIO, "nio2": v1alpha1.TomcatNIO2, "apr": v1alpha1.TomcatAPR}
	tomcatHandlerImplementations = map[string]v1alpha1.TLSImplementation{"jsse": v1alpha1.TLSJSSE, "openssl": v1alpha1.TLSOpenSSL}
)

// checkTomcat compares what was declared with what Tomcat says. Whether
// server.xml is the user's own is known from the log: the rendered one's
// service has a name of its own.
func checkTomcat(in *input, l Logged) []Contradiction {
	if found := tomcatUnsupported(in, l); len(found) > 0 {
		return found
	}
	if in.server.Tomcat.Configuration != nil && l.service != tomcatService {
		return checkTomcatPort(in, l)
	}
	found := append(checkTomcatConnector(in, l), checkTomcatLeftOut(in, l)...)
	if no := l.refused("Sendfile is not supported"); no != "" && in.server.Tomcat.Connector.Sendfile == v1alpha1.Enabled {
		found = append(found, Contradiction{
			Field: in.field("tomcat.connector.sendfile"), Declared: string(v1alpha1.Enabled), Real: no,
			Mend: "leave sendfile out, or tls",
		})
	}
	return found
}

// tomcatUnsupported finds what this Tomcat, its Java or its image can't do.
// With a server.xml of the user's own, only what the log itself refuses.
func tomcatUnsupported(in *input, l Logged) []Contradiction {
	t := in.server.Tomcat
	own := t.Configuration != nil && l.service != tomcatService
	var found []Contradiction
	unsupported := func(field, declared, real, mend string) {
		found = append(found, Contradiction{Field: field, Declared: declared, Real: real, Mend: mend, Unsupported: true})
	}
	protocol, asked := in.field("tomcat.connector.protocol"), string(tomcatProtocol(t))
	if tomcatProtocol(t) == v1alpha1.TomcatAPR {
		if !own && tomcatAtLeast(l.Version, 10, 1) || l.refused("ClassNotFoundException: org.apache.coyote.http11.Http11AprProtocol") != "" {
			unsupported(protocol, asked, or(l.Version, "this Tomcat has no Http11AprProtocol"),
				"the APR connector was removed in Tomcat 10.1: use protocol NIO or NIO2, with tls.implementation OpenSSL for OpenSSL, or an image of Tomcat 9.0")
			return found
		}
	}
	executor := in.field("tomcat.connector.executor")
	if t.Connector.Executor == v1alpha1.TomcatVirtualThreads {
		if l.refused("ClassNotFoundException: "+tomcatExecutors[v1alpha1.TomcatVirtualThreads]) != "" {
			unsupported(executor, string(t.Connector.Executor), or(l.Version, "this Tomcat has no StandardVirtualThreadExecutor"),
				"use an image of Tomcat 9.0.76, 10.1.10, 11 or later, or the executor Internal or Shared")
		} else if java := javaMajor(l.Libraries); !own && java > 0 && java < 21 {
			unsupported(executor, string(t.Connector.Executor), l.Libraries[0],
				"virtual threads need Java 21: use an image with it, or the executor Internal or Shared")
		}
	}
	field, declared := protocol, asked
	if tomcatProtocol(t) != v1alpha1.TomcatAPR {
		field, declared = fieldOfTLS+".implementation", string(tomcatTLSBy(in))
	}
	if tomcatProtocol(t) == v1alpha1.TomcatAPR || tomcatTLSBy(in) == v1alpha1.TLSOpenSSL {
		without := "or protocol NIO or NIO2"
		if field != protocol {
			without = "or the implementation JSSE"
		}
		if tooOld := l.refused("An incompatible version"); tooOld != "" {
			unsupported(field, declared, tooOld, "use an image with a Tomcat Native that this Tomcat takes, "+without)
		} else if missing := or(l.refused("was not found"), l.refused("failed to load"), l.refused("requires the APR/native library")); missing != "" {
			unsupported(field, declared, missing, tomcatHasNative+", "+without)
		}
	}
	return found
}

// checkTomcatConnector compares the connector with the declared one.
func checkTomcatConnector(in *input, l Logged) []Contradiction {
	handlers := tomcatHandlers(l)
	if len(handlers) == 0 {
		return nil
	}
	h := handlers[0]
	var found []Contradiction
	differs := func(field, declared, mend string) {
		found = append(found, Contradiction{Field: field, Declared: declared, Real: h.name, Mend: mend})
	}
	if declared := tomcatProtocol(in.server.Tomcat); h.protocol != declared {
		differs(in.field("tomcat.connector.protocol"), string(declared), "see whether the image replaces conf/server.xml when it starts")
	}
	if port := portOr(in.server.Tomcat.Connector.Port, in.tls != nil); h.port != port {
		differs(in.field("tomcat.connector.port"), strconv.Itoa(int(port)), "see whether the image replaces conf/server.xml when it starts")
	}
	if in.tls != nil {
		if declared := tomcatTLSBy(in); h.implementation != declared {
			differs(fieldOfTLS+".implementation", string(declared), "see whether the image replaces conf/server.xml when it starts")
		}
	} else if h.tls {
		differs(fieldOfTLS, "left out", "see whether the image replaces conf/server.xml when it starts")
	}
	return found
}

// checkTomcatPort finds with a server.xml of the user's own whether it has a
// connector as the clients need it.
func checkTomcatPort(in *input, l Logged) []Contradiction {
	handlers := tomcatHandlers(l)
	if len(handlers) == 0 {
		return nil
	}
	port := portOr(in.server.Tomcat.Connector.Port, in.tls != nil)
	at := slices.IndexFunc(handlers, func(h tomcatHandlerName) bool { return h.port == port })
	switch {
	case at < 0:
		return []Contradiction{{
			Field: in.field("tomcat.connector.port"), Declared: strconv.Itoa(int(port)), Real: l.Connector,
			Mend: "have a Connector in server.xml listen on this port, or declare its port",
		}}
	case in.tls != nil && !handlers[at].tls:
		return []Contradiction{{
			Field: fieldOfTLS, Declared: "given", Real: handlers[at].name,
			Mend: "give the Connector in server.xml SSLEnabled=\"true\", or leave tls out",
		}}
	}
	return nil
}

// checkTomcatLeftOut finds what of the declared TLS Tomcat says it left out.
func checkTomcatLeftOut(in *input, l Logged) []Contradiction {
	if in.tls == nil {
		return nil
	}
	var found []Contradiction
	for _, list := range []struct {
		name     string
		declared []string
	}{
		{"ciphers", texts(in.tls.Ciphers)},
		{"protocols", texts(in.tls.Protocols)},
	} {
		if len(list.declared) == 0 {
			continue
		}
		leftOut := Contradiction{
			Field: fieldOfTLS + "." + list.name, Declared: strings.Join(list.declared, ", "),
			Mend: "leave out those that this Java or OpenSSL doesn't have, or use an image of which it has them",
		}
		if none := l.refused("None of the [" + list.name + "]"); none != "" {
			leftOut.Real, leftOut.Unsupported = none, true
			found = append(found, leftOut)
		} else if some := l.refused("Some of the specified [" + list.name + "]"); some != "" {
			leftOut.Real = some
			found = append(found, leftOut)
		}
	}
	return found
}

func texts[T ~string](all []T) []string {
	var texts []string
	for _, one := range all {
		texts = append(texts, string(one))
	}
	return texts
}

// tomcatHandlerName is what the name of a protocol handler says.
type tomcatHandlerName struct {
	name           string
	tls            bool
	implementation v1alpha1.TLSImplementation
	protocol       v1alpha1.TomcatProtocol
	port           int32
}

// tomcatHandlers are those of HTTP whose names are understood.
func tomcatHandlers(l Logged) []tomcatHandlerName {
	var handlers []tomcatHandlerName
	for name := range strings.SplitSeq(l.Connector, ", ") {
		m := tomcatHandler.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		port, err := strconv.ParseUint(m[4], 10, 16)
		if err != nil {
			continue
		}
		handlers = append(handlers, tomcatHandlerName{
			name: name, tls: m[1] == "https", implementation: tomcatHandlerImplementations[m[2]],
			protocol: tomcatHandlerProtocols[m[3]], port: int32(port),
		})
	}
	return handlers
}

// refused is the first refusal that has a text in it; empty for none.
func (l *Logged) refused(text string) string {
	for _, refusal := range l.refusals {
		if strings.Contains(refusal, text) {
			return refusal
		}
	}
	return ""
}

// tomcatAtLeast is whether a version, such as Apache Tomcat/10.1.34, is known to
// be this one or later.
func tomcatAtLeast(version string, major, minor int) bool {
	var isMajor, isMinor int
	if _, err := fmt.Sscanf(version, "Apache Tomcat/%d.%d", &isMajor, &isMinor); err != nil {
		return false
	}
	return isMajor > major || isMajor == major && isMinor >= minor
}

// javaMajor is the feature release of Java, 0 for unknown.
func javaMajor(libraries []string) int {
	for _, library := range libraries {
		version, isJava := strings.CutPrefix(library, tomcatJava)
		if !isJava {
			continue
		}
		// Java 8 calls itself 1.8.
		version = strings.TrimPrefix(version, "1.")
		end := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' })
		if end < 0 {
			end = len(version)
		}
		major, _ := strconv.Atoi(version[:end])
		return major
	}
	return 0
}

// or is the first text that isn't empty.
func or(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}
