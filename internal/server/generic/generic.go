// Package generic is the adapter of any image as it is.
package generic

import (
	"cmp"
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
	r.MountContent(cmp.Or(g.ContentPath, "/assay/content"))
	r.MountTLS(in)
	return r, nil
}
