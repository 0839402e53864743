package artifact

import (
	"fmt"

	"github.com/assay-dev/assay/internal/result"
)

const (
	// mostPoints of the series are more than fit in any case.
	mostPoints = 20_000
	// fewestPoints is how many points of the series are always kept, if it has as
	// many.
	fewestPoints = 60
	// pointsBesideHistograms is how far the series is thinned before the clients'
	// histograms go.
	pointsBesideHistograms = 600
	// mostHistograms is how many of the clients' histograms are kept; unpacked,
	// each takes about 200 kB of a reader's memory.
	mostHistograms = 1000
)

// Encode returns the result as it is kept, in at most limit bytes. What doesn't
// fit is thinned, in this order, until it does:
//
//   - the series, by joining neighbouring seconds, to no fewer than 600 points;
//   - the histograms of clients and levels, for which summaries stand then, the series
//     being whole again;
//   - the series, to no fewer than 60 points.
//
// Counts, totals, merged histograms, environment and findings are always whole.
// The result itself isn't changed. Errors wrap ErrTooLarge when even the last
// doesn't fit.
func Encode(r *result.Result, limit int) ([]byte, error) {
	kept := *r
	kept.SchemaVersion = result.SchemaVersion
	for len(kept.Series) > mostPoints {
		kept.Series = joinPairs(kept.Series)
	}
	if histograms(r.Clients) <= mostHistograms {
		encoded, err := encodeSeries(&kept, limit, pointsBesideHistograms)
		if err != nil || encoded != nil {
			return encoded, err
		}
	}
	kept.Clients, kept.Levels = summarize(r.Clients), summarizeLevels(r.Levels)
	encoded, err := encodeSeries(&kept, limit, fewestPoints)
	if err != nil {
		return nil, err
	}
	if encoded == nil {
		return nil, fmt.Errorf("encode result of %d clients in %d bytes: %w", len(r.Clients), limit, ErrTooLarge)
	}
	return encoded, nil
}

// encodeSeries halves the series until the result fits or the series would have
// fewer than the given points; then it returns nil.
func encodeSeries(r *result.Result, limit, fewest int) ([]byte, error) {
	thinned := *r
	for {
		encoded, err := compress(&thinned)
		if err != nil {
			return nil, err
		}
		if len(encoded) <= limit {
			return encoded, nil
		}
		if len(thinned.Series)/2 < fewest {
			return nil, nil
		}
		thinned.Series = joinPairs(thinned.Series)
	}
}

// joinPairs joins each two neighbouring points of a series.
func joinPairs(series []result.Second) []result.Second {
	joined := make([]result.Second, 0, (len(series)+1)/2)
	for i := 0; i < len(series); i += 2 {
		if i+1 == len(series) {
			joined = append(joined, series[i])
			continue
		}
		joined = append(joined, join(series[i], series[i+1]))
	}
	return joined
}

// join joins two points of a series. Percentiles can't be joined: they become
// -1, unless only one of the two has requests that succeeded.
func join(a, b result.Second) result.Second {
	j := a
	j.Seconds = b.Second + b.Seconds - a.Second
	j.Requests += b.Requests
	j.Errors += b.Errors
	j.BytesReceived += b.BytesReceived
	j.ClientCPU += b.ClientCPU
	j.ClientThrottled = -1
	if a.ClientThrottled >= 0 && b.ClientThrottled >= 0 {
		j.ClientThrottled = a.ClientThrottled + b.ClientThrottled
	}
	j.ClientSchedulerLag = max(a.ClientSchedulerLag, b.ClientSchedulerLag)
	j.ClientGCPause = max(a.ClientGCPause, b.ClientGCPause)
	j.ServerCPU = -1
	if a.ServerCPU >= 0 && b.ServerCPU >= 0 {
		j.ServerCPU = a.ServerCPU + b.ServerCPU
	}
	j.BackendCPU = joinCPU(a.BackendCPU, b.BackendCPU)
	j.ServerResident = max(a.ServerResident, b.ServerResident)
	j.Max = max(a.Max, b.Max)
	switch {
	case b.Requests == b.Errors:
	case a.Requests == a.Errors:
		j.P50, j.P90, j.P99 = b.P50, b.P90, b.P99
	default:
		j.P50, j.P90, j.P99 = -1, -1, -1
	}
	return j
}

// joinCPU adds CPU times by container; what one of the two doesn't know is -1.
func joinCPU(a, b map[string]int64) map[string]int64 {
	if len(a)+len(b) == 0 {
		return nil
	}
	sum := make(map[string]int64, len(a))
	for name := range a {
		sum[name] = -1
	}
	for name, y := range b {
		if x, both := a[name]; both && x >= 0 && y >= 0 {
			sum[name] = x + y
		} else {
			sum[name] = -1
		}
	}
	return sum
}

// histograms is how many histograms the clients have.
func histograms(clients []result.Client) int {
	n := 0
	for i := range clients {
		for _, h := range clients[i].Latencies {
			if h != nil && h.Count() > 0 {
				n++
			}
		}
	}
	return n
}

// summarizeLevels returns the levels with summaries in place of histograms.
func summarizeLevels(levels []result.Level) []result.Level {
	summarized := make([]result.Level, 0, len(levels))
	for _, l := range levels {
		l.Summaries = l.Latencies.Summarize()
		l.Latencies = result.Latencies{}
		summarized = append(summarized, l)
	}
	return summarized
}

// summarize returns the clients with summaries in place of histograms.
func summarize(clients []result.Client) []result.Client {
	summarized := make([]result.Client, len(clients))
	for i, c := range clients {
		c.Summaries = c.Latencies.Summarize()
		c.Latencies = result.Latencies{}
		summarized[i] = c
	}
	return summarized
}
