package run

import (
	"fmt"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// setUp makes client 0 execute the script's setup(), and starts the measurement
// when every client has what that returned.
func (p *planner) setUp(at int64) {
	replicas := loadplan.Replicas(&p.run.Spec)
	have := p.countClients(func(c *manager.ClientState) bool { return c.Script.SetupEnded && c.Connected })
	if have == replicas {
		p.measure(p.begin(sessionpb.Stage_STAGE_MEASUREMENT))
		return
	}
	p.startAt(sessionpb.Stage_STAGE_SETUP, at)
	message := fmt.Sprintf("Client %d executes the script's setup().", session.ScriptLeader)
	if have > 0 {
		message = fmt.Sprintf("%d of %d clients have received what the script's setup() returned.", have, replicas)
	}
	p.state(v1alpha1.ReasonSettingUp, message, nil)
	p.requeueIn(progressInterval)
}

// loadsEnded reports whether the script's load has ended on every client.
func (p *planner) loadsEnded() bool {
	ended := p.countClients(func(c *manager.ClientState) bool { return c.Script.LoadEnded || c.Totals != nil })
	return ended == loadplan.Replicas(&p.run.Spec)
}

// tearDown makes client 0 execute the script's teardown(), after which it sends
// its totals.
func (p *planner) tearDown(at int64) {
	p.startAt(sessionpb.Stage_STAGE_TEARDOWN, at)
	p.state(v1alpha1.ReasonTearingDown, fmt.Sprintf("Client %d executes the script's teardown().", session.ScriptLeader), p.Status.Progress)
	p.requeueIn(progressInterval)
}
