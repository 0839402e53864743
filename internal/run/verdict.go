package run

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/state"
)

// complete ends a run whose artifact exists.
func (p *planner) complete() {
	if f := failure.ArtifactInvalid(p.run, p.observed.Stored); f != nil {
		p.fail(f)
		return
	}
	r := p.observed.Stored.Result
	p.summarize(r)
	stopped := ""
	if r.Stop != nil {
		stopped = fmt.Sprintf(" The load ended after %ds, by spec.load.stages.stopAt: %s.", r.Stop.End, describeBreakingPoint(&r.Stop.BreakingPoint))
	}
	if r.Script != nil && r.Script.Abort != nil {
		stopped = fmt.Sprintf(" The load was aborted at second %d, by a threshold of the script with abortOnFail: %s.", r.Script.Abort.End, r.Script.Abort)
	}
	p.condition(v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonCompleted,
		fmt.Sprintf("%d requests were measured, %d of them failed.%s Show the result with: kubectl assay report %s -n %s",
			r.Merged.Requests, r.Merged.Errors.Total(), stopped, p.run.Name, p.run.Namespace))
	p.judge(r)
	p.archived()
	p.finish()
	p.Release = true
	p.requeueIn(exitTimeout)
}

// summarize adds the figures of a result to the status.
func (p *planner) summarize(r *result.Result) {
	p.Status.Result = resultStatus(r)
	addBackendUsage(p.Status.Target, r)
	p.Status.Clients = clientStatuses(r)
	p.Status.MeasurementTime = ptr.To(metav1.NewMicroTime(r.Run.MeasurementTime))
	p.Status.Progress = &v1alpha1.Progress{
		Requests: ptr.To(r.Merged.Requests), Errors: ptr.To(r.Merged.Errors.Total()), Percent: ptr.To(int32(100)),
	}
}

// salvage adds the figures to the status of a run that ends now without an artifact, although every client
// has sent its totals. Only what the status has no room for is lost.
func (p *planner) salvage() {
	if state.IsFinished(p.run) || p.Status.CompletionTime == nil || p.Status.Verdict != v1alpha1.VerdictError || !p.observed.Collected(loadplan.Replicas(&p.run.Spec)) {
		return
	}
	r, err := p.measured()
	if err != nil {
		return // the failure says so
	}
	p.summarize(r)
	p.judge(r)
	succeeded := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionSucceeded)
	p.condition(v1alpha1.ConditionSucceeded, metav1.ConditionFalse, succeeded.Reason, fmt.Sprintf(
		"%s The measurement was complete (%d requests, %d of them failed): status.result has its summary, but the full result is lost.",
		succeeded.Message, r.Merged.Requests, r.Merged.Errors.Total()))
	p.finish()
}

// measured returns the merged result of a run that ends without an artifact.
func (p *planner) measured() (*result.Result, error) {
	if unstored := p.observed.Unstored; unstored != nil {
		return unstored.Result, nil
	}
	p.started = ptr.Deref(p.Status.Target, v1alpha1.TargetStatus{})
	return p.merge()
}

// judge sets Valid and ThresholdsMet. Thresholds that an invalid result meets, or misses, are those of
// something else than the declared run, so that nobody knows whether that meets them.
func (p *planner) judge(r *result.Result) {
	status, reason := metav1.ConditionTrue, v1alpha1.ReasonValid
	var messages []string
	p.Findings = r.Findings
	for _, finding := range r.Findings {
		switch {
		case finding.Severity == result.Invalidates && status == metav1.ConditionTrue:
			status, reason = metav1.ConditionFalse, finding.Reason
		case finding.Severity == result.Warns && status == metav1.ConditionTrue:
			reason = v1alpha1.ReasonWarnings
		case finding.Severity == result.Accepted && reason == v1alpha1.ReasonValid:
			reason = v1alpha1.ReasonAccepted
		}
		name := finding.Reason
		if finding.Severity == result.Accepted {
			name += " (accepted)"
		}
		messages = append(messages, name+": "+strings.TrimSuffix(finding.Message, ".")+".")
	}
	if len(messages) == 0 {
		messages = append(messages, "There are no findings.")
	}
	p.condition(v1alpha1.ConditionValid, status, reason, strings.Join(messages, " "))

	if len(r.Thresholds) == 0 {
		return
	}
	valid := status == metav1.ConditionTrue
	status, reason = metav1.ConditionTrue, v1alpha1.ReasonThresholdsMet
	messages = nil
	for _, t := range r.Thresholds {
		word := "met"
		if !t.Met {
			word = "missed"
			status, reason = metav1.ConditionFalse, v1alpha1.ReasonThresholdsMissed
		}
		messages = append(messages, fmt.Sprintf("%s %s: %s (%s)", t.Metric, t.Bound, t.Actual, word))
	}
	message := strings.Join(messages, "; ")
	if r.Script != nil && r.Script.Abort != nil {
		reason = v1alpha1.ReasonAbortedOnFail
	}
	if !valid {
		status, reason = metav1.ConditionUnknown, v1alpha1.ReasonNotValid
		message = "The result is not valid, and neither is what it says of thresholds: " + message
	}
	p.condition(v1alpha1.ConditionThresholdsMet, status, reason, message)
}
