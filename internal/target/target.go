// Package target knows how each kind of server is configured: it turns the
// target of a run into configuration files and containers, and reads from a
// server's log what was really started. It is pure, and there is one file per
// server.
package target

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

const (
	// ContainerName is the name of the server's container.
	ContainerName = "server"

	// ContentVolume is the volume that holds the run's content.
	ContentVolume = "content"
	// ConfigVolume is the volume that holds the rendered files.
	ConfigVolume = "config"
	// TLSVolume is the volume that holds the server's certificate: the files
	// certificateFile, keyFile and, where clients need a certificate,
	// clientAuthorityFile.
	TLSVolume = "tls"

	tlsFolder           = "/assay/tls"
	certificateFile     = tlsFolder + "/" + CertificateKey
	keyFile             = tlsFolder + "/" + PrivateKeyKey
	clientAuthorityFile = tlsFolder + "/" + ClientAuthorityKey

	// logFolder is where servers write access logs.
	logFolder = "/assay/logs"
)

// The files of TLSVolume.
const (
	CertificateKey     = "tls.crt"
	PrivateKeyKey      = "tls.key"
	ClientAuthorityKey = "client-ca.crt"
)

// Rendering is a target, ready to be made into a pod.
type Rendering struct {
	// Description names the server and its connector, as in "Tomcat NIO".
	Description string
	// Port is the TCP port on which the server answers.
	Port int32
	// Files are the rendered configuration files by name. They become a volume
	// named ConfigVolume.
	Files map[string]string
	// Containers are the server's container and, after it, the backends': image,
	// command, environment and mounts. Resources and security are the caller's.
	Containers []corev1.Container
	// Volumes are what the containers mount besides ContentVolume, ConfigVolume
	// and TLSVolume.
	Volumes []corev1.Volume
}

// Configurations are the users' own configurations: by container, the files
// that the ConfigMap has which the spec names.
type Configurations map[string]map[string]string

// ConfigurationNames gives the name of the ConfigMap with the user's own
// configuration by container.
func ConfigurationNames(t *v1alpha1.Target) map[string]string {
	names := map[string]string{}
	for _, in := range inputs(t, nil) {
		if c := adapterOf(in.server).configuration(in.server); c != nil {
			names[in.name] = c.ConfigMapName
		}
	}
	return names
}

// input is what a server is rendered from.
type input struct {
	// name is the name of its container.
	name   string
	image  string
	server *v1alpha1.Server
	// tls is nil for none.
	tls *v1alpha1.TLS
	// cpus is the container's CPU limit, rounded up to whole CPUs.
	cpus int32
	// backends are the ports of those that requests may be forwarded to, by name.
	backends map[string]int32
	// configuration is the user's own, by file.
	configuration map[string]string
}

// rendered is a server, ready to be made into a container.
type rendered struct {
	description string
	port        int32
	files       map[string]string
	container   corev1.Container
	volumes     []corev1.Volume
}

// adapter knows one kind of server.
type adapter struct {
	// is is whether a server is of this kind.
	is func(server *v1alpha1.Server) bool
	// port is where the server answers.
	port func(server *v1alpha1.Server, tls bool) int32
	// configuration is the user's own; nil for none.
	configuration func(server *v1alpha1.Server) *v1alpha1.Configuration
	// render makes files and a container. An error is the user's to mend; it names
	// the field.
	render func(in *input) (*rendered, error)
	// read reads what a server says of itself in its log.
	read func(log string) Logged
	// check compares what was declared with what a server says of itself.
	check func(in *input, l Logged) []Contradiction
}

var adapters = []adapter{tomcatAdapter, httpdAdapter, nginxAdapter, genericAdapter}

func adapterOf(server *v1alpha1.Server) *adapter {
	for i := range adapters {
		if adapters[i].is(server) {
			return &adapters[i]
		}
	}
	return &adapter{
		is:            func(*v1alpha1.Server) bool { return false },
		port:          func(*v1alpha1.Server, bool) int32 { return 0 },
		configuration: func(*v1alpha1.Server) *v1alpha1.Configuration { return nil },
		render: func(in *input) (*rendered, error) {
			return nil, fmt.Errorf("server of container %s: this version of Assay knows no such server", in.name)
		},
		read:  func(string) Logged { return Logged{} },
		check: func(*input, Logged) []Contradiction { return nil },
	}
}

// inputs are the servers of a target: first the one that clients talk to, then
// the backends.
func inputs(t *v1alpha1.Target, configurations Configurations) []*input {
	backends := map[string]int32{}
	for i := range t.Backends {
		server := backendServer(&t.Backends[i])
		backends[t.Backends[i].Name] = adapterOf(server).port(server, false)
	}
	all := []*input{{
		name: ContainerName, image: t.Image, server: &t.Server, tls: t.TLS, cpus: wholeCPUs(&t.Resources),
		backends: backends, configuration: configurations[ContainerName],
	}}
	for i := range t.Backends {
		b := &t.Backends[i]
		all = append(all, &input{
			name: b.Name, image: b.Image, server: backendServer(b), cpus: wholeCPUs(&b.Resources), configuration: configurations[b.Name],
		})
	}
	return all
}

func backendServer(b *v1alpha1.Backend) *v1alpha1.Server {
	return &v1alpha1.Server{Tomcat: b.Server.Tomcat, Generic: b.Server.Generic}
}

func wholeCPUs(r *v1alpha1.Resources) int32 {
	if r.CPU == nil {
		return 1
	}
	return int32((r.CPU.MilliValue() + 999) / 1000)
}

// Render turns a target that Assay starts into configuration files and
// containers. The spec is one that the API server accepted, with its defaults.
func Render(t *v1alpha1.Target, configurations Configurations) (*Rendering, error) {
	r := &Rendering{Files: map[string]string{}}
	ports := map[int32]string{}
	for i, in := range inputs(t, configurations) {
		one, err := adapterOf(in.server).render(in)
		if err != nil {
			return nil, err
		}
		if other, taken := ports[one.port]; taken {
			return nil, fmt.Errorf("spec.target: the containers %s and %s have the same port %d: give each its own", other, in.name, one.port)
		}
		ports[one.port] = in.name
		if i == 0 {
			r.Description, r.Port = one.description, one.port
		} else {
			r.Description += " with " + one.description
		}
		maps.Copy(r.Files, one.files)
		r.Volumes = append(r.Volumes, one.volumes...)
		one.container.Name, one.container.Image, one.container.ImagePullPolicy = in.name, in.image, t.ImagePullPolicy
		one.container.Ports = []corev1.ContainerPort{{ContainerPort: one.port}}
		r.Containers = append(r.Containers, one.container)
	}
	return r, nil
}

// Port is the TCP port on which a target that Assay starts answers.
func Port(t *v1alpha1.Target) int32 {
	return adapterOf(&t.Server).port(&t.Server, t.TLS != nil)
}

// ReadinessPath is what the target is asked for to learn whether it is ready.
func ReadinessPath(spec *v1alpha1.BenchmarkRunSpec) string {
	if path := spec.Target.Readiness.Path; path != "" {
		return path
	}
	if len(spec.Load.Requests) == 0 {
		return "/" // the API server refuses a list of requests without it
	}
	return spec.Load.Requests[0].Path
}

// configure adds a file of the run's configuration, which is found under path
// in the container. Files with the same name in several containers are told
// apart by the container's.
func (r *rendered) configure(in *input, name, text, path string) {
	key := in.name + "_" + name
	if r.files == nil {
		r.files = map[string]string{}
	}
	r.files[key] = text
	r.container.VolumeMounts = append(r.container.VolumeMounts,
		corev1.VolumeMount{Name: ConfigVolume, MountPath: path, SubPath: key, ReadOnly: true})
}

// empty adds a folder that the server may write to.
func (r *rendered) empty(in *input, name, path string, medium corev1.StorageMedium) {
	volume := in.name + "-" + name
	r.volumes = append(r.volumes, corev1.Volume{
		Name: volume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: medium}},
	})
	r.container.VolumeMounts = append(r.container.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: path})
}

// serveContent mounts the run's content.
func (r *rendered) serveContent(path string) {
	r.container.VolumeMounts = append(r.container.VolumeMounts,
		corev1.VolumeMount{Name: ContentVolume, MountPath: path, ReadOnly: true})
}

// serveTLS mounts the server's certificate, if it has one.
func (r *rendered) serveTLS(in *input, path string) {
	if in.tls != nil {
		r.container.VolumeMounts = append(r.container.VolumeMounts,
			corev1.VolumeMount{Name: TLSVolume, MountPath: path, ReadOnly: true})
	}
}

// portOr is a port that was given, else the usual one.
func portOr(port *int32, tls bool) int32 {
	if tls {
		return ptr.Deref(port, 8443)
	}
	return ptr.Deref(port, 8080)
}

// literal keeps Kubernetes from expanding $(NAME) in a value: $$ stands for $.
func literal(value string) string { return strings.ReplaceAll(value, "$(", "$$(") }

// files are the names of a configuration's files in alphabetical order.
func files(configuration map[string]string) []string {
	return slices.Sorted(maps.Keys(configuration))
}

// Describe names the servers of a target and their connectors, as in "HTTPD
// Event with Tomcat NIO".
func Describe(t *v1alpha1.Target) string {
	if t.Server.External != nil {
		return "External"
	}
	r, err := Render(t, nil)
	if err != nil { // it was rendered before, else there would be nothing to describe
		return ""
	}
	return r.Description
}
