// Package tomcat is the adapter of Apache Tomcat.
package tomcat

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
	"github.com/assay-dev/assay/internal/server/jsse"
)

const (
	// defaultHome is the directory of Tomcat in the official image.
	defaultHome = "/usr/local/tomcat"
	// ownDirectory has the rendered files that aren't in Tomcat's configuration.
	ownDirectory = "/assay/tomcat"
	securityFile = ownDirectory + "/java.security"
	serverXML    = "server.xml"
	// defaultMaxThreads is the same for the connector's own threads and for a shared executor
	// (https://tomcat.apache.org/tomcat-11.0-doc/config/http.html).
	defaultMaxThreads           = 200
	defaultMaxKeepAliveRequests = 100
	defaultMaxConnections       = 8192
	// defaultStreamExecution is that of https://tomcat.apache.org/tomcat-11.0-doc/config/http2.html.
	defaultStreamExecution = 20
	// defaultAJPPort is the one that is usual (https://tomcat.apache.org/tomcat-9.0-doc/config/ajp.html).
	defaultAJPPort = 8009
	// optionFile holds the user's JVM options if a shell must not see them.
	optionFile = "jvm.options"
)

// writtenDirectories are the directories that Tomcat writes to while it runs.
var writtenDirectories = []string{"logs", "temp", "work"}

// protocols are the connectors' classes
// (https://tomcat.apache.org/tomcat-9.0-doc/config/http.html).
var protocols = map[v1alpha1.TomcatProtocol]string{
	v1alpha1.TomcatNIO:  "org.apache.coyote.http11.Http11NioProtocol",
	v1alpha1.TomcatNIO2: "org.apache.coyote.http11.Http11Nio2Protocol",
	v1alpha1.TomcatAPR:  "org.apache.coyote.http11.Http11AprProtocol",
}

// Server is the adapter. It replaces conf/server.xml and conf/logging.properties of an image with
// the layout of the official one and keeps the rest of its configuration.
type Server struct{}

var _ adapter.Verifiable = Server{}

// Describe implements adapter.Server: it names the connector, and what speaks TLS.
func (Server) Describe(in *adapter.Input) *adapter.Description {
	t := in.Server.Tomcat
	if t == nil {
		return nil
	}
	d := &adapter.Description{Name: "Tomcat", Port: in.Port(t.Connector.Port), Configuration: t.Configuration, Files: rules}
	if !in.Own.Changes() {
		d.Name += " " + string(protocolOf(t))
	}
	if t.AJP != nil {
		d.AJPPort = ptr.Deref(t.AJP.Port, defaultAJPPort)
	}
	if t.Connector.Executor != v1alpha1.TomcatVirtualThreads {
		d.Concurrency = adapter.LimitOf("maxThreads", t.Connector.MaxThreads, defaultMaxThreads)
	}
	keepAlive := ptr.Deref(t.Connector.KeepAlive, v1alpha1.TomcatKeepAlive{})
	d.KeepAlive = adapter.LimitOf("keepAlive.maxRequests", keepAlive.MaxRequests, defaultMaxKeepAliveRequests)
	d.Backlog = adapter.LimitOf("acceptCount", t.Connector.AcceptCount, 0)
	d.Connections = adapter.LimitOf("connector.maxConnections", t.Connector.MaxConnections, defaultMaxConnections)
	d.Streams = adapter.LimitOf("connector.http2Limits.maxConcurrentStreamExecution",
		ptr.Deref(t.Connector.HTTP2Limits, v1alpha1.TomcatHTTP2Limits{}).MaxConcurrentStreamExecution, defaultStreamExecution)
	if by := tlsImplementation(in); by != "" {
		d.Detail = "+ " + string(by)
	}
	return d
}

// logging makes Tomcat log to the container's output. Its own configuration would log
// the same to files as well.
const logging = `handlers = java.util.logging.ConsoleHandler
.handlers = java.util.logging.ConsoleHandler
.level = INFO
java.util.logging.ConsoleHandler.level = INFO
java.util.logging.ConsoleHandler.formatter = org.apache.juli.OneLineFormatter
java.util.logging.ConsoleHandler.encoding = UTF-8
`

// Render implements adapter.Server.
func (Server) Render(in *adapter.Input) (*adapter.Rendering, error) {
	if err := checkInput(in); err != nil {
		return nil, err
	}
	t := in.Server.Tomcat
	home, base := directories(t)
	r := &adapter.Rendering{Container: corev1.Container{
		Command: []string{home + "/bin/catalina.sh"},
		Args:    []string{"run"},
		Env: []corev1.EnvVar{
			{Name: "CATALINA_HOME", Value: home},
			{Name: "CATALINA_BASE", Value: base},
			{Name: "CATALINA_OPTS", Value: adapter.Literal(strings.Join(jvmOptions(in), " "))},
		},
	}}
	if usesOptionFile(t) {
		r.Configure(in, optionFile, optionLines(t.JVMOptions), ownDirectory+"/"+optionFile)
	}
	if !ownServer(in) {
		r.Configure(in, serverXML, serverElement(in).text(), base+"/conf/"+serverXML)
	}
	if _, own := in.Files["logging.properties"]; !own {
		r.Configure(in, "logging.properties", logging, base+"/conf/logging.properties")
	}
	// The prefix keeps the user's names apart from those of the rendered files.
	for _, name := range in.FileNames() {
		r.Configure(in, "conf_"+name, in.Files[name], base+"/conf/"+name)
	}
	if usesJSSE(in) && jsse.NeedsSecurity(in.TLS) {
		r.Configure(in, "java.security", jsse.Security(in.TLS), securityFile)
	}
	if script := startScript(in); script != "" {
		r.Configure(in, "start.sh", script, ownDirectory+"/start.sh")
		r.Container.Command, r.Container.Args = []string{"/bin/sh"}, []string{ownDirectory + "/start.sh"}
	}
	addApplications(in, r)
	r.MountTLS(in)
	r.LogGarbageCollections(in, t.GCLog, t.JVMOptions)
	for _, directory := range writtenDirectories {
		r.AddEmptyDir(in, directory, base+"/"+directory, corev1.StorageMediumDefault)
	}
	return r, nil
}

// protocolOf returns the connector, NIO by default.
func protocolOf(t *v1alpha1.TomcatServer) v1alpha1.TomcatProtocol {
	return cmp.Or(t.Connector.Protocol, v1alpha1.TomcatNIO)
}

// directories returns CATALINA_HOME and CATALINA_BASE.
func directories(t *v1alpha1.TomcatServer) (home, base string) {
	home = cmp.Or(t.Home, defaultHome)
	return home, cmp.Or(t.Base, home)
}

// jvmOptions returns the options of the Java virtual machine. If two options set the same, the
// later one wins, so the user's come last. The shell of catalina.sh evaluates them once more.
func jvmOptions(in *adapter.Input) []string {
	t := in.Server.Tomcat
	options := []string{
		// The log is parsed in English.
		"-Duser.language=en",
		// Otherwise a Tomcat whose connector failed to start continues without it.
		"-Dorg.apache.catalina.startup.EXIT_ON_INIT_FAILURE=true",
	}
	if needsNative(in) && !slices.ContainsFunc(t.JVMOptions, jsse.SetsProperty("java.library.path")) {
		options = append(options, "-Djava.library.path="+libraryPath(in))
	}
	if usesJSSE(in) {
		options = append(options, jsse.Options(in.TLS, securityFile)...)
	}
	if tlsImplementation(in) == v1alpha1.TLSOpenSSLFFM {
		options = append(options, "--enable-native-access=ALL-UNNAMED")
	}
	if usesOptionFile(t) {
		return append(options, "@"+ownDirectory+"/"+optionFile)
	}
	return append(options, t.JVMOptions...)
}

// plainOption matches an option that the shell of catalina.sh leaves as it is.
var plainOption = regexp.MustCompile(`^-[A-Za-z0-9_.:=/,+%@-]+$`)

// usesOptionFile reports whether one of the user's options has a character that
// the shell of catalina.sh would expand. The java command then reads the user's
// options from optionFile, in their order, which it can since Java 9
// (https://docs.oracle.com/en/java/javase/17/docs/specs/man/java.html#java-command-line-argument-files).
func usesOptionFile(t *v1alpha1.TomcatServer) bool {
	return slices.ContainsFunc(t.JVMOptions, func(option string) bool { return !plainOption.MatchString(option) })
}

// optionLines returns the text of optionFile: an option per line, quoted where it must be.
func optionLines(options []string) string {
	var text strings.Builder
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	for _, option := range options {
		if strings.ContainsAny(option, "\"'\\#") {
			option = `"` + quote.Replace(option) + `"`
		}
		text.WriteString(option + "\n")
	}
	return text.String()
}

// ownServer reports whether server.xml is the user's own.
func ownServer(in *adapter.Input) bool {
	_, own := in.Files[serverXML]
	return own
}

// needsNative reports whether the configuration may need Tomcat Native.
func needsNative(in *adapter.Input) bool {
	return ownServer(in) || protocolOf(in.Server.Tomcat) == v1alpha1.TomcatAPR || tlsImplementation(in) == v1alpha1.TLSOpenSSL
}

// libraryPath returns where Java looks for Tomcat Native: where the image says (the official one by
// LD_LIBRARY_PATH), in its own directory of the official image, and where Debian, others and a
// build from source have it. The property replaces all that Java would search by itself.
func libraryPath(in *adapter.Input) string {
	home, _ := directories(in.Server.Tomcat)
	return `"${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}"` + strings.Join([]string{
		home + "/native-jni-lib",
		"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib/jni",
		"/usr/local/lib", "/usr/local/apr/lib",
		"/usr/lib64", "/lib64", "/usr/lib", "/lib",
	}, ":")
}

// rules are those of the user's own files. The protocol and the implementation of TLS say which libraries
// Java needs.
var rules = &adapter.FileRules{Kind: "tomcat", Main: serverXML, Kept: []string{"home", "base", "applications", "connector.port", "connector.tlsImplementation", "ajp.port", "jvmOptions", "gcLog"}}

// fileName matches names that stay in conf.
var fileName = regexp.MustCompile(`^([.]?[A-Za-z0-9_-][A-Za-z0-9._-]{0,198})$`)

// checkInput rejects values that would change more than their own field, and what Tomcat can't do.
// The API server rejects most of them, but not those of a ConfigMap.
func checkInput(in *adapter.Input) error {
	t := in.Server.Tomcat
	home, base := directories(t)
	if err := in.CheckPath("tomcat.home", home, defaultHome); err != nil {
		return err
	}
	if err := in.CheckPath("tomcat.base", base, defaultHome); err != nil {
		return err
	}
	if _, known := protocols[protocolOf(t)]; !known {
		return fmt.Errorf("%s: %q is not supported: use NIO, NIO2 or APR",
			in.Field("tomcat.connector.protocol"), t.Connector.Protocol)
	}
	if err := in.CheckFiles("tomcat.configuration", fileName,
		"is not a valid file name: use up to 200 letters, digits, '-', '_' and '.'"); err != nil {
		return err
	}
	if in.TLS != nil && protocolOf(t) == v1alpha1.TomcatAPR && cmp.Or(t.Connector.TLSImplementation, v1alpha1.TLSOpenSSL) != v1alpha1.TLSOpenSSL {
		return fmt.Errorf("%s: must be OpenSSL with the connector APR, which has no other: omit it, or use NIO or NIO2 for JSSE", in.Field("tomcat.connector.tlsImplementation"))
	}
	if by := tlsImplementation(in); by != "" && tlsImplementations[by] == "" {
		return fmt.Errorf("%s: %q is not supported: use JSSE, OpenSSL or OpenSSLFFM", in.Field("tomcat.connector.tlsImplementation"), by)
	}
	if err := checkApplications(in); err != nil {
		return err
	}
	if err := checkAttributes(in, "tomcat.connector.attributes", t.Connector.Attributes, connectorAttributes); err != nil {
		return err
	}
	if l := t.Connector.HTTP2Limits; l != nil {
		if err := checkAttributes(in, "tomcat.connector.http2Limits.attributes", l.Attributes, http2Attributes); err != nil {
			return err
		}
	}
	if err := in.CheckTLS(); err != nil {
		return err
	}
	return jsse.CheckOptions(in, "tomcat.jvmOptions", t.JVMOptions, usesJSSE(in))
}
