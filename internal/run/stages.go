package run

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// startLead is how far in the future a start time is, so that it reaches every client before it
	// comes. startLeadPerClient is added for each client.
	startLead          = 100 * time.Millisecond
	startLeadPerClient = 200 * time.Microsecond
	// progressInterval is how often the progress of a load is written.
	progressInterval = 2 * time.Second
)

// begin plans the start of a stage that all clients start together.
func (p *planner) begin(stage sessionpb.Stage) int64 {
	lead := startLead + time.Duration(loadplan.Replicas(&p.run.Spec))*startLeadPerClient
	return p.startAt(stage, p.now.Add(lead).UnixMicro())
}

// beginNow plans the start of a stage that needs no barrier.
func (p *planner) beginNow(stage sessionpb.Stage) int64 { return p.startAt(stage, p.now.UnixMicro()) }

func (p *planner) startAt(stage sessionpb.Stage, at int64) int64 {
	p.Start = map[sessionpb.Stage]int64{stage: at}
	return at
}

// measure makes the clients send the load from at on.
func (p *planner) measure(at int64) {
	p.startAt(sessionpb.Stage_STAGE_MEASUREMENT, at)
	p.Status.MeasurementTime = ptr.To(metav1.NewMicroTime(time.UnixMicro(at)))
	_, extent := loadplan.Extents(&p.run.Spec)
	p.state(v1alpha1.ReasonMeasuring, "The clients send the load.",
		p.progress(sessionpb.Stage_STAGE_MEASUREMENT, at, extent))
	p.requeueIn(progressInterval)
}

// setUp waits until client 0 has executed setup() and every client has what that returned.
func (p *planner) setUp(at int64) {
	replicas := loadplan.Replicas(&p.run.Spec)
	have := p.countClients(func(c *session.ClientState) bool { return c.Script.SetupEnded && c.Connected })
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

func (p *planner) loadsEnded() bool {
	ended := p.countClients(func(c *session.ClientState) bool { return c.Script.LoadEnded || c.Totals != nil })
	return ended == loadplan.Replicas(&p.run.Spec)
}

// tearDown makes client 0 execute the script's teardown(), after which it sends its totals.
func (p *planner) tearDown(at int64) {
	p.startAt(sessionpb.Stage_STAGE_TEARDOWN, at)
	p.state(v1alpha1.ReasonTearingDown, fmt.Sprintf("Client %d executes the script's teardown().", session.ScriptLeader), p.Status.Progress)
	p.requeueIn(progressInterval)
}
