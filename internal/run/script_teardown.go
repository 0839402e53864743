package run

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

const (
	// teardownTimeout is the time from the end of a run for which teardown() of its script is waited for. Clients
	// limit it to 8 seconds.
	teardownTimeout = 12 * time.Second
	// teardownInterval is the interval at which a finished run is looked at meanwhile.
	teardownInterval = 500 * time.Millisecond
)

// tearingDown reports whether the pods of a run that failed have to stay because teardown() of its script runs or has to
// run. Client 0 runs it when it is stopped. If client 0 is lost, another one runs it, and the run says so.
func (p *planner) tearingDown() bool {
	if !runsScript(p.run) || p.succeeded() || p.removalBegun() || !p.wasSetUp() {
		return false
	}
	waiting := p.now.Before(p.Status.CompletionTime.Add(teardownTimeout))
	leader, known := p.observed.Sessions.Clients[session.ScriptLeader]
	switch {
	case leader.Script.TornDown || leader.Totals != nil:
		return false
	case leader.Connected && leader.Script.TearingDown:
		p.requeueIn(teardownInterval)
		return waiting
	case leader.Connected && leader.Failure == "":
		return false // its pod's deletion makes it run it
	}
	if !known && p.now.Sub(p.observed.Sessions.Since) < reconnectTimeout {
		p.requeueIn(teardownInterval) // this manager is new: the clients may be about to connect
		return waiting
	}
	return p.standIn(waiting)
}

// standIn makes another client than client 0 run teardown(), and reports whether to wait for that.
func (p *planner) standIn(waiting bool) bool {
	candidate := -1
	for i := 1; i < loadplan.Replicas(&p.run.Spec); i++ {
		c := p.observed.Sessions.Clients[i]
		switch {
		case c.Script.TornDown && c.Script.TeardownError != "":
			p.say(fmt.Sprintf("Client %d ran the script's teardown() because client 0 was lost, and it failed: %s.", i, withoutPeriod(c.Script.TeardownError)))
			return false
		case c.Script.TornDown:
			p.say(fmt.Sprintf("Client %d ran the script's teardown() because client 0 was lost.%s", i, p.mayBeTwice()))
			return false
		case c.Script.TearingDown && c.Connected:
			candidate = i
		case candidate < 0 && c.Connected && c.Script.SetupEnded && c.Totals == nil && (c.Failure == "" || c.FailureKind == session.FailureStopped):
			candidate = i
		}
	}
	switch {
	case candidate < 0:
		p.say("The script's teardown() was not run: client 0 was lost, and no other client can run it.")
		return false
	case !waiting:
		p.say(fmt.Sprintf("Client %d was to run the script's teardown() because client 0 was lost, but it did not end within %s.", candidate, teardownTimeout))
		return false
	}
	p.TearDown = candidate
	p.requeueIn(teardownInterval)
	return true
}

// mayBeTwice says if client 0 may have run teardown(), too.
func (p *planner) mayBeTwice() string {
	o := p.observed
	pod := o.Clients[session.ScriptLeader]
	if o.Sessions.Clients[session.ScriptLeader].Script.TearingDown || o.Sessions.Starts[sessionpb.Stage_STAGE_TEARDOWN] != 0 || pod != nil && !PodEnded(pod) {
		return " Client 0 may have run it, too."
	}
	return ""
}

// say adds to the message of why a run failed, in the status that is written and in the plan: of a finished run, the
// controller knows only a part of the status.
func (p *planner) say(text string) {
	p.Note = text
	AddNote(&p.Status, text)
}

// AddNote adds a text to the messages of Succeeded and Finished of a finished run, unless they have it already.
func AddNote(status *v1alpha1.BenchmarkRunStatus, text string) {
	for _, kind := range []string{v1alpha1.ConditionSucceeded, v1alpha1.ConditionFinished} {
		if c := meta.FindStatusCondition(status.Conditions, kind); c != nil && text != "" && !strings.Contains(c.Message, text) {
			c.Message = Bounded(c.Message, maxMessage-maxError) + " " + Bounded(text, maxError-1)
		}
	}
}

// wasSetUp reports whether setup() of the script has returned.
func (p *planner) wasSetUp() bool {
	return p.Status.MeasurementTime != nil || p.countClients(func(c *session.ClientState) bool { return c.Script.SetupEnded }) > 0
}

// removalBegun reports whether the clients are being removed already, or were never there.
func (p *planner) removalBegun() bool {
	job := p.observed.Job
	if job == nil || job.DeletionTimestamp != nil {
		return true
	}
	for _, pod := range p.observed.Clients {
		if wasStopped(pod) {
			return true
		}
	}
	return false
}
