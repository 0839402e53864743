package ui

import (
	"fmt"
	"html/template"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/report"
	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/number"
	"github.com/assay-dev/assay/internal/result"
)

// liveView is what one page shows of a run under way. Its axes only grow.
type liveView struct {
	running chart.Running
	// planned is the time that the x axis spans, in seconds.
	planned int64
	// declared has what the spec says of the load and of CPU limits.
	declared result.Result
}

func newLiveView(run *v1alpha1.BenchmarkRun) *liveView {
	spec, plans := &run.Spec, loadplan.Plans(run, nil)
	v := &liveView{declared: result.Result{
		Run:         plans[0].Describe(),
		Environment: result.Environment{TargetCPULimit: cpuMillis(&spec.Target.Resources), ClientCPULimit: cpuMillis(&spec.Clients.Resources)},
		Clients:     make([]result.Client, loadplan.Replicas(spec)),
	}}
	for _, p := range plans {
		v.declared.Run.AllConnections += int64(p.Connections)
	}
	v.declared.Run.Load, v.declared.Run.TargetRatePerSecond = loadplan.Shape(spec), loadplan.TargetRatePerSecond(spec)
	v.declared.Levels, v.declared.Steps = loadplan.Levels(spec)
	for i := range spec.Target.Backends {
		b := &spec.Target.Backends[i]
		v.declared.Environment.Backends = append(v.declared.Environment.Backends, result.BackendEnvironment{Name: b.Name, CPULimit: cpuMillis(&b.Resources)})
	}
	_, measurement := loadplan.Extents(spec)
	v.planned = measurement.Seconds
	if a := spec.Alternation; a != nil {
		v.planned /= int64(a.Variants) // seconds of other runs of the block aren't drawn
	}
	return v
}

// cpuMillis returns a CPU limit in thousandths of a CPU: 1 CPU if it isn't set.
func cpuMillis(r *v1alpha1.Resources) int64 {
	if r.CPU == nil {
		return 1000
	}
	return r.CPU.MilliValue()
}

// livePage is what a page shows of a run under way.
type livePage struct {
	Measuring bool
	// State is the state in words: "Warming up".
	State string
	// Metrics are those of the last window or, before the first one, those of the state so far. Of says which seconds the
	// window has.
	Metrics []metric
	Of      string
	Plots   []template.HTML
	// Late is the second from which on there are points, if that isn't the first one; else empty.
	Late string
	// Percent is the completed share of the state's load, empty if it is unknown. Remaining is how long it will last.
	Percent, Remaining string
}

// metric is a number with what it is.
type metric struct{ Label, Value, Unit string }

// page returns what to show of a run whose measurement has had some windows.
func (v *liveView) page(run *v1alpha1.BenchmarkRun, seen []result.Second) *livePage {
	p, progress := &livePage{}, run.Status.Progress
	if progress == nil {
		return p
	}
	p.Measuring, p.State = progress.State == v1alpha1.ReasonMeasuring, stateInWords(progress.State)
	if progress.Percent != nil {
		p.Percent = number.Count(int64(*progress.Percent)) + "%"
	}
	if progress.RemainingSeconds != nil {
		p.Remaining = "About " + span(time.Duration(*progress.RemainingSeconds)*time.Second) + " left"
	}
	if progress.Requests != nil { // a foreign tool reports nothing until it ends
		p.Metrics = []metric{
			{"requests/s", rateOf(progress.RequestsPerSecond), ""},
			{"requests", number.Count(*progress.Requests), ""},
			{"failed", number.Share(ptr.Deref(progress.Errors, 0), *progress.Requests), ""},
		}
	}
	if !p.Measuring {
		return p
	}
	if _, measurement := loadplan.Extents(&run.Spec); measurement.Seconds == 0 && progress.RemainingSeconds != nil && len(seen) > 0 {
		v.planned = max(v.planned, roundTime(endOf(seen)+*progress.RemainingSeconds))
	}
	if len(seen) > 0 {
		last := &seen[len(seen)-1]
		p.Metrics = metricsOf(last, progress, &v.declared)
		p.Of = fmt.Sprintf("Metrics are of the seconds from %s to %s", span(time.Duration(last.Second)*time.Second), span(time.Duration(last.Second+last.Seconds)*time.Second))
		if first := seen[0].Second; first > 0 {
			p.Late = span(time.Duration(first) * time.Second)
		}
	}
	p.Plots = v.draw(v.timeline(seen, ptr.Deref(progress.Errors, 0)))
	return p
}

// stateInWords returns a state as a page has it: "Warming up" for WarmingUp.
func stateInWords(state v1alpha1.RunState) string {
	words := wordBegin.ReplaceAllString(string(state), "$1 $2")
	return words[:min(1, len(words))] + strings.ToLower(words[min(1, len(words)):])
}

var wordBegin = regexp.MustCompile(`([a-z])([A-Z])`)

// endOf returns the second after the last window.
func endOf(seen []result.Second) int64 {
	last := &seen[len(seen)-1]
	return last.Second + last.Seconds
}

// timeline returns the plots of windows; nil without any. errors is the number of requests that have failed so far.
func (v *liveView) timeline(seen []result.Second, errors int64) *chart.Timeline {
	if len(seen) == 0 {
		return nil
	}
	v.planned = max(v.planned, endOf(seen))
	r := v.declared
	r.Series = seen
	t := v.running.Timeline(&r, float64(v.planned))
	if l := t.Panel(chart.PanelErrors); l.Empty != "" {
		l.Empty = number.Count(errors) + " so far"
	}
	for i := range t.Panels { // a window has two of the four metrics of latency
		t.Panels[i].Lines = slices.DeleteFunc(t.Panels[i].Lines, func(l chart.Line) bool { return !slices.ContainsFunc(l.Values, known) })
	}
	return t
}

func known(x float64) bool { return !math.IsNaN(x) }

// draw draws all plots that the report of a run shows at first.
func (v *liveView) draw(t *chart.Timeline) (all []template.HTML) {
	if t == nil {
		return nil
	}
	open := 0
	for i := range t.Panels {
		if t.Panels[i].ID != chart.PanelFindings && !t.Panels[i].Folded && t.Panels[i].Empty == "" {
			open = i
		}
	}
	for i := range t.Panels {
		if l := &t.Panels[i]; !l.Folded && l.ID != chart.PanelFindings { // findings are judged in the end
			all = append(all, t.Figure(l, i == open).HTML())
		}
	}
	return all
}

// metricsOf returns the metrics of a window, and the share of all requests so far that failed.
func metricsOf(s *result.Second, progress *v1alpha1.Progress, declared *result.Result) []metric {
	latency := func(microseconds int64) string {
		if microseconds == result.Unknown {
			return none
		}
		return number.Milliseconds(microseconds)
	}
	share := func(microseconds, limitMillis int64) string {
		if microseconds == result.Unknown {
			return none
		}
		return number.Count(microseconds / (10 * s.Seconds * limitMillis))
	}
	limits, name, requests := &declared.Environment, report.LatencyName(&declared.Run), ptr.Deref(progress.Requests, 0)
	return []metric{
		{"requests/s", number.Significant(float64(s.Requests) / float64(s.Seconds)), ""},
		{"p50 " + name, latency(s.P50), "ms"},
		{"p99 " + name, latency(s.P99), "ms"},
		{"target CPU", share(s.ServerCPU, limits.TargetCPULimit), "%"},
		{"client CPU", share(s.ClientCPU, limits.ClientCPULimit*int64(len(declared.Clients))), "%"},
		{"failed of " + number.Count(requests), number.Share(ptr.Deref(progress.Errors, 0), requests), ""},
	}
}

// times are the lengths of an x axis in seconds.
var times = []int64{10, 20, 30, 60, 120, 180, 300, 600, 900, 1200, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600}

func roundTime(seconds int64) int64 {
	for _, t := range times {
		if seconds <= t {
			return t
		}
	}
	return (seconds + 24*3600 - 1) / (24 * 3600) * 24 * 3600
}
