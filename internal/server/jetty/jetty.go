// Package jetty is the adapter of Eclipse Jetty 12.
package jetty

import (
	"cmp"
	"fmt"
	"path"
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
	// defaultHome and defaultBase are where the official image has Jetty, and the
	// configuration of an instance.
	defaultHome = "/usr/local/jetty"
	defaultBase = "/var/lib/jetty"
	// ownDirectory has the rendered files that base doesn't have.
	ownDirectory = "/assay/jetty"
	securityFile = ownDirectory + "/java.security"
	// mainFile is the file of start.d that has the rendered settings.
	mainFile = "assay.ini"
)

// Server is the adapter. It replaces start.d of an image with the layout of the
// official one and keeps the rest of base.
type Server struct{}

var _ adapter.Verifiable = Server{}

// defaultMaxThreads is that of the modules threadpool and threadpool-virtual.
const defaultMaxThreads = 200

// Describe implements adapter.Server: it names the type of the threads.
func (Server) Describe(in *adapter.Input) *adapter.Description {
	j := in.Server.Jetty
	if j == nil {
		return nil
	}
	d := &adapter.Description{
		Name: "Jetty", Port: in.Port(connectorOf(j).Port), Configuration: j.Configuration, Files: rules,
	}
	d.Concurrency = adapter.Limit{Setting: "threads.max", Value: defaultMaxThreads}
	if k := connectorOf(j).KeepAlive; k != nil && k.Mode == v1alpha1.Disabled {
		d.KeepAlive = adapter.Limit{Setting: "keepAlive.mode"}
	}
	d.Backlog = adapter.LimitOf("connector.acceptQueueSize", connectorOf(j).AcceptQueueSize, 0)
	d.Connections = adapter.LimitOf("connector.maxConnections", connectorOf(j).MaxConnections, 0)
	if t := j.Threads; t != nil {
		d.Concurrency.Value = ptr.Deref(t.Max, defaultMaxThreads)
		if t.Type == v1alpha1.JettyVirtualThreads {
			d.Name = "Jetty Virtual"
		}
	}
	return d
}

// Render implements adapter.Server.
func (Server) Render(in *adapter.Input) (*adapter.Rendering, error) {
	if err := checkInput(in); err != nil {
		return nil, err
	}
	j := in.Server.Jetty
	base := baseOf(j)
	r := &adapter.Rendering{Container: corev1.Container{Command: []string{"java"}}}
	// start.d of the image would open its own connector.
	r.AddEmptyDir(in, "start-d", base+"/start.d", corev1.StorageMediumDefault)
	main := settings(in)
	for _, name := range in.FileNames() {
		if name == mainFile {
			main = in.Files[name]
		} else {
			r.Configure(in, "own_"+name, in.Files[name], base+"/"+directoryOf(name)+"/"+name)
		}
	}
	r.Configure(in, mainFile, main, base+"/start.d/"+mainFile)
	if limitsVirtual(j) {
		r.Configure(in, "threads.xml", threadsXML(*j.Threads.Max), threadsFile)
	}
	if servesContent(in) {
		r.Configure(in, "content.xml", contentXML(in), contentFile)
	}
	if in.TLS != nil {
		r.Configure(in, "keystore.xml", keyStoreXML, keyStoreFile)
		r.Configure(in, "tls.xml", tlsXML, tlsFile)
		if jsse.NeedsSecurity(in.TLS) {
			r.Configure(in, "java.security", jsse.Security(in.TLS), securityFile)
		}
		if store := trustStore(in); store != "" {
			r.Configure(in, "start.sh", jsse.TrustStoreScript(store, `"$@"`), ownDirectory+"/start.sh")
			r.Container.Command = []string{"/bin/sh", ownDirectory + "/start.sh", "java"}
		}
	}
	for _, option := range jvmOptions(in) {
		r.Container.Args = append(r.Container.Args, adapter.Literal(option))
	}
	r.Container.Args = append(r.Container.Args, "-jar", homeOf(j)+"/start.jar", "jetty.base="+base)
	if len(in.Content) > 0 {
		r.MountContent(contentDirectory(in))
	}
	r.MountTLS(in)
	r.LogGarbageCollections(in, j.GCLog, j.JVMOptions)
	r.AddEmptyDir(in, "work", base+"/work", corev1.StorageMediumDefault)
	if j.AccessLog == v1alpha1.Enabled {
		r.AddEmptyDir(in, "logs", adapter.LogDirectory, corev1.StorageMediumDefault)
	}
	return r, nil
}

// jvmOptions returns the options of the Java virtual machine. Of two options that
// set the same the later holds, so the user's come last.
func jvmOptions(in *adapter.Input) []string {
	// What is read from the log is read in English.
	options := []string{"-Duser.language=en"}
	if in.TLS != nil {
		options = append(options, jsse.Options(in.TLS, securityFile)...)
	}
	return append(options, in.Server.Jetty.JVMOptions...)
}

func homeOf(j *v1alpha1.JettyServer) string { return cmp.Or(j.Home, defaultHome) }

func baseOf(j *v1alpha1.JettyServer) string { return cmp.Or(j.Base, defaultBase) }

// contentDirectory returns the directory of the content: that of the application ROOT, unless the image's is deployed.
func contentDirectory(in *adapter.Input) string {
	if j := in.Server.Jetty; j.Applications != v1alpha1.ApplicationsImage {
		return baseOf(j) + "/webapps/ROOT"
	}
	return "/assay/content"
}

// servesContent reports whether the content isn't an application.
func servesContent(in *adapter.Input) bool {
	j := in.Server.Jetty
	return len(in.Content) > 0 && (!deploys(j) || j.Applications == v1alpha1.ApplicationsImage)
}

// connectorOf returns the connector, without any setting if none is declared.
func connectorOf(j *v1alpha1.JettyServer) v1alpha1.JettyConnector {
	return ptr.Deref(j.Connector, v1alpha1.JettyConnector{})
}

// deploys reports whether a module deploys what is in webapps.
func deploys(j *v1alpha1.JettyServer) bool {
	return slices.ContainsFunc(j.Modules, func(module string) bool { return strings.HasSuffix(module, "-deploy") })
}

// The values that enter files and command lines. The API server accepts no others, but for the keys
// of a ConfigMap.
var (
	moduleSyntax = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*([./][A-Za-z0-9_-]+)*$`)
	fileSyntax   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,195}\.(ini|xml|mod)$`)
)

// directoryOf returns the directory of base for a file of the user's own.
func directoryOf(name string) string {
	return map[string]string{".ini": "start.d", ".xml": "etc", ".mod": "modules"}[path.Ext(name)]
}

// checkInput rejects values that would change more than their own field, and what Jetty can't do.
func checkInput(in *adapter.Input) error {
	j := in.Server.Jetty
	if err := in.CheckPath("jetty.home", homeOf(j), defaultHome); err != nil {
		return err
	}
	if err := in.CheckPath("jetty.base", baseOf(j), defaultBase); err != nil {
		return err
	}
	for i, module := range j.Modules {
		if !moduleSyntax.MatchString(module) {
			return fmt.Errorf("%s[%d]: %q must be the name of a module, such as ee10-deploy", in.Field("jetty.modules"), i, module)
		}
	}
	switch {
	case j.Applications != "" && !deploys(j):
		return fmt.Errorf("%s: must not be set without a module whose name ends in -deploy, such as ee10-deploy: add one to modules", in.Field("jetty.applications"))
	case j.Applications == v1alpha1.ApplicationsContent && len(in.Content) == 0:
		return fmt.Errorf("%s: must not be Content without spec.target.content: set that, or omit applications", in.Field("jetty.applications"))
	case len(in.Content) == 0 && len(j.Modules) == 0 && j.Configuration == nil:
		return fmt.Errorf("%s: nothing would be served: add a module that deploys what is in webapps, such as ee10-deploy, or set spec.target.content", in.Field("jetty.modules"))
	}
	if err := in.CheckFiles("jetty.configuration", fileSyntax,
		"must end in .ini, .xml or .mod and have up to 200 letters, digits, '.', '_' and '-'"); err != nil {
		return err
	}
	if err := in.CheckTLS(); err != nil {
		return err
	}
	return jsse.CheckOptions(in, "jetty.jvmOptions", j.JVMOptions, in.TLS != nil)
}
