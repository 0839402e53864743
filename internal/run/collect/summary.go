package collect

import (
	"time"

	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/conclusion"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/run/step"
)

const (
	// summaryInterval is the interval at which it is looked for another client that can run it.
	summaryInterval = time.Second
	// reconnectTimeout is the time for which a client that was disconnected is waited for before another takes its place.
	reconnectTimeout = 5 * time.Second
)

// summarizing makes a client run handleSummary() of the script, and reports whether to wait for that. Every client has
// sent its totals. Client 0 runs it, or the next one if that is lost.
func summarizing(p *step.Planner) bool {
	if !state.RunsScript(p.Run) || !result.Summarizes(conclusion.ScriptTotals(p.Planned(), p.Observed)) || conclusion.SummaryReturned(p.Planned(), p.Observed) != nil {
		return false
	}
	by := observed.LastTotals(p.Run, p.Observed).Add(conclusion.SummaryTimeout)
	if !p.Now.Before(by) {
		return false
	}
	p.RequeueAt(by)
	p.RequeueIn(summaryInterval)
	for i := range loadplan.Replicas(&p.Run.Spec) {
		c := p.Observed.Sessions.Clients[i]
		if !c.Connected && p.Now.Sub(c.DisconnectedSince) >= reconnectTimeout {
			continue
		}
		if data, err := conclusion.SummaryData(p.Planned(), p.Observed); err == nil && c.Connected {
			p.Summarize = &step.Summarize{Client: i, Data: data}
		} else if err != nil {
			return false // summary says so
		}
		break
	}
	return true
}
