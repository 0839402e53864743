package result

import "github.com/assay-dev/assay/internal/percentile"

// Metrics are values of a full run by their names in the API. Each returns its value and whether there
// is one. Units: microseconds, bytes, percent for ErrorRate, and per second where the name says so.
//
//   - Latency…: total times of successful requests over all clients; LatencyP999 is the 99.9th percentile.
//   - ErrorRate: failed requests divided by completed requests.
//   - RequestsPerSecond: successful requests divided by the time from the first client's start to the
//     last one's end.
//   - BytesPerSecond: bytes that the clients received in that time, divided by it.
//   - TargetCPUPerRequest, ClientCPUPerRequest: CPU time of all containers of the target, or of all clients,
//     divided by the completed requests.
//   - TargetPeakMemory: sum of the largest resident sets of the target's containers in the measurement.
//   - BreakingPoint…: see BreakingMetrics.
//   - PageTime…, PagesPerSecond, PageErrorRate, RoundsPer10Seconds: see pageMetrics.
var Metrics = func() map[string]func(*Result) (value float64, exists bool) {
	all := map[string]func(*Result) (float64, bool){
		"LatencyMean":       latency((*Histogram).Mean),
		"LatencyMax":        latency(func(h *Histogram) float64 { return float64(h.Max()) }),
		"ErrorRate":         func(r *Result) (float64, bool) { return r.Merged.ErrorPercent(), r.Merged.Requests > 0 },
		"RequestsPerSecond": func(r *Result) (float64, bool) { return r.RequestsPerSecond(), true },
		"BytesPerSecond": func(r *Result) (float64, bool) {
			return perSecond(r.Merged.BytesReceived, r.DurationMicroseconds), true
		},
		"TargetCPUPerRequest": perRequest(targetSum(func(s *Server) int64 { return s.End.CPU() - s.Begin.CPU() })),
		"TargetPeakMemory":    targetSum(func(s *Server) int64 { return s.PeakResident }),
		"ClientCPUPerRequest": perRequest(clientCPU),
	}
	for name, kinds := range BreakingMetrics {
		all[name] = firstBroken(kinds)
	}
	for _, p := range percentile.Common {
		all["Latency"+p.Name()] = latency(func(h *Histogram) float64 { return float64(h.Percentile(p.Percent())) })
	}
	for _, m := range pageMetrics {
		all[m.name] = func(r *Result) (float64, bool) {
			if r.Merged.Pages == 0 {
				return 0, false
			}
			return m.of(&pageTotals{r.Merged.Counts, r.Merged.Latencies.Get(Page).Summarize(0), r.DurationMicroseconds})
		}
	}
	return all
}()

func latency(metric func(*Histogram) float64) func(*Result) (float64, bool) {
	return func(r *Result) (float64, bool) {
		total := r.Merged.Latencies.Get(Total)
		return metric(total), total.Count() > 0
	}
}

// targetSum returns a metric summed over the containers of the target, if it is known of all.
func targetSum(metric func(*Server) int64) func(*Result) (float64, bool) {
	return func(r *Result) (float64, bool) {
		var sum int64
		for _, c := range r.Containers() {
			if c.Usage == nil {
				return 0, false
			}
			sum = Plus(sum, metric(c.Usage))
		}
		return float64(sum), true
	}
}

func clientCPU(r *Result) (float64, bool) {
	var sum int64
	for i := range r.Clients {
		sum = Plus(sum, r.Clients[i].Usage.CPU())
	}
	return float64(sum), len(r.Clients) > 0
}

func perRequest(metric func(*Result) (float64, bool)) func(*Result) (float64, bool) {
	return func(r *Result) (float64, bool) {
		value, exists := metric(r)
		if !exists || r.Merged.Requests <= 0 {
			return 0, false
		}
		return value / float64(r.Merged.Requests), true
	}
}
