package validity

import "github.com/assay-dev/assay/internal/result"

const (
	// saturatedInvalidatesPercent of its CPU limit is where a client's own queue
	// for the CPU begins to show in what it measures.
	saturatedInvalidatesPercent = 90.0
	// saturatedWarnsPercent of its CPU limit leaves little room for bursts.
	saturatedWarnsPercent = 80.0
	// clientThrottledShare of the measurement spent waiting for the CFS quota is
	// time that every latency measured in it contains.
	clientThrottledShare = 0.01
)

// clientSaturated: a client that has no CPU time left measures itself, which
// has turned the verdicts of published comparisons around (one of Tomcat and
// httpd in 2004 came out at -16.6 % with a slow client machine and at about
// +17 % with faster ones). 90 % is the bound that the benchmarks of the time
// also took for a saturated server.
func clientSaturated(r *result.Result) *result.Finding {
	limit := r.Environment.ClientCPULimit
	worst, warned, invalid := -1, 0, 0
	var most float64
	for i := range r.Clients {
		percent := r.Clients[i].CPUPercentOf(limit)
		if worst < 0 || percent > most {
			worst, most = i, percent
		}
		if percent >= saturatedWarnsPercent {
			warned++
		}
		if percent >= saturatedInvalidatesPercent {
			invalid++
		}
	}
	const format = "%d of %d clients used at least %.0f %% of their CPU limit, client %d most with %.1f %%; %s"
	mend := "raise clients.resources.cpu, or spread the load over more clients.replicas"
	if r.Run.Alone {
		mend = "give it more CPUs, or lower the load"
	}
	switch {
	case invalid > 0:
		return invalidates(ReasonClientSaturated, format, invalid, len(r.Clients), saturatedInvalidatesPercent,
			r.Clients[worst].Index, most, "they, not the target, were the limit: "+mend)
	case warned > 0:
		return warns(ReasonClientSaturated, format, warned, len(r.Clients), saturatedWarnsPercent,
			r.Clients[worst].Index, most, "they may be part of the limit: "+mend)
	}
	return nil
}

// clientThrottled: when a container has used up its CPU quota of a period, the
// kernel's CFS bandwidth control stops all its threads until the next (100 ms
// by default), in the midst of timing. See Documentation/scheduler/sched-bwc.rst
// in the kernel's source.
func clientThrottled(r *result.Result) *result.Finding {
	worst, count := -1, 0
	var most float64
	for i := range r.Clients {
		c := &r.Clients[i]
		elapsed := c.DurationMicroseconds()
		if c.Usage.Throttled <= 0 || elapsed <= 0 {
			continue
		}
		share := float64(c.Usage.Throttled) / float64(elapsed)
		if share <= clientThrottledShare {
			continue
		}
		count++
		if share > most {
			worst, most = i, share
		}
	}
	if count == 0 {
		return nil
	}
	c := &r.Clients[worst]
	return invalidates(ReasonClientThrottled,
		"the CPU limit held %d of %d clients up for more than %.0f %% of the measurement, client %d most: %s in %s; raise clients.resources.cpu, to a whole number so that the CPUs are the client's own",
		count, len(r.Clients), 100*clientThrottledShare, c.Index,
		seconds(c.Usage.Throttled), seconds(c.DurationMicroseconds()))
}
