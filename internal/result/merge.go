package result

import (
	"cmp"
	"slices"

	"github.com/assay-dev/assay/internal/percentile"
)

// MergeClients merges the metrics of all clients. The merged histograms are those of all durations
// pooled, the counts are sums; nothing is averaged. durationMicroseconds is the time from the first
// client's start to the last client's end, without clients that never made a request. warmup, which
// has no Steady, is nil if no client had a warm-up. The clients' own metrics are neither changed
// nor shared.
func MergeClients(clients []Client) (merged Measure, warmup *Warmup, durationMicroseconds int64) {
	for i := range clients {
		c := &clients[i]
		merged.Merge(&c.Measure)
		if c.Warmup != nil {
			if warmup == nil {
				warmup = &Warmup{}
			}
			warmup.Add(*c.Warmup)
			warmup.DurationMicroseconds = max(warmup.DurationMicroseconds, c.WarmupMicroseconds)
		}
	}
	if started, ended, any := Window(clients); any {
		durationMicroseconds = ended - started
	}
	return merged, warmup, durationMicroseconds
}

// Window returns the first client's start and the last client's end, in microseconds since the Unix
// epoch by the manager's clock. any is false if no client made a request.
func Window(clients []Client) (started, ended int64, any bool) {
	for i := range clients {
		c := &clients[i]
		if c.StartedAt == 0 {
			continue
		}
		if !any {
			started, ended, any = c.StartedAt, c.EndedAt, true
			continue
		}
		started, ended = min(started, c.StartedAt), max(ended, c.EndedAt)
	}
	return started, ended, any
}

// AddClients sets the clients, ordered by index, and what is merged from them:
// Merged, Causes, Arrivals, Warmup and DurationMicroseconds. The clients' own causes are removed.
func (r *Result) AddClients(clients []Client) {
	r.Clients = slices.Clone(clients)
	slices.SortFunc(r.Clients, func(a, b Client) int { return cmp.Compare(a.Index, b.Index) })
	r.Merged, r.Warmup, r.DurationMicroseconds = MergeClients(r.Clients)
	r.Arrivals, r.Causes = mergeArrivals(r.Clients), mergeCauses(r.Clients)
}

func mergeArrivals(clients []Client) *Arrivals {
	var merged *Arrivals
	for i := range clients {
		if a := clients[i].Arrivals; a != nil {
			if merged == nil {
				merged = &Arrivals{}
			}
			ArrivalMetrics.Merge(merged, a)
		}
	}
	return merged
}

// UseTool sets the client's summaries to what its tool printed.
func (c *Client) UseTool() {
	if c.Tool != nil && c.Tool.Name != ToolK6 && c.Succeeded() > 0 {
		c.Summaries[Total] = c.Tool.Summary(c.Succeeded())
	}
}

// TotalSummary returns the metrics of the total time over all clients. Without histograms, as of other
// load generators, percentiles and the standard deviation of several clients are Unknown.
func (r *Result) TotalSummary() Summary {
	if h := r.Merged.Latencies.Get(Total); h.Count() > 0 {
		return h.Summarize(0)
	}
	var merged Summary
	for i := range r.Clients {
		s := r.Clients[i].Summaries[Total]
		switch {
		case s == nil:
		case merged.Count == 0:
			merged = *s
		default:
			merged.Count, merged.Sum = Plus(merged.Count, s.Count), Plus(merged.Sum, s.Sum)
			merged.Min, merged.Max, merged.StdDev = min(merged.Min, s.Min), max(merged.Max, s.Max), Unknown
			for p := range percentile.Count {
				merged.Percentiles[p] = Unknown
			}
		}
	}
	return merged
}
