package validity

import "github.com/assay-dev/assay/internal/result"

const (
	// cpusShared is the value of Environment.CPUExclusivity that says that others
	// may run on the target's CPUs.
	cpusShared = "Shared"
	// targetThrottledShare of the measurement spent waiting for the CFS quota
	// shows in the high percentiles.
	targetThrottledShare = 0.01
)

// targetUnseen: without the target's CPU time nobody can say whether the target
// was the limit.
func targetUnseen(r *result.Result) *result.Finding {
	if r.Server != nil {
		return nil
	}
	return warns(ReasonTargetUnseen,
		"what the target used couldn't be seen, so that nothing shows whether it was the limit; look at the log of the agent's container in the target's pod")
}

// targetCPUShared: on shared CPUs the figures also depend on what else runs on
// the node. The kubelet's static CPU manager policy gives containers CPUs of
// their own when request and limit are equal whole numbers.
func targetCPUShared(r *result.Result) *result.Finding {
	if r.Environment.CPUExclusivity != cpusShared {
		return nil
	}
	return warns(ReasonTargetCPUShared,
		"the target shared its CPUs (%s) with others on node %s; give it a whole number of CPUs on a node whose kubelet has cpuManagerPolicy: static",
		r.Environment.TargetCPUs, r.Environment.TargetNode)
}

// targetThrottled: as for clients, but for the target it's a property of the
// resources that it was given, and so no reason to void the result.
func targetThrottled(r *result.Result) *result.Finding {
	if r.Server == nil {
		return nil
	}
	spent := r.Server.Spent()
	if spent.At <= 0 || float64(spent.Throttled) <= targetThrottledShare*float64(spent.At) {
		return nil
	}
	return warns(ReasonTargetThrottled,
		"the CPU limit of %g held the target up for %s in %s (%.1f %%), which shows as pauses of up to 100 ms in its latencies; give it a whole number of CPUs of its own, or read the result as one of that limit",
		float64(r.Environment.TargetCPULimit)/1000, seconds(spent.Throttled), seconds(spent.At),
		100*float64(spent.Throttled)/float64(spent.At))
}
