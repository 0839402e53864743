package ui

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/result"
)

// window gives a run's status the window of two seconds that begins at a second, in which a server used half of its CPU.
func window(run *v1alpha1.BenchmarkRun, second, requests int64) *v1alpha1.BenchmarkRun {
	run.Status.Progress.Window = &v1alpha1.ProgressWindow{
		Second: ptr.To(second), Seconds: ptr.To(int64(2)), Requests: ptr.To(requests), Errors: ptr.To(int64(0)),
		P50Microseconds: ptr.To(int64(5520)), P99Microseconds: ptr.To(int64(93_800)), TargetCPUPercent: ptr.To(int32(53)), ClientCPUPercent: ptr.To(int32(25)),
	}
	return run
}

// TestLive checks that a page follows the windows of the status; a browser that connects again, and a page that is opened
// later, have all of them; and the end leads to the report.
func TestLive(t *testing.T) {
	s := newSite(t, interceptor.Funcs{}, newRun("demo")).synced()
	if _, body := s.get("/runs/shop/demo"); !strings.Contains(body, `data-events="/runs/shop/demo/events"`) || !strings.Contains(body, "4,510") {
		t.Error(body)
	}
	page := s.events("/runs/shop/demo/events")
	put := func(second, requests int64) {
		t.Helper()
		if err := s.cluster.Update(t.Context(), window(s.stored("demo"), second, requests)); err != nil {
			t.Fatal(err)
		}
	}
	put(0, 800)
	page.has("metrics", "<dd>400</dd>")
	for id, text := range map[string]string{"plots": "p99 93.8", "metrics": "Metrics are of the seconds from 0s to 2s."} {
		if !strings.Contains(page.parts[id], text) {
			t.Errorf("part %s lacks %q: %s", id, text, page.parts[id])
		}
	}
	for _, want := range []string{"5.52", "93.8", "<dd>53", "<dd>25", "p99 service time"} {
		if !strings.Contains(page.parts["metrics"], want) {
			t.Errorf("no %q in %s", want, page.parts["metrics"])
		}
	}
	put(2, 1200)
	page.has("metrics", "<dd>600</dd>")
	again := s.events("/runs/shop/demo/events")
	again.has("plots", "requests/s 600")
	if got := s.server.windows.get("uid-demo"); len(got) != 2 || got[0].Second != 0 || got[1].Second != 2 {
		t.Errorf("windows %+v", got)
	}
	if _, body := s.get("/runs/shop/demo"); !strings.Contains(body, "requests/s 600") || strings.Contains(body, "these pages were not open yet") {
		t.Error(body)
	}
	run := s.stored("demo")
	finish(run, v1alpha1.VerdictPassed)
	if err := s.cluster.Update(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	page.until(func(e *event, _ map[string]string) bool { return e.Reload })
	if got := s.server.windows.get("uid-demo"); len(got) != 0 {
		t.Errorf("%d windows of a run that has finished", len(got))
	}
}

// TestWindows checks which windows are kept, and that those of many and of long measurements are bounded.
func TestWindows(t *testing.T) {
	var w windows
	run := newRun("demo")
	w.see(run)
	for _, second := range []int64{4, 4, 2, 6} { // the same again, and one from before
		w.see(window(run, second, 10))
	}
	run.Status.Progress.Window = &v1alpha1.ProgressWindow{Second: ptr.To(int64(8)), Seconds: ptr.To(int64(-1))}
	w.see(run)
	if got := w.get(run.UID); len(got) != 2 || got[0].Second != 4 || got[1].Second != 6 {
		t.Errorf("%+v", got)
	}
	for second := range int64(2 * maxWindows) {
		w.see(window(run, 8+2*second, 10))
	}
	if got := w.get(run.UID); len(got) != maxWindows || got[maxWindows-1].Second != 6+4*maxWindows {
		t.Errorf("%d windows up to second %d", len(got), got[len(got)-1].Second)
	}
	for i := range 2 * maxMeasured {
		w.see(window(newRun(fmt.Sprint(i)), 0, 10))
	}
	if len(w.of) != maxMeasured {
		t.Errorf("windows of %d runs", len(w.of))
	}
}

// TestUnknown checks that nothing is made up that the status doesn't have.
func TestUnknown(t *testing.T) {
	run := newRun("demo")
	v := newLiveView(run)
	if p := v.page(run, nil); len(p.Plots) != 0 || len(p.Metrics) != 3 || p.Percent != "10%" || p.Of != "" {
		t.Errorf("without a window: %+v", p)
	}
	run.Status.Progress.Window = &v1alpha1.ProgressWindow{Second: ptr.To(int64(10)), Seconds: ptr.To(int64(2)), Requests: ptr.To(int64(8))}
	s, ok := windowOf(run)
	if !ok {
		t.Fatal("there is no window")
	}
	p := v.page(run, []result.Second{s})
	for i, want := range []string{"4.00", none, none, none, none} {
		if p.Metrics[i].Value != want {
			t.Errorf("%+v, want %s", p.Metrics[i], want)
		}
	}
	if p.Late != "10s" {
		t.Errorf("points from %q on", p.Late)
	}
	timeline := v.timeline([]result.Second{s}, 7)
	for id, empty := range map[string]bool{chart.PanelThroughput: false, chart.PanelLatency: true, chart.PanelErrors: true, chart.PanelCPU: true, chart.PanelClientCPU: true} {
		if l := timeline.Panel(id); (l.Empty != "") != empty || (len(l.Lines) > 0) == empty {
			t.Errorf("%s: %+v", id, l)
		}
	}
	if got := timeline.Panel(chart.PanelErrors).Empty; got != "7 so far" {
		t.Errorf("errors: %q", got)
	}
}

// TestPlots checks gaps, and scales that only grow.
func TestPlots(t *testing.T) {
	run := newRun("demo")
	v := newLiveView(run)
	var seen []result.Second
	for second := range int64(10) {
		s, _ := windowOf(window(run, 2*second, 800))
		seen = append(seen, s)
	}
	seen = append(seen[:4:4], seen[6:]...)
	seen[7].Requests, seen[7].Errors = 180_000, 180_000
	timeline := v.timeline(seen, 180_000)
	for _, id := range []string{chart.PanelThroughput, chart.PanelLatency, chart.PanelCPU, chart.PanelClientCPU} {
		values := timeline.Panel(id).Lines[0].Values
		if len(values) != 9 || !math.IsNaN(values[4]) || math.IsNaN(values[3]) || math.IsNaN(values[5]) {
			t.Errorf("%s has the values %v, want a gap at the fifth", id, values)
		}
	}
	if got := timeline.Panel(chart.PanelCPU).Lines[0].Values[0]; got != 53 {
		t.Errorf("CPU %v%%", got)
	}
	if n := len(timeline.Panel(chart.PanelLatency).Lines); n != 2 {
		t.Errorf("%d lines of latency, want those of the two percentiles", n)
	}
	if timeline.End != 60 || timeline.Times[4] != 8 || timeline.Times[5] != 12 {
		t.Errorf("%+v", timeline)
	}
	_, high := timeline.Panel(chart.PanelErrors).Range()
	if high != 90_000 {
		t.Errorf("errors up to %v", high)
	}
	seen[7].Errors = 1
	if _, after := v.timeline(seen, 1).Panel(chart.PanelErrors).Range(); after != high {
		t.Errorf("the scale has shrunk to %v", after)
	}
	if drawn := v.page(run, seen).Plots; len(drawn) != 6 || !strings.Contains(string(drawn[0]), "<svg") {
		t.Errorf("%d plots", len(drawn))
	}
}
