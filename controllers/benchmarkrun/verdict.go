package benchmarkrun

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// maxMessage bounds the message of a condition, as metav1.Condition does.
const maxMessage = 32768

// stageFinished is the stage in the progress of a finished run.
const stageFinished = "Finished"

// complete ends a run whose result is stored.
func (p *planner) complete() {
	r := p.observed.result
	p.status.Result = resultStatus(r)
	addBackendUsage(p.status.Target, r)
	p.status.Clients = clientStatuses(r)
	p.status.Artifact = &v1alpha1.ArtifactReference{ConfigMap: manifest.ArtifactName(p.run)}
	p.status.MeasurementTime = ptr.To(metav1.NewMicroTime(r.Run.MeasurementTime))
	p.condition(v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonCompleted,
		fmt.Sprintf("%d requests measured, %d of them failed; see kubectl assay report %s -n %s",
			r.Merged.Requests, r.Merged.Errors.Total(), p.run.Name, p.run.Namespace))
	p.judge(r)
	p.finish()
	p.status.Progress.Requests = ptr.To(r.Merged.Requests)
	p.status.Progress.Errors = ptr.To(r.Merged.Errors.Total())
	p.status.Progress.Percent = ptr.To(int32(100))
	p.release = true
	p.requeueAfter = sooner(p.requeueAfter, exitGrace)
}

// judge says whether the result can be trusted and met what was asked of it.
func (p *planner) judge(r *result.Result) {
	status, reason := metav1.ConditionTrue, v1alpha1.ReasonValid
	var messages []string
	for _, finding := range r.Findings {
		if finding.Severity == result.Invalidates {
			if status == metav1.ConditionTrue {
				status, reason = metav1.ConditionFalse, finding.Reason
			}
		}
		messages = append(messages, finding.Reason+": "+finding.Message)
	}
	if len(messages) == 0 {
		messages = append(messages, "nothing speaks against the result")
	}
	p.condition(v1alpha1.ConditionValid, status, reason, strings.Join(messages, "; "))

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

// fail ends a run without a result. What it had isn't removed before the
// verdict is written: after a crash in between, its pods would look lost.
func (p *planner) fail(f *failure) {
	status := p.status
	p.plan = plan{status: status} // nothing of what was planned before
	p.condition(v1alpha1.ConditionSucceeded, metav1.ConditionFalse, f.reason, f.message)
	p.condition(v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonNoResult, "the run ended without a result")
	if len(p.run.Spec.Thresholds) > 0 {
		p.condition(v1alpha1.ConditionThresholdsMet, metav1.ConditionFalse, v1alpha1.ReasonNoResult, "the run ended without a result")
	}
	p.finish()
}

func (p *planner) finish() {
	verdict := meta.FindStatusCondition(p.status.Conditions, v1alpha1.ConditionSucceeded)
	p.condition(v1alpha1.ConditionFinished, metav1.ConditionTrue, verdict.Reason, verdict.Message)
	if !meta.IsStatusConditionTrue(p.status.Conditions, v1alpha1.ConditionAdmitted) {
		p.condition(v1alpha1.ConditionAdmitted, metav1.ConditionFalse, verdict.Reason, "the run ended before it held its lane")
	}
	p.status.CompletionTime = ptr.To(metav1.NewTime(p.now))
	progress := ptr.Deref(p.status.Progress, v1alpha1.Progress{})
	p.status.Progress = &v1alpha1.Progress{
		Stage: stageFinished, Percent: progress.Percent, Requests: progress.Requests, Errors: progress.Errors,
	}
}

// cleanUp deletes what a finished run no longer needs, and at last the run. The
// pods of a run that succeeded are first given time to exit by themselves.
func (p *planner) cleanUp() {
	p.release = true
	completed := p.status.CompletionTime.Time
	if p.succeeded() && !p.podsEnded() && p.now.Before(completed.Add(exitGrace)) {
		p.requeueAt(completed.Add(exitGrace))
		return
	}
	p.cleanUpFinished()
	if ttl := p.run.Spec.TTLSecondsAfterFinished; ttl != nil {
		expiry := completed.Add(time.Duration(*ttl) * time.Second)
		if p.expire = !p.now.Before(expiry); !p.expire {
			p.requeueAt(expiry)
		}
	}
}

func (p *planner) cleanUpFinished() {
	retention := p.run.Spec.PodRetention
	if retention == v1alpha1.RetainAlways || (retention == v1alpha1.RetainOnFailure && !p.succeeded()) {
		p.stop = true
	} else {
		p.remove = true
	}
	p.forget = true
	p.awaitCertificates()
}

// awaitCertificates looks again while there are Certificates, whose Secrets go
// after them.
func (p *planner) awaitCertificates() {
	if len(p.observed.issued) > 0 {
		p.requeueAfter = sooner(p.requeueAfter, deletionPause)
	}
}

func (p *planner) succeeded() bool {
	return meta.IsStatusConditionTrue(p.status.Conditions, v1alpha1.ConditionSucceeded)
}

// podsEnded is whether every client's pod has ended. The target's server never
// ends by itself.
func (p *planner) podsEnded() bool {
	for _, pod := range p.observed.clients {
		if !podEnded(pod) {
			return false
		}
	}
	return true
}

// state sets the state of an active run.
func (p *planner) state(reason, message string, progress *v1alpha1.Progress) {
	p.condition(v1alpha1.ConditionSucceeded, metav1.ConditionUnknown, reason, message)
	p.condition(v1alpha1.ConditionFinished, metav1.ConditionFalse, v1alpha1.ReasonActive, "the run hasn't finished")
	if progress == nil {
		progress = &v1alpha1.Progress{}
	}
	progress.Stage = reason
	p.status.Progress = progress
}

func (p *planner) condition(kind string, status metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&p.status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: bounded(message, maxMessage), ObservedGeneration: p.run.Generation,
		LastTransitionTime: metav1.NewTime(p.now), // only taken if the status changes
	})
}

// progress is how far a stage is that has a number of requests or a duration.
func (p *planner) progress(stage sessionpb.Stage, at int64, extent loadplan.Extent) *v1alpha1.Progress {
	seen := p.observed.sessions.Progress[stage]
	elapsed := max(p.now.Sub(time.UnixMicro(at)), 0)
	var done float64
	if extent == (loadplan.Extent{}) {
		return &v1alpha1.Progress{
			Requests: ptr.To(seen.Requests), Errors: ptr.To(seen.Errors), RequestsPerSecond: strconv.FormatInt(seen.RequestsPerSecond, 10),
		}
	}
	if extent.Requests > 0 {
		done = float64(seen.Requests+seen.Dropped) / float64(extent.Requests)
	} else {
		done = elapsed.Seconds() / float64(extent.Seconds)
	}
	done = min(done, 1)
	progress := &v1alpha1.Progress{
		Percent:           ptr.To(int32(done * 100)),
		Requests:          ptr.To(seen.Requests),
		Errors:            ptr.To(seen.Errors),
		RequestsPerSecond: strconv.FormatInt(seen.RequestsPerSecond, 10),
	}
	if done > 0 {
		progress.RemainingSeconds = ptr.To(int64(elapsed.Seconds() * (1 - done) / done))
	}
	return progress
}

// stateOf is the state of a run as it was written last, messageOf what was
// said about it.
func stateOf(run *v1alpha1.BenchmarkRun) string {
	return cmp.Or(succeeded(run).Reason, v1alpha1.ReasonQueued)
}

func messageOf(run *v1alpha1.BenchmarkRun) string {
	return cmp.Or(succeeded(run).Message, "nothing was done yet")
}

func hostPort(ip string, port int32) string {
	return net.JoinHostPort(ip, strconv.Itoa(int(port)))
}

// bounded cuts a text that is too long for its field, at a rune's boundary.
func bounded(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}
