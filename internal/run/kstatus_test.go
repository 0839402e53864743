package run

import (
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/lane"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/session"
)

// TestKstatusAndVerdict checks what kstatus makes of a run in each of its states:
// only a run that has passed is done, and every other verdict is a failure.
func TestKstatusAndVerdict(t *testing.T) {
	judged := func(findings []result.Finding, thresholds ...result.ThresholdOutcome) *scene {
		s := newScene()
		s.run.Status.Artifact = &v1alpha1.ArtifactReference{SHA256: "abc"}
		s.o.Stored = &observed.Stored{
			Identity: artifact.Identity{SHA256: "abc"},
			Result:   &result.Result{Clients: []result.Client{{}}, Findings: findings, Thresholds: thresholds},
		}
		return s
	}
	changed := func(change func(*scene)) *scene { s := newScene(); change(s); return s }
	tooBusy := []result.Finding{{Reason: "ClientSaturated", Severity: result.Invalidates, Message: "too busy"}}
	careful := []result.Finding{{Reason: "NoWarmup", Severity: result.Warns, Message: "measured cold"}}
	met, missed := result.ThresholdOutcome{Metric: "ErrorRate", Met: true}, result.ThresholdOutcome{Metric: "LatencyP99"}
	tests := map[string]struct {
		scene   *scene
		verdict v1alpha1.Verdict
		status  status.Status
		reason  string // of Stalled
	}{
		"queued": {changed(func(s *scene) {
			s.run.Status = v1alpha1.BenchmarkRunStatus{}
			s.o.Position = lane.Position{Ahead: 3}
		}), "", status.InProgressStatus, "Active"},
		"suspended":          {changed(func(s *scene) { s.run.Spec.Suspend = ptr.To(true) }), "", status.InProgressStatus, "Active"},
		"starting":           {newScene(), "", status.InProgressStatus, "Active"},
		"measuring":          {newScene().started(measurementStage), "", status.InProgressStatus, "Active"},
		"collecting":         {newScene().collected(), "", status.InProgressStatus, "Active"},
		"passed":             {judged(nil, met), v1alpha1.VerdictPassed, status.CurrentStatus, "Finished"},
		"without bounds":     {judged(careful), v1alpha1.VerdictPassed, status.CurrentStatus, "Finished"},
		"threshold missed":   {judged(careful, met, missed), v1alpha1.VerdictFailed, status.FailedStatus, "Missed"},
		"invalid":            {judged(tooBusy, met), v1alpha1.VerdictInvalid, status.FailedStatus, "ClientSaturated"},
		"invalid and missed": {judged(tooBusy, missed), v1alpha1.VerdictInvalid, status.FailedStatus, "ClientSaturated"},
		"failed": {newScene().clients(func(c *session.ClientState) { c.Failure = "out of memory" }),
			v1alpha1.VerdictError, status.FailedStatus, v1alpha1.ReasonClientFailed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.scene.run.Generation = 1
			p := test.scene.decide()
			if p.Status.Verdict != test.verdict {
				t.Errorf("verdict %q, want %q", p.Status.Verdict, test.verdict)
			}
			br := test.scene.run.DeepCopy()
			br.TypeMeta = metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "BenchmarkRun"}
			br.Status = p.Status
			got := compute(t, br)
			if got.Status != test.status {
				t.Errorf("kstatus: %s: %s, want %s", got.Status, got.Message, test.status)
			}
			for _, c := range p.Status.Conditions {
				if c.Type == v1alpha1.ConditionStalled && c.Reason != test.reason {
					t.Errorf("Stalled: %s: %s, want %s", c.Reason, c.Message, test.reason)
				}
			}
			br.Generation = 2
			if got := compute(t, br); got.Status != status.InProgressStatus {
				t.Errorf("with a spec that is newer: %s: %s", got.Status, got.Message)
			}
		})
	}
}

func compute(t *testing.T, br *v1alpha1.BenchmarkRun) *status.Result {
	t.Helper()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(br)
	if err != nil {
		t.Fatal(err)
	}
	got, err := status.Compute(&unstructured.Unstructured{Object: object})
	if err != nil {
		t.Fatal(err)
	}
	return got
}
