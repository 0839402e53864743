package usage

import (
	"math"
	"runtime/metrics"
	"slices"
	"sync/atomic"
	"time"
)

// The Go runtime's own figures: how long goroutines waited for a CPU once they
// could run, and for how long garbage collections stopped all of them. See
// https://pkg.go.dev/runtime/metrics#hdr-Supported_metrics.
const (
	latenciesMetric = "/sched/latencies:seconds"
	pausesMetric    = "/sched/pauses/total/gc:seconds"
)

// runtimeReading has two distributions since the process started: counts by
// buckets, of which the boundaries are in seconds.
type runtimeReading struct{ lag, pause metrics.Float64Histogram }

func readRuntime() runtimeReading {
	r := readMetrics()
	for i := range ownLags.counts {
		r.lag.Counts[i] += ownLags.counts[i].Load()
	}
	return r
}

func readMetrics() runtimeReading {
	samples := []metrics.Sample{{Name: latenciesMetric}, {Name: pausesMetric}}
	metrics.Read(samples)
	var r runtimeReading
	for i, into := range []*metrics.Float64Histogram{&r.lag, &r.pause} {
		if samples[i].Value.Kind() == metrics.KindFloat64Histogram {
			*into = *samples[i].Value.Float64Histogram()
		}
	}
	return r
}

// ownLags are waits for a CPU that Go's runtime doesn't know of; see Lagged.
var ownLags struct {
	buckets []float64
	counts  []atomic.Uint64
}

func init() {
	ownLags.buckets = readMetrics().lag.Buckets
	ownLags.counts = make([]atomic.Uint64, max(0, len(ownLags.buckets)-1))
}

// Lagged counts that something could run for a time before it did, in a way that
// Go's runtime doesn't know of: a loop's, behind others of the loop. It is to be
// called for one in eight, as the runtime counts one in eight goroutines.
func Lagged(d time.Duration) {
	// The bucket of the greatest boundary that isn't beyond.
	i, found := slices.BinarySearch(ownLags.buckets, d.Seconds())
	if !found {
		i--
	}
	if i >= 0 && i < len(ownLags.counts) {
		ownLags.counts[i].Add(1)
	}
}

// since returns what was added to a distribution after an earlier reading of it.
func since(h, earlier metrics.Float64Histogram) metrics.Float64Histogram {
	counts := make([]uint64, len(h.Counts))
	for i, n := range h.Counts {
		if i < len(earlier.Counts) {
			n -= earlier.Counts[i]
		}
		counts[i] = n
	}
	return metrics.Float64Histogram{Counts: counts, Buckets: h.Buckets}
}

// percentile is the upper end of the bucket with the smallest value that p
// percent of all don't exceed, in microseconds; 0 without a value.
// The runtime's buckets are a quarter of a power of two wide.
func percentile(h metrics.Float64Histogram, p float64) int64 {
	var all uint64
	for _, n := range h.Counts {
		all += n
	}
	if all == 0 {
		return 0
	}
	rank, seen := uint64(math.Ceil(p*float64(all)/100)), uint64(0)
	for i, n := range h.Counts {
		if seen += n; seen >= rank {
			return microseconds(upper(h, i))
		}
	}
	return 0
}

// sum is what all values add up to, in microseconds, each taken as the middle of
// its bucket.
func sum(h metrics.Float64Histogram) int64 {
	var seconds float64
	for i, n := range h.Counts {
		if n > 0 {
			seconds += float64(n) * (max(h.Buckets[i], 0) + upper(h, i)) / 2
		}
	}
	return microseconds(seconds)
}

// upper is the upper end of a bucket; of the last, which has none, the lower.
func upper(h metrics.Float64Histogram, bucket int) float64 {
	if end := h.Buckets[bucket+1]; !math.IsInf(end, 1) {
		return end
	}
	return max(h.Buckets[bucket], 0)
}

func microseconds(seconds float64) int64 { return int64(math.Round(seconds * 1e6)) }
