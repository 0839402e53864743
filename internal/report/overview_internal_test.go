package report

import (
	"math"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report/reporttest"
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
