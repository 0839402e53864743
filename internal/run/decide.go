package run

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/collect"
	"github.com/assay-dev/assay/internal/run/ending"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/lane"
	"github.com/assay-dev/assay/internal/run/loading"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/ownership"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/start"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Decide returns what to do next about a run.
func Decide(run *v1alpha1.BenchmarkRun, o *observed.Run, now time.Time) step.Plan {
	p := step.NewPlanner(run, o, now)
	switch {
	case !run.DeletionTimestamp.IsZero():
		ending.Reclaim(p)
		return p.Plan
	case state.IsFinished(run):
		ending.CleanUp(p)
	case o.Refusal != nil && failure.MayBeAccepted(run, o, now):
		p.Retry(o.Refusal)
		p.RequeueIn(failure.AcceptanceInterval)
	case o.Refusal != nil:
		p.Fail(failure.ObjectRefused(run, o))
	case o.Stored != nil:
		collect.Complete(p)
	case failure.OutOfBounds(run, &o.Settings) != nil:
		p.Fail(failure.OutOfBounds(run, &o.Settings))
	case state.IsSuspended(run):
		suspend(p)
	case o.JobSuspended() && !state.UnderLoad(state.Of(run)):
		park(p)
	case !state.IsAdmitted(run) && !o.Position.Free:
		queue(p)
	case o.IsObstructed() && (!state.IsAdmitted(run) || !o.Collected(run)):
		clear(p)
	default:
		admit(p)
		if start.Recreate(p) {
			break
		}
		if f := failure.Find(p.Run, p.Observed, p.Now, p.Mismatches); f != nil {
			p.Fail(f)
		} else {
			advance(p)
		}
	}
	collect.Salvage(p)
	recordEvents(p, run)
	ending.Finalizer(p)
	return p.Plan
}

// recordEvents adds to the timeline what the plan changes in the status of a run.
func recordEvents(p *step.Planner, run *v1alpha1.BenchmarkRun) {
	if !state.IsFinished(run) {
		p.Status.Timeline = state.Timeline(&run.Status, &p.Status, p.Now)
	}
}

// Interrupted returns the plan for a run that could not be observed: it reports the error, and fails the run after its
// deadline.
func Interrupted(run *v1alpha1.BenchmarkRun, o *observed.Run, now time.Time, err error) step.Plan {
	p := step.NewPlanner(run, o, now)
	if f := failure.Overdue(run, o, now); f != nil && !state.IsFinished(run) {
		p.Fail(f)
		collect.Salvage(p)
		recordEvents(p, run)
		return p.Plan
	}
	if !state.IsFinished(run) {
		p.SetState(state.Of(run), "", p.Status.Progress)
	}
	recordEvents(p, run)
	p.Retry(err)
	return p.Plan
}

func suspend(p *step.Planner) {
	p.Forget = true
	ending.DeleteChildren(p)
	p.Status.AdmissionTime, p.Status.MeasurementTime, p.Status.Artifact = nil, nil, nil
	p.Status.Target, p.Status.Clients, p.Status.Warmup, p.Status.Stop, p.Status.Abort = nil, nil, nil, nil, nil
	p.SetCondition(v1alpha1.ConditionAdmitted, metav1.ConditionFalse, v1alpha1.ReasonSuspended, "spec.suspend is true.")
	p.SetCondition(v1alpha1.ConditionTargetReady, metav1.ConditionFalse, v1alpha1.ReasonSuspended, "")
	p.SetCondition(v1alpha1.ConditionClientsReady, metav1.ConditionFalse, v1alpha1.ReasonSuspended, "")
	p.SetState(v1alpha1.ReasonSuspended, "The run does not start while spec.suspend is true.", nil)
}

// park lets a run wait, without its lane and without a target, until its clients' Job is resumed.
func park(p *step.Planner) {
	p.Forget = true
	if p.Observed.Target != nil {
		p.AddDeletion(p.Observed.Target)
	}
	message := failure.SuspendedJob(p.Run, p.Observed) + ". The run waits, and holds no lane and no target, until it is resumed."
	p.Status.AdmissionTime, p.Status.Target = nil, nil
	for _, kind := range []string{v1alpha1.ConditionAdmitted, v1alpha1.ConditionTargetReady, v1alpha1.ConditionClientsReady} {
		p.SetCondition(kind, metav1.ConditionFalse, v1alpha1.ReasonJobSuspended, message)
	}
	p.SetState(v1alpha1.ReasonQueued, message, nil)
}

func queue(p *step.Planner) {
	position := p.Observed.Position
	message := fmt.Sprintf("Waiting for lane %s: %d runs are ahead.", p.Run.Spec.Lane, position.Ahead)
	reason := v1alpha1.ReasonQueued
	switch {
	case position.Full != "":
		reason = v1alpha1.ReasonNamespaceFull
		message = "Waiting until namespace " + p.Run.Namespace + " may have another active run: " + position.Full + "."
	case position.Holder != "":
		message += " " + position.Holder + " hold the lane."
	case position.Held:
		message += " A run of another namespace or its pods hold the lane."
	}
	switch {
	case state.IsParked(p.Run): // it gets its place now
		p.RequeueIn(time.Second)
	case !observed.IsQueued(p.Run):
		ending.DeleteLoad(p) // of an admission that could not be written
	}
	p.RequeueAt(position.HeldUntil)
	p.SetCondition(v1alpha1.ConditionAdmitted, metav1.ConditionFalse, reason, message)
	p.SetState(v1alpha1.ReasonQueued, message, nil)
}

// clear deletes the objects whose names the run needs, and waits until they are gone. No pod of an object that the run
// hasn't recorded has spoken for it: a pod may do so only once its object is recorded.
func clear(p *step.Planner) {
	if state.IsAdmitted(p.Run) {
		if f := failure.Find(p.Run, p.Observed, p.Now, p.Mismatches); f != nil {
			p.Fail(f)
			return
		}
		p.RequeueAt(observed.JudgedAt(p.Run, p.Observed))
	}
	for i := range p.Observed.Strays {
		if s := &p.Observed.Strays[i]; s.Relation != ownership.Foreign {
			awaitDeletion(p, s)
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
func awaitDeletion(p *step.Planner, s *observed.Stray) {
	p.AddDeletion(s.Object)
	what := s.Name() + " " + origins[s.Relation]
	if since := deletedSince(s.Object); !since.IsZero() {
		end := p.Observed.Deadline(since, lane.ReleaseTimeout)
		if !p.Now.Before(end) {
			p.Fail(failure.NotDeleted(what, s.Object.GetFinalizers()))
			return
		}
		p.RequeueAt(end)
	}
	message := fmt.Sprintf("Waiting for the deletion of %s.", what)
	if !state.IsAdmitted(p.Run) {
		p.SetCondition(v1alpha1.ConditionAdmitted, metav1.ConditionFalse, v1alpha1.ReasonQueued, message)
	}
	p.SetState(v1alpha1.ReasonQueued, message, nil)
	p.RequeueIn(ending.DeletionInterval)
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

func admit(p *step.Planner) {
	if state.IsAdmitted(p.Run) {
		return
	}
	p.Forget = true // what pods reported before the run was suspended
	p.Status.AdmissionTime = ptr.To(metav1.NewTime(p.Now))
	p.SetCondition(v1alpha1.ConditionAdmitted, metav1.ConditionTrue, v1alpha1.ReasonAdmitted, "The run holds lane "+p.Run.Spec.Lane+".")
	p.Run.Status = p.Status
}

// advance takes an admitted run to its next stage.
func advance(p *step.Planner) {
	o, starts := p.Observed, p.Observed.Sessions.Starts
	p.RequeueAt(observed.JudgedAt(p.Run, o))
	if until, may := pods.MayBeStopping(p.Run, o.Target, p.Now); may {
		p.RequeueAt(until)
	}
	for _, pod := range o.Clients {
		if ended, until := pods.ClientEnded(pod, p.Now); !ended && !until.IsZero() {
			p.RequeueAt(until)
		}
	}
	p.RequeueAt(o.LeaderSince.Add(observed.TakeoverGrace))
	collected := o.Collected(p.Run)
	if !collected && !start.Prepare(p) || !start.ObserveTarget(p) {
		return
	}
	ready := start.Ready(p)
	verified, missing := start.Verify(p)
	switch {
	case collected:
		collect.Collect(p)
	case starts[sessionpb.Stage_STAGE_TEARDOWN] != 0:
		loading.TearDown(p)
	case starts[sessionpb.Stage_STAGE_MEASUREMENT] != 0 && state.RunsScript(p.Run) && loading.Ended(p):
		loading.BeginNow(p, sessionpb.Stage_STAGE_TEARDOWN)
		loading.TearDown(p)
	case starts[sessionpb.Stage_STAGE_MEASUREMENT] != 0:
		loading.Measure(p, starts[sessionpb.Stage_STAGE_MEASUREMENT])
	case starts[sessionpb.Stage_STAGE_SETUP] != 0:
		loading.SetUp(p)
	case p.Run.Spec.Load.Warmup != nil && starts[sessionpb.Stage_STAGE_WARMUP] != 0:
		loading.WarmUp(p, starts[sessionpb.Stage_STAGE_WARMUP])
	case !ready:
		start.AwaitReadiness(p)
	case !verified:
		p.SetState(v1alpha1.ReasonStarting, "Waiting for the server's log: "+missing, nil)
	case !state.IsExternal(p.Run) && !observed.CPUsKnown(p.Run, o.Sessions.Agent):
		p.Read = true // its CPUs have to be known before there is load
		p.SetState(v1alpha1.ReasonStarting, "Waiting for the agent to report the target's CPUs.", nil)
	default:
		if f := failure.CPUNotExclusive(p.Run, o); f != nil {
			p.Fail(f)
		} else {
			loading.Start(p)
		}
	}
}
