//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestClientsTogether runs clients on the target's node, as the run asks for: that is found, and accepted.
func TestClientsTogether(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "together", harness.ServerImage).Lane("together").Path("/fixed/100/10").Clients(2, "100m", "128Mi").Requests(2, 500).Obj()
	run.Spec.Clients.Placement = v1alpha1.PlacementTogether
	c.create(t, run)
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	if valid := condition(done, v1alpha1.ConditionValid); !strings.Contains(valid.Message, "SharedNode (accepted): 2 of 2 clients ran on the target's node "+done.Status.Target.Node) {
		t.Errorf("Valid: %+v", valid)
	}
	stored := c.artifact(t, done)
	if stored.Environment.TargetCores == "" {
		t.Error("the cores of the target's CPUs are unknown")
	}
	for _, client := range stored.Clients {
		if client.Node != done.Status.Target.Node || client.CPUs == "" {
			t.Errorf("client %d on node %q and CPUs %q, the target is on %q", client.Index, client.Node, client.CPUs, done.Status.Target.Node)
		}
	}
}

// TestClientsApart runs clients on other nodes than the target's. On a cluster with one node the run waits, and says
// which field keeps it from going on.
func TestClientsApart(t *testing.T) {
	t.Parallel()
	c := theCluster
	var nodes corev1.NodeList
	if err := c.List(t.Context(), &nodes); err != nil {
		t.Fatal(err)
	}
	run := wrapper.NewRun(c.namespace(t), "apart", harness.ServerImage).Lane("apart").Path("/fixed/100/10").Clients(1, "100m", "128Mi").Requests(2, 500).Deadline(60).Obj()
	run.Spec.Clients.Placement = v1alpha1.PlacementApart
	c.create(t, run)
	done := c.finished(t, run, 2*time.Minute)
	if len(nodes.Items) == 1 {
		wantFailed(t, done, v1alpha1.ReasonDeadlineExceeded, "Client 0 can't be scheduled yet", "spec.clients.placement is Apart, which excludes the target's node "+nodes.Items[0].Name)
		return
	}
	wantSucceeded(t, done)
	if valid := condition(done, v1alpha1.ConditionValid); strings.Contains(valid.Message, "SharedNode") {
		t.Errorf("Valid: %+v", valid)
	}
	for _, client := range done.Status.Clients {
		if client.Node == done.Status.Target.Node {
			t.Errorf("client %d is on the target's node %s", *client.Index, client.Node)
		}
	}
}
