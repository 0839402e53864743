// Package loading takes a run through the stages of its load, and decides what ends a stage early.
package loading

import (
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/conclusion"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
)

// ProgressInterval is the interval at which the progress of a load is written.
const ProgressInterval = 2 * time.Second

// begin plans the start of a stage that all clients start together.
func begin(p *step.Planner, stage sessionpb.Stage) {
	p.Begin = &step.Begin{Stage: stage, Lead: lead(p.Run), With: others(p)}
}

// BeginNow plans the start of a stage that needs no barrier.
func BeginNow(p *step.Planner, stage sessionpb.Stage) { p.Begin = &step.Begin{Stage: stage} }

// Measure records that the clients send the load from at on, or that they are about to if at is 0.
func Measure(p *step.Planner, at int64) {
	if at != 0 {
		p.Status.MeasurementTime = ptr.To(metav1.NewMicroTime(p.Observed.Wall(at, p.Now)))
	}
	_, extent := loadplan.Extents(&p.Run.Spec)
	message := "The clients are sending load."
	if tool := p.Run.Spec.Clients.Tool; tool != nil && result.Prints(string(tool.Name)) {
		message = fmt.Sprintf("The clients run %s, which reports nothing until it ends.", tool.Name)
	}
	if said := endEarly(p, at); said != "" {
		message += " " + said
		extent.Seconds = p.EndMeasurement
	}
	if said := abortOnFail(p, at); said != "" {
		message += " " + said
	}
	message += p.Waiting()
	progress := progress(p.Run, p.Observed, sessionpb.Stage_STAGE_MEASUREMENT, at, extent)
	progress.Window = window(p.Run, p.Observed)
	p.SetState(v1alpha1.ReasonMeasuring, message, progress)
	p.RequeueIn(ProgressInterval)
}

// SetUp waits until client 0 has executed setup() and every client has what that returned.
func SetUp(p *step.Planner) {
	replicas := loadplan.Replicas(&p.Run.Spec)
	have := p.CountClients(func(c *session.ClientState) bool { return c.Script.SetupEnded && c.Connected })
	if have == replicas {
		begin(p, sessionpb.Stage_STAGE_MEASUREMENT)
		Measure(p, 0)
		return
	}
	message := fmt.Sprintf("Client %d executes the script's setup().", session.ScriptLeader)
	if have > 0 {
		message = fmt.Sprintf("Clients that have what the script's setup() returned: %d of %d.", have, replicas)
	}
	p.SetState(v1alpha1.ReasonSettingUp, message, nil)
	p.RequeueIn(ProgressInterval)
}

// Ended reports whether every client has ended its load.
func Ended(p *step.Planner) bool {
	ended := p.CountClients(func(c *session.ClientState) bool { return c.Script.LoadEnded || c.Totals != nil })
	return ended == loadplan.Replicas(&p.Run.Spec)
}

// TearDown makes client 0 execute the script's teardown(), after which it sends its totals.
func TearDown(p *step.Planner) {
	p.SetState(v1alpha1.ReasonTearingDown, fmt.Sprintf("Client %d executes the script's teardown().", session.ScriptLeader), p.Status.Progress)
	p.RequeueIn(ProgressInterval)
}

// WarmUp warms up the target, and starts the measurement when all clients have ended that.
func WarmUp(p *step.Planner, at int64) {
	replicas := loadplan.Replicas(&p.Run.Spec)
	ended := p.CountClients(func(c *session.ClientState) bool { return c.WarmupEnded && c.Connected })
	message := fmt.Sprintf("Clients that have finished their warm-up: %d of %d", ended, replicas)
	if said := settle(p, ended == replicas); said != "" {
		message += "; " + said
	}
	if ended == replicas {
		waiting := awaitBlock(p, func(o *observed.Other) bool { return o.WarmedUp })
		switch {
		case p.Status.CompletionTime != nil:
			return
		case waiting == "":
			begin(p, sessionpb.Stage_STAGE_MEASUREMENT)
			Measure(p, 0)
			return
		}
		message += ". " + waiting
	}
	extent, _ := loadplan.Extents(&p.Run.Spec)
	progress := progress(p.Run, p.Observed, sessionpb.Stage_STAGE_WARMUP, at, extent)
	if p.Run.Spec.Load.Warmup.Steady != nil {
		progress.RemainingSeconds = nil // the extent is a limit
	}
	p.SetState(v1alpha1.ReasonWarmingUp, message, progress)
	p.RequeueIn(ProgressInterval)
}

// settle decides whether the target has become steady, if the warm-up lasts until then, and returns
// the state of that decision in words. The decision is written into the status before it is sent to
// any client, so that another manager keeps to it. Until it is written, another manager decides the
// same from what the clients send again. ended reports whether the warm-up is over in any case.
func settle(p *step.Planner, ended bool) string {
	spec := p.Run.Spec.Load.Warmup.Steady
	if spec == nil {
		return ""
	}
	if p.Status.Warmup == nil {
		seen := loadplan.Steady(spec).Judge(p.Observed.Windows)
		if !seen.Reached && !ended {
			return steady.Describe(seen)
		}
		p.Status.Warmup = conclusion.WarmupStatus(seen)
	}
	p.EndWarmup = p.Status.Warmup.Steady == v1alpha1.SteadyReached
	return "the target is steady"
}

// progress returns the progress of a stage of a certain extent that began at at, or hasn't begun if
// that is 0.
func progress(run *v1alpha1.BenchmarkRun, o *observed.Run, stage sessionpb.Stage, at int64, extent loadplan.Extent) *v1alpha1.Progress {
	seen := o.Sessions.Progress[stage]
	progress := &v1alpha1.Progress{}
	tool := run.Spec.Clients.Tool != nil && result.Prints(string(run.Spec.Clients.Tool.Name)) // which reports nothing until it ends
	if !tool {
		progress.Requests, progress.Errors = ptr.To(seen.Requests), ptr.To(seen.Errors)
		progress.RequestsPerSecond = strconv.FormatInt(seen.RequestsPerSecond, 10)
	}
	if extent == (loadplan.Extent{}) || tool && extent.Requests > 0 {
		return progress
	}
	elapsed := 0.0
	if at != 0 {
		elapsed = max(time.Duration(o.Sessions.Now-at)*time.Microsecond, 0).Seconds()
	}
	done := elapsed / float64(extent.Seconds)
	if extent.Requests > 0 {
		done = float64(seen.Requests+seen.Dropped) / float64(extent.Requests)
	}
	done = min(done, 1)
	progress.Percent = ptr.To(int32(done * 100))
	if done > 0 {
		progress.RemainingSeconds = ptr.To(int64(elapsed * (1 - done) / done))
	}
	return progress
}

// Start begins the load of a run whose pods are ready.
func Start(p *step.Planner) {
	waiting := awaitBlock(p, func(o *observed.Other) bool { return o.Ready })
	switch {
	case p.Status.CompletionTime != nil:
	case waiting != "":
		p.SetState(v1alpha1.ReasonStarting, waiting, nil)
	case state.RunsScript(p.Run):
		BeginNow(p, sessionpb.Stage_STAGE_SETUP)
		SetUp(p)
	case p.Run.Spec.Load.Warmup != nil:
		begin(p, sessionpb.Stage_STAGE_WARMUP)
		WarmUp(p, 0)
	default:
		begin(p, sessionpb.Stage_STAGE_MEASUREMENT)
		Measure(p, 0)
	}
}
