package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/result"
)

func golden(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestParseAB reads what ab 2.3 of Debian's apache2-utils 2.4 has printed.
func TestParseAB(t *testing.T) {
	for name, want := range map[string]struct {
		microseconds int64
		counts       result.Counts
	}{
		"ab-keepalive": {5_338_000, result.Counts{Requests: 5000, KeepAlive: 5000, BytesReceived: 41_375_000, BodyBytes: 40_660_000}},
		"ab-failed": {0, result.Counts{
			Requests: 500, Connections: 500, BytesReceived: 3_723_850, BodyBytes: 3_664_400, Errors: result.ErrorCounts{result.ErrorLength: 50},
		}},
		"ab-missing": {0, result.Counts{
			Requests: 200, Connections: 200, Non2xx: 200, BytesReceived: 1_651_600, BodyBytes: 1_626_400, Errors: result.ErrorCounts{result.ErrorStatus: 200},
		}},
	} {
		f, length, err := parseAB(golden(t, name+".txt"), golden(t, name+".csv"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want.counts, f.totals.Counts); diff != "" {
			t.Errorf("%s: counts, -want +got:\n%s", name, diff)
		}
		if want.microseconds != 0 && f.microseconds != want.microseconds || f.microseconds == 0 {
			t.Errorf("%s: took %d µs, want %d", name, f.microseconds, want.microseconds)
		}
		if length != 8132 || f.totals.Tool.Version != "2.3" {
			t.Errorf("%s: length %d, version %q", name, length, f.totals.Tool.Version)
		}
	}
	f, _, err := parseAB(golden(t, "ab-keepalive.txt"), golden(t, "ab-keepalive.csv"))
	if err != nil {
		t.Fatal(err)
	}
	tool := f.totals.Tool
	if tool.Min != 0 || tool.Mean != 11_000 || tool.StdDev != 7_500 || tool.Max != 51_000 {
		t.Errorf("times %+v", tool)
	}
	if p99 := tool.Percentiles[percentile.P99]; p99 != 36_101 {
		t.Errorf("p99 is %d µs, want that of the file", p99)
	}
	if tool.Percentiles[percentile.P999] != result.Unknown {
		t.Errorf("the 99.9th percentile is %d, which ab doesn't print", tool.Percentiles[percentile.P999])
	}
}

func TestParseABRejects(t *testing.T) {
	full := golden(t, "ab-failed.txt")
	for name, change := range map[string][2]string{
		"no requests":       {"Complete requests:", "Completed:"},
		"no time":           {"Time taken for tests:", "Time:"},
		"words":             {"Complete requests:      500", "Complete requests:      many"},
		"negative":          {"Complete requests:      500", "Complete requests:      -500"},
		"more errors":       {"Length: 50", "Length: 5000"},
		"a number too high": {"Total transferred:      3723850", "Total transferred:      99999999999999999999"},
	} {
		if !strings.Contains(full, change[0]) {
			t.Fatalf("%s: the report lacks %q", name, change[0])
		}
		if _, _, err := parseAB(strings.Replace(full, change[0], change[1], 1), ""); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestParseSiege reads what siege 4.0.7 of Debian has printed.
func TestParseSiege(t *testing.T) {
	for name, want := range map[string]result.Counts{
		"siege":         {Requests: 500, BytesReceived: 4_068_474},
		"siege-some":    {Requests: 200, Non2xx: 20, BytesReceived: 1_625_292, Errors: result.ErrorCounts{result.ErrorStatus: 20}},
		"siege-refused": {Requests: 6, Errors: result.ErrorCounts{result.ErrorReceive: 6}},
	} {
		f, err := parseSiege([]byte(golden(t, name+".json")))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, f.totals.Counts); diff != "" {
			t.Errorf("%s: counts, -want +got:\n%s", name, diff)
		}
		if f.microseconds == 0 || f.totals.Tool.StdDev != result.Unknown || len(f.totals.Tool.Percentiles) > 0 {
			t.Errorf("%s: took %d µs, %+v", name, f.microseconds, f.totals.Tool)
		}
		if p := f.totals.Tool.Printed; len(p) != 12 || name == "siege" && (p["response_time"] != "0.01" || p["concurrency"] != "8.98" || p["availability"] != "100.00") {
			t.Errorf("%s: printed %v", name, p)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "siege aborted", "half": `{"transactions": 5`, "no time": `{"transactions": 5}`,
		"negative": `{"transactions": -5, "elapsed_time": 1}`, "too high": `{"transactions": 5, "elapsed_time": 1e300}`,
		"text": `{"transactions": "five", "elapsed_time": 1}`,
	} {
		if _, err := parseSiege([]byte(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// check fails the test if metrics can't be.
func check(t *testing.T, f *metrics) {
	t.Helper()
	if f.totals.Succeeded() < 0 || f.microseconds < 0 {
		t.Errorf("%d of %d requests failed in %d µs", f.totals.Errors.Total(), f.totals.Requests, f.microseconds)
	}
	if err := f.totals.Tool.Check(); err != nil {
		t.Error(err)
	}
}

func FuzzParseAB(f *testing.F) {
	for _, name := range []string{"ab-keepalive", "ab-failed", "ab-missing"} {
		f.Add(golden(f, name+".txt"), golden(f, name+".csv"))
	}
	f.Fuzz(func(t *testing.T, report, percentiles string) {
		if metrics, _, err := parseAB(report, percentiles); err == nil {
			check(t, metrics)
		}
	})
}

func FuzzParseSiege(f *testing.F) {
	for _, name := range []string{"siege", "siege-some", "siege-refused"} {
		f.Add([]byte(golden(f, name+".json")))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		if metrics, err := parseSiege(output); err == nil {
			check(t, metrics)
		}
	})
}
