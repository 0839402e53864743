package run

import (
	"time"

	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/session"
)

const (
	// teardownTimeout is the time from the end of a run for which teardown() of its script is waited for. Clients
	// limit it to 8 seconds.
	teardownTimeout = 12 * time.Second
	// teardownInterval is the interval at which a finished run is looked at meanwhile.
	teardownInterval = 500 * time.Millisecond
)

// tearingDown reports whether the pods of a run that failed have to stay because client 0 may be running teardown() of
// the script. After a failure of its own it does so before it exits. Otherwise it does so when its pod is deleted.
func (p *planner) tearingDown() bool {
	leader := p.observed.Sessions.Clients[session.ScriptLeader]
	if !state.RunsScript(p.run) || p.succeeded() || p.removalBegun() ||
		!leader.Connected || leader.Failure == "" || !leader.Script.SetupEnded || leader.Totals != nil ||
		!p.now.Before(p.Status.CompletionTime.Add(teardownTimeout)) {
		return false
	}
	p.requeueIn(teardownInterval)
	return true
}

// removalBegun reports whether the clients are being removed already, or were never there.
func (p *planner) removalBegun() bool {
	job := p.observed.Job
	if job == nil || job.DeletionTimestamp != nil {
		return true
	}
	for _, pod := range p.observed.Clients {
		if pods.WasStopped(pod) {
			return true
		}
	}
	return false
}
