package result

import (
	"math"
	"sync"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/assay-dev/assay/internal/percentile"
)

// Percentiles are durations in microseconds by percentile.Percentile. In JSON they are an array.
type Percentiles [percentile.Count]int64

// Summary is the metrics of a distribution of durations, in microseconds: what is left of a
// histogram when its buckets are dropped. Summaries can't be merged.
type Summary struct {
	Count   int64 `json:"count"`
	Sum     int64 `json:"sumMicroseconds"`
	Min     int64 `json:"minMicroseconds"`
	Max     int64 `json:"maxMicroseconds"`
	Clamped int64 `json:"clamped,omitempty"`
	// StdDev is the standard deviation, rounded.
	StdDev      int64       `json:"stdDevMicroseconds"`
	Percentiles Percentiles `json:"percentilesMicroseconds"`
}

// Summaries are summaries by Phase; an entry is nil if the phase didn't occur.
type Summaries [Phases]*Summary

// summarized holds empty buckets of the whole geometry: a result has packed histograms of a thousand clients, and buckets
// for each would be garbage of a gigabyte.
var summarized = sync.Pool{New: func() any { return bucketsUpTo(HighestMicroseconds) }}

// Summarize returns the metrics of the histogram with a number of durations of zero added: 0 for
// the histogram as it is; for ab's row Connect, in which a reused connection counts as opened in no
// time, the number of requests that reused one.
func (h *Histogram) Summarize(zeros int64) Summary {
	s := Summary{Count: h.count + zeros, Sum: h.sum, Min: h.min, Max: h.max, Clamped: h.clamped}
	if s.Count == 0 {
		return s
	}
	if zeros > 0 {
		s.Min = min(s.Min, 0)
	}
	if h.count == 0 {
		return s
	}
	unpacked := *h // at once, not for each metric
	if h.buckets == nil {
		buckets := summarized.Get().(*hdrhistogram.Histogram)
		defer func() {
			buckets.Reset()
			summarized.Put(buckets)
		}()
		unpackInto(buckets, h.packed)
		unpacked.buckets = buckets
	}
	s.StdDev = int64(math.Round(unpacked.stdDevWithZeros(zeros)))
	// The zeros are the lowest values, so that the rank of a duration moves up by their number.
	for p := range percentile.Count {
		if rank := percentile.Rank(p.Percent(), s.Count) - zeros; rank > 0 {
			s.Percentiles[p] = unpacked.valueAtRank(rank)
		}
	}
	return s
}

// Summarize returns the metrics of the histograms as ab gives them: a zero is added to Connect, and
// to TLS if it occurs, for each request that reused a connection.
func (l *Latencies) Summarize() Summaries {
	var summaries Summaries
	total := l.Get(Total).Count()
	for phase, h := range l {
		if h == nil || h.Count() == 0 {
			continue
		}
		var zeros int64
		if phase := Phase(phase); phase == Connect || phase == TLS {
			zeros = max(0, total-h.Count())
		}
		s := h.Summarize(zeros)
		summaries[phase] = &s
	}
	return summaries
}

// stdDevWithZeros returns the standard deviation with zeros added: that of all n values is the root
// of the mean of their squares less the square of their mean, both of which the zeros only scale.
func (h *Histogram) stdDevWithZeros(zeros int64) float64 {
	mean, sd := h.Mean(), h.StdDev()
	share := float64(h.count) / float64(h.count+zeros)
	squares := (sd*sd + mean*mean) * share
	return math.Sqrt(max(0, squares-mean*share*mean*share))
}

// Mean returns the arithmetic mean in microseconds; 0 if there is no duration.
func (s *Summary) Mean() float64 { return ratio(s.Sum, s.Count, 1) }
