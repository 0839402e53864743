package benchmarkrun

import (
	"fmt"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// runsScript is whether the run's load is a k6 script.
func runsScript(run *v1alpha1.BenchmarkRun) bool { return run.Spec.Load.Script != nil }

// beginNow gives a stage that needs no barrier its start instant.
func (p *planner) beginNow(stage sessionpb.Stage) int64 {
	at := p.now.UnixMicro()
	p.start = map[sessionpb.Stage]int64{stage: at}
	return at
}

// setUp has client 0 run the script's setup(), and lets the measurement begin
// when every client has what it returned.
func (p *planner) setUp(at int64) {
	replicas := loadplan.Replicas(&p.run.Spec)
	have := p.countClients(func(c *manager.ClientState) bool { return c.Script.SetupEnded && c.Connected })
	if have == replicas {
		p.measure(p.begin(sessionpb.Stage_STAGE_MEASUREMENT))
		return
	}
	p.start = map[sessionpb.Stage]int64{sessionpb.Stage_STAGE_SETUP: at}
	message := fmt.Sprintf("client %d runs the script's setup()", session.ScriptLeader)
	if have > 0 {
		message = fmt.Sprintf("%d of %d clients have what the script's setup() returned", have, replicas)
	}
	p.state(v1alpha1.ReasonSettingUp, message, nil)
	p.requeueAfter = sooner(p.requeueAfter, progressInterval)
}

// loadsEnded is whether the script's load has ended on every client.
func (p *planner) loadsEnded() bool {
	ended := p.countClients(func(c *manager.ClientState) bool { return c.Script.LoadEnded || c.Totals != nil })
	return ended == loadplan.Replicas(&p.run.Spec)
}

// tearDown has client 0 run the script's teardown(), after which it sends its
// figures.
func (p *planner) tearDown(at int64) {
	p.start = map[sessionpb.Stage]int64{sessionpb.Stage_STAGE_TEARDOWN: at}
	p.state(v1alpha1.ReasonTearingDown, fmt.Sprintf("client %d runs the script's teardown()", session.ScriptLeader), p.status.Progress)
	p.requeueAfter = sooner(p.requeueAfter, progressInterval)
}

func (p *planner) countClients(is func(*manager.ClientState) bool) int {
	n := 0
	for i := range loadplan.Replicas(&p.run.Spec) {
		if c := p.observed.sessions.Clients[i]; is(&c) {
			n++
		}
	}
	return n
}

// scriptReason is the reason of a run whose client failed for its script; empty
// for any other failure.
func scriptReason(kind session.FailureKind) string {
	switch kind {
	case session.FailureScriptInvalid:
		return v1alpha1.ReasonScriptInvalid
	case session.FailureScriptException:
		return v1alpha1.ReasonScriptException
	case session.FailureScriptAborted:
		return v1alpha1.ReasonScriptAborted
	}
	return ""
}
