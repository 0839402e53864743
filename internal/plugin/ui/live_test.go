package ui

import (
	"errors"
	"math"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/live"
	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/result"
)

// measured returns the state of a measurement after some seconds.
func measured(seconds int64) *live.Update {
	u := &live.Update{UID: "uid-demo", State: v1alpha1.ReasonMeasuring, Start: 1_000_000, Clients: 2, Connected: 2}
	total := result.NewHistogram()
	for s := range seconds {
		u.Seconds = append(u.Seconds, result.Second{Second: s, Seconds: 1, Requests: 400 + s, P50: 5520, P90: 20_000, P99: 93_800, Max: 795_000, ClientCPU: 500_000, ServerCPU: 530_000})
		u.Counts.Requests += 400 + s
		total.Record(5520)
	}
	summary := total.Summarize(0)
	u.Latency = &summary
	u.Now = u.Start + seconds*1_000_000 + 1_400_000
	return u
}

// TestLive checks that a page follows the leader's stream, falls back to the status when that ends, and goes on with the next
// leader's from where it is then; a browser that connects again gets all of it at once; and the end leads to the report.
func TestLive(t *testing.T) {
	s := newSite(t, interceptor.Funcs{}, newRun("demo")).synced()
	if _, body := s.get("/runs/shop/demo"); !strings.Contains(body, `data-events="/runs/shop/demo/events"`) || !strings.Contains(body, "No findings so far") {
		t.Error(body)
	}
	page := s.events("/runs/shop/demo/events")
	s.live.put(measured(3))
	page.has("figures", "402")
	for id, text := range map[string]string{"plots": "p99 93.8", "figures": "1.4\u202fs behind"} {
		if !strings.Contains(page.parts[id], text) {
			t.Errorf("part %s lacks %q: %s", id, text, page.parts[id])
		}
	}
	failing := measured(4)
	failing.Findings = []live.Finding{{Finding: result.Finding{Reason: "ErrorsDominate", Severity: result.Invalidates, Message: "12% <failed>."}, Second: 3}}
	s.live.put(failing)
	page.has("findings", "ErrorsDominate")
	if html := page.parts["findings"]; !strings.Contains(html, "since 3s") || !strings.Contains(html, "12% &lt;failed&gt;.") {
		t.Error(html)
	}
	if strings.Contains(page.parts["script"], "<table") {
		t.Errorf("metrics of no script: %s", page.parts["script"])
	}
	scripted := measured(5)
	scripted.Script = &live.Script{Clients: 2, Omitted: 3, Metrics: []k6metric.Summary{{Name: "<b>sold", Kind: k6metric.Counter, Samples: 7, Sum: 12}}}
	s.live.put(scripted)
	page.has("script", "&lt;b&gt;sold")
	for _, want := range []string{"<td>12</td>", "3 more metrics"} {
		if !strings.Contains(page.parts["script"], want) {
			t.Errorf("metrics of the script lack %q: %s", want, page.parts["script"])
		}
	}
	s.live.end(errors.New("the leader has changed"))
	page.has("figures", "From the status")
	if html := page.parts["figures"]; !strings.Contains(html, "The leader has changed.") {
		t.Error(html)
	}
	s.live.put(measured(7))
	page.until(func(_ *event, parts map[string]string) bool {
		return strings.Contains(parts["figures"], "406") && !strings.Contains(parts["figures"], "From the status")
	})
	again := s.events("/runs/shop/demo/events")
	again.has("figures", "406")
	run := s.stored("demo")
	finish(run, v1alpha1.VerdictPassed)
	if err := s.cluster.Update(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	page.until(func(e *event, _ map[string]string) bool { return e.Reload })
}

// TestFallback checks that without a stream the status makes the plot of the throughput, and that nothing is made up.
func TestFallback(t *testing.T) {
	run := newRun("demo")
	v := newLiveView(run)
	at := run.Status.MeasurementTime.Time
	for second := range int64(3) {
		v.add(nil, run, at.Add(secondsOf(2*second+1)))
	}
	p := v.page(run)
	if len(v.polled) != 3 || v.polled[0].Second != 1 || v.polled[0].Seconds != 2 || v.polled[0].Requests != 9020 {
		t.Errorf("points %+v", v.polled)
	}
	rates := v.timeline(v.polled).Panel(chart.PanelThroughput)
	if len(p.Plots) == 0 || rates.Empty != "" || rates.Lines[0].Values[0] != 4510 || rates.Lines[0].Name != "requests/s 4,510" {
		t.Errorf("throughput %+v", rates)
	}
	for _, id := range []string{chart.PanelLatency, chart.PanelErrors, chart.PanelCPU, chart.PanelClientCPU} {
		if l := v.timeline(v.polled).Panel(id); l.Empty == "" || len(l.Lines) > 0 {
			t.Errorf("there are figures of which the status knows nothing: %+v", l)
		}
	}
	if p.Percent != "10%" || p.Behind != "" {
		t.Errorf("%+v", p)
	}
}

// TestPlots checks gaps, scales that only grow, and findings.
func TestPlots(t *testing.T) {
	run := newRun("demo")
	v := newLiveView(run)
	u := measured(10)
	u.Seconds = append(u.Seconds[:4:4], u.Seconds[6:]...)
	u.Seconds[7].Requests, u.Seconds[7].Errors = 90_000, 90_000
	u.Findings = []live.Finding{{Second: 6}}
	v.add(u, run, run.Status.MeasurementTime.Time)
	timeline := v.timeline(u.Seconds)
	for _, id := range []string{chart.PanelThroughput, chart.PanelLatency, chart.PanelCPU, chart.PanelClientCPU} {
		values := timeline.Panel(id).Lines[0].Values
		if len(values) != 9 || !math.IsNaN(values[4]) || math.IsNaN(values[3]) || math.IsNaN(values[5]) {
			t.Errorf("%s has the values %v, want a gap at the fifth", id, values)
		}
	}
	if timeline.End != 60 || timeline.Times[4] != 4 || timeline.Times[5] != 6 || len(timeline.Marks) != 1 || timeline.Marks[0].At != 6 || timeline.Marks[0].Number != 1 {
		t.Errorf("%+v", timeline)
	}
	_, high := timeline.Panel(chart.PanelErrors).Range()
	if high != 90_000 {
		t.Errorf("errors up to %v", high)
	}
	later := measured(2)
	later.Counts.Errors[result.ErrorReceive] = 1
	later.Seconds[1].Errors = 1
	v.add(later, run, run.Status.MeasurementTime.Time)
	if _, after := v.timeline(later.Seconds).Panel(chart.PanelErrors).Range(); after != high {
		t.Errorf("the scale has shrunk to %v", after)
	}
}
