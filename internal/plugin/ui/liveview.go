package ui

import (
	"fmt"
	"html/template"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/live"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/report/chart"
	"github.com/assay-dev/assay/internal/report/picture"
	"github.com/assay-dev/assay/internal/result"
)

// maxPolled bounds the points that are made from the status.
const maxPolled = 600

// liveView is what one page shows of a run under way. Its axes only grow.
type liveView struct {
	update *live.Update
	// polled are points made from the status, for want of a stream.
	polled       []result.Second
	polledErrors int64 // of all requests so far
	running      chart.Running
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
	return v
}

// cpuMillis returns a CPU limit in thousandths of a CPU: 1 CPU if it isn't set.
func cpuMillis(r *v1alpha1.Resources) int64 {
	if r.CPU == nil {
		return 1000
	}
	return r.CPU.MilliValue()
}

// add adds the newest state of the stream, if there is one, or else what the status says.
func (v *liveView) add(u *live.Update, run *v1alpha1.BenchmarkRun, now time.Time) {
	v.update = u
	p, start := run.Status.Progress, run.Status.MeasurementTime
	if p == nil || p.State != v1alpha1.ReasonMeasuring || start == nil {
		return
	}
	v.polledErrors = ptr.Deref(p.Errors, 0)
	passed := max(0, int64(now.Sub(start.Time)/time.Second))
	if _, measurement := loadplan.Extents(&run.Spec); measurement.Seconds == 0 && p.RemainingSeconds != nil {
		v.planned = max(v.planned, roundTime(passed+*p.RemainingSeconds))
	}
	perSecond := int64(0)
	if _, err := fmt.Sscan(p.RequestsPerSecond, &perSecond); err != nil {
		return
	}
	if n := len(v.polled); n > 0 && v.polled[n-1].Second >= passed || n >= maxPolled {
		return
	}
	point := result.Second{Second: passed, Seconds: 1, Requests: perSecond, P50: -1, P90: -1, P99: -1, Max: -1, ServerCPU: result.Unknown, ClientCPU: result.Unknown}
	if n := len(v.polled); n > 0 {
		before := &v.polled[n-1]
		before.Seconds = passed - before.Second
		before.Requests *= before.Seconds
	}
	v.polled = append(v.polled, point)
}

// livePage is what a page shows of a run under way.
type livePage struct {
	Measuring bool
	// Figures are those so far. Behind says by how much.
	Figures []figure
	Behind  string
	// Fallback says why there is no stream; empty if there is one.
	Fallback string
	Findings []finding
	Plots    []template.HTML
	// Script are the metrics of a k6 script so far, OmittedMetrics the number of those that are missing.
	Script         []metric
	OmittedMetrics string
	// Percent is the completed share of the state's load, empty if it is unknown. Remaining is how long it will last.
	Percent, Remaining string
}

// figure is a number with what it is.
type figure struct{ Label, Value, Unit string }

// metric is a metric of a k6 script with its figures as text.
type metric struct{ Name, Figures string }

// finding is a finding so far.
type finding struct {
	Number                           int
	Severity, Reason, Message, Since string
}

// page returns what to show now.
func (v *liveView) page(run *v1alpha1.BenchmarkRun) *livePage {
	p := &livePage{}
	progress := run.Status.Progress
	if progress != nil && progress.Percent != nil {
		p.Percent = picture.Count(int64(*progress.Percent)) + "%"
	}
	if progress != nil && progress.RemainingSeconds != nil {
		p.Remaining = "About " + span(time.Duration(*progress.RemainingSeconds)*time.Second) + " left"
	}
	u := v.update
	seconds := v.polled
	if u != nil && u.Start != 0 {
		seconds = u.Seconds
		p.Measuring = true
		p.Figures = figuresOf(u, chart.LatencyName(&v.declared.Run))
		if passed := u.Start + u.Passed()*1_000_000; u.Now > passed && len(seconds) > 0 {
			p.Behind = fmt.Sprintf("%.1f\u202fs behind", float64(u.Now-passed)/1e6)
		}
		for i := range u.Findings {
			f := &u.Findings[i]
			p.Findings = append(p.Findings, finding{i + 1, string(f.Severity), printable.Text(f.Reason), printable.Text(f.Message), span(time.Duration(f.Second) * time.Second)})
		}
	} else if progress != nil {
		p.Measuring = progress.State == v1alpha1.ReasonMeasuring
		if progress.Requests != nil { // a foreign tool reports nothing until it ends
			p.Figures = []figure{
				{"requests/s", rate(progress.RequestsPerSecond), ""},
				{"requests", picture.Count(*progress.Requests), ""},
				{"failed", picture.Share(ptr.Deref(progress.Errors, 0), *progress.Requests), ""},
			}
		}
	}
	if u != nil && u.Script != nil {
		for i := range u.Script.Metrics {
			m := &u.Script.Metrics[i]
			p.Script = append(p.Script, metric{printable.Text(m.Name), printable.Text(m.Figures())})
		}
		if u.Script.Omitted > 0 {
			p.OmittedMetrics = picture.Count(u.Script.Omitted)
		}
	}
	if p.Measuring {
		p.Plots = v.draw(v.timeline(seconds))
	}
	return p
}

// timeline returns the plots of seconds; nil without any.
func (v *liveView) timeline(seconds []result.Second) *chart.Timeline {
	if n := len(seconds); n > 0 {
		v.planned = max(v.planned, seconds[n-1].Second+seconds[n-1].Seconds)
	}
	r := v.declared
	r.Series = seconds
	var marks []chart.Mark
	if u := v.update; u != nil {
		r.Merged.Counts = u.Counts
		for i := range u.Findings {
			marks = append(marks, chart.Mark{At: float64(u.Findings[i].Second), Number: i + 1, Text: printable.Text(u.Findings[i].Reason)})
		}
	}
	t := v.running.Timeline(&r, float64(v.planned), marks)
	if t != nil && v.update == nil {
		t.Panel(chart.PanelErrors).Empty = picture.Count(v.polledErrors) + " so far"
		t.Panel(chart.PanelLatency).Empty = "no percentiles without the leader's stream" // whose seconds alone have them
	}
	return t
}

// draw draws all plots that the report of a run shows at first.
func (v *liveView) draw(t *chart.Timeline) (all []template.HTML) {
	if t == nil {
		return nil
	}
	open := 0
	for i := range t.Panels {
		if !t.Panels[i].Folded && t.Panels[i].Empty == "" {
			open = i
		}
	}
	for i := range t.Panels {
		if l := &t.Panels[i]; !l.Folded {
			all = append(all, t.Figure(l, i == open).HTML())
		}
	}
	return all
}

// figuresOf returns the figures of all seconds so far, and the rate of the last one. latency says what latencies are.
func figuresOf(u *live.Update, latency string) []figure {
	latest := none
	if n := len(u.Seconds); n > 0 {
		s := &u.Seconds[n-1]
		latest = picture.Significant(float64(s.Requests) / float64(s.Seconds))
	}
	all := []figure{{"requests/s, last second", latest, ""}}
	at := func(p percentile.Percentile) string {
		if u.Latency == nil || u.Latency.Percentiles[p] < 0 {
			return none
		}
		return picture.Milliseconds(u.Latency.Percentiles[p])
	}
	for _, p := range []percentile.Percentile{percentile.P50, percentile.P99, percentile.P999} {
		all = append(all, figure{"p" + p.String() + " " + latency + " so far", at(p), "ms"})
	}
	return append(all,
		figure{"failed of " + picture.Count(u.Counts.Requests), picture.Share(u.Counts.Errors.Total(), u.Counts.Requests), ""},
		figure{"clients connected", fmt.Sprintf("%d of %d", u.Connected, u.Clients), ""})
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
