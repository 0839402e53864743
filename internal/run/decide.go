package run

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/lane"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/ownership"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Decide returns what to do next about a run.
func Decide(run *v1alpha1.BenchmarkRun, o *observed.Run, now time.Time) Plan {
	p := newPlanner(run, o, now)
	switch {
	case !run.DeletionTimestamp.IsZero():
		p.reclaim()
		return p.Plan
	case state.IsFinished(run):
		p.cleanUp()
	case o.Refusal != nil && failure.MayBeAccepted(run, o, now):
		p.Retry(o.Refusal)
		p.requeueIn(failure.AcceptanceInterval)
	case o.Refusal != nil:
		p.fail(failure.ObjectRefused(run, o))
	case o.Stored != nil:
		p.complete()
	case failure.OutOfBounds(run, &o.Settings) != nil:
		p.fail(failure.OutOfBounds(run, &o.Settings))
	case state.IsSuspended(run):
		p.suspend()
	case !state.IsAdmitted(run) && !o.Position.Free:
		p.queue()
	case o.IsObstructed() && (!state.IsAdmitted(run) || !o.Collected(loadplan.Replicas(&run.Spec))):
		p.clear()
	default:
		p.admit()
		if f := p.failure(); f != nil {
			p.fail(f)
		} else {
			p.advance()
		}
	}
	p.salvage()
	p.recordEvents(run)
	p.finalizer()
	return p.Plan
}

// recordEvents adds to the timeline what the plan changes in the status of a run.
func (p *planner) recordEvents(run *v1alpha1.BenchmarkRun) {
	if !state.IsFinished(run) {
		p.Status.Timeline = state.Timeline(&run.Status, &p.Status, p.now)
	}
}

// Interrupted returns the plan for a run that could not be observed: it reports the error, and fails the run after its
// deadline.
func Interrupted(run *v1alpha1.BenchmarkRun, o *observed.Run, now time.Time, err error) Plan {
	p := newPlanner(run, o, now)
	if f := failure.Overdue(run, o, now); f != nil && !state.IsFinished(run) {
		p.fail(f)
		p.salvage()
		p.recordEvents(run)
		return p.Plan
	}
	if !state.IsFinished(run) {
		p.state(state.Of(run), "", p.Status.Progress)
	}
	p.recordEvents(run)
	p.Retry(err)
	return p.Plan
}

// failure returns why an admitted run can't end with a result, or nil. Once every client has sent
// its totals, nothing that happens to the pods can prevent it, only that they can't be stored.
func (p *planner) failure() *failure.Failure {
	run, o, now := p.run, p.observed, p.now
	for i := range o.Strays {
		if s := &o.Strays[i]; s.Relation == ownership.Foreign {
			return failure.NameConflict(s.Name())
		}
	}
	if f := failure.Overdue(run, o, now); f != nil || o.Collected(loadplan.Replicas(&run.Spec)) {
		return f
	}
	return failure.Find(run, o, now, p.mismatches)
}

func (p *planner) suspend() {
	p.Forget = true
	p.deleteChildren()
	p.Status.AdmissionTime, p.Status.MeasurementTime, p.Status.Artifact = nil, nil, nil
	p.Status.Target, p.Status.Clients, p.Status.Warmup, p.Status.Stop, p.Status.Abort = nil, nil, nil, nil, nil
	p.condition(v1alpha1.ConditionAdmitted, metav1.ConditionFalse, v1alpha1.ReasonSuspended, "spec.suspend is true.")
	p.condition(v1alpha1.ConditionTargetReady, metav1.ConditionFalse, v1alpha1.ReasonSuspended, "")
	p.condition(v1alpha1.ConditionClientsReady, metav1.ConditionFalse, v1alpha1.ReasonSuspended, "")
	p.state(v1alpha1.ReasonSuspended, "The run does not start while spec.suspend is true.", nil)
}

func (p *planner) queue() {
	position := p.observed.Position
	message := fmt.Sprintf("Waiting for lane %s: %d runs are ahead.", p.run.Spec.Lane, position.Ahead)
	switch {
	case position.Holder != "":
		message += " " + position.Holder + " hold the lane."
	case position.Held:
		message += " A run of another namespace or its pods hold the lane."
	}
	p.deleteLoad() // of an admission that could not be written
	p.requeueAt(position.HeldUntil)
	p.condition(v1alpha1.ConditionAdmitted, metav1.ConditionFalse, v1alpha1.ReasonQueued, message)
	p.state(v1alpha1.ReasonQueued, message, nil)
}

// clear deletes the objects whose names the run needs, and waits until they are gone. No pod of an object that the run
// hasn't recorded has spoken for it: a pod may do so only once its object is recorded.
func (p *planner) clear() {
	if state.IsAdmitted(p.run) {
		if f := p.failure(); f != nil {
			p.fail(f)
			return
		}
		p.requeueAt(observed.JudgedAt(p.run, p.observed))
	}
	for i := range p.observed.Strays {
		if s := &p.observed.Strays[i]; s.Relation != ownership.Foreign {
			p.awaitDeletion(s)
		}
		if p.Status.CompletionTime != nil {
			return
		}
	}
}

// origins says of which origin an object is whose name a run needs.
var origins = map[ownership.Relation]string{
	ownership.Own: "from before the run's suspension", ownership.EarlierRun: "of an earlier run", ownership.Unrecorded: "that the run has not recorded",
}

// awaitDeletion deletes an object, and waits until it is gone. The run ends if that takes too long: it is first in its
// lane, so that others wait for it.
func (p *planner) awaitDeletion(s *observed.Stray) {
	p.delete(s.Object)
	what := s.Name() + " " + origins[s.Relation]
	if since := deletedSince(s.Object); !since.IsZero() {
		end := p.observed.Deadline(since, lane.ReleaseTimeout)
		if !p.now.Before(end) {
			p.fail(failure.Newf(v1alpha1.ReasonNameConflict, "%s still exists %ds after its deletion.%s Give the run another name, or see why the object isn't deleted.",
				what, int(lane.ReleaseTimeout.Seconds()), finalizers(s.Object)))
			return
		}
		p.requeueAt(end)
	}
	message := fmt.Sprintf("Waiting for the deletion of %s.", what)
	if !state.IsAdmitted(p.run) {
		p.condition(v1alpha1.ConditionAdmitted, metav1.ConditionFalse, v1alpha1.ReasonQueued, message)
	}
	p.state(v1alpha1.ReasonQueued, message, nil)
	p.requeueIn(deletionInterval)
}

// deletedSince returns when the deletion of an object was requested, or zero. The deletion timestamp
// is later by the grace period, which whoever created the object chose.
func deletedSince(obj manifest.Object) time.Time {
	at := obj.GetDeletionTimestamp()
	if at.IsZero() {
		return time.Time{}
	}
	return at.Add(-time.Duration(ptr.Deref(obj.GetDeletionGracePeriodSeconds(), 0)) * time.Second)
}

func finalizers(obj manifest.Object) string {
	if len(obj.GetFinalizers()) == 0 {
		return ""
	}
	return " Its finalizers are " + strings.Join(obj.GetFinalizers(), ", ") + "."
}

func (p *planner) admit() {
	if state.IsAdmitted(p.run) {
		return
	}
	p.Forget = true // what pods reported before the run was suspended
	p.Status.AdmissionTime = ptr.To(metav1.NewTime(p.now))
	p.condition(v1alpha1.ConditionAdmitted, metav1.ConditionTrue, v1alpha1.ReasonAdmitted, "The run holds lane "+p.run.Spec.Lane+".")
	p.run.Status = p.Status
}

// advance takes an admitted run to its next stage.
func (p *planner) advance() {
	o, starts := p.observed, p.observed.Sessions.Starts
	p.requeueAt(observed.JudgedAt(p.run, o))
	if until, may := pods.MayBeStopping(o.Target, p.now); may {
		p.requeueAt(until)
	}
	p.requeueAt(o.LeaderSince.Add(observed.TakeoverGrace))
	collected := o.Collected(loadplan.Replicas(&p.run.Spec))
	if !collected && !p.prepare() || !p.observeTarget() {
		return
	}
	ready := p.ready()
	verified, missing := p.verify()
	switch {
	case collected:
		p.collect()
	case starts[sessionpb.Stage_STAGE_TEARDOWN] != 0:
		p.tearDown()
	case starts[sessionpb.Stage_STAGE_MEASUREMENT] != 0 && state.RunsScript(p.run) && p.loadsEnded():
		p.beginNow(sessionpb.Stage_STAGE_TEARDOWN)
		p.tearDown()
	case starts[sessionpb.Stage_STAGE_MEASUREMENT] != 0:
		p.measure(starts[sessionpb.Stage_STAGE_MEASUREMENT])
	case starts[sessionpb.Stage_STAGE_SETUP] != 0:
		p.setUp()
	case p.run.Spec.Load.Warmup != nil && starts[sessionpb.Stage_STAGE_WARMUP] != 0:
		p.warmUp(starts[sessionpb.Stage_STAGE_WARMUP])
	case !ready:
		p.awaitReadiness()
	case !verified:
		p.state(v1alpha1.ReasonStarting, "Waiting for the server's log: "+missing, nil)
	case !state.IsExternal(p.run) && !observed.CPUsKnown(p.run, o.Sessions.Agent):
		p.Read = true // its CPUs have to be known before there is load
		p.state(v1alpha1.ReasonStarting, "Waiting for the agent to report the target's CPUs.", nil)
	default:
		if f := failure.CPUNotExclusive(p.run, o); f != nil {
			p.fail(f)
		} else {
			p.startLoad()
		}
	}
}

func (p *planner) startLoad() {
	switch {
	case state.RunsScript(p.run):
		p.beginNow(sessionpb.Stage_STAGE_SETUP)
		p.setUp()
	case p.run.Spec.Load.Warmup != nil:
		p.begin(sessionpb.Stage_STAGE_WARMUP)
		p.warmUp(0)
	default:
		p.begin(sessionpb.Stage_STAGE_MEASUREMENT)
		p.measure(0)
	}
}
