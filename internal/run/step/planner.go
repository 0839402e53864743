package step

import (
	"fmt"
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
)

// Planner builds a plan from a run, what was observed of it, and the time.
type Planner struct {
	Plan
	Run      *v1alpha1.BenchmarkRun
	Observed *observed.Run
	Now      time.Time

	// Started describes the target as it was started. What can't be observed any more, because the
	// pod is gone or the manager was restarted, is as the status recorded it when it could.
	Started v1alpha1.TargetStatus
	// Config is the run's ConfigMap, existing or planned; loads are the clients' plans. See Frozen.
	Config *corev1.ConfigMap
	loads  []*session.Plan
	// inputs holds what the user's ConfigMaps contain, once that was read.
	inputs *inputs.Inputs
	// Logged holds what the logs contain, by container, Mismatches what differs from the spec.
	Logged     map[string]server.Log
	Mismatches []server.Mismatch
}

// NewPlanner returns the planner of a step, whose plan changes nothing yet.
func NewPlanner(run *v1alpha1.BenchmarkRun, o *observed.Run, now time.Time) *Planner {
	run = run.DeepCopy()
	p := &Planner{Run: run, Observed: o, Now: now}
	p.Status = run.Status
	p.Status.ObservedGeneration = ptr.To(run.Generation)
	if !state.IsFinished(run) {
		p.Status.Manager = o.Settings.Identity
	}
	if o.Target != nil && !state.IsFinished(run) {
		p.Record(o.Target)
	}
	if o.Job != nil && !state.IsFinished(run) {
		p.Record(o.Job)
	}
	if o.Logs != nil {
		p.Logged, p.Mismatches = server.ReadLogs(&run.Spec.Target, server.OwnIn(run.Status.Target), o.Logs)
	}
	return p
}

// SetState writes that the run is active, in a state that a reason names. Without progress there is none to show.
func (p *Planner) SetState(reason, message string, progress *v1alpha1.Progress) {
	p.SetCondition(v1alpha1.ConditionSucceeded, metav1.ConditionUnknown, reason, message)
	p.SetCondition(v1alpha1.ConditionFinished, metav1.ConditionFalse, v1alpha1.ReasonActive, "The run has not finished.")
	p.SetCondition(v1alpha1.ConditionReconciling, metav1.ConditionTrue, reason, message)
	p.SetCondition(v1alpha1.ConditionStalled, metav1.ConditionFalse, v1alpha1.ReasonActive, "The run has not finished.")
	if progress == nil {
		progress = &v1alpha1.Progress{}
	}
	progress.State = v1alpha1.RunState(reason)
	p.Status.Progress = progress
}

// SetCondition sets a condition of the status.
func (p *Planner) SetCondition(kind string, status metav1.ConditionStatus, reason, message string) {
	p.Draft().Set(kind, status, reason, message)
}

// Draft returns the status that is planned, to be written.
func (p *Planner) Draft() *state.Draft {
	return &state.Draft{BenchmarkRunStatus: &p.Status, Generation: p.Run.Generation, Now: p.Now}
}

// Planned returns the run with the status that is planned.
func (p *Planner) Planned() *v1alpha1.BenchmarkRun {
	planned := *p.Run
	planned.Status = p.Status
	return &planned
}

// Fail ends a run without a result. It drops everything that was planned. The children are deleted
// only when the verdict is written: after a crash in between, the run's pods would look lost.
func (p *Planner) Fail(f *failure.Failure) {
	p.Plan = Plan{Status: p.Status}
	conclusion.Fail(p.Draft(), p.Run, p.Observed, f)
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

// AddCreation plans to create an object, without which the run fails as its spec is invalid.
func (p *Planner) AddCreation(obj manifest.Object) {
	p.Create = append(p.Create, observed.Creation{Object: obj, Reason: v1alpha1.ReasonInvalidSpec})
}

// RequeueAt requests a reconciliation at a time, unless one is planned earlier. It ignores a time
// in the past, at which there was one.
func (p *Planner) RequeueAt(at time.Time) {
	if !at.Before(p.Now) {
		p.RequeueIn(at.Sub(p.Now) + time.Millisecond)
	}
}

// RequeueIn requests a reconciliation after a delay, unless one is planned earlier.
func (p *Planner) RequeueIn(delay time.Duration) {
	if p.RequeueAfter == 0 || delay < p.RequeueAfter {
		p.RequeueAfter = delay
	}
}

// CountClients returns the number of clients of which something is true.
func (p *Planner) CountClients(is func(*session.ClientState) bool) int {
	n := 0
	for i := range loadplan.Replicas(&p.Run.Spec) {
		if c := p.Observed.Sessions.Clients[i]; is(&c) {
			n++
		}
	}
	return n
}

// Waiting says of the first client that waits until the manager has memory why, as another sentence. It returns "" if none does.
func (p *Planner) Waiting() string {
	for i := range loadplan.Replicas(&p.Run.Spec) {
		if why := p.Observed.Sessions.Clients[i].Waiting; why != "" {
			return fmt.Sprintf(" Client %d waits for memory: %s.", i, why)
		}
	}
	return ""
}

// UserInputs returns what the run takes from the user's ConfigMaps.
func (p *Planner) UserInputs() *inputs.Inputs {
	if p.inputs == nil {
		p.inputs = inputs.Read(p.Run, p.Observed.Inputs)
	}
	return p.inputs
}

// Frozen returns the run's ConfigMap: the existing one, or the one that is planned. If it was
// deleted and can't be created again, it holds what can still be read of the inputs.
func (p *Planner) Frozen() (*corev1.ConfigMap, error) {
	if p.Config != nil {
		return p.Config, nil
	}
	p.Config = p.Observed.Config
	if p.Config == nil {
		var err error
		p.Config, err = manifest.ConfigMap(p.Run, &server.Rendering{}, &p.UserInputs().Inputs, nil)
		if err != nil {
			return nil, err
		}
	}
	return p.Config, nil
}

// LoadPlans returns the clients' plans by index.
func (p *Planner) LoadPlans() ([]*session.Plan, error) {
	if p.loads != nil {
		return p.loads, nil
	}
	config, err := p.Frozen()
	if err != nil {
		return nil, err
	}
	lengths, err := manifest.ReadContentLengths(config)
	if err != nil {
		return nil, err
	}
	p.loads = loadplan.Plans(p.Run, lengths)
	if p.Run.Spec.Load.RequestsFrom != nil {
		loadplan.AddList(p.loads, manifest.ReadRequests(config), lengths)
	}
	return p.loads, nil
}

// Succeeded reports whether the run has ended with a result.
func (p *Planner) Succeeded() bool {
	return meta.IsStatusConditionTrue(p.Status.Conditions, v1alpha1.ConditionSucceeded)
}

// AddDeletion plans to delete an object, unless that was requested already.
func (p *Planner) AddDeletion(obj manifest.Object) {
	if obj.GetDeletionTimestamp().IsZero() {
		p.Delete = append(p.Delete, obj)
	}
}
