package steady

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/result"
)

// windows returns adjacent windows of 5s with the given successful requests and 99th
// percentiles, in turn.
func windows(metrics ...int64) []result.WarmupWindow {
	var all []result.WarmupWindow
	for i := 0; i < len(metrics); i += 2 {
		all = append(all, result.WarmupWindow{Second: int64(i/2) * 5, Seconds: 5, Succeeded: metrics[i], P99: metrics[i+1]})
	}
	return all
}

func TestJudge(t *testing.T) {
	c := Criterion{WindowSeconds: 5, Windows: 3, ThroughputPercent: 5, P99Percent: 20}
	gap := windows(1000, 50, 1000, 50, 1000, 50)
	gap[2].Second += 5
	tests := map[string]struct {
		windows []result.WarmupWindow
		want    bool
	}{
		"none":                          {nil, false},
		"steady at once":                {windows(1000, 50, 1000, 50, 1000, 50), true},
		"too few windows":               {windows(1000, 50, 1000, 50), false},
		"within the bounds":             {windows(1000, 50, 1024, 45, 976, 54), true},
		"throughput at its bound":       {windows(1025, 50, 1000, 50, 975, 50), true},
		"throughput beyond its bound":   {windows(1026, 50, 1000, 50, 975, 50), false},
		"p99 at its bound":              {windows(1000, 90, 1000, 100, 1000, 110), true},
		"p99 beyond its bound":          {windows(1000, 89, 1000, 100, 1000, 110), false},
		"drift of throughput":           {windows(1000, 50, 1030, 50, 1060, 50), false},
		"drift of p99":                  {windows(1000, 80, 1000, 70, 1000, 60), false},
		"oscillation about one mean":    {windows(950, 50, 1050, 50, 950, 50, 1050, 50), false},
		"a spike in the last windows":   {windows(1000, 50, 1000, 500, 1000, 50), false},
		"a spike before them":           {windows(1000, 500, 1000, 50, 1000, 50, 1000, 50), true},
		"a cold start before them":      {windows(10, 9000, 700, 300, 1000, 50, 1000, 50, 1010, 50), true},
		"too few requests in a window":  {windows(100, 50, 99, 50, 100, 50), false},
		"just enough requests":          {windows(100, 50, 100, 50, 100, 50), true},
		"no requests":                   {windows(0, 0, 0, 0, 0, 0), false},
		"no requests in the last":       {windows(1000, 50, 1000, 50, 0, 0), false},
		"a window that isn't known":     {gap, false},
		"latencies too short to differ": {windows(1000, 0, 1000, 0, 1000, 0), true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := c.Judge(test.windows)
			if got.Reached != test.want {
				t.Errorf("reached %v; %s", got.Reached, Describe(got))
			}
			if len(got.Windows) > 3 || got.ThroughputPercent != 5 || got.P99Percent != 20 {
				t.Errorf("judged %+v", got)
			}
		})
	}
}

// TestStricterThanTheCoefficientOfVariation checks that the criterion is stricter than
// one of the coefficient of variation, as the package comment states.
func TestStricterThanTheCoefficientOfVariation(t *testing.T) {
	for _, metrics := range [][]int64{
		{1000, 0, 1010, 0}, {1000, 0, 1000, 0, 1050, 0}, {900, 0, 1000, 0, 1000, 0, 1100, 0}, {1, 0, 1, 0, 2, 0, 2, 0},
		{5, 0, 6, 0, 7, 0, 8, 0, 9, 0, 10, 0, 11, 0, 12, 0, 13, 0, 14, 0},
	} {
		s := &result.Steadiness{Windows: windows(metrics...)}
		var sum, squares float64
		k := float64(len(s.Windows))
		for _, w := range s.Windows {
			sum += w.PerSecond()
		}
		for _, w := range s.Windows {
			squares += (w.PerSecond() - sum/k) * (w.PerSecond() - sum/k)
		}
		variation := 100 * math.Sqrt(squares/(k-1)) / (sum / k)
		if least := 2 * math.Sqrt((k-1)/k) * variation; s.ThroughputSpread() < least*(1-1e-9) {
			t.Errorf("%v: a spread of %v %%, a coefficient of variation of %v %%", metrics, s.ThroughputSpread(), variation)
		}
	}
}

func TestDescribe(t *testing.T) {
	got := Describe(Defaults.Judge(windows(4000, 3100, 4500, 2900, 50, 2800)))
	for _, want := range []string{"last 3 windows of 5s: 800.0, 900.0, 10.0", "bound 5%", "3.1, 2.9, 2.8 (spread 10.2%, bound 25%)", "fewer than 100"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if got := Describe(Defaults.Judge(nil)); got != "no windows were compared" {
		t.Error(got)
	}
}

// second returns a sample second with requests of the given durations.
func second(number int64, took ...int64) *result.ClientSecond {
	s := &result.ClientSecond{Second: number}
	s.Requests = int64(len(took)) + 1
	s.Errors[result.ErrorStatus] = 1
	for _, v := range took {
		s.Latencies.Of(result.Total).Record(v)
	}
	return s
}

func TestWindowsMergeClients(t *testing.T) {
	var s Seconds
	for i := range int64(12) {
		s.Add(second(i, 10, 20), 1)
	}
	for i := range int64(12) { // another client, behind the first
		s.Add(second(i, 10*i, 1000+i), 1)
	}
	got := s.Windows(Criterion{WindowSeconds: 5, Windows: 9, TimeoutSeconds: 1 << 40}, 11)
	if diff := cmp.Diff([]result.WarmupWindow{{Second: 0, Seconds: 5, Succeeded: 20, P99: 1004}, {Second: 5, Seconds: 5, Succeeded: 20, P99: 1009}}, got); diff != "" {
		t.Error(diff)
	}
	if got := s.Windows(Criterion{WindowSeconds: 3, Windows: 2, TimeoutSeconds: 1 << 40}, 12); len(got) != 2 || got[0].Second != 6 || got[1].Second != 9 {
		t.Errorf("the last two are %+v", got)
	}
	if got := s.Windows(Criterion{WindowSeconds: 3, Windows: 9, TimeoutSeconds: 8}, 12); len(got) != 2 || got[1].Second != 3 {
		t.Errorf("with a limit of 8 s there are %+v", got)
	}
	if got := s.Windows(Criterion{WindowSeconds: 5, Windows: 2, TimeoutSeconds: 1 << 40}, 4); len(got) != 0 {
		t.Errorf("before the first has ended there are %+v", got)
	}
	if got := (&Seconds{}).Windows(Criterion{WindowSeconds: 5, Windows: 3, TimeoutSeconds: 1 << 40}, 5); len(got) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
	var idle Seconds
	for i := range int64(5) {
		idle.Add(&result.ClientSecond{Second: i}, 1)
	}
	if got := idle.Windows(Defaults, 5); len(got) != 1 || got[0].Succeeded != 0 || got[0].P99 != 0 {
		t.Errorf("of seconds without a request: %+v", got)
	}
}

// TestWindowsOfJoinedSeconds checks that joined seconds belong to a window that contains
// all of them, and that windows with a part of them are omitted.
func TestWindowsOfJoinedSeconds(t *testing.T) {
	var s Seconds
	s.Add(second(0, 1, 2), 4)
	s.Add(second(4, 3), 2) // the last second of the first window, the first of the next
	s.Add(second(6, 4), 4)
	s.Add(second(10, 5), 5)
	got := s.Windows(Criterion{WindowSeconds: 5, Windows: 9, TimeoutSeconds: 1 << 40}, 15)
	if diff := cmp.Diff([]result.WarmupWindow{{Second: 10, Seconds: 5, Succeeded: 1, P99: 5}}, got); diff != "" {
		t.Error(diff)
	}
	got = s.Windows(Criterion{WindowSeconds: 2, Windows: 9, TimeoutSeconds: 1 << 40}, 15)
	if diff := cmp.Diff([]result.WarmupWindow{{Second: 4, Seconds: 2, Succeeded: 1, P99: 3}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSecondsAreBounded(t *testing.T) {
	var s Seconds
	for i := range int64(keptSeconds + 700) {
		s.Add(second(i, 7), 1)
	}
	s.Add(second(0, 9), 1) // long gone
	if len(s.entries) > keptSeconds || len(s.open) > openSeconds {
		t.Errorf("%d seconds are kept, %d open", len(s.entries), len(s.open))
	}
	if got := s.Windows(Criterion{WindowSeconds: 60, Windows: 10, TimeoutSeconds: 1 << 40}, keptSeconds+700); len(got) != 10 || got[0].Succeeded != 60 || got[9].P99 != 7 {
		t.Errorf("the last windows are %+v", got)
	}
	if got := s.Windows(Criterion{WindowSeconds: 60, Windows: 10, TimeoutSeconds: 1 << 40}, 700); len(got) != 0 {
		t.Errorf("of seconds that are gone: %+v", got)
	}
}
