package run

import (
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/run/conclusion"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/inputs"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// startLead is the time from setting a start time until that time, so that it reaches every
	// client before it comes. startLeadPerClient is added for each client.
	startLead          = 100 * time.Millisecond
	startLeadPerClient = 200 * time.Microsecond
)

// planner builds a plan from a run, what was observed of it, and the time.
type planner struct {
	Plan
	run      *v1alpha1.BenchmarkRun
	observed *observed.Run
	now      time.Time

	// started describes the target as it was started. What can't be observed any more, because the
	// pod is gone or the manager was restarted, is as the status recorded it when it could.
	started v1alpha1.TargetStatus
	// config is the run's ConfigMap, existing or planned; loads are the clients' plans. See frozen.
	config *corev1.ConfigMap
	loads  []*session.Plan
	// inputs holds what the user's ConfigMaps contain, once that was read.
	inputs *inputs.Inputs
	// logged holds what the logs contain, by container, mismatches what differs from the spec.
	logged     map[string]server.Log
	mismatches []server.Mismatch
}

func newPlanner(run *v1alpha1.BenchmarkRun, o *observed.Run, now time.Time) *planner {
	run = run.DeepCopy()
	p := &planner{run: run, observed: o, now: now}
	p.Status = run.Status
	p.Status.ObservedGeneration = ptr.To(run.Generation)
	if o.Target != nil && !state.IsFinished(run) {
		p.Record(o.Target)
	}
	if o.Job != nil && !state.IsFinished(run) {
		p.Record(o.Job)
	}
	if o.Logs != nil {
		p.logged, p.mismatches = server.ReadLogs(&run.Spec.Target, o.Logs)
	}
	return p
}

func (p *planner) state(reason, message string, progress *v1alpha1.Progress) {
	p.condition(v1alpha1.ConditionSucceeded, metav1.ConditionUnknown, reason, message)
	p.condition(v1alpha1.ConditionFinished, metav1.ConditionFalse, v1alpha1.ReasonActive, "The run has not finished.")
	p.condition(v1alpha1.ConditionReconciling, metav1.ConditionTrue, reason, message)
	p.condition(v1alpha1.ConditionStalled, metav1.ConditionFalse, v1alpha1.ReasonActive, "The run has not finished.")
	if progress == nil {
		progress = &v1alpha1.Progress{}
	}
	progress.State = v1alpha1.RunState(reason)
	p.Status.Progress = progress
}

func (p *planner) condition(kind string, status metav1.ConditionStatus, reason, message string) {
	p.draft().Set(kind, status, reason, message)
}

// draft returns the status that is planned, to be written.
func (p *planner) draft() *state.Draft {
	return &state.Draft{BenchmarkRunStatus: &p.Status, Generation: p.run.Generation, Now: p.now}
}

// planned returns the run with the status that is planned.
func (p *planner) planned() *v1alpha1.BenchmarkRun {
	planned := *p.run
	planned.Status = p.Status
	return &planned
}

// fail ends a run without a result. It drops everything that was planned. The children are deleted
// only when the verdict is written: after a crash in between, the run's pods would look lost.
func (p *planner) fail(f *failure.Failure) {
	p.Plan = Plan{Status: p.Status}
	conclusion.Fail(p.draft(), p.run, f)
}

// Retry adds to the status that the last step failed and is tried again. A finished run says so in
// the condition Reconciling, any other in Succeeded too.
func (p *Plan) Retry(err error) {
	kinds := []string{v1alpha1.ConditionReconciling}
	if !meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionFinished) {
		kinds = append(kinds, v1alpha1.ConditionSucceeded)
	}
	for _, kind := range kinds {
		if c := meta.FindStatusCondition(p.Status.Conditions, kind); c != nil {
			before, _, _ := strings.Cut(c.Message, v1alpha1.RetryPrefix)
			c.Message = strings.TrimSpace(printable.Bounded(before, state.MaxMessage/2)) + " " + v1alpha1.RetryPrefix + printable.Bounded(err.Error(), maxError)
			c.Message = strings.TrimSpace(c.Message)
		}
	}
}

// maxError limits an error in the message of a condition.
const maxError = 1024

func (p *planner) create(obj manifest.Object) {
	p.Create = append(p.Create, observed.Creation{Object: obj, Reason: v1alpha1.ReasonInvalidSpec})
}

// requeueAt requests a reconciliation at a time, unless one is planned earlier. It ignores a time
// in the past, at which there was one.
func (p *planner) requeueAt(at time.Time) {
	if !at.Before(p.now) {
		p.requeueIn(at.Sub(p.now) + time.Millisecond)
	}
}

// requeueIn requests a reconciliation after a delay, unless one is planned earlier.
func (p *planner) requeueIn(delay time.Duration) {
	if p.RequeueAfter == 0 || delay < p.RequeueAfter {
		p.RequeueAfter = delay
	}
}

func (p *planner) countClients(is func(*session.ClientState) bool) int {
	n := 0
	for i := range loadplan.Replicas(&p.run.Spec) {
		if c := p.observed.Sessions.Clients[i]; is(&c) {
			n++
		}
	}
	return n
}

func (p *planner) userInputs() *inputs.Inputs {
	if p.inputs == nil {
		p.inputs = inputs.Read(p.run, p.observed.Inputs)
	}
	return p.inputs
}

// frozen returns the run's ConfigMap: the existing one, or the one that is planned. If it was
// deleted and can't be created again, it holds what can still be read of the inputs.
func (p *planner) frozen() (*corev1.ConfigMap, error) {
	if p.config != nil {
		return p.config, nil
	}
	p.config = p.observed.Config
	if p.config == nil {
		var err error
		p.config, err = manifest.ConfigMap(p.run, &server.Rendering{}, &p.userInputs().Inputs, nil)
		if err != nil {
			return nil, err
		}
	}
	return p.config, nil
}

// loadPlans returns the clients' plans by index.
func (p *planner) loadPlans() ([]*session.Plan, error) {
	if p.loads != nil {
		return p.loads, nil
	}
	config, err := p.frozen()
	if err != nil {
		return nil, err
	}
	lengths, err := manifest.ReadContentLengths(config)
	if err != nil {
		return nil, err
	}
	p.loads = loadplan.Plans(p.run, lengths)
	if p.run.Spec.Load.RequestsFrom != nil {
		loadplan.AddList(p.loads, manifest.ReadRequests(config), lengths)
	}
	return p.loads, nil
}

// progress returns the progress of a stage of a certain extent that began at at, or hasn't begun if
// that is 0.
func (p *planner) progress(stage sessionpb.Stage, at int64, extent loadplan.Extent) *v1alpha1.Progress {
	seen := p.observed.Sessions.Progress[stage]
	progress := &v1alpha1.Progress{}
	tool := p.run.Spec.Clients.Tool != nil // which reports nothing until it ends
	if !tool {
		progress.Requests, progress.Errors = ptr.To(seen.Requests), ptr.To(seen.Errors)
		progress.RequestsPerSecond = strconv.FormatInt(seen.RequestsPerSecond, 10)
	}
	if extent == (loadplan.Extent{}) || tool && extent.Requests > 0 {
		return progress
	}
	elapsed := 0.0
	if at != 0 {
		elapsed = max(time.Duration(p.observed.Sessions.Now-at)*time.Microsecond, 0).Seconds()
	}
	done := elapsed / float64(extent.Seconds)
	if extent.Requests > 0 {
		done = float64(seen.Requests+seen.Dropped) / float64(extent.Requests)
	}
	done = min(done, 1)
	progress.Percent = ptr.To(int32(done * 100))
	if done > 0 {
		progress.RemainingSeconds = ptr.To(int64(elapsed * (1 - done) / done))
	}
	return progress
}

// succeeded reports whether the run has ended with a result.
func (p *planner) succeeded() bool {
	return meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionSucceeded)
}
