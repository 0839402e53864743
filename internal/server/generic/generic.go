// Package generic is the adapter of any image as it is.
package generic

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server/adapter"
)

// Server is the adapter. Nothing is known of what such a server logs.
type Server struct{}

// Declared implements adapter.Server.
func (Server) Declared(spec *v1alpha1.Server) bool { return spec.Generic != nil }

// Describe implements adapter.Server: the detail is the image's name without its
// registry, directories and digest.
func (Server) Describe(in *adapter.Input) (name, detail string) {
	image, _, _ := strings.Cut(in.Image, "@")
	return "Generic", image[strings.LastIndex(image, "/")+1:]
}

// Port implements adapter.Server.
func (Server) Port(spec *v1alpha1.Server, _ bool) int32 { return ptr.Deref(spec.Generic.Port, 8080) }

// Configuration implements adapter.Server.
func (Server) Configuration(*v1alpha1.Server) *v1alpha1.Configuration { return nil }

// Render implements adapter.Server.
func (Server) Render(in *adapter.Input) (*adapter.Rendering, error) {
	g := in.Server.Generic
	r := &adapter.Rendering{Container: corev1.Container{Command: g.Command, Args: g.Args}}
	r.MountContent(g.ContentPath)
	r.MountTLS(in)
	for _, v := range g.Env {
		r.Container.Env = append(r.Container.Env, corev1.EnvVar{Name: v.Name, Value: adapter.Literal(ptr.Deref(v.Value, ""))})
	}
	for i, v := range g.Volumes {
		name := fmt.Sprintf("volume-%d", i)
		switch v.EmptyDir {
		case v1alpha1.EmptyDirDisk:
			r.AddEmptyDir(in, name, v.MountPath, corev1.StorageMediumDefault)
			continue
		case v1alpha1.EmptyDirMemory:
			r.AddEmptyDir(in, name, v.MountPath, corev1.StorageMediumMemory)
			continue
		}
		volume := corev1.Volume{Name: in.Name + "-" + name}
		if v.ConfigMapName != "" {
			volume.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: v.ConfigMapName}}
		} else {
			volume.Secret = &corev1.SecretVolumeSource{SecretName: v.SecretName}
		}
		r.Volumes = append(r.Volumes, volume)
		r.Container.VolumeMounts = append(r.Container.VolumeMounts,
			corev1.VolumeMount{Name: volume.Name, MountPath: v.MountPath, ReadOnly: true})
	}
	return r, nil
}
