package run

import (
	"time"

	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/conclusion"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
)

const (
	// summaryInterval is the interval at which it is looked for another client that can run it.
	summaryInterval = time.Second
	// reconnectTimeout is the time for which a client that was disconnected is waited for before another takes its place.
	reconnectTimeout = 5 * time.Second
)

// summarizing makes a client run handleSummary() of the script, and reports whether to wait for that. Every client has
// sent its totals. Client 0 runs it, or the next one if that is lost.
func (p *planner) summarizing() bool {
	if !state.RunsScript(p.run) || !result.Summarizes(conclusion.ScriptTotals(p.planned(), p.observed)) || conclusion.SummaryReturned(p.planned(), p.observed) != nil {
		return false
	}
	by := observed.LastTotals(p.run, p.observed).Add(conclusion.SummaryTimeout)
	if !p.now.Before(by) {
		return false
	}
	p.requeueAt(by)
	p.requeueIn(summaryInterval)
	for i := range loadplan.Replicas(&p.run.Spec) {
		c := p.observed.Sessions.Clients[i]
		if !c.Connected && p.now.Sub(c.DisconnectedSince) >= reconnectTimeout {
			continue
		}
		if data, err := conclusion.SummaryData(p.planned(), p.observed); err == nil && c.Connected {
			p.Summarize = &Summarize{Client: i, Data: data}
		} else if err != nil {
			return false // summary says so
		}
		break
	}
	return true
}
