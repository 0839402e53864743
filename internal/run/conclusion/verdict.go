// Package conclusion makes the result of a run from what its pods sent, and writes the end of the run into its status: its
// metrics, its verdict and why.
package conclusion

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Complete ends a run that has a result.
func Complete(d *state.Draft, run *v1alpha1.BenchmarkRun, r *result.Result) {
	summarize(d, r)
	stopped := ""
	if r.Stop != nil {
		stopped = fmt.Sprintf(" The load ended after %ds, by spec.load.stages.stopAt: %s.", r.Stop.End, DescribeBreakingPoint(&r.Stop.BreakingPoint))
	}
	if r.Script != nil && r.Script.Abort != nil {
		stopped = fmt.Sprintf(" The load was aborted at second %d, by a threshold of the script with abortOnFail: %s.", r.Script.Abort.End, r.Script.Abort)
	}
	d.Set(v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonCompleted,
		fmt.Sprintf("%d requests were measured, %d of them failed.%s Show the result with: kubectl assay report %s -n %s",
			r.Merged.Requests, r.Merged.Errors.Total(), stopped, run.Name, run.Namespace))
	judge(d, r)
	archived(d)
	finish(d)
}

// Fail ends a run without a result.
func Fail(d *state.Draft, run *v1alpha1.BenchmarkRun, o *observed.Run, f *failure.Failure) {
	d.Artifact = nil
	d.Set(v1alpha1.ConditionSucceeded, metav1.ConditionFalse, f.Reason, f.Message+counted(d, run, o, f.Message))
	d.Set(v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonNoResult, "The run ended without a result.")
	if len(run.Spec.Thresholds) > 0 {
		d.Set(v1alpha1.ConditionThresholdsMet, metav1.ConditionFalse, v1alpha1.ReasonNoResult, "The run ended without a result.")
	}
	finish(d)
}

// maxStopped limits the clients whose last words a message has.
const maxStopped = 3

// counted adds to the progress of a run that fails what its clients had counted of the measurement until their last messages. It
// returns that, and what clients said that a signal stopped, as sentences that follow a message.
func counted(d *state.Draft, run *v1alpha1.BenchmarkRun, o *observed.Run, message string) string {
	seen := o.Sessions.Progress[sessionpb.Stage_STAGE_MEASUREMENT]
	before := ptr.Deref(d.Progress, v1alpha1.Progress{})
	if state.Of(run) == v1alpha1.ReasonMeasuring { // perhaps as another manager saw it
		seen.Requests, seen.Errors = max(seen.Requests, ptr.Deref(before.Requests, 0)), max(seen.Errors, ptr.Deref(before.Errors, 0))
	}
	if seen.Requests == 0 || o.Collected(run) {
		return ""
	}
	d.Progress = &v1alpha1.Progress{Percent: before.Percent, Requests: &seen.Requests, Errors: &seen.Errors}
	text := fmt.Sprintf(" Until their last messages the clients had counted %d requests of the measurement, %d of which failed: they are partial, and no result.", seen.Requests, seen.Errors)
	stopped := 0
	for i := range loadplan.Replicas(&run.Spec) {
		c := o.Sessions.Clients[i]
		if c.FailureKind != session.FailureStopped || c.Totals != nil || strings.Contains(message, c.Failure) {
			continue
		}
		if stopped++; stopped <= maxStopped {
			text += fmt.Sprintf(" Client %d: %s.", i, printable.WithoutPeriod(c.Failure))
		}
	}
	return text
}

// Salvage adds what a measurement showed to a run that failed after it was complete. Only what the status has no room for
// is lost.
func Salvage(d *state.Draft, r *result.Result) {
	summarize(d, r)
	judge(d, r)
	succeeded := meta.FindStatusCondition(d.Conditions, v1alpha1.ConditionSucceeded)
	d.Set(v1alpha1.ConditionSucceeded, metav1.ConditionFalse, succeeded.Reason, fmt.Sprintf(
		"%s The measurement was complete (%d requests, %d of them failed): status.result has its summary, but the full result is lost.",
		succeeded.Message, r.Merged.Requests, r.Merged.Errors.Total()))
	finish(d)
}

// finish ends a run whose conditions Succeeded, Valid and ThresholdsMet are set.
func finish(d *state.Draft) {
	verdict := meta.FindStatusCondition(d.Conditions, v1alpha1.ConditionSucceeded)
	d.Set(v1alpha1.ConditionFinished, metav1.ConditionTrue, verdict.Reason, verdict.Message)
	d.Set(v1alpha1.ConditionReconciling, metav1.ConditionFalse, v1alpha1.ReasonFinished, FinishedMessage)
	var reason *metav1.Condition
	if d.Verdict, reason = state.VerdictOf(d.Conditions); reason != nil {
		d.Set(v1alpha1.ConditionStalled, metav1.ConditionTrue, reason.Reason, reason.Message)
	} else {
		d.Set(v1alpha1.ConditionStalled, metav1.ConditionFalse, v1alpha1.ReasonFinished, "The run has passed.")
	}
	if !meta.IsStatusConditionTrue(d.Conditions, v1alpha1.ConditionAdmitted) {
		d.Set(v1alpha1.ConditionAdmitted, metav1.ConditionFalse, verdict.Reason, "The run ended before it was admitted to its lane.")
	}
	d.CompletionTime = ptr.To(metav1.NewTime(d.Now))
	progress := ptr.Deref(d.Progress, v1alpha1.Progress{})
	d.Progress = &v1alpha1.Progress{
		State: v1alpha1.StateFinished, Percent: progress.Percent, Requests: progress.Requests, Errors: progress.Errors,
	}
}

// FinishedMessage is the message of Reconciling of a finished run.
const FinishedMessage = "The run has finished."

// summarize adds the metrics of a result to the status.
func summarize(d *state.Draft, r *result.Result) {
	d.Result = ResultStatus(r)
	addBackendUsage(d.Target, r)
	d.Clients = clientStatuses(r)
	d.MeasurementTime = ptr.To(metav1.NewMicroTime(r.Run.MeasurementTime))
	d.Progress = &v1alpha1.Progress{
		Requests: ptr.To(r.Merged.Requests), Errors: ptr.To(r.Merged.Errors.Total()), Percent: ptr.To(int32(100)),
	}
}

// judge sets Valid and ThresholdsMet. Thresholds that an invalid result meets, or misses, are those of
// something else than the declared run, so that nobody knows whether that meets them.
func judge(d *state.Draft, r *result.Result) {
	status, reason := metav1.ConditionTrue, v1alpha1.ReasonValid
	var messages []string
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
	d.Set(v1alpha1.ConditionValid, status, reason, strings.Join(messages, " "))

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
		messages = append(messages, fmt.Sprintf("%s %s: %s (%s)", t.Name(), t.Bound, t.Actual, word))
	}
	message := strings.Join(messages, "; ")
	if r.Script != nil && r.Script.Abort != nil {
		reason = v1alpha1.ReasonAbortedOnFail
	}
	if !valid {
		status, reason = metav1.ConditionUnknown, v1alpha1.ReasonNotValid
		message = "The result is not valid, and neither is what it says of thresholds: " + message
	}
	d.Set(v1alpha1.ConditionThresholdsMet, status, reason, message)
}

// archived sets Archived for a run whose artifact exists: then its object does, too.
func archived(d *state.Draft) {
	if a := d.Artifact; a != nil && a.Object != nil {
		d.Set(v1alpha1.ConditionArchived, metav1.ConditionTrue, v1alpha1.ReasonArchived, "The full result is object "+a.Object.Key+" in bucket "+a.Object.Bucket+".")
	}
}
