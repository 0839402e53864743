package target

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
)

const (
	// tomcatHome is where the official image has Tomcat.
	tomcatHome = "/usr/local/tomcat"
	// tomcatOwnFolder is where the files are that aren't Tomcat's configuration.
	tomcatOwnFolder = "/assay/tomcat"
	tomcatServerXML = "server.xml"
)

// tomcatFolders are those that Tomcat writes to while it runs.
var tomcatFolders = []string{"logs", "temp", "work"}

// tomcatProtocols are the connectors' classes
// (https://tomcat.apache.org/tomcat-9.0-doc/config/http.html).
var tomcatProtocols = map[v1alpha1.TomcatProtocol]string{
	v1alpha1.TomcatNIO:  "org.apache.coyote.http11.Http11NioProtocol",
	v1alpha1.TomcatNIO2: "org.apache.coyote.http11.Http11Nio2Protocol",
	v1alpha1.TomcatAPR:  "org.apache.coyote.http11.Http11AprProtocol",
}

// tomcatAdapter replaces conf/server.xml and conf/logging.properties of an
// image with the layout of the official one and keeps the rest of its
// configuration.
var tomcatAdapter = adapter{
	is:            func(server *v1alpha1.Server) bool { return server.Tomcat != nil },
	port:          func(server *v1alpha1.Server, tls bool) int32 { return portOr(server.Tomcat.Connector.Port, tls) },
	configuration: func(server *v1alpha1.Server) *v1alpha1.Configuration { return server.Tomcat.Configuration },
	render:        renderTomcat,
	read:          readTomcat,
	check:         checkTomcat,
}

// tomcatLogging has Tomcat say on the container's output what it is. Its own
// configuration writes the same a second time, into files.
const tomcatLogging = `handlers = java.util.logging.ConsoleHandler
.handlers = java.util.logging.ConsoleHandler
.level = INFO
java.util.logging.ConsoleHandler.level = INFO
java.util.logging.ConsoleHandler.formatter = org.apache.juli.OneLineFormatter
java.util.logging.ConsoleHandler.encoding = UTF-8
`

func renderTomcat(in *input) (*rendered, error) {
	if err := acceptTomcat(in); err != nil {
		return nil, err
	}
	t := in.server.Tomcat
	home, base := tomcatFoldersOf(t)
	r := &rendered{
		description: describeTomcat(in.server),
		port:        portOr(t.Connector.Port, in.tls != nil),
		container: corev1.Container{
			Command: []string{home + "/bin/catalina.sh"},
			Args:    []string{"run"},
			Env: []corev1.EnvVar{
				{Name: "CATALINA_HOME", Value: home},
				{Name: "CATALINA_BASE", Value: base},
				{Name: "CATALINA_OPTS", Value: literal(strings.Join(tomcatOptions(in), " "))},
			},
		},
	}
	if _, own := in.configuration[tomcatServerXML]; !own {
		r.configure(in, tomcatServerXML, tomcatServer(in).text(), base+"/conf/"+tomcatServerXML)
	}
	if _, own := in.configuration["logging.properties"]; !own {
		r.configure(in, "logging.properties", tomcatLogging, base+"/conf/logging.properties")
	}
	// The prefix keeps the user's names apart from those of the rendered files.
	for _, name := range files(in.configuration) {
		r.configure(in, "conf_"+name, in.configuration[name], base+"/conf/"+name)
	}
	if tomcatEnablesOld(in) {
		r.configure(in, "java.security", tomcatJavaSecurity(in), tomcatOwnFolder+"/java.security")
	}
	if tomcatTrustStore(in) != "" {
		r.configure(in, "start.sh", tomcatStart(in, home), tomcatOwnFolder+"/start.sh")
		r.container.Command, r.container.Args = []string{"/bin/sh"}, []string{tomcatOwnFolder + "/start.sh"}
	}
	r.serveContent(base + "/webapps/ROOT")
	r.serveTLS(in, tlsFolder)
	for _, folder := range tomcatFolders {
		r.empty(in, folder, base+"/"+folder, corev1.StorageMediumDefault)
	}
	return r, nil
}

func describeTomcat(server *v1alpha1.Server) string {
	return "Tomcat " + string(tomcatProtocol(server.Tomcat))
}

func tomcatProtocol(t *v1alpha1.TomcatServer) v1alpha1.TomcatProtocol {
	if t.Connector.Protocol == "" {
		return v1alpha1.TomcatNIO
	}
	return t.Connector.Protocol
}

// tomcatFoldersOf are CATALINA_HOME and CATALINA_BASE.
func tomcatFoldersOf(t *v1alpha1.TomcatServer) (home, base string) {
	home = t.Home
	if home == "" {
		home = tomcatHome
	}
	base = t.Base
	if base == "" {
		base = home
	}
	return home, base
}

// tomcatOptions are the options of the Java virtual machine. Of two options
// that set the same the later holds, so the user's come last. catalina.sh has
// the shell evaluate them once more.
func tomcatOptions(in *input) []string {
	t := in.server.Tomcat
	options := []string{
		// What is read from the log is read in English.
		"-Duser.language=en",
		// Otherwise a Tomcat whose connector can't start lives on without it.
		"-Dorg.apache.catalina.startup.EXIT_ON_INIT_FAILURE=true",
	}
	if tomcatNeedsNative(in) && !slices.ContainsFunc(t.JVMOptions, setsProperty("java.library.path")) {
		options = append(options, "-Djava.library.path="+tomcatLibraryPath(in))
	}
	return append(append(options, tomcatTLSOptions(in)...), t.JVMOptions...)
}

func setsProperty(name string) func(string) bool {
	return func(option string) bool {
		return option == "-D"+name || strings.HasPrefix(option, "-D"+name+"=")
	}
}

// tomcatNeedsNative is whether Tomcat Native may be asked for.
func tomcatNeedsNative(in *input) bool {
	_, own := in.configuration[tomcatServerXML]
	return own || tomcatProtocol(in.server.Tomcat) == v1alpha1.TomcatAPR || tomcatTLSBy(in) == v1alpha1.TLSOpenSSL
}

// tomcatLibraryPath is where Tomcat Native is looked for: where the image says
// (the official one by LD_LIBRARY_PATH), in its own folder of the official
// image, and where Debian, others and a build from source have it. To give
// any takes the place of all that Java would search.
func tomcatLibraryPath(in *input) string {
	home, _ := tomcatFoldersOf(in.server.Tomcat)
	return `"${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}"` + strings.Join([]string{
		home + "/native-jni-lib",
		"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib/jni",
		"/usr/local/lib", "/usr/local/apr/lib",
		"/usr/lib64", "/lib64", "/usr/lib", "/lib",
	}, ":")
}

var (
	tomcatFolderName = regexp.MustCompile(`^(/[A-Za-z0-9_][A-Za-z0-9._-]*)+$`)
	tomcatOption     = regexp.MustCompile(`^-[A-Za-z0-9_.:=/,+%@~-]+$`)
	tomcatFileName   = regexp.MustCompile(`^[A-Za-z0-9._-]{1,200}$`)
)

// acceptTomcat refuses what would change more than the field it stands in. The
// API server refuses the most of it, but not what a ConfigMap holds.
func acceptTomcat(in *input) error {
	t := in.server.Tomcat
	home, base := tomcatFoldersOf(t)
	for _, folder := range []struct{ field, value string }{{"tomcat.home", home}, {"tomcat.base", base}} {
		if !tomcatFolderName.MatchString(folder.value) || path.Clean(folder.value) != folder.value {
			return fmt.Errorf("%s: %q isn't an absolute path of letters, digits, '.', '_' and '-': use one such as %s",
				in.field(folder.field), folder.value, tomcatHome)
		}
	}
	for i, option := range t.JVMOptions {
		if !tomcatOption.MatchString(option) {
			return fmt.Errorf("%s[%d]: %q must begin with '-' and may hold letters, digits and _.:=/,+%%@~- only, one option per item",
				in.field("tomcat.jvmOptions"), i, option)
		}
	}
	if _, known := tomcatProtocols[tomcatProtocol(t)]; !known {
		return fmt.Errorf("%s: this version of Assay knows no connector %q: use NIO, NIO2 or APR",
			in.field("tomcat.connector.protocol"), t.Connector.Protocol)
	}
	for _, name := range files(in.configuration) {
		if !tomcatFileName.MatchString(name) || name == "." || name == ".." {
			return fmt.Errorf("%s: the key %q of the ConfigMap %s can't be a file of conf: use up to 200 letters, digits, '-', '_' and '.'",
				in.field("tomcat.configuration"), name, t.Configuration.ConfigMapName)
		}
	}
	return acceptTomcatTLS(in)
}
