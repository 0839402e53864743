package chart

import (
	"cmp"
	"math"
	"slices"

	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/report/plot"
	"github.com/assay-dev/assay/internal/result"
)

// unknown is a value that isn't known.
var unknown = math.NaN()

// The IDs of panels, which are also names of pictures.
const (
	PanelLoad       = "load"
	PanelFindings   = "findings"
	PanelThroughput = "throughput"
	PanelLatency    = "latency"
	PanelErrors     = "errors"
	PanelCPU        = "cpu"
	PanelClientCPU  = "clients"
)

func (t *Timeline) panels() []Panel {
	r := t.r
	all := []Panel{t.loadPanel(), {ID: PanelFindings, Name: "findings"}, throughputPanel(r), latencyPanel(r), errorsPanel(r), targetPanel(r), clientPanel(r)}
	if reached, _ := breakingPoints(r); len(r.Findings)+len(reached) == 0 {
		all[1].Empty = "none"
	}
	if heat := heatPanel(r); heat != nil {
		all = slices.Insert(all, 4, *heat)
	}
	return append(all, foldedPanels(r)...)
}

// values returns a metric of each point.
func values(r *result.Result, of func(*result.Second) float64) []float64 {
	all := make([]float64, len(r.Series))
	for i := range r.Series {
		all[i] = of(&r.Series[i])
	}
	return all
}

// perSecond divides by the length of a point.
func perSecond(s *result.Second, x float64) float64 { return x / s.Length() }

func throughputPanel(r *result.Result) Panel {
	return Panel{ID: PanelThroughput, Name: "throughput, successful requests/s", Unit: "requests/s", Lines: []Line{{
		Name: "requests/s", Stroke: plot.Stroke{Color: plot.Throughput, Width: 2}, Step: true,
		Values: values(r, func(s *result.Second) float64 { return perSecond(s, float64(s.Requests-s.Errors)) }),
	}}}
}

// latencyPanel has percentiles of each point. A point of several seconds has none, since percentiles can't be joined, but
// its maximum.
func latencyPanel(r *result.Result) Panel {
	of := func(figure func(*result.Second) int64) []float64 {
		return values(r, func(s *result.Second) float64 {
			if us := figure(s); us != result.Unknown && s.Requests > s.Errors {
				return float64(us) / 1000
			}
			return unknown
		})
	}
	l := Panel{ID: PanelLatency, Name: "latency (" + report.LatencyName(&r.Run) + "), ms, log scale", Unit: "ms", Log: true, Lines: append(
		percentileLines(of(func(s *result.Second) int64 { return s.P50 }), of(func(s *result.Second) int64 { return s.P90 }), of(func(s *result.Second) int64 { return s.P99 })),
		Line{Name: "max", Stroke: plot.Stroke{Color: plot.P999}, Dots: true, Values: of(func(s *result.Second) int64 { return s.Max })},
	)}
	if !l.known() {
		l.Lines, l.Empty = nil, "none: no request succeeded"
	}
	return l
}

// percentileLines returns lines of the 50th, 90th and 99th percentile.
func percentileLines(p50, p90, p99 []float64) []Line {
	return []Line{
		{Name: "p50", Stroke: plot.Stroke{Color: plot.P50, Width: 1.5}, Values: p50}, {Name: "p90", Stroke: plot.Stroke{Color: plot.P90, Width: 1.5}, Values: p90},
		{Name: "p99", Stroke: plot.Stroke{Color: plot.P99, Width: 2}, Values: p99},
	}
}

func errorsPanel(r *result.Result) Panel {
	l := Panel{ID: PanelErrors, Name: "failed requests/s, by kind", Unit: "failed/s", Stacked: true}
	total := r.Merged.Errors.Total()
	kinds, byKind := int64(0), true
	for i := range r.Series {
		kinds += r.Series[i].Errors
		byKind = byKind && (r.Series[i].Errors == 0 || r.Series[i].Counts != nil)
	}
	switch {
	case total == 0 && kinds == 0:
		l.Empty = "none"
	case !byKind:
		l.Lines = []Line{{Name: "failed", Stroke: plot.Stroke{Color: plot.Muted}, Step: true, Values: values(r, func(s *result.Second) float64 { return perSecond(s, float64(s.Errors)) })}}
	default:
		for k := range result.ErrorKinds {
			of := values(r, func(s *result.Second) float64 {
				if s.Counts == nil {
					return 0
				}
				return perSecond(s, float64(s.Counts.Errors[k]))
			})
			if slices.Max(of) > 0 {
				l.Lines = append(l.Lines, Line{Name: k.String(), Stroke: plot.Stroke{Color: plot.ErrorColor(int(k))}, Step: true, Values: of})
			}
		}
		if len(l.Lines) == 0 {
			l.Empty = "not available by time"
		}
	}
	return l
}

// loadPanel shows the connections or the target rate over time.
func (t *Timeline) loadPanel() Panel {
	r := t.r
	l := Panel{ID: PanelLoad, Name: "load, connections"}
	of := float64(cmp.Or(r.Run.AllConnections, r.Run.Connections*int64(max(1, len(r.Clients)))))
	switch r.Run.Load {
	case result.LoadOpen:
		l.Name, of = "load, target rate in requests/s", r.Run.TargetRatePerSecond
		if of == 0 && r.Arrivals != nil {
			of = r.Arrivals.TargetRatePerSecond()
		}
	case result.LoadScript:
		l.Name, l.Empty = "load", "a k6 script, which has neither connections nor a target rate"
		if r.Script != nil {
			l.Empty += ": " + number.Count(r.Script.VirtualUsers) + " virtual users"
		}
		return l
	}
	line := Line{Name: "load", Stroke: plot.Stroke{Color: plot.Ink, Width: 1.5, Dash: "6 3"}, Step: true, Values: make([]float64, t.Points())}
	for i := range line.Values {
		line.Values[i] = of
		if len(r.Levels) > 0 {
			line.Values[i] = loadAt(r, (t.Times[i]+t.Times[i+1])/2)
		}
	}
	l.Lines = []Line{line}
	return l
}

// loadAt returns the load of a second, between levels in proportion to the time.
func loadAt(r *result.Result, second float64) float64 {
	for i := range r.Levels {
		if l := &r.Levels[i]; second >= float64(l.Start) && second < float64(l.End) {
			return float64(l.Load())
		}
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		if from, to := float64(s.Start), float64(s.End); second >= from && second < to {
			return float64(s.From) + (float64(s.Load())-float64(s.From))*(second-from)/(to-from)
		}
	}
	return unknown
}

// cpuPercent returns CPU time of a point in percent of a limit in thousandths of a CPU, or of one CPU without a limit.
func cpuPercent(s *result.Second, microseconds, limitMillis int64) float64 {
	if microseconds < 0 {
		return unknown
	}
	if limitMillis <= 0 {
		limitMillis = 1000
	}
	return perSecond(s, float64(microseconds)) / 1e6 * 100 * 1000 / float64(limitMillis)
}

// targetStroke is the stroke of the i-th container of the target. Dashes tell them apart without their colors.
func targetStroke(i int) plot.Stroke {
	dashes := []string{"", "5 3", "1.5 3", "6 3 1.5 3"}
	return plot.Stroke{Color: plot.TargetColor(i), Width: 1.5, Dash: dashes[min(i, len(dashes)-1)]}
}

func targetPanel(r *result.Result) Panel {
	l := Panel{ID: PanelCPU, Short: "CPU", Name: "target CPU, % of the limit of each container", Unit: "%"}
	for i, c := range r.Containers() {
		line := Line{Name: c.Name, Stroke: targetStroke(i), Step: true}
		line.Values = values(r, func(s *result.Second) float64 {
			return cpuPercent(s, s.CPUOf(c.Name), c.CPULimit)
		})
		if c.CPULimit <= 0 {
			line.Name += " (of one CPU)"
		}
		l.Lines = append(l.Lines, line)
	}
	if !l.known() || r.Run.Standalone {
		l.Lines, l.Empty = nil, "not available: the target's usage was not measured"
	}
	return l
}

var clientStroke = plot.Stroke{Color: plot.Clients, Width: 1.5}

// clientPanel shows the CPU of all clients together, of which the artifact has the sum.
func clientPanel(r *result.Result) Panel {
	limit := r.Environment.ClientCPULimit * int64(max(1, len(r.Clients)))
	l := Panel{ID: PanelClientCPU, Short: "CPU", Name: "CPU of all clients, % of the sum of their limits", Unit: "%", Rules: []float64{80, 90}, Lines: []Line{{
		Name: "clients", Stroke: clientStroke, Step: true,
		Values: values(r, func(s *result.Second) float64 { return cpuPercent(s, s.ClientCPU, limit) }),
	}}}
	if limit <= 0 {
		l.Name, l.Rules = "CPU of all clients, % of one CPU", nil
	}
	return l
}

// known reports whether a panel has a value.
func (l *Panel) known() bool {
	return slices.ContainsFunc(l.Lines, func(line Line) bool {
		return slices.ContainsFunc(line.Values, func(v float64) bool { return !math.IsNaN(v) })
	})
}
