// Package state reads what a run's status says of it: how far it is, and its timeline.
package state

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
)

// MaxMessage limits the message of a condition, as metav1.Condition does.
const MaxMessage = 32768

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

// IsParked reports whether the run waits, without its lane, because its clients' Job is suspended.
func IsParked(run *v1alpha1.BenchmarkRun) bool {
	c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionAdmitted)
	return c != nil && c.Status == metav1.ConditionFalse && c.Reason == v1alpha1.ReasonJobSuspended
}

// IsOver reports whether nothing of the run goes on: it is finished, suspended or being deleted. Its children are then
// deleted, or retained for their logs.
func IsOver(run *v1alpha1.BenchmarkRun) bool {
	return IsFinished(run) || IsSuspended(run) || !run.DeletionTimestamp.IsZero()
}

// Succeeded returns the condition Succeeded as it was last written, or a zero condition. While the
// run is active, its reason is the run's state.
func Succeeded(run *v1alpha1.BenchmarkRun) metav1.Condition {
	return ptr.Deref(meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded), metav1.Condition{})
}

// Of returns the run's state as it was last written.
func Of(run *v1alpha1.BenchmarkRun) string {
	return cmp.Or(Succeeded(run).Reason, v1alpha1.ReasonQueued)
}

// VerdictOf returns the verdict of a finished run, and the condition that makes it not Passed.
func VerdictOf(conditions []metav1.Condition) (v1alpha1.Verdict, *metav1.Condition) {
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

// UnderLoad reports whether the pods have begun their load in a state.
func UnderLoad(state string) bool {
	switch state {
	case v1alpha1.ReasonSettingUp, v1alpha1.ReasonWarmingUp, v1alpha1.ReasonMeasuring, v1alpha1.ReasonTearingDown, v1alpha1.ReasonCollecting:
		return true
	}
	return false
}

// TargetWasReady reports whether the target was ever ready, even if this manager has no session
// with its agent: it may have been restarted.
func TargetWasReady(run *v1alpha1.BenchmarkRun) bool {
	return meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionTargetReady)
}

// ClientsWereReady is like targetWasReady for the clients.
func ClientsWereReady(run *v1alpha1.BenchmarkRun) bool {
	return meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionClientsReady)
}

// IsExternal reports whether the target is one that Assay doesn't start.
func IsExternal(run *v1alpha1.BenchmarkRun) bool { return server.IsExternal(&run.Spec.Target) }

// RunsScript reports whether the clients run a k6 script.
func RunsScript(run *v1alpha1.BenchmarkRun) bool { return run.Spec.Script != nil }

// ReadinessTimeout returns the time within which the target must answer its readiness probe.
func ReadinessTimeout(run *v1alpha1.BenchmarkRun) time.Duration {
	return Seconds(ptr.Deref(run.Spec.Target.Readiness.TimeoutSeconds, 300))
}

// Seconds returns a number of seconds as a duration.
func Seconds(n int32) time.Duration { return time.Duration(n) * time.Second }

// HasFinalizer reports whether a run is kept until its objects are deleted from their bucket.
func HasFinalizer(run *v1alpha1.BenchmarkRun) bool {
	return slices.Contains(run.Finalizers, v1alpha1.FinalizerBucketObjects)
}
