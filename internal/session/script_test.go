package session

import (
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/result"
)

func TestScriptsFiguresComeAcross(t *testing.T) {
	price := k6metric.New("price", k6metric.Trend, k6metric.Milliseconds)
	for i := range 1000 {
		price.Add(float64(i), int64(i))
	}
	want := &result.ScriptTotals{
		VirtualUsers: 3, RunMicroseconds: 5, LeftOut: 1, MarkedFailed: true, TeardownError: "still there",
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
		t.Errorf("%q, %v", none, err)
	}
}

func TestScriptsFiguresThatCannotBe(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": `{`, "too many thresholds": `{"thresholds":[` + strings.TrimSuffix(strings.Repeat(`{"metric":"m","source":"count>1"},`, 101), ",") + `]}`,
		"no threshold": `{"thresholds":[{"metric":"m","source":"maybe"}]}`, "negative": `{"virtualUsers":-1}`,
		"kind": `{"metrics":[{"name":"m","kind":"x"}]}`, "values of nothing": `{"metrics":[{"name":"m","kind":"trend","samples":5}]}`,
		"too long": strings.Repeat(" ", mostScriptBytes+1),
	} {
		if got, err := ScriptTotalsFromWire([]byte(text)); err == nil {
			t.Errorf("%s: %+v", name, got)
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
		encoded, err := EncodePlan(&Plan{Script: &script})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodePlan(encoded); (err == nil) != (name == "") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
