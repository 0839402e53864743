package benchmarkrun

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
)

// configMetadata returns an empty ConfigMap without content, to be read from the cache, which has no
// content of ConfigMaps.
func configMetadata() *metav1.PartialObjectMetadata {
	obj := &metav1.PartialObjectMetadata{}
	obj.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	return obj
}

// observeConfig reads the run's ConfigMap. Its content is read past the cache once, unless this
// manager has created it, and what the run goes on with is kept: none of the user's files. Of a run that has finished, there is no
// content.
func (r *Reconciler) observeConfig(ctx context.Context, br *v1alpha1.BenchmarkRun, o *observed.Run) error {
	cached, err := child(ctx, r, r, br, o, manifest.ConfigName(br), configMetadata())
	if err != nil || cached == nil {
		return err
	}
	if state.IsOver(br) {
		o.Config = &corev1.ConfigMap{ObjectMeta: cached.ObjectMeta}
		return nil
	}
	if kept := r.known.get(br.UID).config; kept != nil && kept.ResourceVersion == cached.ResourceVersion {
		o.Config = kept
		return nil
	}
	config := &corev1.ConfigMap{}
	found, err := r.read(ctx, r.APIReader, client.ObjectKeyFromObject(cached), config)
	if err != nil || !found {
		return err
	}
	if own, err := r.owns(ctx, br, o, config); !own || err != nil {
		return err
	}
	o.Config = manifest.Summary(config)
	r.known.change(br.UID, func(s *runState) { s.config = o.Config })
	return nil
}

// observeArtifact reads the run's artifact past the cache if the status announces it. Before that,
// nobody may have one: the cache knows whether there is.
func (r *Reconciler) observeArtifact(ctx context.Context, br *v1alpha1.BenchmarkRun, o *observed.Run) error {
	name := manifest.ArtifactName(br)
	if br.Status.Artifact == nil {
		cached, err := child(ctx, r, r, br, o, name, configMetadata())
		if cached != nil {
			o.Stored = &observed.Stored{}
		}
		return err
	}
	stored, err := child(ctx, r, r.APIReader, br, o, name, &corev1.ConfigMap{})
	if stored == nil || err != nil {
		return err
	}
	data := stored.BinaryData[artifact.Key]
	o.Stored = &observed.Stored{Identity: artifact.Identify(data)}
	if o.Stored.SHA256 != br.Status.Artifact.SHA256 { // it isn't worth decoding
		return nil
	}
	size, err := artifact.Size(data, result.Result{})
	if err != nil {
		o.Stored.Err = err
		return nil
	}
	if err := r.holdArtifact(br, size); err != nil {
		return fmt.Errorf("read the artifact: %w", err)
	}
	o.Stored.Result, o.Stored.Err = artifact.Decode(data)
	return nil
}
