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

// Describe implements adapter.Server: the detail is the image's name without its registry,
// directories and digest.
func (Server) Describe(in *adapter.Input) *adapter.Description {
	g := in.Server.Generic
	if g == nil {
		return nil
	}
	image, _, _ := strings.Cut(in.Image, "@")
	return &adapter.Description{Name: "Generic", Detail: image[strings.LastIndex(image, "/")+1:], Port: ptr.Deref(g.Port, 8080)}
}

// Render implements adapter.Server.
func (Server) Render(in *adapter.Input) (*adapter.Rendering, error) {
	g := in.Server.Generic
	r := &adapter.Rendering{Container: corev1.Container{Command: g.Command, Args: g.Args}}
	r.MountContent(cmp.Or(g.ContentPath, "/assay/content"))
	r.MountTLS(in)
	if g.GCLog == v1alpha1.Enabled {
		r.LogGarbageCollections(in, g.GCLog, nil)
	}
	return r, nil
}
