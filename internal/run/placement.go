package run

import (
	"strings"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/state"
)

// targetNode returns the name of the target's node, or "" if it has none: it hasn't been scheduled yet, or
// is external.
func (o *Observed) targetNode() string {
	if o.Target == nil {
		return ""
	}
	return o.Target.Spec.NodeName
}

// clientsPlaceable reports whether clients can be created. They are placed relative to the target's node.
func clientsPlaceable(run *v1alpha1.BenchmarkRun, o *Observed) bool {
	return state.IsExternal(run) || o.targetNode() != ""
}

// clientJob returns the clients' Job.
func (p *planner) clientJob(script []manifest.ScriptFile) manifest.Object {
	return manifest.ClientJob(p.run, p.observed.targetNode(), script, &p.observed.Settings)
}

// placementCause says by which fields of the spec a client may not run on some nodes, or returns "".
func placementCause(run *v1alpha1.BenchmarkRun, o *Observed) string {
	cause := ""
	switch run.Spec.Clients.Placement {
	case v1alpha1.PlacementApart:
		cause = " spec.clients.placement is Apart, which excludes the target's node " + o.targetNode() + "."
	case v1alpha1.PlacementTogether:
		cause = " spec.clients.placement is Together, which excludes all nodes but the target's, " + o.targetNode() + "."
	}
	if run.Spec.Clients.Pod != nil {
		cause += " spec.clients.pod restricts the nodes."
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

// sentence returns a message of the scheduler with a period at its end.
func sentence(message string) string {
	return strings.TrimSuffix(strings.TrimSpace(message), ".") + "."
}
