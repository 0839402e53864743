package run

import (
	"fmt"
	"time"

	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/session"
)

const (
	// summaryTimeout is the time from the last totals for which handleSummary() of a script is waited for.
	summaryTimeout = 45 * time.Second
	// summaryInterval is the interval at which it is looked for another client that can run it.
	summaryInterval = time.Second
	// reconnectTimeout is the time for which a client that was disconnected is waited for before another takes its place.
	reconnectTimeout = 5 * time.Second
)

// summarizing makes a client run handleSummary() of the script, and reports whether to wait for that. Every client has
// sent its totals. Client 0 runs it, or the next one if that is lost.
func (p *planner) summarizing() bool {
	if !state.RunsScript(p.run) || !result.Summarizes(p.scriptTotals()) || p.returned() != nil {
		return false
	}
	by := observed.LastTotals(p.run, p.observed).Add(summaryTimeout)
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
		if data, err := p.summaryData(); err == nil && c.Connected {
			p.Summarize = &Summarize{Client: i, Data: data}
		} else if err != nil {
			return false // summary says so
		}
		break
	}
	return true
}

func (p *planner) summaryData() ([]byte, error) {
	data, err := result.SummaryData(p.scriptTotals(), p.aborted(), p.observed.Sessions.Clients[session.ScriptLeader].Script.SetupData)
	if err == nil && len(data) > session.MaxSummaryDataBytes {
		err = fmt.Errorf("the data for handleSummary() has %d bytes, the limit is %d", len(data), session.MaxSummaryDataBytes)
	}
	return data, err
}

// returned returns what handleSummary() returned on the first client that has run it, or nil.
func (p *planner) returned() *result.ScriptSummary {
	for i := range loadplan.Replicas(&p.run.Spec) {
		if s := p.observed.Sessions.Clients[i].Summary; s != nil {
			return s
		}
	}
	return nil
}

// summary returns what handleSummary() returned, why that is unknown, or nil without handleSummary().
func (p *planner) summary() *result.ScriptSummary {
	if s := p.returned(); s != nil || !result.Summarizes(p.scriptTotals()) {
		return s
	}
	if _, err := p.summaryData(); err != nil {
		return &result.ScriptSummary{Error: err.Error()}
	}
	return &result.ScriptSummary{Error: fmt.Sprintf("no client answered within %s", summaryTimeout)}
}
