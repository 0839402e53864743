package ui

import (
	"fmt"
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/live"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/percentile"
	"github.com/assay-dev/assay/internal/printable"
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
	scales       scales
	// planned is the time that the x axis spans, in seconds.
	planned int64
	limits  limits
}

// limits are the CPU limits in thousandths of a CPU; 0 for none.
type limits struct {
	server, clients int64
	backends        map[string]int64
}

func newLiveView(run *v1alpha1.BenchmarkRun) *liveView {
	v := &liveView{limits: limits{
		server: cpuMillis(&run.Spec.Target.Resources), clients: cpuMillis(&run.Spec.Clients.Resources) * int64(loadplan.Replicas(&run.Spec)),
		backends: map[string]int64{},
	}}
	for i := range run.Spec.Target.Backends {
		v.limits.backends[run.Spec.Target.Backends[i].Name] = cpuMillis(&run.Spec.Target.Backends[i].Resources)
	}
	_, measurement := loadplan.Extents(&run.Spec)
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
	point := result.Second{Second: passed, Seconds: 1, Requests: perSecond, P50: -1, P90: -1, P99: -1, ServerCPU: result.Unknown, ClientCPU: result.Unknown}
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
	Plots    []*plot
	Ticks    []tick
	// Percent is the completed share of the state's load, empty if it is unknown. Remaining is how long it will last.
	Percent, Remaining string
}

// figure is a number with what it is.
type figure struct{ Label, Value, Unit string }

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
		p.Percent = count(int64(*progress.Percent)) + "%"
	}
	if progress != nil && progress.RemainingSeconds != nil {
		p.Remaining = "about " + span(time.Duration(*progress.RemainingSeconds)*time.Second) + " left"
	}
	u := v.update
	seconds := v.polled
	if u != nil && u.Start != 0 {
		seconds = u.Seconds
		p.Measuring = true
		p.Figures = figuresOf(u)
		if passed := u.Start + u.Passed()*1_000_000; u.Now > passed && len(seconds) > 0 {
			p.Behind = fmt.Sprintf("%.1f\u202fs behind", float64(u.Now-passed)/1e6)
		}
		for i := range u.Findings {
			f := &u.Findings[i]
			p.Findings = append(p.Findings, finding{i + 1, string(f.Severity), printable.Text(f.Reason), printable.Text(f.Message), span(time.Duration(f.Second) * time.Second)})
		}
	} else if progress != nil {
		p.Measuring = progress.State == v1alpha1.ReasonMeasuring
		p.Figures = []figure{
			{"requests/s", rate(progress.RequestsPerSecond), ""},
			{"requests", count(ptr.Deref(progress.Requests, 0)), ""},
			{"failed", share(ptr.Deref(progress.Errors, 0), ptr.Deref(progress.Requests, 0)), ""},
		}
	}
	if p.Measuring {
		p.Plots, p.Ticks = v.draw(seconds, p.Findings, u)
	}
	return p
}

// figuresOf returns the figures of all seconds so far, and the rate of the last one.
func figuresOf(u *live.Update) []figure {
	latest := none
	if n := len(u.Seconds); n > 0 {
		s := &u.Seconds[n-1]
		latest = significant(float64(s.Requests) / float64(s.Seconds))
	}
	all := []figure{{"requests/s, last second", latest, ""}}
	at := func(p percentile.Percentile) string {
		if u.Latency == nil || u.Latency.Percentiles[p] < 0 {
			return none
		}
		return milliseconds(u.Latency.Percentiles[p])
	}
	return append(all,
		figure{"p50 so far", at(percentile.P50), "ms"}, figure{"p99 so far", at(percentile.P99), "ms"}, figure{"p99.9 so far", at(percentile.P999), "ms"},
		figure{"failed of " + count(u.Counts.Requests), share(u.Counts.Errors.Total(), u.Counts.Requests), ""},
		figure{"clients connected", fmt.Sprintf("%d of %d", u.Connected, u.Clients), ""})
}
