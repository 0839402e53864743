package ui

import (
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/live"
	"github.com/assay-dev/assay/internal/result"
)

// measured returns the state of a measurement after some seconds.
func measured(seconds int64) *live.Update {
	u := &live.Update{UID: "uid-demo", State: v1alpha1.ReasonMeasuring, Start: 1_000_000, Clients: 2, Connected: 2}
	total := result.NewHistogram()
	for s := range seconds {
		u.Seconds = append(u.Seconds, result.Second{Second: s, Seconds: 1, Requests: 4000 + s, P50: 5520, P90: 20_000, P99: 93_800, Max: 795_000, ClientCPU: 500_000, ServerCPU: 530_000})
		u.Counts.Requests += 4000 + s
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
	page.has("figures", "4,002")
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
	s.live.end(errors.New("the leader has changed"))
	page.has("figures", "From the status")
	if html := page.parts["figures"]; !strings.Contains(html, "The leader has changed.") {
		t.Error(html)
	}
	s.live.put(measured(7))
	page.until(func(_ *event, parts map[string]string) bool {
		return strings.Contains(parts["figures"], "4,006") && !strings.Contains(parts["figures"], "From the status")
	})
	again := s.events("/runs/shop/demo/events")
	again.has("figures", "4,006")
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
	if p.Plots[0].Empty != "" || !strings.Contains(p.Plots[0].Lines[0].Path, "H") || p.Plots[0].Lines[0].Last != "4,510" {
		t.Errorf("throughput %+v", p.Plots[0])
	}
	if p.Plots[1].Empty == "" || p.Plots[3].Empty == "" || p.Plots[4].Empty == "" {
		t.Errorf("there are figures of which the status knows nothing: %+v", p.Plots)
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
	p := v.page(run)
	rates := p.Plots[0]
	if n := strings.Count(rates.Lines[0].Path, "M"); n != 2 {
		t.Errorf("%d parts of a line with one gap: %s", n, rates.Lines[0].Path)
	}
	if n := strings.Count(p.Plots[1].Lines[0].Path, "M"); n != 2 {
		t.Errorf("%d parts of a line of percentiles", n)
	}
	if rates.Top != "100,000" || p.Plots[2].Top != "100,000" || p.Plots[3].Top != "100" {
		t.Errorf("scales %s, %s and %s", rates.Top, p.Plots[2].Top, p.Plots[3].Top)
	}
	if len(rates.Marks) != 1 || rates.Marks[0].X != "100.0" || len(p.Ticks) != 5 || p.Ticks[4].Text != "60s" {
		t.Errorf("marks %v, ticks %v", rates.Marks, p.Ticks)
	}
	v.add(measured(2), run, run.Status.MeasurementTime.Time)
	if p := v.page(run); p.Plots[0].Top != "100,000" {
		t.Errorf("the scale has shrunk to %s", p.Plots[0].Top)
	}
}
