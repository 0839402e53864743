package start

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/ending"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/run/step"
)

// Recreate deletes a target whose container could not be started because the kubelet was stopped meanwhile, so that it is
// created once more: nothing was measured yet. The timeline notes it, and the target that is created after that is the last.
// It reports whether the run waits for that.
func Recreate(p *step.Planner) bool {
	target := p.Observed.Target
	if target == nil || state.UnderLoad(state.Of(p.Run)) || state.TargetWasReady(p.Run) {
		return false
	}
	status := pods.ServerEnd(p.Run, target)
	if status == nil || !pods.NeverRan(status.State.Terminated) || !strings.Contains(status.State.Terminated.Message, "context canceled") {
		return false
	}
	before := slices.IndexFunc(p.Run.Status.Timeline, func(e v1alpha1.TimelineEntry) bool { return e.Event == v1alpha1.EventTargetRecreated })
	if before >= 0 && target.CreationTimestamp.After(p.Run.Status.Timeline[before].Time.Time) {
		return false
	}
	p.AddDeletion(target)
	p.Status.Target = nil
	message := "The kubelet was stopped while it started the target, which is created once more: " + pods.Exit(status.State.Terminated)
	p.SetCondition(v1alpha1.ConditionTargetReady, metav1.ConditionFalse, v1alpha1.ReasonTargetRecreated, message)
	p.SetState(v1alpha1.ReasonStarting, message, nil)
	p.RequeueIn(ending.DeletionInterval)
	return true
}
