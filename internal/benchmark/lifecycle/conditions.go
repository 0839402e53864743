package lifecycle

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// Reject says that the spec can't be run. No round begins for it.
func Reject(b *v1alpha1.Benchmark, hash, message string, now time.Time) {
	if b.Status.Round != nil { // else the first round is still to come
		b.Status.Hash = hash
	}
	b.Status.Verdict = v1alpha1.BenchmarkError
	settle(b, v1alpha1.BenchmarkError, v1alpha1.ReasonInvalidSpec, message, now)
	setter(b, now)(v1alpha1.ConditionReconciling, metav1.ConditionFalse, v1alpha1.ReasonInvalidSpec, "No round begins for the spec as it is.")
}

// IsRejected reports whether no round begins for the spec as it is. A round that ended since the API server rejected
// one of its cells has the same reason of Succeeded, but another one of Reconciling.
func IsRejected(b *v1alpha1.Benchmark) bool {
	c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.ConditionReconciling)
	return c != nil && c.Reason == v1alpha1.ReasonInvalidSpec && meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionFinished)
}

// Restore sets the state of the last round once the spec can be run again.
func Restore(b *v1alpha1.Benchmark, now time.Time) {
	round := b.Status.Round
	if round == nil || !IsRejected(b) {
		return
	}
	b.Status.Verdict = round.Verdict
	settle(b, round.Verdict, cmp.Or(round.Reason, string(round.Verdict)), fmt.Sprintf("Round %d ended before the spec was invalid for a while. Its report has the details.", round.Number), now)
}

// Good reports whether a round with the verdict passed or, without claims, was measured.
func Good(verdict v1alpha1.BenchmarkVerdict) bool {
	return verdict == v1alpha1.BenchmarkPassed || verdict == v1alpha1.BenchmarkMeasured
}

func settle(b *v1alpha1.Benchmark, verdict v1alpha1.BenchmarkVerdict, reason, message string, now time.Time) {
	set := setter(b, now)
	succeeded, stalled := metav1.ConditionTrue, metav1.ConditionFalse
	if !Good(verdict) {
		succeeded, stalled = metav1.ConditionFalse, metav1.ConditionTrue
	}
	set(v1alpha1.ConditionFinished, metav1.ConditionTrue, reason, message)
	set(v1alpha1.ConditionSucceeded, succeeded, reason, message)
	set(v1alpha1.ConditionReconciling, metav1.ConditionFalse, v1alpha1.ReasonFinished, "No round is under way.")
	set(v1alpha1.ConditionStalled, stalled, reason, message)
}

// Idle sets the state of a Benchmark that has had no round yet, since it is suspended.
func Idle(b *v1alpha1.Benchmark, now time.Time) {
	if b.Status.Round != nil {
		return
	}
	const message = "spec.suspend keeps the first round from beginning."
	set := setter(b, now)
	set(v1alpha1.ConditionFinished, metav1.ConditionFalse, v1alpha1.ReasonSuspended, message)
	set(v1alpha1.ConditionSucceeded, metav1.ConditionUnknown, v1alpha1.ReasonSuspended, message)
	set(v1alpha1.ConditionReconciling, metav1.ConditionFalse, v1alpha1.ReasonSuspended, message)
	set(v1alpha1.ConditionStalled, metav1.ConditionFalse, v1alpha1.ReasonSuspended, message)
}

// setter returns a function that sets a condition of a Benchmark.
func setter(b *v1alpha1.Benchmark, now time.Time) func(kind string, status metav1.ConditionStatus, reason, message string) {
	return func(kind string, status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: Bounded(message, maxMessage), ObservedGeneration: b.Generation,
			LastTransitionTime: metav1.NewTime(now),
		})
	}
}

// Retry adds to the status that the last step failed and is tried again: to the condition Reconciling, and during a
// round to Succeeded, too.
func Retry(b *v1alpha1.Benchmark, err error) {
	for _, c := range stateConditions(b) {
		before := Bounded(withoutRetry(c.Message), maxMessage-maxError-len(" "+v1alpha1.RetryPrefix))
		c.Message = strings.TrimSpace(before + " " + v1alpha1.RetryPrefix + Bounded(err.Error(), maxError))
	}
}

// ClearRetry removes from the status that a step failed.
func ClearRetry(b *v1alpha1.Benchmark) {
	for _, c := range stateConditions(b) {
		c.Message = withoutRetry(c.Message)
	}
}

func withoutRetry(message string) string {
	before, _, found := strings.Cut(message, v1alpha1.RetryPrefix)
	if !found {
		return message
	}
	return strings.TrimSpace(before)
}

func stateConditions(b *v1alpha1.Benchmark) (conditions []*metav1.Condition) {
	kinds := []string{v1alpha1.ConditionReconciling}
	if !meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionFinished) {
		kinds = append(kinds, v1alpha1.ConditionSucceeded)
	}
	for _, kind := range kinds {
		if c := meta.FindStatusCondition(b.Status.Conditions, kind); c != nil {
			conditions = append(conditions, c)
		}
	}
	return conditions
}
