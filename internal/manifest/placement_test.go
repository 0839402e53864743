package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/wrapper"
)

func clientSpec(t *testing.T, clients v1alpha1.Clients, node string) corev1.PodSpec {
	t.Helper()
	run := wrapper.NewRun("ns", "run", "image").Obj()
	run.UID = "uid"
	run.Spec.Clients = clients
	return jobOf(t, run, node).Spec.Template.Spec
}

func TestPlacementOfClients(t *testing.T) {
	term := func(operator corev1.NodeSelectorOperator) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: operator, Values: []string{"a"}}}}
	}
	required := func(operator corev1.NodeSelectorOperator) *corev1.Affinity {
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term(operator)}},
		}}
	}
	preferred := &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 100, Preference: term(corev1.NodeSelectorOpNotIn)}},
	}}
	for name, test := range map[string]struct {
		placement v1alpha1.ClientPlacement
		node      string
		want      *corev1.Affinity
	}{
		"Apart":              {v1alpha1.PlacementApart, "a", required(corev1.NodeSelectorOpNotIn)},
		"Together":           {v1alpha1.PlacementTogether, "a", required(corev1.NodeSelectorOpIn)},
		"Prefer":             {v1alpha1.PlacementPrefer, "a", preferred},
		"unset":              {"", "a", preferred},
		"an external target": {v1alpha1.PlacementPrefer, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, clientSpec(t, v1alpha1.Clients{Placement: test.placement}, test.node).Affinity); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNobodyElsePlacesClients checks that no label of a pod decides on which nodes clients may run: those labels can
// be set by anybody who may create pods. The default constraint only prefers nodes with fewer clients.
func TestNobodyElsePlacesClients(t *testing.T) {
	for _, placement := range []v1alpha1.ClientPlacement{v1alpha1.PlacementApart, v1alpha1.PlacementPrefer, v1alpha1.PlacementTogether} {
		spec := clientSpec(t, v1alpha1.Clients{Placement: placement}, "a")
		if spec.Affinity.PodAffinity != nil || spec.Affinity.PodAntiAffinity != nil {
			t.Errorf("%s depends on the labels of pods: %+v", placement, spec.Affinity)
		}
		for _, c := range spec.TopologySpreadConstraints {
			if c.WhenUnsatisfiable != corev1.ScheduleAnyway {
				t.Errorf("%s: the labels of pods can keep clients from being scheduled: %+v", placement, c)
			}
		}
	}
}

// TestOwnAffinityAndPlacement checks that clients must meet both their own affinity and their placement.
func TestOwnAffinityAndPlacement(t *testing.T) {
	own := func() *v1alpha1.NodeAffinity {
		term := func(key string) v1alpha1.NodeSelectorTerm {
			return v1alpha1.NodeSelectorTerm{MatchExpressions: []v1alpha1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpExists}}}
		}
		return &v1alpha1.NodeAffinity{
			Required:  &v1alpha1.NodeSelector{NodeSelectorTerms: []v1alpha1.NodeSelectorTerm{term("a"), term("b")}},
			Preferred: []v1alpha1.PreferredSchedulingTerm{{Weight: 1, Preference: term("c")}},
		}
	}
	for placement, want := range map[v1alpha1.ClientPlacement][2]int{v1alpha1.PlacementApart: {2, 1}, v1alpha1.PlacementTogether: {2, 1}, v1alpha1.PlacementPrefer: {0, 2}} {
		clients := v1alpha1.Clients{Placement: placement, PodSettings: v1alpha1.PodSettings{Affinity: &v1alpha1.Affinity{NodeAffinity: own()}}}
		nodes := clientSpec(t, clients, "a").Affinity.NodeAffinity
		terms, fields := nodes.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, 0
		for _, term := range terms {
			if len(term.MatchExpressions) != 1 {
				t.Errorf("%s: a term of the spec is missing: %+v", placement, terms)
			}
			fields += len(term.MatchFields)
		}
		if got := [2]int{fields, len(nodes.PreferredDuringSchedulingIgnoredDuringExecution)}; got != want || len(terms) != 2 {
			t.Errorf("%s: %v terms with the target's node and preferences, want %v: %+v", placement, got, want, nodes)
		}
	}
}

func TestSpreadOfClients(t *testing.T) {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{LabelRunUID: "uid", LabelRole: RoleClient}}
	spread := func(key string, skew int32, when corev1.UnsatisfiableConstraintAction) corev1.TopologySpreadConstraint {
		return corev1.TopologySpreadConstraint{TopologyKey: key, MaxSkew: skew, WhenUnsatisfiable: when, LabelSelector: selector}
	}
	const zone = corev1.LabelTopologyZone
	byNode := []corev1.TopologySpreadConstraint{spread(corev1.LabelHostname, preferredSkew, corev1.ScheduleAnyway)}
	for name, test := range map[string]struct {
		spread []v1alpha1.TopologySpreadConstraint
		change func(*corev1.PodSpec)
	}{
		"none": {nil, func(*corev1.PodSpec) {}},
		"spread over zones and nodes": {
			[]v1alpha1.TopologySpreadConstraint{
				{TopologyKey: zone, MaxSkew: ptr.To(int32(2)), WhenUnsatisfiable: corev1.DoNotSchedule}, {TopologyKey: corev1.LabelHostname},
			},
			func(s *corev1.PodSpec) {
				s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread(zone, 2, corev1.DoNotSchedule), spread(corev1.LabelHostname, 1, corev1.ScheduleAnyway)}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := clientSpec(t, v1alpha1.Clients{}, "a")
			if diff := cmp.Diff(byNode, want.TopologySpreadConstraints); diff != "" {
				t.Fatalf("the default (-want +got):\n%s", diff)
			}
			test.change(&want)
			if diff := cmp.Diff(want, clientSpec(t, v1alpha1.Clients{TopologySpreadConstraints: test.spread}, "a")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
