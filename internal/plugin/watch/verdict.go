package watch

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/report"
)

// verdict is what became of a finished run: what to say and the exit code.
type verdict struct {
	code  int
	lines []string
}

func (v *verdict) say(format string, args ...any) {
	v.lines = append(v.lines, report.Printable(fmt.Sprintf(format, args...)))
}

// verdictOf is the verdict on a finished run. A result that isn't valid comes
// before its thresholds, which mean nothing then.
func verdictOf(run *v1alpha1.BenchmarkRun) verdict {
	var v verdict
	succeeded := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded)
	switch {
	case succeeded == nil || succeeded.Status == metav1.ConditionUnknown:
		v.code = exit.Unknown
		v.say("%s has finished without saying how", run.Name)
		return v
	case succeeded.Status == metav1.ConditionFalse:
		v.code = exit.Failed
		v.say("%s failed: %s: %s", run.Name, succeeded.Reason, succeeded.Message)
		return v
	}
	v.say("%s succeeded%s", run.Name, summary(run.Status.Result))
	valid := v.judge(run, v1alpha1.ConditionValid, "Valid", "NOT VALID")
	met := metav1.ConditionTrue
	if len(run.Spec.Thresholds) > 0 {
		met = v.judge(run, v1alpha1.ConditionThresholdsMet, "Thresholds met", "Thresholds MISSED")
	}
	switch {
	case valid == metav1.ConditionFalse:
		v.code = exit.NotValid
	case valid == metav1.ConditionUnknown, met == metav1.ConditionUnknown:
		v.code = exit.Unknown
	case met == metav1.ConditionFalse:
		v.code = exit.ThresholdsMissed
	}
	v.say("Read all of it with: kubectl assay report %s --namespace %s", run.Name, run.Namespace)
	return v
}

// judge says what a condition says, and returns its status; Unknown when the
// run doesn't have it.
func (v *verdict) judge(run *v1alpha1.BenchmarkRun, condition, good, bad string) metav1.ConditionStatus {
	c := meta.FindStatusCondition(run.Status.Conditions, condition)
	switch {
	case c == nil:
		v.say("%s: unknown", condition)
		return metav1.ConditionUnknown
	case c.Status == metav1.ConditionTrue:
		v.say("%s: %s", good, c.Message)
	case c.Status == metav1.ConditionFalse:
		v.say("%s: %s", bad, c.Message)
	default:
		v.say("%s: unknown: %s: %s", condition, c.Reason, c.Message)
	}
	return c.Status
}

// summary is the result in a few words.
func summary(r *v1alpha1.ResultStatus) string {
	if r == nil {
		return ""
	}
	text := ""
	if r.RequestsPerSecond != "" {
		text += ": " + r.RequestsPerSecond + " requests/s"
	}
	if r.Latency != nil && r.Latency.Total != nil && r.Latency.Total.P99Microseconds != nil {
		text += fmt.Sprintf(", p99 %.3f ms", float64(*r.Latency.Total.P99Microseconds)/1000)
	}
	if r.Requests != nil && r.Errors != nil && r.Errors.Total != nil {
		text += fmt.Sprintf(", %d of %d failed", *r.Errors.Total, *r.Requests)
	}
	return text
}
