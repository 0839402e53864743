// Package objects makes the runs and the artifact of a round, and recognizes them.
package objects

import (
	"fmt"
	"maps"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
)

const kind = "Benchmark"

// OwnerOf returns the reference of an object to the Benchmark that made it, or nil.
func OwnerOf(obj metav1.Object) *metav1.OwnerReference {
	owner := metav1.GetControllerOfNoCopy(obj)
	if owner == nil || owner.Kind != kind || owner.APIVersion != v1alpha1.GroupVersion.String() {
		return nil
	}
	return owner
}

// NewRun returns a run of a round with a spec, as JSON. It is not decoded, so that the API server sees what
// the axes' values say. Labels of the Benchmark itself are not copied, but for those that the administrator names: GitOps tools
// recognize by them what they have created. History says how long runs are kept, so that a TTL has no effect. alternation is the
// run's place in its block, or nil.
func NewRun(b *v1alpha1.Benchmark, key benchmark.RunKey, cell *cells.Cell, spec []byte, alternation *v1alpha1.Alternation) (*unstructured.Unstructured, error) {
	var fields map[string]any
	if err := utiljson.Unmarshal(spec, &fields); err != nil {
		return nil, fmt.Errorf("cell %s: decode spec: %w", cell.Name, err)
	}
	delete(fields, "ttlSecondsAfterFinished")
	delete(fields, "suspend")
	if a := alternation; a != nil {
		fields["alternation"] = map[string]any{"block": a.Block, "variants": int64(a.Variants), "variant": int64(*a.Variant)}
	}
	run := &unstructured.Unstructured{Object: map[string]any{"spec": fields}}
	run.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("BenchmarkRun"))
	run.SetNamespace(b.Namespace)
	run.SetName(key.Name(b.Name))
	run.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(b, v1alpha1.GroupVersion.WithKind(kind))})
	run.SetLabels(with(b.Spec.Template.Metadata.Labels, map[string]string{benchmark.LabelBenchmark: b.Name, benchmark.LabelRound: strconv.FormatInt(key.Round, 10)}))
	run.SetAnnotations(with(b.Spec.Template.Metadata.Annotations, map[string]string{benchmark.AnnotationCell: cell.Name}))
	return run, nil
}

// with returns the entries of both maps, those of the second one where both have one.
func with(given, own map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, given)
	maps.Copy(all, own)
	return all
}

// RoundOf returns the number of the round that an object belongs to, or false.
func RoundOf(obj metav1.Object) (int64, bool) {
	round, err := strconv.ParseInt(obj.GetLabels()[benchmark.LabelRound], 10, 64)
	return round, err == nil && round > 0
}

// NewArtifact returns the ConfigMap with a round that has ended. It is immutable.
func NewArtifact(b *v1alpha1.Benchmark, encoded []byte) *corev1.ConfigMap {
	round := strconv.FormatInt(b.Status.Round.Number, 10)
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: b.Namespace, Name: b.Name + "-r" + round + "-round",
			Labels:          map[string]string{benchmark.LabelBenchmark: b.Name, benchmark.LabelRound: round},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(b, v1alpha1.GroupVersion.WithKind(kind))},
		},
		Immutable:  ptr.To(true),
		BinaryData: map[string][]byte{benchmark.ArtifactKey: encoded},
	}
}
