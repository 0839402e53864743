package failure

import (
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/observed"
)

// PlacementCause says by which fields of the spec a client may not run on some nodes, or returns "".
func PlacementCause(run *v1alpha1.BenchmarkRun, o *observed.Run) string {
	cause := ""
	switch run.Spec.Clients.Placement {
	case v1alpha1.PlacementApart:
		cause = " spec.clients.placement is Apart, which excludes the target's node " + o.TargetNode() + "."
	case v1alpha1.PlacementTogether:
		cause = " spec.clients.placement is Together, which excludes all nodes but the target's, " + o.TargetNode() + "."
	}
	c := &run.Spec.Clients
	for _, f := range []struct {
		field string
		set   bool
	}{
		{"nodeSelector", len(c.NodeSelector) > 0}, {"affinity", c.Affinity != nil}, {"topologySpreadConstraints", len(c.TopologySpreadConstraints) > 0},
	} {
		if f.set {
			cause += " spec.clients." + f.field + " restricts the nodes."
		}
	}
	return cause
}

// placementRemedy returns what to do about a client that could not be scheduled.
func placementRemedy(run *v1alpha1.BenchmarkRun) string {
	switch run.Spec.Clients.Placement {
	case v1alpha1.PlacementApart:
		return "Add or free another node, decrease spec.clients.resources or spec.clients.replicas, or set spec.clients.placement to Prefer."
	case v1alpha1.PlacementTogether:
		return "Decrease spec.clients.resources or spec.clients.replicas, or set spec.clients.placement to Prefer."
	}
	return "Decrease spec.clients.resources or spec.clients.replicas, or free a node."
}

// Sentence returns a message of the scheduler with a period at its end.
func Sentence(message string) string {
	return strings.TrimSuffix(strings.TrimSpace(message), ".") + "."
}
