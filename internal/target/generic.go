package target

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// generic starts any image as it is.
func generic(server *v1alpha1.Server) *Rendering {
	g := server.Generic
	if g == nil {
		return nil
	}
	r := &Rendering{
		Description: "Generic",
		Port:        portOrDefault(g.Port),
		Container: corev1.Container{
			Command:      g.Command,
			Args:         g.Args,
			VolumeMounts: []corev1.VolumeMount{contentMount(g.ContentPath)},
		},
	}
	for _, v := range g.Env {
		r.Container.Env = append(r.Container.Env, corev1.EnvVar{Name: v.Name, Value: literal(ptr.Deref(v.Value, ""))})
	}
	return r
}

// literal keeps Kubernetes from expanding $(NAME) in a value: $$ stands for $.
func literal(value string) string { return strings.ReplaceAll(value, "$(", "$$(") }
