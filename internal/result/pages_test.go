package result

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPageMetrics compares the metrics of pages of a whole run, and of a level, with what was recorded.
func TestPageMetrics(t *testing.T) {
	m := Measure{Counts: Counts{Requests: 90, Pages: 12, FailedPages: 2, Rounds: 3, FailedRounds: 1}}
	for i := range int64(10) {
		m.Latencies.Of(Page).Record(1000 * (i + 1))
	}
	r := &Result{Run: Run{UserConnections: 6}, DurationMicroseconds: 4_000_000, Merged: m}
	l := &Level{Start: 1, End: 5, Measure: m}
	want := map[string]float64{
		"PageTimeMean": 5500, "PageTimeMax": 10_000, "PageTimeP50": 5000, "PageTimeP90": 9007, "PageTimeP99": 10_000,
		"PagesPerSecond": 2.5, "PageErrorRate": 100 * 2.0 / 12, "RoundsPer10Seconds": 7.5,
	}
	whole, level := map[string]string{}, map[string]string{}
	for _, p := range pageMetrics {
		if value, exists := Metrics[p.name](r); exists {
			whole[p.name] = rounded(value)
		}
		for _, of := range LevelMetrics {
			if value, exists := of.Of(r, l); exists && of.Name == p.name {
				level[p.name] = rounded(value)
			}
		}
	}
	metrics := map[string]string{}
	for name, value := range want {
		metrics[name] = rounded(value)
	}
	if diff := cmp.Diff(metrics, whole); diff != "" {
		t.Errorf("of the run: %s", diff)
	}
	if diff := cmp.Diff(metrics, level); diff != "" {
		t.Errorf("of the level: %s", diff)
	}
	for name := range want {
		if value, exists := Metrics[name](&Result{DurationMicroseconds: 1, Merged: Measure{Counts: Counts{Requests: 5}}}); exists {
			t.Errorf("a load without pages has %s %v", name, value)
		}
	}
	if unit := r.Run.UsersOrConnections(); unit != "users" {
		t.Errorf("a load of pages is one of %s", unit)
	}
}

// rounded returns a value with three digits, since histograms are accurate to 0.1%.
func rounded(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }
