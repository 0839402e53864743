package session

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/result"
)

func TestScriptsMetricsComeAcross(t *testing.T) {
	price := k6metric.New("price", k6metric.Trend, k6metric.Milliseconds)
	for i := range 1000 {
		price.Add(float64(i), int64(i))
	}
	want := &result.ScriptTotals{
		VirtualUsers: 3, RunMicroseconds: 5, Omitted: 1, MarkedFailed: true, TeardownError: "still there",
		Metrics: []k6metric.Metric{*price}, Thresholds: []k6metric.Threshold{{Metric: "price", Source: "p(95)<5", Aborted: true}},
	}
	data, err := EncodeTotals(&result.Totals{Script: want})
	if err != nil {
		t.Fatal(err)
	}
	totals, err := DecodeTotals(data)
	if err != nil {
		t.Fatal(err)
	}
	got := totals.Script
	if got.VirtualUsers != 3 || got.Thresholds[0] != want.Thresholds[0] || got.TeardownError != want.TeardownError ||
		got.Metrics[0].Summarize().Percentiles[1] != price.Summarize().Percentiles[1] {
		t.Errorf("%+v", got)
	}
	want.TeardownError = strings.Repeat("x", maxScriptBytes)
	if _, err := EncodeTotals(&result.Totals{Script: want}); err == nil || !strings.Contains(err.Error(), "Use fewer metrics") {
		t.Errorf("error %v", err)
	}
}

func TestScriptsMetricsThatCannotBe(t *testing.T) {
	metric := func(m k6metric.Metric) result.ScriptTotals { return result.ScriptTotals{Metrics: []k6metric.Metric{m}} }
	thresholds := func(n int, source string) result.ScriptTotals {
		return result.ScriptTotals{Thresholds: slices.Repeat([]k6metric.Threshold{{Metric: "m", Source: source}}, n)}
	}
	for name, s := range map[string]result.ScriptTotals{
		"too many thresholds": thresholds(101, "count>1"), "no threshold": thresholds(1, "maybe"),
		"too many metrics": {Metrics: slices.Repeat([]k6metric.Metric{{Name: "m", Kind: "rate"}}, k6metric.MaxMetrics+k6metric.MaxThresholds+1)},
		"negative":         {VirtualUsers: -1}, "no metric": metric(k6metric.Metric{}), "kind": metric(k6metric.Metric{Name: "m", Kind: "x"}),
		"values of nothing": metric(k6metric.Metric{Name: "m", Kind: "trend", Samples: 5}),
		"too long":          {TeardownError: strings.Repeat(" ", 2000)},
	} {
		if got, err := DecodeTotals(encoded(t, &result.Totals{Script: &s})); err == nil {
			t.Errorf("%s: accepted as %d metrics and %d thresholds", name, len(got.Script.Metrics), len(got.Script.Thresholds))
		}
	}
	if _, err := DecodeTotals([]byte(`{"script":{"metrics":[{"name":"m","kind":"trend","samples":1,"values":"BQ=="}]}}`)); err == nil {
		t.Error("no distribution: accepted")
	}
}

func TestScriptPlans(t *testing.T) {
	good := Script{File: "lib/script.js", Segment: "0:1/2", Sequence: "0,1/2,1"}
	for name, change := range map[string]func(*Script){
		"":         func(*Script) {},
		"no file":  func(s *Script) { s.File = "" },
		"above":    func(s *Script) { s.File = "../script.js" },
		"absolute": func(s *Script) { s.File = "/etc/passwd" },
		"segment":  func(s *Script) { s.Segment = "" },
	} {
		script := good
		change(&script)
		if _, err := DecodePlan(encoded(t, &Plan{Script: &script})); (err == nil) != (name == "") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// FuzzTotals reads metrics that a client may have sent, and merges them as a result does.
func FuzzTotals(f *testing.F) {
	trend := k6metric.New("trend", k6metric.Trend, k6metric.Milliseconds)
	for i := range 100 {
		trend.Add(float64(i-50), int64(i))
	}
	for _, totals := range []*result.ScriptTotals{
		{Metrics: []k6metric.Metric{*trend, *k6metric.New("rate", k6metric.Rate, k6metric.None)}},
		{VirtualUsers: 5, Thresholds: []k6metric.Threshold{{Metric: "trend", Source: "p(95)<5", Aborted: true}}, MarkedFailed: true, TeardownError: "x"},
	} {
		data := encoded(f, &result.Totals{Script: totals})
		f.Add(data, data)
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		r := &result.Result{}
		for i, data := range [][]byte{first, second} {
			totals, err := DecodeTotals(data)
			if err != nil {
				return
			}
			r.Clients = append(r.Clients, result.Client{Index: i, Totals: *totals})
		}
		r.AddScript()
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("what clients sent can't be stored: %v", err)
		}
	})
}
