package watch

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/plugin/exit"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/report/number"
)

// runs follows a run.
var runs = subject{
	kind:    cluster.BenchmarkRun,
	newList: func() client.ObjectList { return &v1alpha1.BenchmarkRunList{} },
	finished: func(o client.Object) bool {
		return meta.IsStatusConditionTrue(o.(*v1alpha1.BenchmarkRun).Status.Conditions, v1alpha1.ConditionFinished)
	},
	view:    func(o client.Object) view { return viewOfRun(o.(*v1alpha1.BenchmarkRun)) },
	retry:   func(o client.Object) string { return retried(o.(*v1alpha1.BenchmarkRun).Status.Conditions) },
	verdict: func(o client.Object) verdict { return verdictOfRun(o.(*v1alpha1.BenchmarkRun)) },
}

// verdict holds the exit code for a finished run or round and the lines to print.
type verdict struct {
	code  int
	lines []string
}

func (v *verdict) printf(format string, args ...any) {
	v.lines = append(v.lines, printable.Text(fmt.Sprintf(format, args...)))
}

// verdictOfRun returns the verdict on a finished run. An invalid result takes
// precedence over missed thresholds.
func verdictOfRun(run *v1alpha1.BenchmarkRun) verdict {
	var v verdict
	succeeded := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded)
	switch {
	case succeeded == nil || succeeded.Status == metav1.ConditionUnknown:
		v.code = exit.Unknown
		v.printf("%s finished, but its condition %s is not set", run.Name, v1alpha1.ConditionSucceeded)
		return v
	case succeeded.Status == metav1.ConditionFalse:
		v.code = exit.Failed
		v.printf("%s failed: %s: %s", run.Name, succeeded.Reason, succeeded.Message)
		return v
	}
	v.printf("%s succeeded%s", run.Name, summary(run.Status.Result))
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
	v.printf("To print the report: kubectl assay report %s --namespace %s", run.Name, run.Namespace)
	return v
}

// judge adds a line about a condition and returns the condition's status. The
// status is Unknown if the run doesn't have the condition.
func (v *verdict) judge(run *v1alpha1.BenchmarkRun, condition, good, bad string) metav1.ConditionStatus {
	c := meta.FindStatusCondition(run.Status.Conditions, condition)
	switch {
	case c == nil:
		v.printf("%s: unknown", condition)
		return metav1.ConditionUnknown
	case c.Status == metav1.ConditionTrue:
		v.printf("%s: %s", good, c.Message)
	case c.Status == metav1.ConditionFalse:
		v.printf("%s: %s", bad, c.Message)
	default:
		v.printf("%s: unknown: %s: %s", condition, c.Reason, c.Message)
	}
	return c.Status
}

// summary returns the main metrics of a result as text that follows "succeeded".
func summary(r *v1alpha1.ResultStatus) string {
	if r == nil {
		return ""
	}
	text := ""
	if rate, err := strconv.ParseFloat(r.RequestsPerSecond, 64); err == nil {
		text += ": " + number.Significant(rate) + " requests/s"
	}
	if r.Latency != nil && r.Latency.Total != nil && r.Latency.Total.P99Microseconds != nil {
		text += ", p99 " + number.Milliseconds(*r.Latency.Total.P99Microseconds) + "ms"
	}
	if r.Requests != nil && r.Errors != nil && r.Errors.Total != nil {
		text += fmt.Sprintf(", %s of %s failed", number.Count(*r.Errors.Total), number.Count(*r.Requests))
	}
	return text
}
