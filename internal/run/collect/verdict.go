package collect

import (
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/conclusion"
	"github.com/assay-dev/assay/internal/run/ending"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/run/step"
)

// Complete ends a run whose artifact exists.
func Complete(p *step.Planner) {
	if f := failure.ArtifactInvalid(p.Run, p.Observed.Stored); f != nil {
		p.Fail(f)
		return
	}
	r := p.Observed.Stored.Result
	conclusion.Complete(p.Draft(), p.Run, r)
	p.Findings = r.Findings
	p.Release = true
	p.RequeueIn(ending.ExitTimeout)
}

// Salvage adds the metrics to the status of a run that ends now without an artifact, although every client
// has sent its totals. Only what the status has no room for is lost.
func Salvage(p *step.Planner) {
	if state.IsFinished(p.Run) || p.Status.CompletionTime == nil || p.Status.Verdict != v1alpha1.VerdictError || !p.Observed.Collected(p.Run) {
		return
	}
	r, err := measured(p)
	if err != nil {
		return // the failure says so
	}
	conclusion.Salvage(p.Draft(), r)
	p.Findings = r.Findings
}

// measured returns the merged result of a run that ends without an artifact.
func measured(p *step.Planner) (*result.Result, error) {
	if unstored := p.Observed.Unstored; unstored != nil {
		return unstored.Result, nil
	}
	p.Started = ptr.Deref(p.Status.Target, v1alpha1.TargetStatus{})
	return merge(p)
}
