package run

import (
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/run/pods"
)

// evicted fails a run of which the cluster evicted a pod: for a drained node, for a pod of higher
// priority, or because the node or the pod was short of memory or disk space. It comes before what
// the pod's containers show, whose end is a consequence.
func evicted(run *v1alpha1.BenchmarkRun, o *Observed, _ time.Time) *Failure {
	why := pods.Eviction(o.Target)
	if why == "" && o.Target != nil && pods.Ended(o.Target) {
		if e := o.PodEvents[o.Target.Name]; e != nil && e.Reason == pods.EvictedReason {
			why = printable.WithoutPeriod(e.String())
		}
	}
	if why != "" {
		return failuref(v1alpha1.ReasonTargetEvicted, "The target's pod was evicted from %s: %s. Resolve the cause, and create a new run.", pods.NodeOf(o.Target.Spec.NodeName), why)
	}
	for i := range loadplan.Replicas(&run.Spec) {
		pod := o.Clients[i]
		if why := pods.Eviction(pod); why != "" && o.Sessions.Clients[i].Totals == nil {
			return failuref(v1alpha1.ReasonClientEvicted, "Client %d was evicted from %s before its measurement was complete: %s. Resolve the cause, and create a new run.",
				i, pods.NodeOf(pod.Spec.NodeName), why)
		}
	}
	return nil
}
