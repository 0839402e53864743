package validity

import (
	"math"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// saturatedInvalidatesPercent of its CPU limit is where a client's own run queue
	// begins to show in what it measures.
	saturatedInvalidatesPercent = 90.0
	// saturatedWarnsPercent of its CPU limit leaves little room for bursts.
	saturatedWarnsPercent = 80.0
	// throttledShare of the measurement spent throttled by the CFS quota shows in the
	// high percentiles: a client's latencies contain all of that time.
	throttledShare = 0.01

	// minSaturatedSeconds is the smallest number of consecutive seconds that count as a part of the
	// measurement. The opening of all connections takes one or two.
	minSaturatedSeconds = 3
	// saturatedInvalidatesShare of the measurement changes the 90th percentile.
	saturatedInvalidatesShare = 0.1
)

// clientSaturated finds clients that had no CPU time left, on average or for a part of the measurement. Such a client measures itself, which has
// reversed the conclusions of published comparisons: one of Tomcat and httpd in 2004 came out at
// -16.6% with a slow client machine and at about +17% with faster ones. 90% is the bound that the
// benchmarks of the time also applied to servers.
func clientSaturated(r *result.Result) *result.Finding {
	mean, part := saturatedInTheMean(r), saturatedForAPart(r)
	if mean == nil || part != nil && mean.Severity == result.Warns && part.Severity == result.Invalidates {
		return part
	}
	return mean
}

func saturatedInTheMean(r *result.Result) *result.Finding {
	if r.DurationMicroseconds < minMicroseconds { // most of the time would be that of starting and ending; tooShort says so
		return nil
	}
	remedy := saturatedRemedy(r)
	for _, level := range []struct {
		percent  float64
		severity result.Severity
		meaning  string
	}{
		{saturatedInvalidatesPercent, result.Invalidates, "The clients, not the target, were the bottleneck."},
		{saturatedWarnsPercent, result.Warns, "The clients may be part of the bottleneck."},
	} {
		percentOf := func(c *result.Client) float64 { return c.CPUPercentOf(r.Environment.ClientCPULimit) }
		c, percent, count := worst(r, percentOf, func(percent float64) bool { return percent >= level.percent })
		if c != nil {
			return found(ReasonClientSaturated, level.severity, "%s used at least %.0f%% of their CPU limit (worst: client %d, %.1f%%). %s %s",
				ofClients(count, r), level.percent, c.Index, percent, level.meaning, remedy)
		}
	}
	return nil
}

func saturatedRemedy(r *result.Result) string {
	if r.Run.Standalone {
		return "Run it with more CPUs, or lower the load."
	}
	return "Increase clients.resources.cpu, or spread the load over more clients.replicas."
}

// saturatedForAPart finds consecutive seconds in which the clients together used nearly all that their
// limits allow, so that each of them did.
func saturatedForAPart(r *result.Result) *result.Finding {
	limit := float64(r.Environment.ClientCPULimit) * 1000 * float64(len(r.Clients)) // in microseconds each second
	if limit <= 0 {
		return nil
	}
	from, length, cpu := longest(r, func(s *result.Second) float64 {
		if 100*float64(s.ClientCPU) < saturatedInvalidatesPercent*limit*float64(s.Seconds) {
			return 0
		}
		return float64(s.ClientCPU)
	})
	if length < minSaturatedSeconds {
		return nil
	}
	severity := result.Warns
	if float64(length*1_000_000) >= saturatedInvalidatesShare*float64(r.DurationMicroseconds) && len(r.Levels) == 0 {
		severity = result.Invalidates
	}
	return happened(found(ReasonClientSaturated, severity,
		"For %ds of %s, from second %d on, the clients used %.1f%% of their CPU limit. For that time the clients, not the target, may have been the bottleneck. %s",
		length, seconds(r.DurationMicroseconds), from, 100*cpu/limit/float64(length), saturatedRemedy(r)), from, from+length)
}

// clientThrottled finds clients that were throttled. When a container has used its CPU quota of a
// period (100 ms by default), the kernel's CFS bandwidth control stops all its threads until the
// next, in the middle of timing. See Documentation/scheduler/sched-bwc.rst in the kernel's source.
func clientThrottled(r *result.Result) *result.Finding {
	c, _, count := worst(r, func(c *result.Client) float64 { return shareOf(c, c.Usage.Throttled) }, func(share float64) bool { return share > throttledShare })
	if c == nil {
		return nil
	}
	return found(ReasonClientThrottled, result.Invalidates,
		"%s spent more than %.0f%% of the measurement throttled by their CPU limit (worst: client %d, %s of %s). "+
			"Increase clients.resources.cpu; a whole number lets a client have exclusive CPUs.",
		ofClients(count, r), 100*throttledShare, c.Index, seconds(c.Usage.Throttled), seconds(c.DurationMicroseconds()))
}

// worst returns the client with the largest value of those that are too large, that
// value, and the number of such clients. It returns nil if there is none.
func worst(r *result.Result, of func(*result.Client) float64, tooLarge func(float64) bool) (client *result.Client, value float64, count int) {
	for i := range r.Clients {
		v := of(&r.Clients[i])
		if !tooLarge(v) {
			continue
		}
		if count++; client == nil || v > value {
			client, value = &r.Clients[i], v
		}
	}
	return client, value, count
}

// shareOf returns a time in microseconds as a share of a client's measurement; 0 if
// it made no requests.
func shareOf(c *result.Client, microseconds int64) float64 {
	elapsed := c.DurationMicroseconds()
	if elapsed <= 0 {
		return 0
	}
	return float64(microseconds) / float64(elapsed)
}

const (
	// latencyWarnsShare of the 99th percentile being the client's own scheduling
	// latency is more than the differences that benchmarks look for.
	latencyWarnsShare = 0.25
	// gcWarnsShare of the measurement spent in GC pauses affects one request in a
	// hundred, and so the 99th percentile.
	gcWarnsShare = 0.01
)

// clientStalls finds clients that timed responses late. A response is timed when the goroutine that
// waits for it runs, or when the loop of its connection reaches it. The time for which it waits for a
// CPU, behind others or during a GC pause, is in the latency as if the target had caused it.
func clientStalls(r *result.Result) *result.Finding {
	cpu, memory := "Increase clients.resources.cpu, lower the load, or spread it over more clients.replicas.", "Increase clients.resources.memory."
	if r.Run.Standalone {
		cpu, memory = "Run it with more CPUs, or lower the load.", "Run it with more memory."
	}
	p99 := func(c *result.Client) int64 { return c.Latencies.Get(result.Total).Percentile(99) }
	waiting := func(c *result.Client) float64 { return float64(c.Usage.SchedulingLatencyP99) / float64(p99(c)) }
	if c, share, _ := worst(r, waiting, func(share float64) bool { return share > latencyWarnsShare && !math.IsInf(share, 1) }); c != nil {
		return found(ReasonClientStalls, result.Warns,
			"The scheduling latency of client %d (p99: %s) is %.0f%% of its p99 of %s: responses waited for the client to time them, and latencies include that time. %s",
			c.Index, milliseconds(c.Usage.SchedulingLatencyP99), 100*share, milliseconds(p99(c)), cpu)
	}
	if r.DurationMicroseconds < minMicroseconds {
		return nil
	}
	collecting := func(c *result.Client) float64 { return shareOf(c, c.Usage.GCPause) }
	if c, share, _ := worst(r, collecting, func(share float64) bool { return share > gcWarnsShare }); c != nil {
		return found(ReasonClientStalls, result.Warns,
			"Client %d was in GC pauses for %s of %s (%.1f%%; the longest: %s), and high percentiles include that time. %s",
			c.Index, seconds(c.Usage.GCPause), seconds(c.DurationMicroseconds()), 100*share, milliseconds(c.Usage.GCPauseMax), memory)
	}
	return nil
}
