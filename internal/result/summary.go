package result

import "math"

// SummaryPercentiles are the percentiles that a Summary has: those that ab
// prints, and the 99.9th.
var SummaryPercentiles = [...]float64{50, 66, 75, 80, 90, 95, 98, 99, 99.9}

// Summary is the figures of a distribution of durations, in microseconds: what
// is left of a histogram when its buckets are dropped. Summaries can't be
// merged.
type Summary struct {
	Count   int64 `json:"count"`
	Sum     int64 `json:"sumMicroseconds"`
	Min     int64 `json:"minMicroseconds"`
	Max     int64 `json:"maxMicroseconds"`
	Clamped int64 `json:"clamped,omitempty"`
	// StdDev is the standard deviation, rounded.
	StdDev int64 `json:"stdDevMicroseconds"`
	// Percentiles are those of SummaryPercentiles, in that order.
	Percentiles [len(SummaryPercentiles)]int64 `json:"percentilesMicroseconds"`
}

// Summaries are summaries by Phase; an entry is nil when the phase didn't
// occur.
type Summaries [Phases]*Summary

// Summarize returns the figures of the histogram with as many durations of
// zero added: 0 for the histogram as it is; for ab's row Connect, in which a
// reused connection counts as opened in no time, the number of requests that
// reused one.
func (h *Histogram) Summarize(zeros int64) Summary {
	s := Summary{Count: h.count + zeros, Sum: h.sum, Min: h.Min(), Max: h.max, Clamped: h.clamped}
	if s.Count == 0 {
		return s
	}
	if zeros > 0 {
		s.Min = min(s.Min, 0)
	}
	s.StdDev = int64(math.Round(h.stdDevWithZeros(zeros)))
	for i, p := range SummaryPercentiles {
		s.Percentiles[i] = h.percentileWithZeros(p, zeros)
	}
	return s
}

// Summarize returns the figures of the histograms as ab gives them: to Connect,
// and to TLS where it occurs, a zero is added for each request that reused a
// connection.
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

// stdDevWithZeros is the standard deviation with zeros added: of all n values,
// the mean of the squares less the square of the mean, both of which the zeros
// only scale.
func (h *Histogram) stdDevWithZeros(zeros int64) float64 {
	if h.count == 0 {
		return 0
	}
	mean, sd := h.Mean(), h.StdDev()
	share := float64(h.count) / float64(h.count+zeros)
	squares := (sd*sd + mean*mean) * share
	return math.Sqrt(max(0, squares-mean*share*mean*share))
}

// percentileWithZeros is Percentile with zeros added: the zeros are the lowest
// values, so that the rank of a duration moves up by their number.
func (h *Histogram) percentileWithZeros(p float64, zeros int64) int64 {
	rank := percentileRank(p, h.count+zeros)
	if rank <= zeros {
		return 0
	}
	return h.valueAtRank(rank - zeros)
}

// Mean is the arithmetic mean in microseconds, 0 when there is no duration.
func (s *Summary) Mean() float64 {
	if s.Count == 0 {
		return 0
	}
	return float64(s.Sum) / float64(s.Count)
}
