package benchmarkrun

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestClientsArePlaced checks that the API server accepts the clients' Job and pods with each placement, and that
// they are created only once the target has a node, whose name they have. Pods with the labels of the run's target on
// another node, which any user of the namespace may create, change nothing.
func TestClientsArePlaced(t *testing.T) {
	for placement, want := range map[v1alpha1.ClientPlacement]corev1.NodeSelectorOperator{
		v1alpha1.PlacementApart: corev1.NodeSelectorOpNotIn, v1alpha1.PlacementPrefer: corev1.NodeSelectorOpNotIn, v1alpha1.PlacementTogether: corev1.NodeSelectorOpIn,
	} {
		t.Run(string(placement), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(w *wrapper.Run) {
				w.Spec.Clients.Placement = placement
				w.Spec.Clients.NodeSelector = map[string]string{"example.org/pool": "load"}
				w.Spec.Clients.Tolerations = []v1alpha1.Toleration{{Key: "example.org/pool"}}
				w.Spec.Clients.TopologySpreadConstraints = []v1alpha1.TopologySpreadConstraint{
					{TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule},
				}
			})
			b.reconcile()
			decoy := forged(b, b.run.Namespace, "decoy", manifest.RoleTarget, refOf(b))
			decoy.Spec.NodeName = "decoys-node"
			mustCreate(t, decoy)
			b.reconcile()
			var job batchv1.Job
			if err := b.get("run-client", &job); !apierrors.IsNotFound(err) {
				t.Errorf("before the target has a node: %v", err)
			}
			b.bind()
			b.reconcile()
			if err := b.get("run-client", &job); err != nil {
				t.Fatal(err)
			}
			clientOf(t, b, 0) // the API server accepts the pod
			affinity := job.Spec.Template.Spec.Affinity.NodeAffinity
			var terms []corev1.NodeSelectorTerm
			if required := affinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
				terms = required.NodeSelectorTerms
			}
			for _, preferred := range affinity.PreferredDuringSchedulingIgnoredDuringExecution {
				terms = append(terms, preferred.Preference)
			}
			if len(terms) != 1 || len(terms[0].MatchFields) != 1 || terms[0].MatchFields[0].Operator != want || terms[0].MatchFields[0].Values[0] != "node" {
				t.Errorf("affinity %+v", affinity)
			}
		})
	}
}
