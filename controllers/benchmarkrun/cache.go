package benchmarkrun

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/retry"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/state"
)

// CacheOptions returns what the manager's cache holds: all runs, and of pods, Jobs and ConfigMaps
// those with the label of a run. Anybody may set that: of these it holds only what is read. It holds no content of ConfigMaps,
// which are watched and read from it by their metadata. A kind that nobody watches can't be read from it, so that nothing else is
// held by mistake.
func CacheOptions() (cache.Options, error) {
	ofRuns, err := labels.NewRequirement(manifest.LabelRunUID, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, fmt.Errorf("select the objects of runs: %w", err)
	}
	children := cache.ByObject{Label: labels.NewSelector().Add(*ofRuns), Transform: trimChild}
	return cache.Options{
		ReaderFailOnMissingInformer: true,
		DefaultTransform:            trim,
		NewInformer:                 retry.NewInformer,
		ByObject: map[client.Object]cache.ByObject{
			&v1alpha1.BenchmarkRun{}: {Transform: trimRun}, &v1alpha1.Benchmark{}: {Transform: trimBenchmark},
			&corev1.Pod{}: children, &corev1.ConfigMap{}: children, &batchv1.Job{}: children,
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

const (
	// maxContainers limits the containers of a pod that are kept, and is more than a run's pods have.
	maxContainers = 32
	// maxText limits each text that whoever creates an object may choose freely.
	maxText = 512
	// maxFinalizers limits the finalizers that are kept, which only a message names.
	maxFinalizers = 4
)

// trimChild returns what is read of an object that may be a child of a run. Nobody can make it large.
func trimChild(obj any) (any, error) {
	switch obj := obj.(type) {
	case *corev1.Pod:
		return trimPod(obj), nil
	case *batchv1.Job:
		return &batchv1.Job{
			ObjectMeta: trimMeta(&obj.ObjectMeta), Spec: batchv1.JobSpec{Suspend: obj.Spec.Suspend}, Status: batchv1.JobStatus{Conditions: obj.Status.Conditions},
		}, nil
	case *metav1.PartialObjectMetadata:
		return &metav1.PartialObjectMetadata{TypeMeta: obj.TypeMeta, ObjectMeta: trimMeta(&obj.ObjectMeta)}, nil
	}
	return obj, nil // a tombstone
}

// trimMeta returns the metadata by which an object is a child of a run, or isn't.
func trimMeta(m *metav1.ObjectMeta) metav1.ObjectMeta {
	kept := metav1.ObjectMeta{
		Namespace: m.Namespace, Name: m.Name, GenerateName: m.GenerateName, UID: m.UID, ResourceVersion: m.ResourceVersion,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp, DeletionGracePeriodSeconds: m.DeletionGracePeriodSeconds,
		Labels: only(m.Labels, manifest.LabelRun, manifest.LabelRunUID, manifest.LabelRole, manifest.LabelLane,
			batchv1.JobCompletionIndexAnnotation),
		Annotations: only(m.Annotations, manifest.AnnotationCA, batchv1.JobCompletionIndexAnnotation),
	}
	for i := range m.OwnerReferences {
		if owner := &m.OwnerReferences[i]; ptr.Deref(owner.Controller, false) {
			kept.OwnerReferences = append(kept.OwnerReferences, metav1.OwnerReference{
				APIVersion: short(owner.APIVersion), Kind: short(owner.Kind), Name: short(owner.Name), UID: types.UID(short(string(owner.UID))), Controller: owner.Controller,
			})
		}
	}
	for _, name := range m.Finalizers[:min(len(m.Finalizers), maxFinalizers)] {
		kept.Finalizers = append(kept.Finalizers, short(name))
	}
	return kept
}

// short returns a text up to its greatest length. It is a copy, so that the rest isn't kept.
func short(text string) string { return strings.Clone(text[:min(len(text), maxText)]) }

func trimPod(pod *corev1.Pod) *corev1.Pod {
	if pod.Spec.RestartPolicy == "" { // the API server sets it: this one is trimmed
		return pod
	}
	kept := &corev1.Pod{
		ObjectMeta: trimMeta(&pod.ObjectMeta),
		Spec: corev1.PodSpec{
			NodeName: pod.Spec.NodeName, ServiceAccountName: pod.Spec.ServiceAccountName, ActiveDeadlineSeconds: pod.Spec.ActiveDeadlineSeconds,
		},
		Status: corev1.PodStatus{Phase: pod.Status.Phase, Reason: pod.Status.Reason, Message: pod.Status.Message, PodIP: pod.Status.PodIP},
	}
	if pod.Spec.Resources != nil {
		kept.Spec.Resources = &corev1.ResourceRequirements{} // that it was kept
	}
	for i := range pod.Spec.Containers[:min(len(pod.Spec.Containers), maxContainers)] {
		c := &pod.Spec.Containers[i]
		memory := corev1.ResourceList{}
		if limit, ok := c.Resources.Limits[corev1.ResourceMemory]; ok {
			memory[corev1.ResourceMemory] = limit
		}
		kept.Spec.Containers = append(kept.Spec.Containers, corev1.Container{
			Name: c.Name, Image: short(c.Image), Resources: corev1.ResourceRequirements{Limits: memory},
		})
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.DisruptionTarget || condition.Type == corev1.PodScheduled {
			kept.Status.Conditions = append(kept.Status.Conditions, condition)
		}
	}
	manifest.NoteChanges(kept, pod)
	kept.Status.InitContainerStatuses = trimStatuses(pod.Status.InitContainerStatuses)
	kept.Status.ContainerStatuses = trimStatuses(pod.Status.ContainerStatuses)
	kept.Status.EphemeralContainerStatuses = trimStatuses(pod.Status.EphemeralContainerStatuses)
	return kept
}

func trimStatuses(statuses []corev1.ContainerStatus) []corev1.ContainerStatus {
	var kept []corev1.ContainerStatus
	for _, s := range statuses[:min(len(statuses), maxContainers)] {
		kept = append(kept, corev1.ContainerStatus{Name: s.Name, State: s.State, ImageID: s.ImageID, ContainerID: s.ContainerID})
	}
	return kept
}

// maxSpec is the size in bytes up to which the spec of a waiting run or of a Benchmark is kept.
const maxSpec = 4 << 10

// trimRun trims a run. Of one that has finished, it keeps only what the cleanup, the lanes and the
// metrics need. The status of such a run is never written from the cache; see writeFinished. Of one that waits, and of which
// there may be thousands, it keeps no large spec.
func trimRun(obj any) (any, error) {
	br, ok := obj.(*v1alpha1.BenchmarkRun)
	if !ok || state.IsFinished(br) && br.Status.Verdict == "" || isTrimmed(br) { // it is trimmed
		return trim(obj)
	}
	spec, status := &br.Spec, &br.Status
	br.OwnerReferences = slices.DeleteFunc(br.OwnerReferences, func(owner metav1.OwnerReference) bool { return !ptr.Deref(owner.Controller, false) })
	if !state.IsFinished(br) {
		br.Labels = only(br.Labels, benchmark.LabelBenchmark, benchmark.LabelRound, manifest.LabelQueue)
		br.Annotations = only(br.Annotations, benchmark.AnnotationCell)
		if encoded, err := json.Marshal(spec); err != nil || state.IsAdmitted(br) || len(encoded) <= maxSpec {
			return trim(obj)
		}
		br.Spec = v1alpha1.BenchmarkRunSpec{Lane: spec.Lane, Suspend: spec.Suspend, Clients: v1alpha1.Clients{Replicas: spec.Clients.Replicas}}
		return trim(obj)
	}
	br.Labels, br.Annotations = nil, nil // users' own
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

// trimBenchmark trims a Benchmark, of which anybody may create thousands. Its reconciler reads a large spec, which is then empty,
// past the cache.
func trimBenchmark(obj any) (any, error) {
	b, ok := obj.(*v1alpha1.Benchmark)
	if !ok {
		return trim(obj)
	}
	b.Labels, b.OwnerReferences = nil, nil
	b.Annotations = only(b.Annotations, v1alpha1.AnnotationRunRound, v1alpha1.AnnotationCancelRound, v1alpha1.AnnotationAcceptRound)
	if encoded, err := json.Marshal(&b.Spec); err != nil || len(encoded) > maxSpec {
		b.Spec = v1alpha1.BenchmarkSpec{}
	}
	return trim(obj)
}

// only returns the values of some keys, as far as there are any.
func only(all map[string]string, keys ...string) map[string]string {
	kept := map[string]string{}
	for _, key := range keys {
		if value, ok := all[key]; ok {
			kept[key] = short(value)
		}
	}
	return kept
}

// isTrimmed reports whether a run that waits is without the most of its spec: whoever needs that reads it past the cache. The
// API server accepts no run without a target.
func isTrimmed(br *v1alpha1.BenchmarkRun) bool {
	return !state.IsFinished(br) && br.Spec.Target.Image == "" && !state.IsExternal(br)
}
