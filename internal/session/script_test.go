package session

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

func TestScriptsFiguresComeAcross(t *testing.T) {
	price := k6metric.New("price", k6metric.Trend, k6metric.Milliseconds)
	for i := range 1000 {
		price.Add(float64(i), int64(i))
	}
	want := &result.ScriptTotals{
		VirtualUsers: 3, RunMicroseconds: 5, Omitted: 1, MarkedFailed: true, TeardownError: "still there",
		Metrics: []k6metric.Metric{*price}, Thresholds: []k6metric.Threshold{{Metric: "price", Source: "p(95)<5", Aborted: true}},
	}
	encoded, err := ScriptTotalsToWire(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ScriptTotalsFromWire(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if got.VirtualUsers != 3 || got.Thresholds[0] != want.Thresholds[0] || got.TeardownError != want.TeardownError ||
		got.Metrics[0].Summarize().Percentiles[1] != price.Summarize().Percentiles[1] {
		t.Errorf("%+v", got)
	}
	if none, err := ScriptTotalsToWire(nil); none != nil || err != nil {
		t.Errorf("%v, %v", none, err)
	}
}

func TestScriptsFiguresThatCannotBe(t *testing.T) {
	metric := func(m *sessionpb.ScriptMetric) *sessionpb.ScriptTotals {
		return &sessionpb.ScriptTotals{Metrics: []*sessionpb.ScriptMetric{m}}
	}
	thresholds := func(n int, source string) *sessionpb.ScriptTotals {
		return &sessionpb.ScriptTotals{Thresholds: slices.Repeat([]*sessionpb.ScriptThreshold{{Metric: "m", Source: source}}, n)}
	}
	for name, w := range map[string]*sessionpb.ScriptTotals{
		"too many thresholds": thresholds(101, "count>1"), "no threshold": thresholds(1, "maybe"),
		"too many metrics": {Metrics: slices.Repeat([]*sessionpb.ScriptMetric{{Name: "m", Kind: "rate"}}, k6metric.MaxMetrics+k6metric.MaxThresholds+1)},
		"negative":         {VirtualUsers: -1}, "no metric": metric(nil), "kind": metric(&sessionpb.ScriptMetric{Name: "m", Kind: "x"}),
		"values of nothing": metric(&sessionpb.ScriptMetric{Name: "m", Kind: "trend", Samples: 5}),
		"no distribution":   metric(&sessionpb.ScriptMetric{Name: "m", Kind: "trend", Samples: 1, Values: []byte("\x05")}),
		"too long":          {TeardownError: strings.Repeat(" ", maxScriptBytes)},
	} {
		if got, err := ScriptTotalsFromWire(w); err == nil {
			t.Errorf("%s: accepted as %d metrics and %d thresholds", name, len(got.Metrics), len(got.Thresholds))
		}
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
		if _, err := PlanFromWire(PlanToWire(&Plan{Script: &script})); (err == nil) != (name == "") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// FuzzScriptTotals reads figures that a client may have sent, and merges them as a result does.
func FuzzScriptTotals(f *testing.F) {
	trend := k6metric.New("trend", k6metric.Trend, k6metric.Milliseconds)
	for i := range 100 {
		trend.Add(float64(i-50), int64(i))
	}
	for _, totals := range []*result.ScriptTotals{
		{Metrics: []k6metric.Metric{*trend, *k6metric.New("rate", k6metric.Rate, k6metric.None)}},
		{VirtualUsers: 5, Thresholds: []k6metric.Threshold{{Metric: "trend", Source: "p(95)<5", Aborted: true}}, MarkedFailed: true, TeardownError: "x"},
	} {
		w, err := ScriptTotalsToWire(totals)
		if err != nil {
			f.Fatal(err)
		}
		wire, err := proto.Marshal(w)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(wire, wire)
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		r := &result.Result{}
		for i, wire := range [][]byte{first, second} {
			var w sessionpb.ScriptTotals
			if proto.Unmarshal(wire, &w) != nil {
				return
			}
			totals, err := ScriptTotalsFromWire(&w)
			if err != nil {
				return
			}
			r.Clients = append(r.Clients, result.Client{Index: i, Totals: result.Totals{Script: totals}})
		}
		r.AddScript()
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("what clients sent can't be stored: %v", err)
		}
	})
}
