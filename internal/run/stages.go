package run

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/run/conclusion"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
)

const (
	// progressInterval is the interval at which the progress of a load is written.
	progressInterval = 2 * time.Second
)

// begin plans the start of a stage that all clients start together.
func (p *planner) begin(stage sessionpb.Stage) {
	p.Begin = &Begin{Stage: stage, Lead: startLead + time.Duration(loadplan.Replicas(&p.run.Spec))*startLeadPerClient}
}

// beginNow plans the start of a stage that needs no barrier.
func (p *planner) beginNow(stage sessionpb.Stage) { p.Begin = &Begin{Stage: stage} }

// measure records that the clients send the load from at on, or that they are about to if at is 0.
func (p *planner) measure(at int64) {
	if at != 0 {
		p.Status.MeasurementTime = ptr.To(metav1.NewMicroTime(p.observed.Wall(at, p.now)))
	}
	_, extent := loadplan.Extents(&p.run.Spec)
	message := "The clients send the load."
	if tool := p.run.Spec.Clients.Tool; tool != nil {
		message = fmt.Sprintf("The clients run %s, which reports nothing until it ends.", tool.Name)
	}
	if said := p.endEarly(at); said != "" {
		message += " " + said
		extent.Seconds = p.EndMeasurement
	}
	if said := p.abortOnFail(at); said != "" {
		message += " " + said
	}
	progress := p.progress(sessionpb.Stage_STAGE_MEASUREMENT, at, extent)
	progress.Window = p.window()
	p.state(v1alpha1.ReasonMeasuring, message, progress)
	p.requeueIn(progressInterval)
}

// setUp waits until client 0 has executed setup() and every client has what that returned.
func (p *planner) setUp() {
	replicas := loadplan.Replicas(&p.run.Spec)
	have := p.countClients(func(c *session.ClientState) bool { return c.Script.SetupEnded && c.Connected })
	if have == replicas {
		p.begin(sessionpb.Stage_STAGE_MEASUREMENT)
		p.measure(0)
		return
	}
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
func (p *planner) tearDown() {
	p.state(v1alpha1.ReasonTearingDown, fmt.Sprintf("Client %d executes the script's teardown().", session.ScriptLeader), p.Status.Progress)
	p.requeueIn(progressInterval)
}

// warmUp warms up the target, and starts the measurement when all clients have ended that.
func (p *planner) warmUp(at int64) {
	replicas := loadplan.Replicas(&p.run.Spec)
	ended := p.countClients(func(c *session.ClientState) bool { return c.WarmupEnded && c.Connected })
	message := fmt.Sprintf("%d of %d clients have finished their warm-up", ended, replicas)
	if said := p.settle(ended == replicas); said != "" {
		message += "; " + said
	}
	if ended == replicas {
		p.begin(sessionpb.Stage_STAGE_MEASUREMENT)
		p.measure(0)
		return
	}
	extent, _ := loadplan.Extents(&p.run.Spec)
	progress := p.progress(sessionpb.Stage_STAGE_WARMUP, at, extent)
	if p.run.Spec.Load.Warmup.Steady != nil {
		progress.RemainingSeconds = nil // the extent is a limit
	}
	p.state(v1alpha1.ReasonWarmingUp, message, progress)
	p.requeueIn(progressInterval)
}

// settle decides whether the target has become steady, if the warm-up lasts until then, and returns
// the state of that decision in words. The decision is written into the status before it is sent to
// any client, so that another manager keeps to it. Until it is written, another manager decides the
// same from what the clients send again. ended reports whether the warm-up is over in any case.
func (p *planner) settle(ended bool) string {
	spec := p.run.Spec.Load.Warmup.Steady
	if spec == nil {
		return ""
	}
	if p.Status.Warmup == nil {
		seen := loadplan.Steady(spec).Judge(p.observed.Windows)
		if !seen.Reached && !ended {
			return steady.Describe(seen)
		}
		p.Status.Warmup = conclusion.WarmupStatus(seen)
	}
	p.EndWarmup = p.Status.Warmup.Steady == v1alpha1.SteadyReached
	return "the target is steady"
}
