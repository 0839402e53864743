package live

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/k6metric"
	"github.com/assay-dev/assay/internal/live"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/validity"
)

// Sessions is the part of the session server that a feed reads.
type Sessions interface {
	Observe(run string) session.Observation
	Follow(run string, clients int, l *manager.Live)
}

// feed makes the updates of one run, for all who view it.
type feed struct {
	sessions Sessions
	figures  manager.Live
	// until is the first second that the update before hadn't, width the number of seconds of its entries.
	until, width int64
	findings     []live.Finding // of the update before
	state        *live.Update
}

// next returns the update of a run since the call before. state is then the same from the start on.
func (f *feed) next(run *v1alpha1.BenchmarkRun) *live.Update {
	uid, replicas := string(run.UID), loadplan.Replicas(&run.Spec)
	o := f.sessions.Observe(uid)
	f.sessions.Follow(uid, replicas, &f.figures)
	u := &live.Update{
		UID: uid, State: stateOf(run), Now: o.Now, Start: o.Starts[sessionpb.Stage_STAGE_MEASUREMENT], Clients: replicas,
		Counts: f.figures.Counts, Script: scriptOf(&o),
	}
	for _, c := range o.Clients {
		if c.Connected {
			u.Connected++
		}
	}
	if p, ok := o.Progress[sessionpb.Stage_STAGE_WARMUP]; ok && u.Start == 0 {
		u.Progress = &live.Progress{Requests: p.Requests, Errors: p.Errors, RequestsPerSecond: p.RequestsPerSecond}
	}
	if t := f.figures.Total; t != nil && t.Count() > 0 {
		latency := t.Summarize(0)
		u.Latency = &latency
	}
	for i := range f.figures.Seconds {
		u.Seconds = append(u.Seconds, live.Trim(f.figures.Seconds[i]))
	}
	u.Findings = f.judge(run, &o, u.Passed())
	f.state = u
	return f.since(u)
}

// scriptOf merges the metrics of a script that clients have sent so far. It returns nil if none has sent any.
func scriptOf(o *session.Observation) *live.Script {
	var all [][]k6metric.Metric
	s := &live.Script{}
	for _, i := range slices.Sorted(maps.Keys(o.Clients)) {
		if sent := o.Clients[i].Metrics; sent != nil {
			all = append(all, sent.Metrics)
			s.Clients++
			s.Omitted = max(s.Omitted, sent.Omitted)
		}
	}
	if s.Clients == 0 {
		return nil
	}
	merged, omitted := k6metric.Merge(all...)
	s.Omitted += omitted
	for i := range merged {
		s.Metrics = append(s.Metrics, merged[i].Summarize())
	}
	return s
}

// since returns what of a state is new.
func (f *feed) since(state *live.Update) *live.Update {
	from, width := f.until, int64(0)
	if len(state.Seconds) > 0 {
		width = state.Seconds[0].Seconds
	}
	u := *state
	if from > state.Passed() || width != f.width {
		from = 0 // another leader's seconds, or longer entries
	}
	first := slices.IndexFunc(u.Seconds, func(s result.Second) bool { return s.Second >= from })
	if first < 0 {
		first = len(u.Seconds)
	}
	u.From, u.Seconds = from, u.Seconds[first:]
	f.until, f.width = state.Passed(), width
	return &u
}

// judge returns the findings so far, each with the second at which it was there first.
func (f *feed) judge(run *v1alpha1.BenchmarkRun, o *session.Observation, passed int64) []live.Finding {
	r := &result.Result{Series: f.figures.Seconds, DurationMicroseconds: passed * time.Second.Microseconds()}
	r.Run.Image = run.Spec.Target.Image
	r.Merged.Counts = f.figures.Counts
	if f.figures.Total != nil {
		r.Merged.Latencies[result.Total] = f.figures.Total
	}
	r.Clients = make([]result.Client, loadplan.Replicas(&run.Spec))
	for i := range r.Clients {
		r.Clients[i].EndedAt = r.DurationMicroseconds
	}
	r.Environment.TargetCPULimit = manifest.CPUMillis(run.Spec.Target.Resources)
	r.Environment.ClientCPULimit = manifest.CPUMillis(run.Spec.Clients.Resources)
	if t := run.Status.Target; t != nil {
		r.Environment.CPUExclusivity = string(t.CPUExclusivity)
	}
	for i := range run.Spec.Target.Backends {
		b := &run.Spec.Target.Backends[i]
		r.Environment.Backends = append(r.Environment.Backends, result.BackendEnvironment{Name: b.Name, CPULimit: manifest.CPUMillis(b.Resources)})
	}
	r.Server, r.Backends = o.Agent.Measured()
	if o.Agent != nil {
		r.NodeUsage = o.Agent.NodeUsage
	}
	found := validity.SoFar(r)
	var accepted []string
	for _, reason := range run.Spec.AcceptedFindings {
		accepted = append(accepted, string(reason))
	}
	validity.Accept(found, accepted)
	before := f.findings
	f.findings = nil
	for _, finding := range found {
		first := passed
		if at := slices.IndexFunc(before, func(b live.Finding) bool { return b.Reason == finding.Reason }); at >= 0 {
			first = before[at].Second
		}
		f.findings = append(f.findings, live.Finding{Finding: finding, Second: first})
	}
	return f.findings
}

// stateOf returns a run's state, Finished for every terminal one.
func stateOf(run *v1alpha1.BenchmarkRun) string {
	if meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) {
		return string(v1alpha1.StateFinished)
	}
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded); c != nil {
		return c.Reason
	}
	return ""
}

// encode returns an update as a line.
func encode(u *live.Update) ([]byte, error) {
	line, err := json.Marshal(u)
	return append(line, '\n'), err
}
