package run

import (
	"cmp"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
)

// IsAdmitted reports whether the run has its lane.
func IsAdmitted(run *v1alpha1.BenchmarkRun) bool {
	return meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionAdmitted)
}

// IsFinished reports whether the run is in a terminal state.
func IsFinished(run *v1alpha1.BenchmarkRun) bool {
	return meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished)
}

// IsSuspended reports whether spec.suspend is set.
func IsSuspended(run *v1alpha1.BenchmarkRun) bool { return ptr.Deref(run.Spec.Suspend, false) }

// IsOver reports whether nothing of the run goes on: it is finished, suspended or being deleted. Its children are then
// deleted, or retained for their logs.
func IsOver(run *v1alpha1.BenchmarkRun) bool {
	return IsFinished(run) || IsSuspended(run) || !run.DeletionTimestamp.IsZero()
}

// Expects reports whether the run's status records an object of the kind of obj, without which the
// run would fail: the target's pod or the clients' Job.
func Expects(run *v1alpha1.BenchmarkRun, obj metav1.Object) bool {
	if IsOver(run) || run.Status.Children == nil {
		return false
	}
	switch obj.(type) {
	case *corev1.Pod:
		return run.Status.Children.TargetPodUID != ""
	case *batchv1.Job:
		return run.Status.Children.ClientJobUID != ""
	}
	return false
}

// Recorded reports whether the run's status records an object as its own, so that its pods may speak
// for the run. Only the target's pod and the clients' Job have to be recorded, and only while the run
// goes on: what a run leaves behind is deleted in any case.
func Recorded(run *v1alpha1.BenchmarkRun, obj metav1.Object) bool {
	if IsOver(run) {
		return true
	}
	children := ptr.Deref(run.Status.Children, v1alpha1.ChildrenStatus{})
	switch obj.(type) {
	case *corev1.Pod:
		return string(obj.GetUID()) == children.TargetPodUID
	case *batchv1.Job:
		return string(obj.GetUID()) == children.ClientJobUID
	}
	return true
}

// Succeeded returns the condition Succeeded as it was last written, or a zero condition. While the
// run is active, its reason is the run's state.
func Succeeded(run *v1alpha1.BenchmarkRun) metav1.Condition {
	return ptr.Deref(meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded), metav1.Condition{})
}

// State returns the run's state as it was last written.
func State(run *v1alpha1.BenchmarkRun) string {
	return cmp.Or(Succeeded(run).Reason, v1alpha1.ReasonQueued)
}

// verdictOf returns the verdict of a finished run, and the condition that makes it not Passed.
func verdictOf(conditions []metav1.Condition) (v1alpha1.Verdict, *metav1.Condition) {
	for _, by := range []struct {
		condition string
		verdict   v1alpha1.Verdict
	}{
		{v1alpha1.ConditionSucceeded, v1alpha1.VerdictError},
		{v1alpha1.ConditionValid, v1alpha1.VerdictInvalid},
		{v1alpha1.ConditionThresholdsMet, v1alpha1.VerdictFailed},
	} {
		if c := meta.FindStatusCondition(conditions, by.condition); c != nil && c.Status == metav1.ConditionFalse {
			return by.verdict, c
		}
	}
	return v1alpha1.VerdictPassed, nil
}

// underLoad reports whether the pods have begun their load in a state.
func underLoad(state string) bool {
	switch state {
	case v1alpha1.ReasonSettingUp, v1alpha1.ReasonWarmingUp, v1alpha1.ReasonMeasuring, v1alpha1.ReasonTearingDown, v1alpha1.ReasonCollecting:
		return true
	}
	return false
}

// targetWasReady reports whether the target was ever ready, even if this manager has no session
// with its agent: it may have been restarted.
func targetWasReady(run *v1alpha1.BenchmarkRun) bool {
	return meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionTargetReady)
}

// clientsWereReady is like targetWasReady for the clients.
func clientsWereReady(run *v1alpha1.BenchmarkRun) bool {
	return meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionClientsReady)
}

// isExternal reports whether the target is one that Assay doesn't start.
func isExternal(run *v1alpha1.BenchmarkRun) bool { return server.IsExternal(&run.Spec.Target) }

func runsScript(run *v1alpha1.BenchmarkRun) bool { return run.Spec.Script != nil }

// probed returns what the target's first successful answer showed, or nil if there was none yet.
func probed(run *v1alpha1.BenchmarkRun, o *Observed) *session.ProbeResult {
	if isExternal(run) {
		return o.Sessions.Clients[0].ProbeResult
	}
	if o.Sessions.Agent == nil {
		return nil
	}
	return o.Sessions.Agent.ProbeResult
}

func readinessTimeout(run *v1alpha1.BenchmarkRun) time.Duration {
	return seconds(ptr.Deref(run.Spec.Target.Readiness.TimeoutSeconds, 300))
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }

func targetReadyBy(run *v1alpha1.BenchmarkRun, o *Observed) time.Time {
	return o.Leadership.deadline(targetCreated(o), readinessTimeout(run))
}

// targetCreated returns the time at which the target was created, or the clients of an external one.
func targetCreated(o *Observed) time.Time {
	if o.Target == nil {
		return o.Job.CreationTimestamp.Time
	}
	return o.Target.CreationTimestamp.Time
}

// Bounded returns the first limit bytes of a text, without a partial character.
func Bounded(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}
