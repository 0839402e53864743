package chart

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/assay-dev/assay/internal/report/doc"
	"github.com/assay-dev/assay/internal/report/reporttest"
	"github.com/assay-dev/assay/internal/result"
)

// recorded returns a histogram of durations around some values, in microseconds.
func recorded(around ...float64) *result.Histogram {
	h := result.NewHistogram()
	for _, center := range around {
		for i := -500; i <= 500; i++ {
			h.Record(int64(center * math.Exp(0.15*math.Tan(float64(i)/1000*2.8)/3)))
		}
	}
	return h
}

func TestModes(t *testing.T) {
	for name, tc := range map[string]struct {
		h    *result.Histogram
		want []float64 // in microseconds
	}{
		"one": {recorded(5000), []float64{5000}}, "two": {recorded(400, 40_000), []float64{400, 40_000}},
		"three, two of them near": {recorded(100, 1000, 2500), []float64{100, 1000, 2500}},
		// Buckets of whole microseconds are wider than bars: they must not become a comb.
		"a few microseconds": {recorded(7), []float64{7}}, "a single duration": {recorded(), []float64{20}},
	} {
		if len(tc.h.Bars()) == 0 {
			tc.h.Record(20)
		}
		shares, first := bins(tc.h)
		sum := 0.0
		for _, share := range shares {
			sum += share
		}
		found := modes(shares)
		ok := len(found) == len(tc.want) && math.Abs(sum-1) < 1e-9
		for i := 0; ok && i < len(found); i++ {
			ok = edge(first+found[i]-1) <= tc.want[i] && tc.want[i] <= edge(first+found[i]+2)
		}
		if !ok {
			t.Errorf("%s: shares of %v, modes %v from bar %d on", name, sum, found, first)
		}
	}
}

func TestHistogramNamesItsModes(t *testing.T) {
	r := reporttest.Measured(1, 3)
	r.Merged.Latencies[result.Total] = recorded(400, 40_000)
	p := Histogram(r)
	if svg := p.Drawing.SVG(); !strings.Contains(p.Caption, " There are 2 modes: ") || !strings.Contains(svg, "service time") || strings.Count(svg, "<rect") < 10 {
		t.Error(p.Caption, svg)
	}
	if p := Histogram(reporttest.Nothing()); p.Drawing != nil {
		t.Error("a histogram of no request")
	}
}

// TestPhasesOverTimeAddUp checks that the phases of each second are those of its requests, on top of each other, and folded.
func TestPhasesOverTimeAddUp(t *testing.T) {
	r := reporttest.Measured(2, 22)
	l := NewTimeline(r).Panel("phasetimes")
	if l == nil || !l.Stacked || !l.Folded {
		t.Fatalf("%+v", l)
	}
	points := r.Points()
	for i := range points {
		if want := points[i].Phases[result.Total].Mean() / 1000; math.Abs(l.sum(i, len(l.Lines))-want) > 0.01*want {
			t.Errorf("second %d: %v ms in phases, %v ms in all", i, l.sum(i, len(l.Lines)), want)
		}
	}
}

func TestLatencyOfThroughput(t *testing.T) {
	r := reporttest.Staged()
	p := LatencyOfThroughput(r)
	most := slices.Max(levelValues(r, (*result.Level).RequestsPerSecond))
	if p.Drawing == nil || !strings.Contains(p.Caption, "The most was ") || !strings.Contains(p.Drawing.SVG(), "throughput, successful requests/s") || most <= 0 {
		t.Errorf("%+v", p)
	}
	if all := Levels(r); all[len(all)-1].Caption != p.Caption {
		t.Error("it isn't with the levels")
	}
	r.Levels = r.Levels[:1]
	if p := LatencyOfThroughput(r); p != (doc.Plot{}) {
		t.Error("a line of one level")
	}
}
