package benchmarkrun

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestChildrenHaveLabels checks that every object that the API server stores for a run has the administrator's label and the
// run's own that is inherited.
func TestChildrenHaveLabels(t *testing.T) {
	b := newBench(t, func(w *wrapper.Run) {
		w.Labels = map[string]string{"example.org/team": "web", "other": "x"}
		w.Spec.Target.TLS = &v1alpha1.TLS{Certificate: &v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}}}
	})
	b.Settings.NetworkPolicies = true
	b.Settings.RunPods = manifest.RunPods{Labels: map[string]string{"cost-center": "17"}, InheritLabels: []string{"example.org/*"}}
	b.reconcile()
	b.reconcile()
	b.bind()
	b.reconcile()
	for kind, list := range map[string]client.ObjectList{
		"ConfigMap": &corev1.ConfigMapList{}, "Secret": &corev1.SecretList{}, "Pod": &corev1.PodList{},
		"Job": &batchv1.JobList{}, "NetworkPolicy": &networkingv1.NetworkPolicyList{},
	} {
		selector := client.MatchingLabels{manifest.LabelRunUID: string(b.run.UID), "cost-center": "17", "example.org/team": "web"}
		if err := api.List(t.Context(), list, client.InNamespace(b.run.Namespace), selector); err != nil {
			t.Fatal(err)
		}
		if n := meta.LenList(list); n != 1 {
			t.Errorf("%d of kind %s have the labels, want 1", n, kind)
		}
	}
}
