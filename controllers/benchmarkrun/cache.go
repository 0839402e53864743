package benchmarkrun

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/retry"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/state"
)

// CacheOptions returns what the manager's cache holds: all runs, and of pods, Jobs and ConfigMaps
// those with the label of a run. It holds no content of ConfigMaps, which are watched and read from
// it by their metadata. A kind that nobody watches can't be read from it, so that nothing else is
// held by mistake.
func CacheOptions() (cache.Options, error) {
	ofRuns, err := labels.NewRequirement(manifest.LabelRunUID, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, fmt.Errorf("select the objects of runs: %w", err)
	}
	children := cache.ByObject{Label: labels.NewSelector().Add(*ofRuns)}
	return cache.Options{
		ReaderFailOnMissingInformer: true,
		DefaultTransform:            trim,
		NewInformer:                 retry.NewInformer,
		ByObject: map[client.Object]cache.ByObject{
			&v1alpha1.BenchmarkRun{}: {Transform: trimRun},
			&corev1.Pod{}:            children, &corev1.ConfigMap{}: children, &batchv1.Job{}: children,
		},
	}, nil
}

// trim removes from an object what no controller reads and may be larger than the rest.
func trim(obj any) (any, error) {
	if accessor, err := meta.Accessor(obj); err == nil {
		if accessor.GetManagedFields() != nil { // a cached object must not be changed
			accessor.SetManagedFields(nil)
		}
		if annotations := accessor.GetAnnotations(); annotations[corev1.LastAppliedConfigAnnotation] != "" {
			delete(annotations, corev1.LastAppliedConfigAnnotation)
			accessor.SetAnnotations(annotations)
		}
	}
	return obj, nil
}

// trimRun trims a run. Of one that has finished, it keeps only what the cleanup, the lanes and the
// metrics need. The status of such a run is never written from the cache; see writeFinished.
func trimRun(obj any) (any, error) {
	br, ok := obj.(*v1alpha1.BenchmarkRun)
	if !ok || !state.IsFinished(br) || br.Status.Verdict == "" { // without a verdict it is trimmed
		return trim(obj)
	}
	br.Labels, br.Annotations = nil, nil // users' own
	br.OwnerReferences = slices.DeleteFunc(br.OwnerReferences, func(owner metav1.OwnerReference) bool { return !ptr.Deref(owner.Controller, false) })
	spec, status := &br.Spec, &br.Status
	script := spec.Script
	if script != nil {
		script = &v1alpha1.Script{} // only that there is one, whose teardown() may have to run
	}
	br.Spec = v1alpha1.BenchmarkRunSpec{
		Lane: spec.Lane, Suspend: spec.Suspend, PodRetention: spec.PodRetention, TTLSecondsAfterFinished: spec.TTLSecondsAfterFinished,
		Target:  v1alpha1.Target{TLS: spec.Target.TLS},
		Clients: v1alpha1.Clients{Replicas: spec.Clients.Replicas}, Script: script,
	}
	kept := v1alpha1.BenchmarkRunStatus{
		ObservedGeneration: status.ObservedGeneration, AdmissionTime: status.AdmissionTime, CompletionTime: status.CompletionTime,
		Children: status.Children, MeasurementTime: status.MeasurementTime,
	}
	for _, c := range status.Conditions {
		switch c.Type {
		case v1alpha1.ConditionAdmitted, v1alpha1.ConditionFinished, v1alpha1.ConditionSucceeded, v1alpha1.ConditionArchived:
			c.Message = ""
			kept.Conditions = append(kept.Conditions, c)
		case v1alpha1.ConditionReconciling:
			kept.Conditions = append(kept.Conditions, c)
		}
	}
	br.Status = kept
	return trim(obj)
}
