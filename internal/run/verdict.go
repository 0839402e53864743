package run

import (
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/conclusion"
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
	conclusion.Complete(p.draft(), p.run, r)
	p.Findings = r.Findings
	p.Release = true
	p.requeueIn(exitTimeout)
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
	conclusion.Salvage(p.draft(), r)
	p.Findings = r.Findings
}

// measured returns the merged result of a run that ends without an artifact.
func (p *planner) measured() (*result.Result, error) {
	if unstored := p.observed.Unstored; unstored != nil {
		return unstored.Result, nil
	}
	p.started = ptr.Deref(p.Status.Target, v1alpha1.TargetStatus{})
	return p.merge()
}
