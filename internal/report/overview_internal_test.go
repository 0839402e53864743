package report

import (
	"math"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report/reporttest"
	"github.com/assay-dev/assay/internal/result"
)

// TestSparkline checks heights, gaps, that no maximum is lost where points share a character, and the ends of the scale.
func TestSparkline(t *testing.T) {
	nan := math.NaN()
	for want, values := range map[string][]float64{
		"▁▄█  0ms to 800ms":     {0, 400, 800},
		"█ █  5.00ms to 5.00ms": {5, nan, 5},
		"▁▁  0ms to 0ms":        {0, 0},
		"":                      {nan, nan},
	} {
		if got := sparkline(values, "ms"); got != want {
			t.Errorf("%v: %q, want %q", values, got, want)
		}
	}
	long := make([]float64, 10*sparkWidth)
	long[123] = 7
	line, _, _ := strings.Cut(sparkline(long, ""), " ")
	if n := len([]rune(line)); n != sparkWidth || []rune(line)[12] != '█' || strings.Count(line, "█") != 1 {
		t.Errorf("%d characters: %q", n, line)
	}
	if got := sparkline(long, ""); !strings.HasSuffix(got, "0 to 7.00, the largest of each 10") {
		t.Error(got)
	}
}

// TestOverTime checks that a text report begins with the most important metrics and has them over time.
func TestOverTime(t *testing.T) {
	r := reporttest.Measured(2, 22)
	var text strings.Builder
	if err := Write(&text, "text", r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n40.0 requests/s, p50 5.07ms, p99 153ms, 10 of 890 failed, target CPU ", "\nOver time\n---------\nRequests/s:", "\np99:", "\nTarget CPU:"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
}

// TestLevelsInWords checks that what is said first of a load with stages is of levels, and names the breaking points.
func TestLevelsInWords(t *testing.T) {
	text := writtenAs(t, "text", reporttest.Staged())
	want := "\n3 levels of connections: 390 requests/s and a p99 of 9.90ms at 200; 1,100 requests/s and a p99 of 29.7ms at 600. Breaking points: CPU of app 90.6% at 543 connections; "
	if !strings.Contains(text, want) {
		t.Errorf("%q is missing in\n%s", want, text)
	}
	none := reporttest.Staged()
	for i := range none.BreakingPoints {
		none.BreakingPoints[i].Reached = false
	}
	if text := writtenAs(t, "text", none); !strings.Contains(text, "at 600. No breaking point was reached.") {
		t.Error(text)
	}
}

// TestOneRun checks that a run says that it is one, and one that is too short that nobody can tell whether it was steady.
func TestOneRun(t *testing.T) {
	for seconds, want := range map[int]string{19: "\nOne run, too short to tell whether it was steady. ", 20: "\nOne run: how much the next one would differ is not known.\n"} {
		if text := writtenAs(t, "text", reporttest.Measured(1, seconds)); !strings.Contains(text, want) {
			t.Errorf("%d s: %q is missing in\n%s", seconds, want, text)
		}
	}
	if text := writtenAs(t, "text", reporttest.Failing()); strings.Contains(text, "One run") {
		t.Error("a result that isn't valid is said to be a run among others")
	}
}

// TestShortLastPoint checks that no writer takes the last 10 ms of a measurement for a second.
func TestShortLastPoint(t *testing.T) {
	r := reporttest.Measured(2, 22)
	last := &r.Series[21]
	last.Requests, last.Errors, last.ServerCPU, last.ClientCPU = 1, 0, 1000, 1000
	r.DurationMicroseconds = 21_010_000
	want := map[string]string{"text": "█  40.0 to 40.6\n", "csv=series": "\n20,1.01,41,0,"}
	for format, text := range want {
		if got := writtenAs(t, format, r); !strings.Contains(got, text) {
			t.Errorf("%s: %q is missing in\n%s", format, text, got)
		}
	}
	if strings.Contains(writtenAs(t, "csv=series", r), "\n21,") {
		t.Error("a record of 10 ms")
	}
}

func writtenAs(t *testing.T, format string, r *result.Result) string {
	t.Helper()
	var text strings.Builder
	if err := Write(&text, format, r); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
