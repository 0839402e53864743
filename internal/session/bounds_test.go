package session

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// durations returns a histogram with the given number of durations of 100 µs.
func durations(t *testing.T, n int64) *sessionpb.Histogram {
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
	return &sessionpb.Histogram{Hdr: hdr, Count: n, Sum: 100 * n, Min: 100, Max: 100}
}

// TestFiguresWithoutEnd has figures each of which a histogram or a count may have, but whose sums
// over many clients would overflow.
func TestFiguresWithoutEnd(t *testing.T) {
	measure := func(n int64, phases ...int64) *sessionpb.Measure {
		m := &sessionpb.Measure{Counts: &sessionpb.Counts{Values: []int64{n}}}
		for _, count := range phases {
			m.Latencies = append(m.Latencies, durations(t, count))
		}
		return m
	}
	const most = maxRequests
	timed := func(n int64) *sessionpb.Measure { return measure(n, 1, 1, 1, 1, 1, n) }
	for name, test := range map[string]struct {
		measure *sessionpb.Measure
		want    string
	}{
		"as many requests as may be": {timed(most), ""},
		"more requests":              {timed(most + 1), "requests, 0 dropped"},
		"more durations of a phase":  {measure(1, most+1, 1, 1, 1, 1, 1), "connect: 1099511627777 durations"},
		"the durations of ten years": {measure(1, 1, 1, most, 1, 1, 1), ""},
		"the durations of a longer time": {func() *sessionpb.Measure {
			m := measure(1, 1, 1, most, 1, 1, 1)
			h := m.GetLatencies()[result.Processing]
			h.Max, h.Clamped, h.Sum = 1<<50, 1, 1<<60
			return m
		}(), "decode histogram"},
		"more of a later phase": {measure(1, 1, 1, 1, 1, 1, 1, 1, most+1), "service: 1099511627777 durations"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := MeasureFromWire(test.measure)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			_, levelErr := LevelsFromWire([]*sessionpb.LevelTotals{{Measure: test.measure}})
			if (err == nil) != (levelErr == nil) {
				t.Errorf("of a level: error %v, want %v", levelErr, err)
			}
		})
	}
	for _, values := range [][]int64{{most + 1}, {0, 0, 0, 0, 0, 0, 0, 0, most + 1}} {
		if _, err := CountsFromWire(&sessionpb.Counts{Values: values}); err == nil {
			t.Errorf("counts %v of a warm-up are accepted", values)
		}
	}
}
