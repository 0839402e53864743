package manifest

import (
	"path"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
)

const (
	// ToolContainer is the init container that copies the clients' program for the image of a tool.
	ToolContainer = "program"

	programVolume = "program"
)

// programLimit limits the size of the clients' program.
var programLimit = resource.MustParse("512Mi")

// clientStorage limits the ephemeral storage of a client in bytes: its logs, the program and workLimit.
const clientStorage = 1 << 30

// useTool makes the client run another load generator. That of AB and Siege runs in the tool's image: an init container copies the
// clients' program to a volume, since the image doesn't have it.
func useTool(run *v1alpha1.BenchmarkRun, settings *Settings, spec *corev1.PodSpec, client *corev1.Container) {
	tool := run.Spec.Clients.Tool
	if tool == nil {
		return
	}
	client.Args = append(client.Args, "--tool")
	spec.Volumes = append(spec.Volumes,
		corev1.Volume{Name: workVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(workLimit)}}})
	client.VolumeMounts = append(client.VolumeMounts, corev1.VolumeMount{Name: workVolume, MountPath: session.WorkDirectory})
	if tool.Name == v1alpha1.ToolK6 {
		return
	}
	directory := path.Dir(session.ToolProgram)
	spec.Volumes = append(spec.Volumes,
		corev1.Volume{Name: programVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(programLimit)}}})
	installer := assayContainer(ToolContainer, settings.LoadImage, settings, client.Resources, clientProgram, "copy", session.ToolProgram)
	installer.VolumeMounts = []corev1.VolumeMount{{Name: programVolume, MountPath: directory}}
	spec.InitContainers = []corev1.Container{installer}
	client.Image, client.ImagePullPolicy = tool.Image, tool.ImagePullPolicy
	client.Command = []string{session.ToolProgram}
	client.VolumeMounts = append(client.VolumeMounts, corev1.VolumeMount{Name: programVolume, MountPath: directory, ReadOnly: true})
}
