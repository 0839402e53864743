package result_test

import (
	"testing"

	"github.com/assay-dev/assay/internal/result"
)

// TestPoints checks where a measurement that ends within a second has its last point: one of less than half a second
// joins the one before it, with its counts and without its percentiles.
func TestPoints(t *testing.T) {
	for name, c := range map[string]struct {
		microseconds int64
		points       int
		length       float64
	}{
		"10 ms": {2_010_000, 2, 1.01}, "499 ms": {2_499_000, 2, 1.499}, "half a second": {2_500_000, 3, 0.5}, "whole": {3_000_000, 3, 1},
		"not known": {0, 3, 1}, "no entry of the end": {4_200_000, 3, 1}, "none of it": {100_000, 2, 2},
	} {
		r := &result.Result{DurationMicroseconds: c.microseconds}
		for i := range 3 {
			r.Series = append(r.Series, result.Second{Second: int64(i), Seconds: 1, Requests: 100, P50: 1000, P90: 2000, P99: 3000, Max: 4000 + int64(i)})
		}
		points := r.Points()
		last := &points[len(points)-1]
		if len(points) != c.points || last.Length() != c.length {
			t.Errorf("%s: %d points, the last of %g s; want %d, %g s", name, len(points), last.Length(), c.points, c.length)
		}
		if joined := int64(4 - len(points)); last.Requests != 100*joined || last.Max != 4002 || (last.P50 == result.Unknown) != (joined > 1) {
			t.Errorf("%s: %d requests, p50 %d, the longest takes %d µs", name, last.Requests, last.P50, last.Max)
		}
		if r.Series[1].Requests != 100 || len(r.Series) != 3 {
			t.Errorf("%s: the series has changed", name)
		}
	}
}

// TestPointsOfSketches checks that a joined point has percentiles if its distribution is kept.
func TestPointsOfSketches(t *testing.T) {
	r := &result.Result{DurationMicroseconds: 1_010_000}
	for i, n := range []int64{99, 1} {
		var m result.Measure
		for range n {
			m.Requests++
			m.Latencies.Of(result.Total).Record(1000)
		}
		s := result.Second{Second: int64(i), Seconds: 1, Sketch: m.Latencies.Get(result.Total).Sketch()}
		s.SetCounts(m.Counts, m.Latencies.Times())
		s.SetLatency(m.Latencies.Get(result.Total))
		r.Series = append(r.Series, s)
	}
	if p := r.Points(); len(p) != 1 || p[0].P50 < 980 || p[0].P99 > 1020 {
		t.Errorf("%d points, p50 %d", len(p), p[0].P50)
	}
}
