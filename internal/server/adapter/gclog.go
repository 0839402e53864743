package adapter

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/gclog"
)

// LogGarbageCollections has the Java virtual machine of the server log its garbage collections where the
// agent reads them, unless that is disabled or the user's options configure logs.
func (r *Rendering) LogGarbageCollections(in *Input, enabled v1alpha1.Switch, options []string) {
	if enabled == v1alpha1.Disabled || slices.ContainsFunc(options, gclog.ConfiguresLog) {
		return
	}
	r.Container.Env = append(r.Container.Env, corev1.EnvVar{Name: gclog.Variable, Value: gclog.Option})
	r.AddEmptyDir(in, "gc", gclog.Directory, corev1.StorageMediumDefault)
}
