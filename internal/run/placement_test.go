package run

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/session"
)

// TestClientsArePlacedByTheTargetsNode checks that the clients' Job is created once the target has a node, and
// names that node.
func TestClientsArePlacedByTheTargetsNode(t *testing.T) {
	s := newScene()
	s.run.Spec.Clients.Placement = v1alpha1.PlacementApart
	s.o.Job, s.o.Clients, s.o.Sessions, s.o.Target.Spec.NodeName = nil, nil, session.Observation{}, ""
	p := s.decide()
	ready := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionClientsReady)
	if creates(p, "run-client") || !strings.Contains(ready.Message, "once the target has a node") {
		t.Errorf("before the target has a node: %s", ready.Message)
	}

	s.o.Target.Spec.NodeName = "node-7"
	p = s.decide()
	if len(p.Create) != 1 {
		t.Fatalf("creates %v", created(p))
	}
	affinity := p.Create[0].Object.(*batchv1.Job).Spec.Template.Spec.Affinity
	terms := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	want := []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
		{Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"node-7"}},
	}}}
	if diff := cmp.Diff(want, terms); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUnschedulableClients checks that a run whose clients find no node says which field keeps them from it, while
// it waits and when it fails.
func TestUnschedulableClients(t *testing.T) {
	const scheduler = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
	const apart = " spec.clients.placement is Apart, which excludes the target's node node."
	tests := map[string]struct {
		placement  v1alpha1.ClientPlacement
		pod        v1alpha1.PodSettings
		cause, fix string
	}{
		"Prefer":    {v1alpha1.PlacementPrefer, v1alpha1.PodSettings{}, "", " Decrease spec.clients.resources or spec.clients.replicas, or free a node."},
		"unset":     {"", v1alpha1.PodSettings{}, "", " Decrease spec.clients.resources or spec.clients.replicas, or free a node."},
		"Apart":     {v1alpha1.PlacementApart, v1alpha1.PodSettings{}, apart, " Add or free another node, decrease spec.clients.resources or spec.clients.replicas, or set spec.clients.placement to Prefer."},
		"restricts": {v1alpha1.PlacementApart, v1alpha1.PodSettings{NodeSelector: map[string]string{"a": "b"}}, apart + " spec.clients.nodeSelector restricts the nodes.", " Add or free another node"},
		"Together": {
			v1alpha1.PlacementTogether, v1alpha1.PodSettings{}, " spec.clients.placement is Together, which excludes all nodes but the target's, node.",
			" Decrease spec.clients.resources or spec.clients.replicas, or set spec.clients.placement to Prefer.",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.run.Spec.Clients.Placement, s.run.Spec.Clients.PodSettings = test.placement, test.pod
			s.o.Clients[1].Spec.NodeName, s.o.Clients[1].Status.Phase = "", corev1.PodPending
			s.o.Clients[1].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: scheduler}}
			delete(s.o.Sessions.Clients, 1)
			waits := stateIn(s.decide())
			if says := "Client 1 can't be scheduled yet: " + scheduler + test.cause; waits.Status != metav1.ConditionUnknown || !strings.HasSuffix(waits.Message, says) {
				t.Errorf("waits with %q, want %q", waits.Message, says)
			}

			s.o.Target.CreationTimestamp.Time = now.Add(-failure.ClientsReadyTimeout - time.Second)
			s.o.Job.CreationTimestamp.Time = now.Add(-failure.ClientsReadyTimeout - time.Second)
			s.run.Status.AdmissionTime = &s.o.Job.CreationTimestamp
			s.ready().became(time.Second)
			c := s.o.Sessions.Clients[0]
			s.o.Sessions.Clients = map[int]session.ClientState{0: c}
			failed := stateIn(s.decide())
			says := "Client 1 could not be scheduled within 5m0s: " + scheduler + test.cause + test.fix
			if failed.Reason != v1alpha1.ReasonClientUnschedulable || !strings.HasPrefix(failed.Message, says) {
				t.Errorf("fails with %s %q, want %q", failed.Reason, failed.Message, says)
			}
		})
	}
}
