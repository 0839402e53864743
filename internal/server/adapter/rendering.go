package adapter

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// The volumes of a target's pod that servers mount.
const (
	// ContentVolume is the volume that holds the run's content.
	ContentVolume = "content"
	// ConfigVolume is the volume that holds the rendered files.
	ConfigVolume = "config"
	// TLSVolume is the volume that holds the server's certificate: the files CertificateKey,
	// PrivateKeyKey and, if clients need a certificate, ClientCAKey.
	TLSVolume = "tls"
)

// The files of TLSVolume.
const (
	CertificateKey = "tls.crt"
	PrivateKeyKey  = "tls.key"
	ClientCAKey    = "client-ca.crt"
)

// Where servers find and write files in their container.
const (
	TLSDirectory    = "/assay/tls"
	CertificateFile = TLSDirectory + "/" + CertificateKey
	PrivateKeyFile  = TLSDirectory + "/" + PrivateKeyKey
	ClientCAFile    = TLSDirectory + "/" + ClientCAKey
	// LogDirectory is the directory in which servers write access logs.
	LogDirectory = "/assay/logs"
)

// Rendering is a server, ready to be made into a container of a pod.
type Rendering struct {
	// Files are the rendered configuration files by name: the contents of ConfigVolume.
	Files map[string]string
	// Container has the command, the environment and the mounts.
	Container corev1.Container
	// Volumes are those that the container mounts in addition to ContentVolume,
	// ConfigVolume and TLSVolume.
	Volumes []corev1.Volume
}

// Configure adds a configuration file, which the container finds at path. Its name in ConfigVolume
// begins with the container's, because several containers may have a file of the same name.
func (r *Rendering) Configure(in *Input, name, text, path string) {
	key := in.Name + "_" + name
	if r.Files == nil {
		r.Files = map[string]string{}
	}
	r.Files[key] = text
	r.Container.VolumeMounts = append(r.Container.VolumeMounts,
		corev1.VolumeMount{Name: ConfigVolume, MountPath: path, SubPath: key, ReadOnly: true})
}

// AddEmptyDir adds a directory that the server may write to.
func (r *Rendering) AddEmptyDir(in *Input, name, path string, medium corev1.StorageMedium) {
	volume := in.Name + "-" + name
	r.Volumes = append(r.Volumes, corev1.Volume{
		Name: volume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: medium}},
	})
	r.Container.VolumeMounts = append(r.Container.VolumeMounts, corev1.VolumeMount{Name: volume, MountPath: path})
}

// MountContent mounts the run's content.
func (r *Rendering) MountContent(path string) {
	r.Container.VolumeMounts = append(r.Container.VolumeMounts,
		corev1.VolumeMount{Name: ContentVolume, MountPath: path, ReadOnly: true})
}

// MountTLS mounts the server's certificate, if it has one.
func (r *Rendering) MountTLS(in *Input) {
	if in.TLS != nil {
		r.Container.VolumeMounts = append(r.Container.VolumeMounts,
			corev1.VolumeMount{Name: TLSVolume, MountPath: TLSDirectory, ReadOnly: true})
	}
}

// Literal returns value such that Kubernetes doesn't expand $(NAME) in it, which may be a secret: $$ stands for $. Each $ is
// doubled, since $$$(NAME) is a $ and what NAME is.
func Literal(value string) string { return strings.ReplaceAll(value, "$", "$$") }

// Text builds the text of a configuration file line by line.
type Text struct {
	strings.Builder
	depth int
}

// Line adds a line.
func (c *Text) Line(format string, values ...any) {
	text := fmt.Sprintf(format, values...)
	if text != "" {
		text = strings.Repeat("    ", c.depth) + text
	}
	c.WriteString(text + "\n")
}

// Block begins a block.
func (c *Text) Block(format string, values ...any) {
	c.Line(format, values...)
	c.depth++
}

// End ends a block.
func (c *Text) End(format string) {
	c.depth--
	c.Line("%s", format)
}

// LineIfSet adds a line with a value, if there is one.
func (c *Text) LineIfSet(format string, value *int32) {
	if value != nil {
		c.Line(format, *value)
	}
}

// OnOff returns a switch as httpd, nginx and Tomcat write it. An empty one is Disabled.
func OnOff(s v1alpha1.Switch) string {
	if s == v1alpha1.Enabled {
		return "on"
	}
	return "off"
}
