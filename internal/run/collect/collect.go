// Package collect merges what the pods of a run have sent, stores it, and ends the run with its verdict.
package collect

import (
	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/conclusion"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/step"
)

// Collect plans to store the result as soon as the agent has sampled the server after the last
// client's end. Without an agent there is nothing to wait for.
func Collect(p *step.Planner) {
	if unstored := p.Observed.Unstored; unstored != nil { // the status says why
		commit(p, unstored)
		return
	}
	p.SetState(v1alpha1.ReasonCollecting, "Every client has sent its totals.", nil)
	summarizing := summarizing(p)
	if summarizing {
		p.SetState(v1alpha1.ReasonCollecting, "Every client has sent its totals. A client runs the script's handleSummary()."+p.Waiting(), nil)
	}
	if observed.AwaitsSample(p.Run, p.Observed, p.Now) {
		p.Read = true
		p.RequeueIn(observed.LastSampleInterval)
		return
	}
	if summarizing {
		return
	}
	store(p)
}

// store plans the artifact with the merged and judged result. Once it exists, the measurement is
// complete, whatever happens. It is never replaced. The status announces its digest first, so that a
// later manager can tell it from what somebody else has put in its place.
func store(p *step.Planner) {
	merged, err := merge(p)
	if err != nil {
		p.Fail(failure.ResultUnusable("merged", err))
		return
	}
	if s := storage(p, merged, full(p, merged)); s != nil {
		commit(p, s)
	}
}

// merge returns the result of the measurement.
func merge(p *step.Planner) (*result.Result, error) {
	e, err := Evidence(p)
	if err != nil {
		return nil, err
	}
	return e.Merge()
}

// Evidence returns what the result is made of.
func Evidence(p *step.Planner) (*conclusion.Evidence, error) {
	plans, err := p.LoadPlans()
	return &conclusion.Evidence{Run: p.Planned(), Observed: p.Observed, Now: p.Now, Started: &p.Started, Plans: plans}, err
}
