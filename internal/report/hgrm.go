package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

// ticksPerHalfDistance is the number of percentiles in each halving of the distance to 100%, as HdrHistogram's own
// programs have it.
const ticksPerHalfDistance = 5

// distributionLine is a line of a percentile distribution: up to which value, in microseconds, a percentage of all
// durations is, and the number of the durations up to it.
type distributionLine struct {
	percent float64
	value   int64
	count   int64
}

// percentileDistribution returns the lines of a histogram: those that HdrHistogram's own iterator over percentiles
// has, and those of the percentiles that all reports have. The exact maximum bounds the values.
func percentileDistribution(h *result.Histogram) []distributionLine {
	bars := h.Bars()
	if len(bars) == 0 {
		return nil
	}
	at := func(percent float64) distributionLine {
		rank, count := percentile.Rank(percent, h.Count()), int64(0)
		for _, bar := range bars {
			if count += bar.Count; count >= rank {
				return distributionLine{percent, min(bar.To, h.Max()), count}
			}
		}
		return distributionLine{percent, h.Max(), h.Count()}
	}
	var lines []distributionLine
	for percent := 0.0; len(lines) == 0 || lines[len(lines)-1].count < h.Count(); percent = nextTick(percent) {
		lines = append(lines, at(percent))
	}
	for _, p := range append(slices.Clone(percentile.Common), percentile.AB...) {
		if percent := p.Percent(); !slices.ContainsFunc(lines, func(l distributionLine) bool { return l.percent == percent }) {
			lines = append(lines, at(percent))
		}
	}
	slices.SortFunc(lines, func(a, b distributionLine) int { return int(math.Copysign(1, a.percent-b.percent)) })
	return append(lines, distributionLine{100, h.Max(), h.Count()})
}

// nextTick returns the percentile that follows another, as HdrHistogram's PercentileIterator computes it.
func nextTick(percent float64) float64 {
	halvings := math.Floor(math.Log2(100/(100-percent))) + 1
	return percent + 100/(ticksPerHalfDistance*math.Exp2(halvings))
}

// writePercentileDistribution returns a function that writes the distribution of a phase over all clients as HdrHistogram's
// outputPercentileDistribution does (HdrHistogram 2.2.2), in milliseconds. Values, mean and maximum are the exact
// ones, of which the library for Go only knows the buckets; its percentiles have too few digits for long tails.
func writePercentileDistribution(phase result.Phase) func(w io.Writer, r *result.Result) error {
	return func(w io.Writer, r *result.Result) error {
		h := r.Merged.Latencies.Get(phase)
		if h.Count() == 0 {
			return fmt.Errorf("no successful request has the phase %s", phase)
		}
		var b bytes.Buffer
		fmt.Fprintf(&b, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
		for _, l := range percentileDistribution(h) {
			fmt.Fprintf(&b, "%12.3f %2.12f %10d", ms(l.value), l.percent/100, l.count)
			if l.percent < 100 {
				fmt.Fprintf(&b, " %14.2f", 100/(100-l.percent))
			}
			fmt.Fprintln(&b)
		}
		subBuckets, buckets := geometry()
		fmt.Fprintf(&b, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", h.Mean()/1000, h.StdDev()/1000)
		fmt.Fprintf(&b, "#[Max     = %12.3f, Total count    = %12d]\n", ms(h.Max()), h.Count())
		fmt.Fprintf(&b, "#[Buckets = %12d, SubBuckets     = %12d]\n", buckets, subBuckets)
		_, err := w.Write(b.Bytes())
		return err
	}
}

// geometry returns the numbers that HdrHistogram derives from the precision and the range of every histogram.
func geometry() (subBuckets, buckets int64) {
	precise := 2 * int64(math.Pow10(result.SignificantDigits))
	for subBuckets = 1; subBuckets < precise; {
		subBuckets *= 2
	}
	buckets = 1
	for covered := subBuckets; covered <= result.HighestMicroseconds; covered *= 2 {
		buckets++
	}
	return subBuckets, buckets
}
