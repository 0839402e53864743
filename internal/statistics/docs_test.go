package statistics

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// TestDocs compares the values of docs/statistics.md with what this package computes.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/statistics.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(page)), " ")
	says := func(format string, args ...any) {
		t.Helper()
		if want := fmt.Sprintf(format, args...); !strings.Contains(text, want) {
			t.Errorf("docs/statistics.md doesn't say %q", want)
		}
	}

	// Requests per second of 20 identical runs, one after the other.
	runs := []float64{
		15041, 14502, 15233, 15822, 15838, 15084, 14639, 15344, 14987, 11782,
		14635, 15181, 13350, 12276, 14257, 13358, 13214, 13567, 13745, 13665,
	}
	var baseline, candidate []float64
	for i := 0; i < len(runs); i += 2 {
		baseline, candidate = append(baseline, runs[i]), append(candidate, runs[i+1])
		says("| %d | %.0f | %.0f | %+.1f%% |", i/2+1, runs[i], runs[i+1], Percent(runs[i+1]/runs[i]))
	}
	alpha := Alpha(95, 1)
	first, err := Median(baseline, alpha)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Median(candidate, alpha)
	if err != nil {
		t.Fatal(err)
	}
	says("The medians are %g requests/s (%g to %g) and %g (%g to %g).", first.Estimate, first.Low, first.High, second.Estimate, second.Low, second.High)
	says("ten values at 95%% reach from the 2nd to the 9th with %.1f%%", 100*first.Confidence)

	blocks, err := Paired(baseline, candidate)
	if err != nil {
		t.Fatal(err)
	}
	region := Region{Low: 0.95, High: math.Inf(1)}
	e := blocks.Effect(alpha)
	says("The effect is %+.1f%%, with an interval from %+.1f%% to %+.1f%%.", Percent(e.Estimate), Percent(e.Low), Percent(e.High))
	says("The low end, %+.1f%%, is beyond the tolerance of -5%%, the high end isn't: `%s`.", Percent(e.Low), region.Decide(e.Interval))
	says("find a loss of %.1f%% four times out of five", -Percent(blocks.MinimalEffect(alpha, region)))
	n, _ := blocks.BlocksToDecide(alpha, region, 100)
	says("about %d blocks would decide", n)
	says("With a tolerance of 10%% the same values are `%s`.", Region{Low: 0.9, High: math.Inf(1)}.Decide(e.Interval))

	sequence, err := Unpaired(runs[:10], runs[10:])
	if err != nil {
		t.Fatal(err)
	}
	e = sequence.Effect(alpha)
	says("The effect is %+.1f%%, with an interval from %+.1f%% to %+.1f%% (p = %.3f)", Percent(e.Estimate), Percent(e.Low), Percent(e.High), e.P)

	for _, n := range []int{6, 10, 11, 15, 20, 25, 30} {
		says("| %d | %.2f%% | %.2f%% |", n, 100*Nominal(alpha, 6, 30, n), 100*Nominal(Alpha(95, 10), 6, 30, n))
	}

	for m := 1; m <= 10; m++ {
		says("| %d | %d | %d | %d |", m, MinBlocks(Alpha(90, m)), MinBlocks(Alpha(95, m)), MinBlocks(Alpha(99, m)))
	}
}
