// Package target knows how each kind of server is configured: it turns the
// target of a run into configuration files and a container. It is pure, and
// there is one file per server.
package target

import (
	"fmt"

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
	// Container is the server's container: image, command, environment and
	// mounts. Resources and security are the caller's.
	Container corev1.Container
	// WritableVolumes are the names of the empty volumes that the container
	// mounts.
	WritableVolumes []string
}

// adapter renders one kind of server. It returns nil when the server isn't of
// its kind.
type adapter func(server *v1alpha1.Server) *Rendering

var adapters = []adapter{tomcat, generic}

// Render turns a target into configuration files and a container. The spec is
// one that the API server accepted, with its defaults.
func Render(t *v1alpha1.Target) (*Rendering, error) {
	for _, render := range adapters {
		r := render(&t.Server)
		if r == nil {
			continue
		}
		r.Container.Name = ContainerName
		r.Container.Image = t.Image
		r.Container.ImagePullPolicy = t.ImagePullPolicy
		r.Container.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: r.Port}}
		return r, nil
	}
	return nil, fmt.Errorf("spec.target.server: no server given; give exactly one of tomcat and generic")
}

// ReadinessPath is what the target is asked for to learn whether it is ready.
func ReadinessPath(spec *v1alpha1.BenchmarkRunSpec) string {
	if path := spec.Target.Readiness.Path; path != "" {
		return path
	}
	return spec.Load.Requests[0].Path
}

func contentMount(path string) corev1.VolumeMount {
	return corev1.VolumeMount{Name: ContentVolume, MountPath: path, ReadOnly: true}
}

func portOrDefault(port *int32) int32 { return ptr.Deref(port, 8080) }
