package validity

import (
	"fmt"
	"slices"
	"strings"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// minBusySeconds is the smallest number of seconds over which a target's CPU use is judged: the samples
	// of each are up to a second apart.
	minBusySeconds = 5
	// idleBelowPercent bounds the CPU usage of a container that has more CPU time left than it used.
	idleBelowPercent = 50.0
	// idleConnectionsShare is the share of the connections with a request in flight below which the
	// connections' think time, and not the target, explains the throughput.
	idleConnectionsShare = 0.5
	// queueingRatio is the mean latency divided by the shortest, and queueingLowShare the 10th percentile
	// divided by the mean, from which on nearly all requests wait for others: whoever waits behind many
	// waits for about as long as everybody. Of exponential times without a queue a tenth is below 11% of
	// the mean.
	queueingRatio    = 5.0
	queueingLowShare = 0.5
	// tailRatio is the mean latency divided by the median from which on most of the connections' time is
	// that of few requests. It is 1.4 for exponential times.
	tailRatio = 3.0
	// synRetransmission is the time in microseconds after which the first SYN is sent again (RFC 6298).
	synRetransmission = 1_000_000
)

// targetNotBusy finds closed loads whose connections waited, while the target had CPU time left. By
// Little's law the throughput of a closed load is the number of busy connections divided by the mean
// latency. Latencies without a wait say that the number of connections is the limit, and think times that
// the clients are. Latencies that are waits for CPU say that the target is. Other waits are those for a
// thread, a place in the accept queue, a lock, a backend or the network.
func targetNotBusy(r *result.Result, d Declared) *result.Finding {
	total := r.Merged.Latencies.Get(result.Total)
	if r.Run.Load != result.LoadClosed || len(r.Levels) > 0 || len(r.Run.Requests) != 1 || r.Run.UserConnections > 0 || total.Count() == 0 {
		return nil
	}
	for _, explains := range []rule{errorsDominate, clientSaturated, clientThrottled, clientStalls, targetThrottled} {
		if explains(r) != nil {
			return nil
		}
	}
	if networkLimited(r, d) != nil {
		return nil
	}
	concurrency := r.Run.Concurrency(connectionsOf(r))
	inFlight := requestsInFlight(r)
	if concurrency*1000 <= r.Environment.TargetCPULimit || d.ThinkTime && inFlight < idleConnectionsShare*float64(concurrency) {
		return nil
	}
	used, busiest := containersUsed(r)
	if used == nil || busiest >= idleBelowPercent {
		return nil
	}
	mean, low, half := total.Mean(), float64(total.Percentile(10)), float64(total.Percentile(50))
	var waits string
	switch {
	case mean >= queueingRatio*float64(total.Min()) && low >= queueingLowShare*mean:
		waits = fmt.Sprintf("requests took %s on average, %.0f times as long as the quickest, and nearly all waited alike", milliseconds(int64(mean)), mean/float64(max(1, total.Min())))
	case mean >= tailRatio*half:
		waits = fmt.Sprintf("requests took %s on average, although half of them took %s or less: a few waited for the others", milliseconds(int64(mean)), milliseconds(int64(half)))
	default:
		return nil
	}
	if longest := r.Merged.Latencies.Get(result.Connect).Max(); longest >= synRetransmission {
		waits += fmt.Sprintf(". Opening a connection took up to %s, as when the accept queue is full", seconds(longest))
	}
	return found(ReasonTargetNotBusy, result.Warns,
		"The target had CPU time left (%s of the limit), but %.0f of %d connections were waiting for it: %s. Something else than its CPU limited the throughput: "+
			"threads or workers, the accept queue, locks, a backend, or the network, which carried %.1f MB/s. Find and raise that limit, or read the result as one of it.",
		strings.Join(used, ", "), inFlight, concurrency, waits, float64(r.Merged.BytesReceived)/float64(max(1, r.DurationMicroseconds)))
}

// concurrencyOverLimit finds loads with more requests in flight than the server processes at a time: some
// always wait for a thread. The number in flight is that of Little's law, the throughput times the mean
// latency, so that idle connections don't count. They do count for the number of connections that it serves.
func concurrencyOverLimit(r *result.Result, d Declared) *result.Finding {
	if open := connectionsOverLimit(r, d); open > 0 {
		return found(ReasonConcurrencyLimited, result.Warns,
			"The load had %d connections, but the server serves at most %d at a time (%s): the others waited in its accept queue, or were closed. "+
				"Increase %s, or lower the number of connections, unless the queue is what is measured.",
			open, d.Connections.Value, d.Connections.Setting, d.Connections.Setting)
	}
	limit := d.Concurrency
	value, detail := limit.Value, ""
	if streams := d.Streams.Value * connectionsOf(r); r.Run.Streams > 0 && streams > 0 && (value <= 0 || streams < value) {
		limit, value, detail = d.Streams, streams, fmt.Sprintf(", %d on each of %d connections", d.Streams.Value, connectionsOf(r))
	}
	inFlight := requestsInFlight(r)
	if value <= 0 || inFlight <= float64(value) {
		return nil
	}
	return found(ReasonConcurrencyLimited, result.Warns,
		"%.0f requests were in flight on average, but the server processes at most %d at a time (%s%s): the others waited, and latencies include that time. "+
			"Increase %s, or lower the concurrency, unless the queue is what is measured.",
		inFlight, value, limit.Setting, detail, limit.Setting)
}

// connectionsOf returns the largest number of concurrent connections of all clients. Open load need not use all of them.
func connectionsOf(r *result.Result) int64 {
	return r.Connections() * max(1, r.Run.UserConnections)
}

// connectionsOverLimit returns the number of connections of the load, if the server doesn't serve as many at a
// time, and else 0. Of an open load it is the number that the requests in flight needed.
func connectionsOverLimit(r *result.Result, d Declared) int64 {
	open := connectionsOf(r)
	if r.Run.Load != result.LoadClosed {
		open = int64(requestsInFlight(r)) / max(1, r.Run.Streams)
	}
	if d.Connections.Value <= 0 || open <= d.Connections.Value {
		return 0
	}
	return open
}

// requestsInFlight returns the mean number of requests in flight: of successful ones, whose times are known,
// without the time that requests of open load waited for a connection.
func requestsInFlight(r *result.Result) float64 {
	busy := r.Merged.Latencies.Get(result.Total)
	if service := r.Merged.Latencies.Get(result.Service); service.Count() > 0 {
		busy = service
	}
	sum := busy.Sum()
	if result.Prints(r.Run.Tool) {
		total := r.TotalSummary()
		// Of a mean that is printed in hundredths of a second, the sum may be that of more requests than there were connections.
		sum = min(total.Sum, connectionsOf(r)*r.DurationMicroseconds)
	}
	return float64(sum) / float64(max(1, r.DurationMicroseconds))
}

// containersUsed returns containersUsedIn of the seconds that completed at least half as many requests as the
// best. Other seconds are those in which the last few requests end.
func containersUsed(r *result.Result) (used []string, busiest float64) {
	started, ended := underLoad(r)
	all := within(r.Series, started, ended)
	var best int64
	for i := range all {
		best = max(best, all[i].Requests)
	}
	return containersUsedIn(r, slices.DeleteFunc(all, func(s result.Second) bool { return 2*s.Requests < best }))
}

// containersUsedIn returns the CPU use of each container of the target in some seconds, as text, and that of the
// busiest in percent of its limit, or that of all together in percent of the limit that they share if this is
// higher; nil if that of some container is unknown.
func containersUsedIn(r *result.Result, all []result.Second) (used []string, busiest float64) {
	containers := r.Containers()
	var together float64 // CPUs
	for _, c := range containers {
		var cpu, length int64
		for i := range all {
			if spent := all[i].CPUOf(c.Name); spent >= 0 {
				cpu, length = cpu+spent, length+all[i].Seconds
			}
		}
		if c.CPULimit <= 0 || length < minBusySeconds {
			return nil, 0
		}
		percent := 100 * float64(cpu) / (1000 * float64(c.CPULimit) * float64(length))
		busiest = max(busiest, percent)
		text := fmt.Sprintf("%.1f%%", percent)
		if len(containers) > 1 {
			text = c.Name + " " + text
		}
		used = append(used, text)
		together += float64(cpu) / (1_000_000 * float64(length))
	}
	if shared := r.Environment.SharedCPULimit; shared > 0 {
		percent := 100_000 * together / float64(shared)
		busiest = max(busiest, percent)
		used = append(used, fmt.Sprintf("together %.1f%%", percent))
	}
	return used, busiest
}
