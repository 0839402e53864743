package validity

import (
	"fmt"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

// cpusShared is the value of Environment.CPUExclusivity for CPUs on which other processes may run, and
// cpusExclusive that for CPUs on which no other container may.
const (
	cpusShared    = "Shared"
	cpusExclusive = "Exclusive"
)

// targetUnverified finds a target that could not be verified. Without evidence that
// it runs as declared, the result is not one of what was declared.
func targetUnverified(r *result.Result) *result.Finding {
	if !r.Environment.Unverified {
		return nil
	}
	return found(ReasonTargetUnverified, result.Invalidates,
		"The server's log does not show that it runs as declared (%s). Check that no other server responds at %s, that the image writes its log to its output, and that the manager may read pods/log.",
		r.Run.Server, r.Environment.TargetAddress)
}

// serverExited finds containers that had no process any more when the measurement had ended. A run fails
// if its server exits, but the requests of the last seconds may all have ended, without a response, before
// the kubelet says so.
func serverExited(r *result.Result) *result.Finding {
	var exited []string
	for _, c := range r.Containers() {
		if c.Usage != nil && c.Usage.Begin.Resident > 0 && c.Usage.End.Resident == 0 {
			exited = append(exited, c.Name)
		}
	}
	if len(exited) == 0 {
		return nil
	}
	return found(ReasonServerExited, result.Invalidates,
		"The target's containers had no process left when the measurement had ended (%s), and %d requests failed. See their logs and exit codes, and create the run again.",
		strings.Join(exited, ", "), r.Merged.Errors.Total())
}

// targetUsageUnknown finds containers of unknown usage. Without the CPU time of the target nothing
// shows whether it was the bottleneck; of several containers, each may have been.
func targetUsageUnknown(r *result.Result) *result.Finding {
	containers := r.Containers()
	var unknown []string
	for _, c := range containers {
		if c.Usage == nil {
			unknown = append(unknown, c.Name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	if e := &r.Environment; e.TargetNode == "" && e.Connector == "" && r.Run.Image == "" {
		return found(ReasonTargetUsageUnknown, result.Warns,
			"Assay did not start the target and does not know its usage. Watch its CPU yourself to see whether the target, its machine or the network was the bottleneck.")
	}
	which := "The usage of the target"
	if len(unknown) < len(containers) {
		which = "The usage of the target's containers " + strings.Join(unknown, ", ")
	}
	return found(ReasonTargetUsageUnknown, result.Warns,
		"%s is not available, so nothing shows whether it was the bottleneck. See the log of the agent's container in the target's pod.", which)
}

// targetCPUShared finds shared CPUs, on which the metrics also depend on what else
// runs on the node. The kubelet's static CPU manager policy gives containers
// exclusive CPUs if request and limit are equal whole numbers.
func targetCPUShared(r *result.Result) *result.Finding {
	containers := r.Containers()
	var shared []string
	for _, c := range containers {
		if c.CPUExclusivity == cpusShared {
			shared = append(shared, fmt.Sprintf("%s (%s)", c.Name, c.CPUs))
		}
	}
	if len(shared) == 0 {
		return nil
	}
	which, whose := "The target", "it"
	if len(containers) == 1 {
		which += fmt.Sprintf(" shared its CPUs (%s)", containers[0].CPUs)
	} else {
		which, whose = fmt.Sprintf("Of the target's %d containers %s shared CPUs", len(containers), strings.Join(shared, ", ")), "each"
	}
	return found(ReasonTargetCPUShared, result.Warns,
		"%s with other processes on node %s. Give %s a whole number of CPUs on a node whose kubelet has cpuManagerPolicy: static.",
		which, r.Environment.TargetNode, whose)
}

// targetThrottled finds throttled containers. Unlike with clients, throttling is a
// property of the target's resources, and therefore does not invalidate the result.
// A throttled container behind the server delays the responses that wait for it.
func targetThrottled(r *result.Result) *result.Finding {
	containers := r.Containers()
	var throttled []string
	for _, c := range containers {
		if c.Usage == nil {
			continue
		}
		spent := c.Usage.Spent()
		if spent.At <= 0 || float64(spent.Throttled) <= throttledShare*float64(spent.At) {
			continue
		}
		name := "The target"
		if len(containers) > 1 {
			name = "The target's container " + c.Name
		}
		limit := "its CPU limit"
		if c.CPULimit > 0 {
			limit += fmt.Sprintf(" of %g", float64(c.CPULimit)/1000)
		}
		throttled = append(throttled, fmt.Sprintf("%s was throttled by %s for %s of %s (%.1f%%).",
			name, limit, seconds(spent.Throttled), seconds(spent.At), 100*float64(spent.Throttled)/float64(spent.At)))
	}
	if len(throttled) == 0 {
		return nil
	}
	return found(ReasonTargetThrottled, result.Warns,
		"%s Latencies contain pauses of up to 100ms for that reason. Give the target a whole number of exclusive CPUs, or read the result as one of that limit.",
		strings.Join(throttled, " "))
}
