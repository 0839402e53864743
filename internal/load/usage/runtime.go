package usage

import (
	"math"
	"runtime/metrics"
	"slices"
	"sync/atomic"
	"time"

	"github.com/assay-dev/assay/internal/percentile"
)

// The Go runtime's metrics of scheduling latencies, the times for which runnable goroutines waited
// for a CPU, and of GC pauses. See https://pkg.go.dev/runtime/metrics#hdr-Supported_metrics.
const (
	latenciesMetric = "/sched/latencies:seconds"
	pausesMetric    = "/sched/pauses/total/gc:seconds"
)

// runtimeSample has the two distributions since the process started: counts by
// buckets, whose bounds are in seconds.
type runtimeSample struct{ latency, pause metrics.Float64Histogram }

// readLoops returns the scheduling latencies of AddSchedulingLatency alone, with the runtime's pauses.
func readLoops() runtimeSample {
	r := readMetrics()
	for i := range ownLatencies.counts {
		r.latency.Counts[i] = ownLatencies.counts[i].Load()
	}
	return r
}

func readMetrics() runtimeSample {
	samples := []metrics.Sample{{Name: latenciesMetric}, {Name: pausesMetric}}
	metrics.Read(samples)
	var r runtimeSample
	for i, into := range []*metrics.Float64Histogram{&r.latency, &r.pause} {
		if samples[i].Value.Kind() == metrics.KindFloat64Histogram {
			*into = *samples[i].Value.Float64Histogram()
		}
	}
	return r
}

// ownLatencies are scheduling latencies that Go's runtime does not know; see AddSchedulingLatency.
var ownLatencies struct {
	buckets []float64
	counts  []atomic.Uint64
}

func init() {
	ownLatencies.buckets = readMetrics().latency.Buckets
	ownLatencies.counts = make([]atomic.Uint64, max(0, len(ownLatencies.buckets)-1))
}

// AddSchedulingLatency counts a scheduling latency that Go's runtime does not know:
// that of a task which was runnable, but waited for other tasks of its loop.
func AddSchedulingLatency(d time.Duration) {
	// The bucket with the greatest lower bound that is not above d.
	i, found := slices.BinarySearch(ownLatencies.buckets, d.Seconds())
	if !found {
		i--
	}
	if i >= 0 && i < len(ownLatencies.counts) {
		ownLatencies.counts[i].Add(1)
	}
}

// naps counts calls of AddNap.
var naps atomic.Int64

// AddNap counts a time for which a loop sleeps whatever arrives.
func AddNap() { naps.Add(1) }

// since returns what was added to a distribution after an earlier sample of it.
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

// skip returns the earlier sample of a distribution with which since omits what was added between two later ones.
func skip(earlier, from, to metrics.Float64Histogram) metrics.Float64Histogram {
	added := since(to, from)
	for i, n := range earlier.Counts {
		added.Counts[i] += n
	}
	return added
}

// upperPercentile returns the upper bound of the bucket with the p-th percentile, in microseconds;
// 0 without values. The runtime's buckets are a quarter of a power of two wide.
func upperPercentile(h metrics.Float64Histogram, p float64) int64 {
	var all uint64
	for _, n := range h.Counts {
		all += n
	}
	if all == 0 {
		return 0
	}
	rank, seen := uint64(percentile.Rank(p, int64(all))), uint64(0)
	for i, n := range h.Counts {
		if seen += n; seen >= rank {
			return int64(math.Ceil(upper(h, i) * 1e6)) // a bound stays one
		}
	}
	return 0
}

// sum returns the sum of all values and the largest of them in microseconds. Each value is taken as
// the middle of its bucket, so that the largest doesn't exceed the sum.
func sum(h metrics.Float64Histogram) (all, largest int64) {
	var seconds, middle float64
	for i, n := range h.Counts {
		if n > 0 {
			middle = (max(h.Buckets[i], 0) + upper(h, i)) / 2
			seconds += float64(n) * middle
		}
	}
	return microseconds(seconds), microseconds(middle)
}

// upper returns the upper bound of a bucket, or the lower one of the last bucket,
// which has no upper bound.
func upper(h metrics.Float64Histogram, bucket int) float64 {
	if end := h.Buckets[bucket+1]; !math.IsInf(end, 1) {
		return end
	}
	return max(h.Buckets[bucket], 0)
}

func microseconds(seconds float64) int64 { return int64(math.Round(seconds * 1e6)) }
