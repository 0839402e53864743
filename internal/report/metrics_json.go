package report

import (
	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

type metricsJSON struct {
	// RequestsPerSecond counts successful requests.
	RequestsPerSecond float64 `json:"requestsPerSecond"`
	// ErrorPercent is the number of failed requests divided by that of all requests.
	ErrorPercent float64 `json:"errorPercent"`
	// Latencies are by phase. Of a client whose histograms were dropped, those of
	// connect and tls include a zero for each request that reused a connection.
	Latencies map[string]latencyJSON `json:"latencies"`
}

type latencyJSON struct {
	Count  int64   `json:"count"`
	Min    int64   `json:"minMicroseconds"`
	Mean   float64 `json:"meanMicroseconds"`
	StdDev int64   `json:"stdDevMicroseconds"`
	Max    int64   `json:"maxMicroseconds"`
	// Percentiles are by their number: "50", "99.9".
	Percentiles map[string]int64 `json:"percentilesMicroseconds"`
}

func latenciesJSON(histograms result.Latencies, summaries result.Summaries) map[string]latencyJSON {
	byPhase := map[string]latencyJSON{}
	for phase := range result.Phases {
		var s result.Summary
		switch {
		case histograms[phase] != nil:
			s = histograms[phase].Summarize(0)
		case summaries[phase] != nil:
			s = *summaries[phase]
		}
		if s.Count == 0 {
			continue
		}
		l := latencyJSON{Count: s.Count, Min: s.Min, Mean: s.Mean(), StdDev: s.StdDev, Max: s.Max, Percentiles: map[string]int64{}}
		for p, value := range s.Percentiles {
			if value != result.Unknown {
				l.Percentiles[percentile.Percentile(p).String()] = value
			}
		}
		byPhase[phase.String()] = l
	}
	return byPhase
}
