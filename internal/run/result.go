package run

import (
	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/conclusion"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/observed"
)

// collect plans to store the result as soon as the agent has sampled the server after the last
// client's end. Without an agent there is nothing to wait for.
func (p *planner) collect() {
	if unstored := p.observed.Unstored; unstored != nil { // the status says why
		p.commit(unstored)
		return
	}
	p.state(v1alpha1.ReasonCollecting, "Every client has sent its totals.", nil)
	summarizing := p.summarizing()
	if summarizing {
		p.state(v1alpha1.ReasonCollecting, "Every client has sent its totals. A client runs the script's handleSummary().", nil)
	}
	if observed.AwaitsSample(p.run, p.observed, p.now) {
		p.Read = true
		p.requeueIn(observed.LastSampleInterval)
		return
	}
	if summarizing {
		return
	}
	p.store()
}

// store plans the artifact with the merged and judged result. Once it exists, the measurement is
// complete, whatever happens. It is never replaced. The status announces its digest first, so that a
// later manager can tell it from what somebody else has put in its place.
func (p *planner) store() {
	merged, err := p.merge()
	if err != nil {
		p.fail(failure.Newf(v1alpha1.ReasonArtifactNotStored, "The result can't be merged: %s", err))
		return
	}
	if s := p.storage(merged, p.whole(merged)); s != nil {
		p.commit(s)
	}
}

// merge returns the result of the measurement.
func (p *planner) merge() (*result.Result, error) {
	e, err := p.evidence()
	if err != nil {
		return nil, err
	}
	return e.Merge()
}

// evidence returns what the result is made of.
func (p *planner) evidence() (*conclusion.Evidence, error) {
	plans, err := p.loadPlans()
	return &conclusion.Evidence{Run: p.planned(), Observed: p.observed, Now: p.now, Started: &p.started, Plans: plans}, err
}
