package run

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
)

// complete ends a run whose result is stored.
func (p *planner) complete() {
	r := p.observed.Result
	p.Status.Result = resultStatus(r)
	addBackendUsage(p.Status.Target, r)
	p.Status.Clients = clientStatuses(r)
	p.Status.Artifact = &v1alpha1.ArtifactReference{
		ConfigMap: &v1alpha1.ArtifactConfigMap{Name: manifest.ArtifactName(p.run), Key: artifact.Key},
		SizeBytes: ptr.To(p.observed.Artifact.SizeBytes), SHA256: p.observed.Artifact.SHA256,
	}
	p.Status.MeasurementTime = ptr.To(metav1.NewMicroTime(r.Run.MeasurementTime))
	p.condition(v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonCompleted,
		fmt.Sprintf("%d requests were measured, %d of them failed. Show the result with: kubectl assay report %s -n %s",
			r.Merged.Requests, r.Merged.Errors.Total(), p.run.Name, p.run.Namespace))
	p.judge(r)
	p.finish()
	p.Status.Progress.Requests = ptr.To(r.Merged.Requests)
	p.Status.Progress.Errors = ptr.To(r.Merged.Errors.Total())
	p.Status.Progress.Percent = ptr.To(int32(100))
	p.Release = true
	p.requeueIn(exitTimeout)
}

func (p *planner) judge(r *result.Result) {
	status, reason := metav1.ConditionTrue, v1alpha1.ReasonValid
	var messages []string
	for _, finding := range r.Findings {
		if finding.Severity == result.Invalidates && status == metav1.ConditionTrue {
			status, reason = metav1.ConditionFalse, finding.Reason
		}
		messages = append(messages, finding.Reason+": "+strings.TrimSuffix(finding.Message, ".")+".")
	}
	if len(messages) == 0 {
		messages = append(messages, "There are no findings.")
	}
	p.condition(v1alpha1.ConditionValid, status, reason, strings.Join(messages, " "))

	if len(r.Thresholds) == 0 {
		return
	}
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
	p.condition(v1alpha1.ConditionThresholdsMet, status, reason, strings.Join(messages, "; "))
}
