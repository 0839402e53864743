package validity

import "github.com/assay-dev/assay/internal/result"

const (
	// saturatedInvalidatesPercent of its CPU limit is where a client's own run queue
	// begins to show in what it measures.
	saturatedInvalidatesPercent = 90.0
	// saturatedWarnsPercent of its CPU limit leaves little room for bursts.
	saturatedWarnsPercent = 80.0
	// throttledShare of the measurement spent throttled by the CFS quota shows in the
	// high percentiles: a client's latencies contain all of that time.
	throttledShare = 0.01
)

// clientSaturated finds clients that had no CPU time left. Such a client measures
// itself, which has reversed the conclusions of published comparisons: one of
// Tomcat and httpd in 2004 came out at -16.6% with a slow client machine and at
// about +17% with faster ones. 90% is the bound that the benchmarks of the time
// also applied to servers.
func clientSaturated(r *result.Result) *result.Finding {
	limit := r.Environment.ClientCPULimit
	worst, warned, invalid := -1, 0, 0
	var worstPercent float64
	for i := range r.Clients {
		percent := r.Clients[i].CPUPercentOf(limit)
		if worst < 0 || percent > worstPercent {
			worst, worstPercent = i, percent
		}
		if percent >= saturatedWarnsPercent {
			warned++
		}
		if percent >= saturatedInvalidatesPercent {
			invalid++
		}
	}
	remedy := "Increase clients.resources.cpu, or spread the load over more clients.replicas."
	if r.Run.Standalone {
		remedy = "Run it with more CPUs, or lower the load."
	}
	const format = "%d of %d clients used at least %.0f%% of their CPU limit (worst: client %d, %.1f%%). %s %s"
	switch {
	case invalid > 0:
		return found(ReasonClientSaturated, result.Invalidates, format, invalid, len(r.Clients), saturatedInvalidatesPercent,
			r.Clients[worst].Index, worstPercent, "The clients, not the target, were the bottleneck.", remedy)
	case warned > 0:
		return found(ReasonClientSaturated, result.Warns, format, warned, len(r.Clients), saturatedWarnsPercent,
			r.Clients[worst].Index, worstPercent, "The clients may be part of the bottleneck.", remedy)
	}
	return nil
}

// clientThrottled finds clients that were throttled. When a container has used its
// CPU quota of a period (100 ms by default), the kernel's CFS bandwidth control
// stops all its threads until the next, in the middle of timing. See
// Documentation/scheduler/sched-bwc.rst in the kernel's source.
func clientThrottled(r *result.Result) *result.Finding {
	worst, count := -1, 0
	var worstShare float64
	for i := range r.Clients {
		c := &r.Clients[i]
		elapsed := c.DurationMicroseconds()
		if c.Usage.Throttled <= 0 || elapsed <= 0 {
			continue
		}
		share := float64(c.Usage.Throttled) / float64(elapsed)
		if share <= throttledShare {
			continue
		}
		count++
		if share > worstShare {
			worst, worstShare = i, share
		}
	}
	if count == 0 {
		return nil
	}
	c := &r.Clients[worst]
	return found(ReasonClientThrottled, result.Invalidates,
		"%d of %d clients were CPU-throttled for more than %.0f%% of the measurement (worst: client %d, %s of %s). "+
			"Increase clients.resources.cpu; a whole number lets a client have exclusive CPUs.",
		count, len(r.Clients), 100*throttledShare, c.Index, seconds(c.Usage.Throttled), seconds(c.DurationMicroseconds()))
}
