package target

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// genericAdapter starts any image as it is. Of what such a server logs nothing
// is known.
var genericAdapter = adapter{
	is:            func(server *v1alpha1.Server) bool { return server.Generic != nil },
	port:          func(server *v1alpha1.Server, _ bool) int32 { return ptr.Deref(server.Generic.Port, 8080) },
	configuration: func(*v1alpha1.Server) *v1alpha1.Configuration { return nil },
	render:        renderGeneric,
	read:          func(string) Logged { return Logged{} },
	check:         func(*input, Logged) []Contradiction { return nil },
}

func renderGeneric(in *input) (*rendered, error) {
	g := in.server.Generic
	r := &rendered{
		description: "Generic",
		port:        ptr.Deref(g.Port, 8080),
		container:   corev1.Container{Command: g.Command, Args: g.Args},
	}
	r.serveContent(g.ContentPath)
	r.serveTLS(in, tlsFolder)
	for _, v := range g.Env {
		r.container.Env = append(r.container.Env, corev1.EnvVar{Name: v.Name, Value: literal(ptr.Deref(v.Value, ""))})
	}
	for i, v := range g.Volumes {
		name := fmt.Sprintf("volume-%d", i)
		switch v.EmptyDir {
		case v1alpha1.EmptyDirDisk:
			r.empty(in, name, v.MountPath, corev1.StorageMediumDefault)
			continue
		case v1alpha1.EmptyDirMemory:
			r.empty(in, name, v.MountPath, corev1.StorageMediumMemory)
			continue
		}
		volume := corev1.Volume{Name: in.name + "-" + name}
		if v.ConfigMapName != "" {
			volume.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: v.ConfigMapName}}
		} else {
			volume.Secret = &corev1.SecretVolumeSource{SecretName: v.SecretName}
		}
		r.volumes = append(r.volumes, volume)
		r.container.VolumeMounts = append(r.container.VolumeMounts,
			corev1.VolumeMount{Name: volume.Name, MountPath: v.MountPath, ReadOnly: true})
	}
	return r, nil
}
