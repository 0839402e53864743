package validity

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// cpusShared is the value of Environment.CPUExclusivity that says that others
	// may run on the target's CPUs.
	cpusShared = "Shared"
	// targetThrottledShare of the measurement spent waiting for the CFS quota
	// shows in the high percentiles.
	targetThrottledShare = 0.01
)

// targetUnproven: what can't be shown to be what was declared isn't a result of
// it.
func targetUnproven(r *result.Result) *result.Finding {
	if !r.Environment.Unproven {
		return nil
	}
	return invalidates(ReasonTargetUnproven,
		"nothing in the server's log shows that it runs as declared (%s): look whether another server answers at %s, whether the image writes its log to its output, and whether the manager may read pods/log",
		r.Run.Server, r.Environment.TargetAddress)
}

// targetUnseen: without the target's CPU time nobody can say whether the target
// was the limit; of several containers, each may have been.
func targetUnseen(r *result.Result) *result.Finding {
	containers := r.Containers()
	var unseen []string
	for _, c := range containers {
		if c.Usage == nil {
			unseen = append(unseen, c.Name)
		}
	}
	if len(unseen) == 0 {
		return nil
	}
	if e := &r.Environment; e.TargetNode == "" && e.Connector == "" && r.Run.Image == "" {
		return warns(ReasonTargetUnseen,
			"Assay didn't start the target, so that nothing shows whether it, its machine or the network was the limit: watch its CPU yourself")
	}
	which := "the target"
	if len(containers) > 1 && len(unseen) < len(containers) {
		which += "'s containers " + strings.Join(unseen, ", ")
	}
	return warns(ReasonTargetUnseen,
		"what %s used couldn't be seen, so that nothing shows whether it was the limit; look at the log of the agent's container in the target's pod",
		which)
}

// targetCPUShared: on shared CPUs the figures also depend on what else runs on
// the node. The kubelet's static CPU manager policy gives containers CPUs of
// their own when request and limit are equal whole numbers.
func targetCPUShared(r *result.Result) *result.Finding {
	containers := r.Containers()
	var shared []string
	for _, c := range containers {
		if c.CPUExclusivity == cpusShared {
			shared = append(shared, fmt.Sprintf("%s (%s)", c.Name, c.CPUs))
		}
	}
	switch {
	case len(shared) == 0:
		return nil
	case len(containers) == 1:
		return warns(ReasonTargetCPUShared,
			"the target shared its CPUs (%s) with others on node %s; give it a whole number of CPUs on a node whose kubelet has cpuManagerPolicy: static",
			containers[0].CPUs, r.Environment.TargetNode)
	}
	return warns(ReasonTargetCPUShared,
		"of the target's %d containers %s shared CPUs with others on node %s; give each a whole number of CPUs on a node whose kubelet has cpuManagerPolicy: static",
		len(containers), strings.Join(shared, ", "), r.Environment.TargetNode)
}

// targetThrottled: as for clients, but for the target it's a property of the
// resources that it was given, and so no reason to void the result. A container
// behind the server that is held up holds up the answers that wait for it.
func targetThrottled(r *result.Result) *result.Finding {
	containers := r.Containers()
	var held []string
	for _, c := range containers {
		if c.Usage == nil {
			continue
		}
		spent := c.Usage.Spent()
		if spent.At <= 0 || float64(spent.Throttled) <= targetThrottledShare*float64(spent.At) {
			continue
		}
		name := "the target"
		if len(containers) > 1 {
			name = "the target's container " + c.Name
		}
		limit := "the CPU limit"
		if c.CPULimit > 0 {
			limit = fmt.Sprintf("the CPU limit of %g", float64(c.CPULimit)/1000)
		}
		held = append(held, fmt.Sprintf("%s held %s up for %s in %s (%.1f %%)",
			limit, name, seconds(spent.Throttled), seconds(spent.At), 100*float64(spent.Throttled)/float64(spent.At)))
	}
	if len(held) == 0 {
		return nil
	}
	return warns(ReasonTargetThrottled,
		"%s, which shows as pauses of up to 100 ms in its latencies; give it a whole number of CPUs of its own, or read the result as one of that limit",
		strings.Join(held, ", and "))
}
