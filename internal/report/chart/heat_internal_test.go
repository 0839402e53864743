package chart

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report/reporttest"
	"github.com/assay-dev/assay/internal/result"
)

// TestActualText checks that digits are cut, but never such that a value seems to be at its bound.
func TestActualText(t *testing.T) {
	for _, tc := range []struct {
		limit    float64
		measured *float64
		unit     string
		actual   string
		want     string
	}{
		{50, new(99.007), "ms", "99.007ms", "99.0ms"}, {50, new(49.996), "ms", "49.996ms", "49.996ms"}, {50, new(50.01), "ms", "50.01ms", "50.01ms"},
		{50, new(50.0), "ms", "50ms", "50.0ms"}, {1, new(0.0), "%", "0.0000%", "0%"}, {100, new(4510.25), "", "4510.25", "4,510"}, {50, nil, "ms", "no requests", "no requests"},
	} {
		if got := ActualText(&result.ThresholdOutcome{Limit: tc.limit, Measured: tc.measured, Unit: tc.unit, Actual: tc.actual}); got != tc.want {
			t.Errorf("%v: %s is written as %s, want %s", tc.limit, tc.actual, got, tc.want)
		}
	}
}

// TestHeat checks the shades of shares, that all requests of a column are in it, and that a result without sketches of seconds has no heat map.
func TestHeat(t *testing.T) {
	for share, want := range map[float64]int{1: 5, 0.34: 5, 1.0 / 3: 5, 0.3: 4, 1.0 / 9: 4, 0.1: 3, 0.002: 0, 1e-9: 0} {
		if got := heatStep(share); got != want {
			t.Errorf("a share of %g has shade %d, want %d", share, got, want)
		}
	}
	r := reporttest.Measured(2, 22)
	if NewTimeline(r).Panel(PanelHeat) != nil {
		t.Error("a heat map without sketches")
	}
	for i := range r.Series {
		if i == 3 {
			continue // one is missing
		}
		h := result.NewHistogram()
		for us := int64(1000); us < 200_000; us += us/3 + 1 {
			h.Record(us)
		}
		r.Series[i].Sketch = h.Sketch()
	}
	timeline := NewTimeline(r)
	l := timeline.Panel(PanelHeat)
	if l == nil || len(l.Heat) != 22 || l.Heat[3] != nil || len(l.Lines) != 2 {
		t.Fatalf("%+v", l)
	}
	y := l.Scale()
	if y.Low > 1 || y.High < 150 {
		t.Errorf("the axis goes from %g to %g ms", y.Low, y.High)
	}
	if runs := l.heatRuns(3, 4, &y); len(runs) > 0 {
		t.Errorf("a second without sketch has shades: %v", runs)
	}
	rows := 0
	for _, run := range l.heatRuns(4, 6, &y) {
		rows += run.to - run.from
	}
	if rows < 10 {
		t.Errorf("%d rows of a wide distribution", rows)
	}
	svg := timeline.Figure(l, true).HTML()
	if !strings.Contains(string(svg), "f-heat") || timeline.Figure(l, true).HTML() != svg {
		t.Error("no shades, or other bytes the second time")
	}
}

// TestRunning checks gaps, axes that only grow, and what is missing.
func TestRunning(t *testing.T) {
	r := reporttest.Measured(2, 22)
	full := r.Series
	r.Series = append(slices.Clone(full[:4]), full[6:10]...)
	var g Running
	timeline := g.Timeline(r, 60)
	if timeline.End != 60 || timeline.Points() != 9 {
		t.Errorf("%+v", timeline)
	}
	for _, id := range []string{PanelThroughput, PanelLatency, PanelCPU, PanelClientCPU} {
		if v := timeline.Panel(id).Lines[0].Values; !math.IsNaN(v[4]) || math.IsNaN(v[3]) || math.IsNaN(v[5]) {
			t.Errorf("%s: %v, want a gap at the fifth", id, v)
		}
	}
	_, before := timeline.Panel(PanelLatency).Range()
	r.Series = full[:2]
	later := g.Timeline(r, 60)
	if _, after := later.Panel(PanelLatency).Range(); after != before {
		t.Errorf("the axis has shrunk from %g to %g", before, after)
	}
	if name := later.Panel(PanelThroughput).Lines[0].Name; !strings.HasPrefix(name, "requests/s ") {
		t.Errorf("line %q has no figure", name)
	}
	if r.Series = nil; g.Timeline(r, 60) != nil {
		t.Error("plots without a second")
	}
}
