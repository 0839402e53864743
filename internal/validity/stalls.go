package validity

import "github.com/assay-dev/assay/internal/result"

const (
	// latencyWarnsShare of the 99th percentile being the client's own scheduling
	// latency is more than the differences that benchmarks look for.
	latencyWarnsShare = 0.25
	// gcWarnsShare of the measurement spent in GC pauses affects one request in a
	// hundred, and so the 99th percentile.
	gcWarnsShare = 0.01
)

// clientStalls finds clients that timed responses late. A response is timed when
// the goroutine that waits for it runs. The time for which that waits for a CPU,
// behind other goroutines or during a GC pause, is in the latency as if the target
// had caused it.
func clientStalls(r *result.Result) *result.Finding {
	var waiting, collecting *result.Client
	var waitShare, gcShare float64
	for i := range r.Clients {
		c := &r.Clients[i]
		if p99 := c.Latencies.Get(result.Total).Percentile(99); p99 > 0 {
			if share := float64(c.Usage.SchedulingLatencyP99) / float64(p99); share > max(waitShare, latencyWarnsShare) {
				waiting, waitShare = c, share
			}
		}
		if elapsed := c.DurationMicroseconds(); elapsed > 0 {
			if share := float64(c.Usage.GCPause) / float64(elapsed); share > max(gcShare, gcWarnsShare) {
				collecting, gcShare = c, share
			}
		}
	}
	cpu, memory := "Increase clients.resources.cpu, lower the load, or spread it over more clients.replicas.", "Increase clients.resources.memory."
	if r.Run.Standalone {
		cpu, memory = "Run it with more CPUs, or lower the load.", "Run it with more memory."
	}
	switch {
	case waiting != nil:
		return found(ReasonClientStalls, result.Warns,
			"The scheduling latency of client %d (p99: %s) is %.0f%% of its p99 of %s: runnable goroutines waited for a CPU, and latencies include that time. %s",
			waiting.Index, milliseconds(waiting.Usage.SchedulingLatencyP99), 100*waitShare,
			milliseconds(waiting.Latencies.Get(result.Total).Percentile(99)), cpu)
	case collecting != nil:
		return found(ReasonClientStalls, result.Warns,
			"Client %d was in GC pauses for %s of %s (%.1f%%; the longest: %s), and high percentiles include that time. %s",
			collecting.Index, seconds(collecting.Usage.GCPause), seconds(collecting.DurationMicroseconds()), 100*gcShare,
			milliseconds(collecting.Usage.GCPauseMax), memory)
	}
	return nil
}
