package artifact

import (
	"testing"

	"github.com/assay-dev/assay/internal/result"
)

// TestWholeIsJoinedToFit has a limit that a whole result exceeds: its seconds are joined, and stay exact.
func TestWholeIsJoinedToFit(t *testing.T) {
	r := &result.Result{}
	all := result.NewHistogram()
	const seconds = 1201
	for i := range int64(seconds) {
		h := result.NewHistogram()
		for j := range int64(50) {
			h.Record(100*i + j*j)
		}
		all.Merge(h)
		h.Pack()
		second := result.Second{Second: i, Seconds: 1, Requests: 50, Latency: h}
		second.SetLatency(h)
		r.Series = append(r.Series, second)
	}
	full, err := EncodeWhole(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ limit, points int }{{len(full), seconds}, {len(full) - 1, 601}} {
		encoded, err := encodeWhole(r, test.limit)
		if err != nil || len(encoded) > test.limit {
			t.Fatalf("%d bytes of %d, %v", len(encoded), test.limit, err)
		}
		got, err := DecodeWhole(encoded)
		if err != nil {
			t.Fatal(err)
		}
		pooled, requests := result.NewHistogram(), int64(0)
		for i := range got.Series {
			s := &got.Series[i]
			pooled.Merge(s.Latency)
			requests += s.Requests
			if s.P99 != s.Latency.Percentile(99) || s.Max != s.Latency.Max() || s.Latency.Count() != s.Requests {
				t.Fatalf("point %d: %+v", i, s)
			}
		}
		if len(got.Series) != test.points || requests != 50*seconds || pooled.Percentile(99.9) != all.Percentile(99.9) || pooled.Sum() != all.Sum() {
			t.Errorf("in %d bytes: %d points, %d requests, p99.9 %d", test.limit, len(got.Series), requests, pooled.Percentile(99.9))
		}
	}
	if _, err := encodeWhole(r, len(full)/100); err == nil {
		t.Error("it fits into nothing")
	}
	if r.Series[0].Seconds != 1 || len(r.Series) != seconds || r.Series[0].Latency == nil {
		t.Error("the result itself has changed")
	}
}

// TestWholeOfHostileNames has the marker of the series in texts that users choose.
func TestWholeOfHostileNames(t *testing.T) {
	r := &result.Result{Series: []result.Second{{Second: 1, Seconds: 1}}}
	r.Run.Name = `"series":[{"second":0`
	for _, series := range [][]result.Second{nil, r.Series, {{}, {}}} {
		r.Series = series
		encoded, err := EncodeWhole(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeWhole(encoded)
		if err != nil || got.Run.Name != r.Run.Name || len(got.Series) != len(series) {
			t.Errorf("%d points: %v, %q, %d", len(series), err, got.Run.Name, len(got.Series))
		}
	}
}
