// Package server renders the target of a run as configuration files and containers,
// and reads what was really started from the servers' logs. It is pure. Each server has
// an adapter: a package in a directory below this one.
package server

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/server/adapter"
	"github.com/assay-dev/assay/internal/server/external"
	"github.com/assay-dev/assay/internal/server/generic"
	"github.com/assay-dev/assay/internal/server/httpd"
	"github.com/assay-dev/assay/internal/server/jetty"
	"github.com/assay-dev/assay/internal/server/nginx"
	"github.com/assay-dev/assay/internal/server/tomcat"
)

// servers are all kinds of servers, one line for each.
var servers = []adapter.Server{
	tomcat.Server{},
	httpd.Server{},
	nginx.Server{},
	jetty.Server{},
	generic.Server{},
	external.Server{},
}

// The names of the server's container, of the volumes that a target's pod has for
// its servers, and of the files of TLSVolume; see package adapter.
const (
	ContainerName = adapter.ContainerName

	ContentVolume = adapter.ContentVolume
	ConfigVolume  = adapter.ConfigVolume
	TLSVolume     = adapter.TLSVolume

	CertificateKey = adapter.CertificateKey
	PrivateKeyKey  = adapter.PrivateKeyKey
	ClientCAKey    = adapter.ClientCAKey
)

type (
	// Log holds the facts about a server that its log states.
	Log = adapter.Log
	// Limits are those of a server's settings.
	Limits = adapter.Limits
	// Limit is the largest value that a setting allows.
	Limit = adapter.Limit
	// Mismatch is a difference between what was declared and what the server reports.
	Mismatch = adapter.Mismatch
)

// Rendering is a target, ready to be made into a pod.
type Rendering struct {
	// Description names the servers and their connectors, as in "Tomcat NIO".
	Description string
	// Port is the TCP port on which the target listens.
	Port int32
	// Files are the rendered configuration files by name: the contents of ConfigVolume.
	Files map[string]string
	// Containers are the server's container and, after it, the backends': image,
	// command, environment and mounts. The caller sets resources and security.
	Containers []corev1.Container
	// Volumes are those that the containers mount in addition to ContentVolume,
	// ConfigVolume and TLSVolume.
	Volumes []corev1.Volume
	// Own is what the users' own configurations do, by container.
	Own Own `json:",omitempty"`
}

// Configurations are the users' own configurations: by container, the files of
// the ConfigMap that the spec names.
type Configurations map[string]map[string]string

// declared is a server of a target, with its adapter.
type declared struct {
	adapter.Server
	*adapter.Description
	in *adapter.Input
}

// declaredBy returns the servers of a target: first the one that clients talk to, then the
// backends. It returns an error, and the servers before, at one that this version doesn't know.
func declaredBy(t *v1alpha1.Target, configurations Configurations, own Own) ([]declared, error) {
	inputs := []*adapter.Input{{
		Name: ContainerName, Image: t.Image, Server: &t.Server, TLS: t.TLS, CPUs: wholeCPUs(&t.Resources), Backends: map[string]int32{}, AJP: map[string]int32{},
	}}
	for i := range t.Backends {
		b := &t.Backends[i]
		inputs = append(inputs, &adapter.Input{Name: b.Name, Image: b.Image, Server: b.Server.AsServer(), CPUs: wholeCPUs(&b.Resources)})
	}
	var all []declared
	var content []string
	for i := range t.Content {
		content = append(content, t.Content[i].Path)
	}
	for i, in := range inputs {
		in.Content, in.Files, in.Own = content, configurations[in.Name], own[in.Name]
		for _, s := range servers {
			if description := s.Describe(in); description != nil {
				all = append(all, declared{s, description, in})
				break
			}
		}
		if len(all) == i {
			return all, fmt.Errorf("server of container %s: this version of Assay doesn't support it", in.Name)
		}
		if i > 0 {
			inputs[0].Backends[in.Name] = all[i].Port
			if all[i].AJPPort != 0 {
				inputs[0].AJP[in.Name] = all[i].AJPPort
			}
		}
	}
	return all, nil
}

func wholeCPUs(r *v1alpha1.Resources) int32 {
	if r.CPU == nil {
		return 1
	}
	return int32((r.CPU.MilliValue() + 999) / 1000)
}

// ConfigurationNames returns the name of the ConfigMap with the user's own configuration, by
// container.
func ConfigurationNames(t *v1alpha1.Target) map[string]string {
	names := map[string]string{}
	all, _ := declaredBy(t, nil, nil)
	for _, s := range all {
		if s.Configuration != nil {
			names[s.in.Name] = s.Configuration.ConfigMapName
		}
	}
	return names
}

// Render turns a target that Assay starts into configuration files and
// containers. The spec is one that the API server accepted, with its defaults.
// An error is the user's to fix, and names the field.
func Render(t *v1alpha1.Target, configurations Configurations) (*Rendering, error) {
	all, err := declaredBy(t, configurations, nil)
	if err != nil {
		return nil, err
	}
	r := &Rendering{Port: all[0].Port, Files: map[string]string{}}
	ports := map[int32]string{}
	for i := range all {
		s := &all[i]
		if err := s.in.ReadOwn(s.Files); err != nil {
			return nil, err
		}
		if s.in.Own != nil {
			if r.Own == nil {
				r.Own = Own{}
			}
			r.Own[s.in.Name], s.Description = s.in.Own, s.Describe(s.in)
		}
		one, err := s.Render(s.in)
		if err != nil {
			return nil, err
		}
		for _, port := range []int32{s.Port, s.AJPPort} {
			if other, taken := ports[port]; taken && port != 0 {
				return nil, fmt.Errorf("spec.target: the containers %s and %s have the same port %d: set different ports", other, s.in.Name, port)
			}
			ports[port] = s.in.Name
		}
		maps.Copy(r.Files, one.Files)
		r.Volumes = append(r.Volumes, one.Volumes...)
		one.Container.Name, one.Container.Image, one.Container.ImagePullPolicy = s.in.Name, s.in.Image, t.ImagePullPolicy
		one.Container.Ports = []corev1.ContainerPort{{ContainerPort: s.Port}}
		r.Containers = append(r.Containers, one.Container)
	}
	r.Description = describe(all)
	return r, nil
}

// LimitsOf returns what the settings of the server that clients talk to allow. A limit that a configuration
// of the user's own may set is unknown.
func LimitsOf(t *v1alpha1.Target, own Own) Limits {
	all, _ := declaredBy(t, nil, own)
	if len(all) == 0 || all[0].Configuration != nil && all[0].in.Own == nil {
		return Limits{}
	}
	limits := all[0].Limits
	for _, l := range []*adapter.Limit{&limits.Concurrency, &limits.Streams, &limits.Connections, &limits.KeepAlive, &limits.Backlog} {
		if all[0].in.Own.Changes(l.Setting) {
			*l = adapter.Limit{}
		}
	}
	return limits
}

// Port returns the TCP port on which a target listens that Assay starts.
func Port(t *v1alpha1.Target) int32 {
	all, _ := declaredBy(t, nil, nil)
	if len(all) == 0 {
		return 0
	}
	return all[0].Port
}

// IsExternal reports whether Assay doesn't start the target.
func IsExternal(t *v1alpha1.Target) bool { return t.Server.External != nil }

// ExternalURL returns the URL of a target that Assay doesn't start.
func ExternalURL(t *v1alpha1.Target) string { return t.Server.External.URL }

// ExternalAddress returns the host and port of a target that Assay doesn't start.
func ExternalAddress(t *v1alpha1.Target) string { return external.Address(t.Server.External) }

// CertificateAuthority returns the source of the CA bundle that verifies a target that Assay doesn't
// start, or nil if there is none.
func CertificateAuthority(t *v1alpha1.Target) *v1alpha1.CertificateAuthority {
	if !IsExternal(t) {
		return nil
	}
	return t.Server.External.CertificateAuthority
}

// Describe names the servers of a target and their connectors, as in "HTTPD Event with Tomcat NIO".
func Describe(t *v1alpha1.Target, own Own) string {
	all, _ := declaredBy(t, nil, own)
	return describe(all)
}

func describe(all []declared) string {
	var names []string
	for _, s := range all {
		name := s.Name
		if s.in.Own.Changes() {
			name += " (own " + s.Files.Main + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, " with ")
}

// Label adds to the description of a target what tells it from others in a table, as in "Tomcat NIO
// + JSSE" or "Generic nginx:1.28".
func Label(description string, t *v1alpha1.Target) string {
	if all, _ := declaredBy(t, nil, nil); len(all) > 0 && all[0].Detail != "" {
		description += " " + all[0].Detail
	}
	return description
}

// VerifiableContainers returns the names of the containers whose servers Assay can verify by their
// logs.
func VerifiableContainers(t *v1alpha1.Target) []string {
	var names []string
	all, _ := declaredBy(t, nil, nil)
	for _, s := range all {
		if _, ok := s.Server.(adapter.Verifiable); ok {
			names = append(names, s.in.Name)
		}
	}
	return names
}

// Verifiable reports whether Assay can verify the server that clients talk to by its log.
func Verifiable(t *v1alpha1.Target) bool {
	return slices.Contains(VerifiableContainers(t), ContainerName)
}

// ReadLogs returns what the logs of a target's servers say about them, by container,
// and where that differs from what was declared.
func ReadLogs(t *v1alpha1.Target, own Own, logs map[string]string) (map[string]Log, []Mismatch) {
	read := map[string]Log{}
	var mismatches []Mismatch
	all, _ := declaredBy(t, nil, own)
	for _, s := range all {
		verifiable, ok := s.Server.(adapter.Verifiable)
		log, logged := logs[s.in.Name]
		if !ok || !logged {
			continue
		}
		l, found := verifiable.ReadLog(s.in, log)
		read[s.in.Name] = bounded(l)
		for _, m := range found {
			m.Declared, m.Real = printable.Clipped(m.Declared, maxTextBytes), printable.Clipped(m.Real, maxTextBytes)
			mismatches = append(mismatches, m)
		}
	}
	return read, mismatches[:min(len(mismatches), maxMismatches)]
}

const (
	// maxTextBytes bounds each text of a log. A status couldn't be stored if it had a log's longest line.
	maxTextBytes = 512
	// maxMismatches and maxLibraries bound the mismatches and libraries. They are more than any server has.
	maxMismatches = 32
	maxLibraries  = 32
)

// bounded bounds what a server logged, and removes what a terminal would interpret.
func bounded(l Log) Log {
	l.Version, l.Connector = printable.Clipped(l.Version, maxTextBytes), printable.Clipped(l.Connector, maxTextBytes)
	l.Libraries = slices.Clone(l.Libraries[:min(len(l.Libraries), maxLibraries)])
	for i, library := range l.Libraries {
		l.Libraries[i] = printable.Clipped(library, maxTextBytes)
	}
	return l
}
