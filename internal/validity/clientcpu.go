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

// clientSaturated finds clients that had no CPU time left. Such a client measures itself, which has
// reversed the conclusions of published comparisons: one of Tomcat and httpd in 2004 came out at
// -16.6% with a slow client machine and at about +17% with faster ones. 90% is the bound that the
// benchmarks of the time also applied to servers.
func clientSaturated(r *result.Result) *result.Finding {
	remedy := "Increase clients.resources.cpu, or spread the load over more clients.replicas."
	if r.Run.Standalone {
		remedy = "Run it with more CPUs, or lower the load."
	}
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
			return found(ReasonClientSaturated, level.severity, "%d of %d clients used at least %.0f%% of their CPU limit (worst: client %d, %.1f%%). %s %s",
				count, len(r.Clients), level.percent, c.Index, percent, level.meaning, remedy)
		}
	}
	return nil
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
		"%d of %d clients were CPU-throttled for more than %.0f%% of the measurement (worst: client %d, %s of %s). "+
			"Increase clients.resources.cpu; a whole number lets a client have exclusive CPUs.",
		count, len(r.Clients), 100*throttledShare, c.Index, seconds(c.Usage.Throttled), seconds(c.DurationMicroseconds()))
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
