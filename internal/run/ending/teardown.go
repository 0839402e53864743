package ending

import (
	"time"

	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/session"
)

const (
	// TeardownTimeout is the time from the end of a run for which teardown() of its script is waited for. Clients
	// limit it to 8 seconds.
	TeardownTimeout = 12 * time.Second
	// teardownInterval is the interval at which a finished run is looked at meanwhile.
	teardownInterval = 500 * time.Millisecond
)

// tearingDown reports whether the pods of a run that failed have to stay because client 0 may be running teardown() of
// the script. After a failure of its own it does so before it exits. Otherwise it does so when its pod is deleted.
func tearingDown(p *step.Planner) bool {
	leader := p.Observed.Sessions.Clients[session.ScriptLeader]
	if !state.RunsScript(p.Run) || p.Succeeded() || removalBegun(p.Observed) ||
		!leader.Connected || leader.Failure == "" || !leader.Script.SetupEnded || leader.Totals != nil ||
		!p.Now.Before(p.Status.CompletionTime.Add(TeardownTimeout)) {
		return false
	}
	p.RequeueIn(teardownInterval)
	return true
}

// removalBegun reports whether the clients are being removed already, or were never there.
func removalBegun(o *observed.Run) bool {
	job := o.Job
	if job == nil || job.DeletionTimestamp != nil {
		return true
	}
	for _, pod := range o.Clients {
		if pods.WasStopped(pod) {
			return true
		}
	}
	return false
}
