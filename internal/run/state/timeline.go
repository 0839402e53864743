package state

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// Timeline returns the timeline of a run whose status changes from before to after. Each event has one
// entry: a run that was suspended begins again where it comes to an event once more.
func Timeline(before, after *v1alpha1.BenchmarkRunStatus, now time.Time) []v1alpha1.TimelineEntry {
	entries := slices.Clone(before.Timeline)
	add := func(event v1alpha1.TimelineEvent) {
		if i := slices.IndexFunc(entries, func(e v1alpha1.TimelineEntry) bool { return e.Event == event }); i >= 0 {
			entries = entries[:i]
		}
		entries = append(entries, v1alpha1.TimelineEntry{Event: event, Time: metav1.NewMicroTime(now.Truncate(time.Microsecond))})
	}
	state, was := activeState(after), activeState(before)
	entered := state != was && state != ""
	if entered && !UnderLoad(state) {
		add(v1alpha1.TimelineEvent(state))
	}
	if isRecreated(after) && !isRecreated(before) {
		add(v1alpha1.EventTargetRecreated)
	}
	for _, ready := range []string{v1alpha1.ConditionTargetReady, v1alpha1.ConditionClientsReady} {
		if meta.IsStatusConditionTrue(after.Conditions, ready) && !meta.IsStatusConditionTrue(before.Conditions, ready) {
			add(v1alpha1.TimelineEvent(ready))
		}
	}
	if entered && UnderLoad(state) {
		add(v1alpha1.TimelineEvent(state))
	}
	if after.Artifact != nil && before.Artifact == nil {
		add(v1alpha1.EventStoring)
	}
	if after.CompletionTime != nil && before.CompletionTime == nil {
		add(v1alpha1.EventFinished)
	}
	return entries
}

// isRecreated reports whether a status says that the target's pod is created once more.
func isRecreated(status *v1alpha1.BenchmarkRunStatus) bool {
	c := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionTargetReady)
	return c != nil && c.Reason == v1alpha1.ReasonTargetRecreated
}

// activeState returns the state of a run that has not finished, or an empty text.
func activeState(status *v1alpha1.BenchmarkRunStatus) string {
	c := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionSucceeded)
	if c == nil || c.Status != metav1.ConditionUnknown {
		return ""
	}
	return c.Reason
}
