package result

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSummaryOfAPackedHistogram compares the metrics of a packed histogram with those that it has unpacked. They take no buckets
// of their own: a result has packed histograms of a thousand clients.
func TestSummaryOfAPackedHistogram(t *testing.T) {
	for name, durations := range map[string][]int64{
		"one": {7}, "zero": {0}, "short": {1, 2, 3, 3, 900}, "long": {5, 2_000_000, 7_100_000_000}, "clamped": {-3, 12, 9_000_000_000},
	} {
		var h Histogram
		for _, d := range durations {
			h.Record(d)
		}
		want, sketch := h.Summarize(2), h.Sketch()
		h.Pack()
		if diff := cmp.Diff(want, h.Summarize(2)); diff != "" {
			t.Errorf("%s: (-unpacked +packed)\n%s", name, diff)
		}
		if diff := cmp.Diff(sketch, h.Sketch()); diff != "" {
			t.Errorf("%s: (-unpacked +packed)\n%s", name, diff)
		}
		if h.buckets != nil {
			t.Errorf("%s: it has been unpacked", name)
		}
		if n := testing.AllocsPerRun(100, func() { h.Summarize(2) }); n > 10 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkSummaryOfAPackedHistogram(b *testing.B) {
	var h Histogram
	for i := range int64(2000) {
		h.Record(i * i)
	}
	h.Pack()
	b.ReportAllocs()
	for range b.N {
		h.Summarize(0)
	}
}
