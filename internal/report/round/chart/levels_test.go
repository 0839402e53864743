package chart_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/report/round/chart"
	"github.com/assay-dev/assay/internal/result"
)

// TestLevelRun has a level with its histogram, one with a summary instead, and one in which nothing succeeded.
func TestLevelRun(t *testing.T) {
	r := &result.Result{Run: result.Run{Name: "a", Load: result.LoadOpen}, Environment: result.Environment{TargetCPULimit: 2000}}
	for i := range int64(3) {
		l := result.Level{TargetRatePerSecond: 100 * (i + 1), Start: 10 * i, End: 10 * (i + 1)}
		l.Server = &result.Used{UserCPU: 5_000_000}
		if i < 2 {
			l.Requests = 500
			for n := range int64(100) {
				l.Latencies.Of(result.Total).Record(1000 * (n + 1))
			}
		}
		if i == 1 {
			l.Summaries, l.Latencies = l.Latencies.Summarize(), result.Latencies{}
		}
		r.Levels = append(r.Levels, l)
	}
	r.Levels[1].Server = nil
	want := &round.LevelRun{Cell: 3, Run: "a", Unit: "requests/s", Levels: []round.LevelFigures{
		{Load: 100, P50: 50.015, P99: 99.007, RequestsPerSecond: 50, CPUPercent: 25},
		{Load: 200, P50: 50.015, P99: 99.007, RequestsPerSecond: 50, CPUPercent: -1},
		{Load: 300, P50: -1, P99: -1, RequestsPerSecond: 0, CPUPercent: 25},
	}}
	if diff := cmp.Diff(want, chart.NewLevelRun(3, r)); diff != "" {
		t.Error(diff)
	}
	if none := chart.NewLevelRun(0, &result.Result{}); none != nil {
		t.Errorf("%+v", none)
	}
}
