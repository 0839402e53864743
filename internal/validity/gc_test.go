package validity_test

import (
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
)

func TestFewRequestsForGC(t *testing.T) {
	const ms = 1000
	for name, tc := range map[string]struct {
		requests, pauses, paused, longest int64
		median                            int64  // of 100 requests in flight, in microseconds
		metrics                           string // empty when nothing is to be found
	}{
		"no Java":                      {20_000, result.Unknown, result.Unknown, result.Unknown, 1 * ms, ""},
		"none in few requests":         {20_000, 0, 0, 0, 1 * ms, "had no GC pause in the 20000 requests of the measurement"},
		"none in many":                 {100_000, 0, 0, 0, 1 * ms, ""},
		"a long one":                   {20_000, 1, 150 * ms, 150 * ms, 1 * ms, "had one GC pause in the measurement (1.50% of the time; the longest: 150ms). One more or less affects 1.5% of the time."},
		"a long one, of many requests": {1_000_000, 1, 150 * ms, 150 * ms, 1 * ms, "affects 1.5% of the time"},
		"short ones":                   {100_000, 9, 90 * ms, 10 * ms, 1 * ms, ""},
		"short ones of few requests":   {5_000, 9, 90 * ms, 10 * ms, 8 * ms, "affects 2.0% of the requests"},
		"shorter than a request":       {5_000, 9, 9 * ms, 1 * ms, 8 * ms, ""},
		"many long ones":               {20_000, 10, 1500 * ms, 150 * ms, 1 * ms, ""},
	} {
		r := sound()
		r.Merged.Requests = tc.requests
		r.Merged.Latencies = result.Latencies{}
		total := r.Merged.Latencies.Of(result.Total)
		for range 100 { // in flight through the whole measurement
			total.Record(length - tc.median)
		}
		for range 200 {
			total.Record(tc.median)
		}
		r.Server.Begin.GCPauses, r.Server.Begin.GCPause = 5, 70*ms
		r.Server.End.GCPauses, r.Server.End.GCPause, r.Server.End.GCPauseMax = 5+tc.pauses, 70*ms+tc.paused, tc.longest
		if tc.pauses == result.Unknown {
			r.Server.End.GCPauses, r.Server.End.GCPause = result.Unknown, result.Unknown
		}
		got := find(r, "FewRequestsForGC", validity.Declared{})
		if (got.Severity == result.Warns) != (tc.metrics != "") || !strings.Contains(got.Message, tc.metrics) {
			t.Errorf("%s: found %s %q, want %q", name, got.Severity, got.Message, tc.metrics)
		}
	}
	r := sound()
	r.Server.Begin.GCPauses, r.Server.End.GCPauses = result.Unknown, result.Unknown
	r.Environment.Backends = []result.BackendEnvironment{{Name: "app"}}
	r.Backends = []result.Backend{{Name: "app", Server: result.Server{End: result.ServerUsage{At: length}}}}
	if got := find(r, "FewRequestsForGC", validity.Declared{}); !strings.Contains(got.Message, "in container app had no GC pause") {
		t.Errorf("of a backend: %+v", got)
	}
}
