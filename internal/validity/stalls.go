package validity

import (
	"math"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// latencyWarnsShare of the 99th percentile being the client's own scheduling
	// latency is more than the differences that benchmarks look for.
	latencyWarnsShare = 0.25
	// gcWarnsShare of the measurement spent in GC pauses affects one request in a
	// hundred, and so the 99th percentile.
	gcWarnsShare = 0.01
)

// clientStalls finds clients that timed responses late. A response is timed when the goroutine that
// waits for it runs. The time for which that waits for a CPU, behind other goroutines or during a
// GC pause, is in the latency as if the target had caused it.
func clientStalls(r *result.Result) *result.Finding {
	cpu, memory := "Increase clients.resources.cpu, lower the load, or spread it over more clients.replicas.", "Increase clients.resources.memory."
	if r.Run.Standalone {
		cpu, memory = "Run it with more CPUs, or lower the load.", "Run it with more memory."
	}
	p99 := func(c *result.Client) int64 { return c.Latencies.Get(result.Total).Percentile(99) }
	waiting := func(c *result.Client) float64 { return float64(c.Usage.SchedulingLatencyP99) / float64(p99(c)) }
	if c, share, _ := worst(r, waiting, func(share float64) bool { return share > latencyWarnsShare && !math.IsInf(share, 1) }); c != nil {
		return found(ReasonClientStalls, result.Warns,
			"The scheduling latency of client %d (p99: %s) is %.0f%% of its p99 of %s: runnable goroutines waited for a CPU, and latencies include that time. %s",
			c.Index, milliseconds(c.Usage.SchedulingLatencyP99), 100*share, milliseconds(p99(c)), cpu)
	}
	collecting := func(c *result.Client) float64 { return shareOf(c, c.Usage.GCPause) }
	if c, share, _ := worst(r, collecting, func(share float64) bool { return share > gcWarnsShare }); c != nil {
		return found(ReasonClientStalls, result.Warns,
			"Client %d was in GC pauses for %s of %s (%.1f%%; the longest: %s), and high percentiles include that time. %s",
			c.Index, seconds(c.Usage.GCPause), seconds(c.DurationMicroseconds()), 100*share, milliseconds(c.Usage.GCPauseMax), memory)
	}
	return nil
}
