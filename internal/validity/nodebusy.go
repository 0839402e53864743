package validity

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// takenWarnsShare of the CPU time that its limit promises to a pod, used by others, is four times the
	// error with which that time is known, and half of the variation between equal runs.
	takenWarnsShare = 0.05
	// takenMuchShare is twice the variation between equal runs.
	takenMuchShare = 0.20
	// neededShare of the promised time, used by the pod or by others, leaves nothing, and littleLeftShare
	// leaves a client little room for bursts: the bounds of saturation.
	neededShare, littleLeftShare = 0.90, 0.80
	// minTakenSeconds is the smallest number of consecutive seconds that count as a part of the measurement.
	minTakenSeconds = 3
	// stealWarnsShare of the time of its CPUs changes the 99th percentile, as throttling does.
	stealWarnsShare = 0.01
	// memoryWarnsShare is the same for the time in which tasks of the node waited for memory.
	memoryWarnsShare = 0.01
)

// occupation shows who had the CPU time that is promised to a pod, in microseconds.
type occupation struct {
	// elapsed is the length of the time.
	elapsed float64
	// promised is the CPU time that the limit allows, but no more than the time of the pod's CPUs. Of that, others and
	// the hypervisor took what they used beyond the time that isn't promised.
	promised, taken float64
	// used is the CPU time of the pod, and of interrupts, most of which are for its network. others is the least that
	// other processes used.
	used, others float64
}

// occupationOf returns who had the CPU time of a pod with the given limits in thousandths of a CPU. over is the
// approximate length of the time in microseconds. It reports false if that is unknown, or if nothing is promised.
func occupationOf(u *result.NodeUsage, limitMillis, over int64) (o occupation, ok bool) {
	if u == nil || limitMillis <= 0 || over <= 0 || u.CPUTime <= 0 ||
		min(u.Idle, u.OtherCPU, u.Steal, u.IOWait, u.HardIRQ, u.SoftIRQ) == result.Unknown {
		return o, false
	}
	all := float64(u.CPUTime)
	cpus := max(math.Round(all/float64(over)), 1)
	o.elapsed = all / cpus
	o.promised = min(o.elapsed*float64(limitMillis)/1000, all)
	// The kernel may have charged interrupts to the pod.
	o.others = float64(max(u.OtherCPU-u.HardIRQ-u.SoftIRQ, 0))
	o.used = max(all-float64(u.Idle)-float64(u.IOWait)-float64(u.Steal)-o.others, 0)
	o.taken = max(o.promised-(all-o.others-float64(u.Steal)), 0)
	return o, true
}

// share returns how much of what is promised others took.
func (o *occupation) share() float64 { return o.taken / o.promised }

// needed reports whether no more than the given share was left of what is promised: the pod could have used
// what others took.
func (o *occupation) needed(share float64) bool { return o.used+o.taken >= share*o.promised }

// nodeBusy finds pods whose CPUs did something else. CPUs that aren't promised to the pod may be used by
// others: a pod with a limit of one CPU that may run on eight loses nothing until the eight are full.
func nodeBusy(r *result.Result) *result.Finding {
	severity, remedy := result.Warns, ""
	var said []string
	add := func(s result.Severity, text string) {
		// On shared CPUs target and clients are among each other's others.
		if said = append(said, text); s == result.Invalidates && r.Environment.CPUExclusivity == cpusExclusive {
			severity = s
		}
	}
	limit := result.PodCPULimit(r.Containers(), 0) // of a container without a limit, nothing is promised
	if o, ok := occupationOf(r.NodeUsage, limit, r.DurationMicroseconds); ok && (o.needed(neededShare) || o.share() >= takenMuchShare) {
		takenFrom("target", limit, &o, r.NodeUsage, add)
	}
	stalledBy("target", r.NodeUsage, r.DurationMicroseconds, add)
	var part *result.Span
	if len(said) == 0 {
		part = busySeconds(r, limit, add)
	}
	if !r.Run.Standalone { // whose CPU limit is that of the machine, which the target may share
		busyClients(r, add)
	}
	if len(said) > 1 {
		part = nil // the others are about all of it
	}
	if len(said) == 0 {
		return nil
	}
	if r.Environment.CPUExclusivity == cpusShared {
		remedy = " Give target and clients a whole number of CPUs on a node whose kubelet has cpuManagerPolicy: static."
	}
	f := found(ReasonNodeBusy, severity, "%s Find what else runs on the node, and stop it or move it to another.%s", strings.Join(said, " "), remedy)
	f.Seconds = part
	return f
}

// takenFrom adds what others took of a pod's CPU time over the measurement, if that is much.
func takenFrom(pod string, limit int64, o *occupation, u *result.NodeUsage, add func(result.Severity, string)) {
	if o.share() < takenWarnsShare {
		return
	}
	severity, meaning := result.Warns, "It had some CPU time left."
	if o.needed(neededShare) {
		meaning = "It had no CPU time left."
		if o.share() >= takenMuchShare {
			severity = result.Invalidates
		}
	}
	add(severity, fmt.Sprintf("Other processes used at least %.1f%% of the time of the CPUs of the %s, and took %.1f%% of what its limit of %s allows.%s %s",
		100*o.others/float64(u.CPUTime), pod, 100*o.share(), cpuText(limit), pressure(u, o.elapsed), meaning))
}

// stalledBy adds for how long a pod's CPUs ran other virtual machines, or its node waited for memory.
func stalledBy(pod string, u *result.NodeUsage, over int64, add func(result.Severity, string)) {
	if u == nil || u.CPUTime <= 0 || over <= 0 {
		return
	}
	if u.Steal > 0 && float64(u.Steal) >= stealWarnsShare*float64(u.CPUTime) {
		add(result.Warns, fmt.Sprintf("The hypervisor gave %.1f%% of the time of the CPUs of the %s to other virtual machines.", u.CPUPercent(u.Steal), pod))
	}
	if waited := float64(u.MemoryPressure); waited >= memoryWarnsShare*float64(over) {
		add(result.Warns, fmt.Sprintf("Processes on the node of the %s waited for memory for %.1f%% of the time.", pod, 100*waited/float64(over)))
	}
}

// pressure returns for how long tasks waited for a CPU of the node, as a sentence; empty if it is unknown.
func pressure(u *result.NodeUsage, elapsed float64) string {
	if u.CPUPressure == result.Unknown {
		return ""
	}
	return fmt.Sprintf(" For %.0f%% of the time some process of the node waited for a CPU.", 100*float64(u.CPUPressure)/elapsed)
}

// cpuText returns a number of CPUs in thousandths as text: "1.5 CPUs".
func cpuText(millis int64) string {
	text := strconv.FormatFloat(float64(millis)/1000, 'f', -1, 64)
	if text == "1" {
		return "1 CPU"
	}
	return text + " CPUs"
}

// busySeconds adds consecutive seconds in which others took much of the target's CPU time, and returns them; nil if there
// are none.
func busySeconds(r *result.Result, limit int64, add func(result.Severity, string)) *result.Span {
	from, length, sum := longest(r, func(s *result.Second) float64 {
		o, ok := occupationOf(s.Node, limit, s.Seconds*1_000_000)
		if !ok || o.share() < takenMuchShare {
			return 0
		}
		return o.share() * float64(s.Seconds)
	})
	if length < minTakenSeconds {
		return nil
	}
	add(result.Warns, fmt.Sprintf("For %ds of %s, from second %d on, other processes took %.1f%% of what the CPU limit of the target allows.",
		length, seconds(r.DurationMicroseconds), from, 100*sum/float64(length)))
	return &result.Span{From: from, To: from + length}
}

// busyClients adds what others took of the client that lost most of those with little time left, and what
// stalled the client that was stalled most.
func busyClients(r *result.Result, add func(result.Severity, string)) {
	limit := r.Environment.ClientCPULimit
	c, _, _ := worst(r, func(c *result.Client) float64 {
		o, ok := occupationOf(c.NodeUsage, limit, c.DurationMicroseconds())
		if !ok || !o.needed(littleLeftShare) {
			return 0
		}
		return o.share()
	}, func(share float64) bool { return share >= takenWarnsShare })
	if c != nil {
		o, _ := occupationOf(c.NodeUsage, limit, c.DurationMicroseconds())
		takenFrom(fmt.Sprintf("client %d", c.Index), limit, &o, c.NodeUsage, add)
	}
	c, _, _ = worst(r, func(c *result.Client) float64 {
		if c.NodeUsage == nil || c.NodeUsage.CPUTime <= 0 {
			return 0
		}
		return max(float64(c.NodeUsage.Steal)/float64(c.NodeUsage.CPUTime), shareOf(c, c.NodeUsage.MemoryPressure))
	}, func(share float64) bool { return share >= min(stealWarnsShare, memoryWarnsShare) })
	if c != nil {
		stalledBy(fmt.Sprintf("client %d", c.Index), c.NodeUsage, c.DurationMicroseconds(), add)
	}
}
