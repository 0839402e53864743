package benchmark

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// TestObjectsHaveTheLabels checks that the runs and the artifact of a Benchmark have the labels that the administrator wants on
// objects, and those of the Benchmark that its objects inherit, and no other.
func TestObjectsHaveTheLabels(t *testing.T) {
	b := newBench(t, short)
	b.RunPods.Labels, b.RunPods.InheritLabels = map[string]string{"example.org/cost": "shared"}, []string{"example.org/team"}
	b.update(func(b *v1alpha1.Benchmark) {
		b.Labels = map[string]string{"example.org/team": "shop", "argocd.argoproj.io/instance": "a"}
	})
	b.round(1000)
	var runs v1alpha1.BenchmarkRunList
	var artifacts corev1.ConfigMapList
	for _, list := range []client.ObjectList{&runs, &artifacts} {
		if err := api.List(t.Context(), list, client.InNamespace(b.b.Namespace), client.HasLabels{"assay.dev/benchmark"}); err != nil {
			t.Fatal(err)
		}
	}
	var all []client.Object
	for i := range runs.Items {
		all = append(all, &runs.Items[i])
	}
	if len(all) != 1 || runs.Items[0].Spec.Target.Image != "tomcat:9.0" {
		t.Errorf("runs %+v", runs.Items)
	}
	artifact := b.b.Status.Round.Artifact.ConfigMap.Name
	for i := range artifacts.Items {
		if artifacts.Items[i].Name == artifact {
			all = append(all, &artifacts.Items[i])
		}
	}
	if len(all) != 2 {
		t.Fatalf("no artifact %s in %d ConfigMaps", artifact, len(artifacts.Items))
	}
	for _, object := range all {
		if got := object.GetLabels(); got["example.org/team"] != "shop" || got["example.org/cost"] != "shared" || got["argocd.argoproj.io/instance"] != "" {
			t.Errorf("%T has the labels %v", object, got)
		}
	}
}
