package session

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/assay-dev/assay/internal/result"
)

// durations returns a histogram with the given number of durations of 100 µs.
func durations(t *testing.T, n int64) *result.Histogram {
	t.Helper()
	h := hdrhistogram.New(result.LowestMicroseconds, result.HighestMicroseconds, result.SignificantDigits)
	if err := h.RecordValues(100, n); err != nil {
		t.Fatal(err)
	}
	text, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	hdr, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := result.Decode(result.Encoded{HDR: hdr, Count: n, Sum: 100 * n, Min: 100, Max: 100})
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// TestMetricsWithoutEnd has metrics each of which a histogram or a count may have, but whose sums
// over many clients would overflow.
func TestMetricsWithoutEnd(t *testing.T) {
	measure := func(n int64, phases ...int64) result.Measure {
		m := result.Measure{Counts: result.Counts{Requests: n}}
		for p, count := range phases {
			m.Latencies[p] = durations(t, count)
		}
		return m
	}
	const most = maxRequests
	timed := func(n int64) result.Measure { return measure(n, 1, 1, 1, 1, 1, n) }
	for name, test := range map[string]struct {
		measure result.Measure
		want    string
	}{
		"as many requests as may be": {timed(most), ""},
		"more requests":              {timed(most + 1), "requests, 0 dropped"},
		"more durations of a phase":  {measure(1, most+1, 1, 1, 1, 1, 1), "connect: 1099511627777 durations"},
		"the durations of ten years": {measure(1, 1, 1, most, 1, 1, 1), ""},
		"more of a later phase":      {measure(1, 1, 1, 1, 1, 1, 1, 1, most+1), "service: 1099511627777 durations"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := DecodeTotals(encoded(t, &result.Totals{Measure: test.measure}))
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			_, levelErr := DecodeTotals(encoded(t, &result.Totals{Levels: []result.LevelTotals{{Measure: test.measure}}}))
			if (err == nil) != (levelErr == nil) {
				t.Errorf("of a level: error %v, want %v", levelErr, err)
			}
		})
	}
	for _, counts := range []result.Counts{{Requests: most + 1}, {Dropped: most + 1}} {
		if _, err := DecodeTotals(encoded(t, &result.Totals{Warmup: &counts})); err == nil {
			t.Errorf("counts %v of a warm-up are accepted", counts)
		}
	}
	longer := strings.Replace(string(encoded(t, &result.Totals{Measure: measure(1, 1, 1, most, 1, 1, 1)})), `"sumMicroseconds":109951162777600,"minMicroseconds":100,"maxMicroseconds":100,"clamped":0`,
		`"sumMicroseconds":1152921504606846976,"minMicroseconds":100,"maxMicroseconds":1125899906842624,"clamped":1`, 1)
	if _, err := DecodeTotals([]byte(longer)); err == nil || !strings.Contains(err.Error(), "decode histogram") {
		t.Errorf("the durations of a longer time: error %v", err)
	}
}
