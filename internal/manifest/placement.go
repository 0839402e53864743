package manifest

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// preferredSkew is the maxSkew of the default constraint, which is only a preference. The scheduler gives it as much
// weight as the preference for other nodes than the target's. With a maxSkew of 1 both are equal if there is one other
// node, on which there is a client already: the next one would run on the target's. The scheduler adds maxSkew - 1 to the
// weighted number of clients of each node before it compares the nodes (scoreForCount in its plugin PodTopologySpread),
// so that with 10 the spread has a tenth of its weight for the second client, and half of it for the eighth.
const preferredSkew = 10

// placeClients sets on which nodes clients may run. targetNode is the name of the target's node, or empty
// for an external target.
//
// The target is found by its node and not by its labels, as an affinity between pods would: anybody who may
// create pods in the namespace can set those labels, and so keep clients away from nodes, or draw them to one.
func placeClients(run *v1alpha1.BenchmarkRun, targetNode string, spec *corev1.PodSpec) {
	clients := &run.Spec.Clients
	if targetNode != "" {
		placeRelativeTo(targetNode, clients.Placement, spec)
	}
	spread := clients.TopologySpreadConstraints
	if len(spread) == 0 {
		spread = []v1alpha1.TopologySpreadConstraint{{TopologyKey: corev1.LabelHostname, MaxSkew: ptr.To(int32(preferredSkew))}}
	}
	for _, s := range spread {
		constraint := corev1.TopologySpreadConstraint{
			MaxSkew:           ptr.Deref(s.MaxSkew, 1),
			TopologyKey:       s.TopologyKey,
			WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector:     &metav1.LabelSelector{MatchLabels: map[string]string{LabelRunUID: string(run.UID), LabelRole: RoleClient}},
		}
		if s.WhenUnsatisfiable != "" {
			constraint.WhenUnsatisfiable = s.WhenUnsatisfiable
		}
		spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, constraint)
	}
}

// placeRelativeTo adds to a client's affinity, or makes one, that to the target's node.
func placeRelativeTo(node string, placement v1alpha1.ClientPlacement, spec *corev1.PodSpec) {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	nodes := spec.Affinity.NodeAffinity
	operator := corev1.NodeSelectorOpNotIn
	if placement == v1alpha1.PlacementTogether {
		operator = corev1.NodeSelectorOpIn
	}
	target := corev1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: operator, Values: []string{node}}
	if placement != v1alpha1.PlacementApart && placement != v1alpha1.PlacementTogether {
		nodes.PreferredDuringSchedulingIgnoredDuringExecution = append(nodes.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: 100, Preference: corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{target}}})
		return
	}
	required := nodes.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		required = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
		nodes.RequiredDuringSchedulingIgnoredDuringExecution = required
	}
	for i := range required.NodeSelectorTerms { // one of them must be met
		required.NodeSelectorTerms[i].MatchFields = []corev1.NodeSelectorRequirement{target}
	}
}
