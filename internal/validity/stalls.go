package validity

import "github.com/assay-dev/assay/internal/result"

const (
	// lagWarnsShare of the 99th percentile being the client's own wait for a CPU is
	// more than the differences that benchmarks look for.
	lagWarnsShare = 0.25
	// gcWarnsShare of the measurement spent in stops of the garbage collector is in
	// one request of a hundred, and so in the 99th percentile.
	gcWarnsShare = 0.01
)

// clientStalls: a response that has arrived is timed when the goroutine that waits
// for it runs. What it waits for a CPU, behind other goroutines or while a garbage
// collection stops all of them, is in the latency as if it were the target's.
func clientStalls(r *result.Result) *result.Finding {
	var lagging, collecting *result.Client
	var lagShare, gcShare float64
	for i := range r.Clients {
		c := &r.Clients[i]
		if p99 := c.Latencies.Get(result.Total).Percentile(99); p99 > 0 {
			if share := float64(c.Usage.SchedulingLatencyP99) / float64(p99); share > max(lagShare, lagWarnsShare) {
				lagging, lagShare = c, share
			}
		}
		if elapsed := c.DurationMicroseconds(); elapsed > 0 {
			if share := float64(c.Usage.GCPause) / float64(elapsed); share > max(gcShare, gcWarnsShare) {
				collecting, gcShare = c, share
			}
		}
	}
	mend := "raise clients.resources.cpu, lower the load, or spread it over more clients.replicas"
	memory := "raise clients.resources.memory"
	if r.Run.Alone {
		mend, memory = "give it more CPUs, or lower the load", "give it more memory"
	}
	switch {
	case lagging != nil:
		return warns(ReasonClientStalls,
			"one in a hundred goroutines of client %d that could run waited %s or more for a CPU, which is %.0f %% of its 99th percentile of %s: latencies have that in them as if it were the target's; %s",
			lagging.Index, milliseconds(lagging.Usage.SchedulingLatencyP99), 100*lagShare,
			milliseconds(lagging.Latencies.Get(result.Total).Percentile(99)), mend)
	case collecting != nil:
		return warns(ReasonClientStalls,
			"garbage collections stopped client %d for %s of %s (%.1f %%), for %s at once at most: high percentiles have that in them as if it were the target's; %s",
			collecting.Index, seconds(collecting.Usage.GCPause), seconds(collecting.DurationMicroseconds()), 100*gcShare,
			milliseconds(collecting.Usage.GCPauseMax), memory)
	}
	return nil
}
