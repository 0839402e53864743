package usage

import (
	"math"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"
)

// histogram has three buckets: up to 1 ms, up to 2 ms, and what is longer.
func histogram(counts ...uint64) metrics.Float64Histogram {
	return metrics.Float64Histogram{Counts: counts, Buckets: []float64{math.Inf(-1), 0.001, 0.002, math.Inf(1)}}
}

func TestPercentileOfTheRuntimes(t *testing.T) {
	for _, test := range []struct {
		h    metrics.Float64Histogram
		p    float64
		want int64
	}{
		{histogram(0, 0, 0), 99, 0},
		{metrics.Float64Histogram{}, 99, 0},
		{histogram(99, 1, 0), 99, 1000},
		{histogram(98, 2, 0), 99, 2000},
		{histogram(99, 1, 0), 100, 2000},
		{histogram(0, 0, 1), 99, 2000}, // the last bucket has no end
		{histogram(1, 0, 0), 50, 1000},
	} {
		if got := upperPercentile(test.h, test.p); got != test.want {
			t.Errorf("%v: %d µs at %v %%, want %d", test.h.Counts, got, test.p, test.want)
		}
	}
}

func TestSumOfTheRuntimes(t *testing.T) {
	for _, test := range []struct {
		h            metrics.Float64Histogram
		all, largest int64
	}{
		{histogram(2, 3, 1), 2*500 + 3*1500 + 2000, 2000},
		{histogram(2, 3, 0), 2*500 + 3*1500, 1500},
		{histogram(0, 1, 0), 1500, 1500}, // a single value is both
		{metrics.Float64Histogram{}, 0, 0},
	} {
		if all, largest := sum(test.h); all != test.all || largest != test.largest {
			t.Errorf("%v: a sum of %d µs, %d at most; want %d, %d", test.h.Counts, all, largest, test.all, test.largest)
		}
	}
}

func TestSinceAnEarlierReading(t *testing.T) {
	d := since(histogram(5, 3, 1), histogram(4, 3, 0))
	if d.Counts[0] != 1 || d.Counts[1] != 0 || d.Counts[2] != 1 {
		t.Errorf("%v", d.Counts)
	}
	if d := since(histogram(5, 3, 1), metrics.Float64Histogram{}); d.Counts[0] != 5 {
		t.Errorf("after nothing: %v", d.Counts)
	}
}

// TestLatencyAndPausesAreMeasured keeps every CPU busy, so that runnable goroutines wait,
// and collects garbage.
func TestLatencyAndPausesAreMeasured(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	first := Read()
	var group sync.WaitGroup
	for range 200 { // the runtime looks at one in eight
		group.Go(func() {
			for began := time.Now(); time.Since(began) < 2*time.Millisecond; {
				_ = make([]byte, 10)
			}
		})
	}
	group.Wait()
	for range 5 {
		runtime.GC()
	}
	last := Read()
	used := last.Since(first)
	// 200 goroutines that each take a CPU for 2 ms leave most of them waiting for
	// longer than 10 ms.
	if used.SchedulingLatencyP99 < 10_000 || used.SchedulingLatencyP99 > 60_000_000 {
		t.Errorf("a scheduling latency of %d µs", used.SchedulingLatencyP99)
	}
	if used.GCPauseMax < 1 || used.GCPause < used.GCPauseMax {
		t.Errorf("garbage collections stopped it for %d µs, for %d at most", used.GCPause, used.GCPauseMax)
	}
	// The next sample starts from here.
	if again := last.Since(last); again.SchedulingLatencyP99 != 0 || again.GCPause != 0 || again.GCPauseMax != 0 {
		t.Errorf("in no time: %+v", again)
	}
}

// TestLatenciesOfLoops checks that they have none of the runtime's.
func TestLatenciesOfLoops(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	first, of := ReadLoops(), Read()
	var group sync.WaitGroup
	for range 200 { // the runtime looks at one in eight
		group.Go(func() {
			for began := time.Now(); time.Since(began) < time.Millisecond; {
				_ = make([]byte, 10)
			}
		})
	}
	group.Wait()
	AddSchedulingLatency(30 * time.Microsecond)
	if lag := Read().Since(of).SchedulingLatencyP99; lag < 10_000 {
		t.Errorf("goroutines waited for %d µs", lag)
	}
	if lag := ReadLoops().Since(first).SchedulingLatencyP99; lag < 30 || lag > 30*5/4+1 {
		t.Errorf("loops waited for %d µs, want 30", lag)
	}
	for _, d := range []time.Duration{-1, 0, time.Nanosecond, 1 << 62} {
		AddSchedulingLatency(d) // is in some bucket, or none
	}
}

// BenchmarkRead measures the cost of a sample.
func BenchmarkRead(b *testing.B) {
	b.ReportAllocs()
	first := Read()
	for b.Loop() {
		_ = Read().Since(first)
	}
}
