package benchmarkrun

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
	// startLead is how far in the future a start instant lies, so that it reaches
	// every client before it comes; startLeadPerClient is added for each.
	startLead          = 100 * time.Millisecond
	startLeadPerClient = 200 * time.Microsecond
	// progressInterval is how often the progress of a load is written.
	progressInterval = 2 * time.Second
	// readGrace is how long the agent's last reading is waited for.
	readGrace = 2 * time.Second
	// deletionPause is how soon a deletion that is awaited is looked at again.
	deletionPause = 250 * time.Millisecond
	// exitGrace is how long released pods may take to exit by themselves before
	// they are deleted.
	exitGrace = 5 * time.Second
)

// plan is what to do next about a run: the status that it should have, the
// objects that it should or shouldn't have, and what to tell its pods. Every
// step may be repeated without harm.
type plan struct {
	status v1alpha1.BenchmarkRunStatus

	// create makes the objects that don't exist yet.
	createConfig, createCertificates, createTarget, createClients bool
	// address is where the target answers; when set, the agent is told to watch
	// it, as watch says, and the clients to prepare for it, with the lengths of
	// what it serves.
	address string
	watch   session.Watch
	lengths map[string]int64
	// requestList is what they ask for, where the run has a list of it elsewhere.
	requestList []byte
	// start gives the start instant of stages, in microseconds since the Unix
	// epoch.
	start map[sessionpb.Stage]int64
	// endWarmup has the clients end their warm-up.
	endWarmup bool
	// read asks the agent for a reading.
	read bool
	// store merges the clients' figures and stores the result.
	store bool
	// forget drops what the pods have said so far, before they are told anything;
	// release lets them exit.
	forget, release bool
	// remove deletes the run's pods and what they need; stop ends them but keeps
	// them.
	remove, stop bool
	// expire deletes the run.
	expire bool

	// requeueAfter is when to look again at the latest; zero for not before
	// something changes.
	requeueAfter time.Duration
}

// planner makes a plan from a run, what was observed, and the time. It is pure.
type planner struct {
	plan
	run      *v1alpha1.BenchmarkRun
	observed *observed
	now      time.Time
}

// decide says what to do next about a run.
func decide(run *v1alpha1.BenchmarkRun, o *observed, now time.Time) plan {
	p := newPlanner(run, o, now)
	switch {
	case isFinished(run):
		p.cleanUp()
	case o.result != nil:
		p.complete()
	case isSuspended(run):
		p.suspend()
	case !isAdmitted(run) && !o.turn.free:
		p.queue()
	case o.leftover != "":
		p.awaitDeletion()
	default:
		p.admit()
		if f := failureOf(p.run, o, now); f != nil {
			p.fail(f)
		} else {
			p.advance()
		}
	}
	return p.plan
}

// decideFailure is the plan for a run that can't go on.
func decideFailure(run *v1alpha1.BenchmarkRun, o *observed, now time.Time, f *failure) plan {
	p := newPlanner(run, o, now)
	p.fail(f)
	return p.plan
}

func newPlanner(run *v1alpha1.BenchmarkRun, o *observed, now time.Time) *planner {
	run = run.DeepCopy()
	p := &planner{run: run, observed: o, now: now}
	p.status = run.Status
	p.status.ObservedGeneration = run.Generation
	return p
}

func (p *planner) suspend() {
	p.forget, p.remove = true, true
	p.awaitCertificates()
	p.status.AdmissionTime, p.status.MeasurementTime = nil, nil
	p.status.Target, p.status.Clients, p.status.Warmup = nil, nil, nil
	p.condition(v1alpha1.ConditionAdmitted, metav1.ConditionFalse, v1alpha1.ReasonSuspended, "spec.suspend is true")
	p.condition(v1alpha1.ConditionTargetReady, metav1.ConditionFalse, v1alpha1.ReasonSuspended, "")
	p.condition(v1alpha1.ConditionClientsReady, metav1.ConditionFalse, v1alpha1.ReasonSuspended, "")
	p.state(v1alpha1.ReasonSuspended, "the run doesn't start while spec.suspend is true", nil)
}

func (p *planner) queue() {
	turn := p.observed.turn
	message := fmt.Sprintf("%d runs are before this one in lane %s", turn.ahead, p.run.Spec.Lane)
	if turn.holder != "" {
		message += ", which " + turn.holder + " holds"
	}
	p.condition(v1alpha1.ConditionAdmitted, metav1.ConditionFalse, v1alpha1.ReasonQueued, message)
	p.state(v1alpha1.ReasonQueued, message, nil)
}

// awaitDeletion waits until an object is gone whose name the run needs.
func (p *planner) awaitDeletion() {
	message := fmt.Sprintf("%s of an earlier run is being deleted", p.observed.leftover)
	if !isAdmitted(p.run) {
		p.condition(v1alpha1.ConditionAdmitted, metav1.ConditionFalse, v1alpha1.ReasonQueued, message)
	}
	p.state(v1alpha1.ReasonQueued, message, nil)
	p.requeueAfter = deletionPause
}

func (p *planner) admit() {
	if isAdmitted(p.run) {
		return
	}
	// What pods said before the run was suspended is of no interest any more.
	p.forget = true
	p.status.AdmissionTime = ptr.To(metav1.NewTime(p.now))
	p.condition(v1alpha1.ConditionAdmitted, metav1.ConditionTrue, v1alpha1.ReasonAdmitted, "the run holds lane "+p.run.Spec.Lane)
	p.run.Status = p.status
}

// advance takes an admitted run to its next stage.
func (p *planner) advance() {
	o := p.observed
	p.requeueAt(deadlineOf(p.run))
	replicas := loadplan.Replicas(&p.run.Spec)
	if !o.collected(replicas) && !p.prepare() {
		return
	}
	p.observeTarget()
	ready, proved := p.observeReadiness(), p.prove()
	starts := o.sessions.Starts
	switch {
	case o.collected(replicas):
		p.collect()
	case starts[sessionpb.Stage_STAGE_TEARDOWN] != 0:
		p.tearDown(starts[sessionpb.Stage_STAGE_TEARDOWN])
	case starts[sessionpb.Stage_STAGE_MEASUREMENT] != 0 && runsScript(p.run) && p.loadsEnded():
		p.tearDown(p.beginNow(sessionpb.Stage_STAGE_TEARDOWN))
	case starts[sessionpb.Stage_STAGE_MEASUREMENT] != 0:
		p.measure(starts[sessionpb.Stage_STAGE_MEASUREMENT])
	case starts[sessionpb.Stage_STAGE_SETUP] != 0:
		p.setUp(starts[sessionpb.Stage_STAGE_SETUP])
	case p.run.Spec.Warmup != nil && starts[sessionpb.Stage_STAGE_WARMUP] != 0:
		p.warmUp(starts[sessionpb.Stage_STAGE_WARMUP])
	case !ready:
		p.awaitReadiness()
	case !proved:
		p.state(v1alpha1.ReasonStarting, "reading what the server logged", nil)
	case !isExternal(p.run) && !cpusKnown(p.run, o.sessions.Agent):
		p.read = true // its CPUs have to be known before there is load
		p.state(v1alpha1.ReasonStarting, "reading the target's CPUs", nil)
	case p.unpinned() != nil:
		p.fail(p.unpinned())
	case runsScript(p.run):
		p.setUp(p.beginNow(sessionpb.Stage_STAGE_SETUP))
	case p.run.Spec.Warmup != nil:
		p.warmUp(p.begin(sessionpb.Stage_STAGE_WARMUP))
	default:
		p.measure(p.begin(sessionpb.Stage_STAGE_MEASUREMENT))
	}
}

// prepare makes what target and clients are made from, and then them. It is
// false while the run has to wait for something before. Once both are there, it
// is no more than a repair.
func (p *planner) prepare() bool {
	o := p.observed
	started := isExternal(p.run) || o.target != nil
	if o.noCertManager != "" {
		p.fail(certManagerMissing(o.noCertManager))
		return false
	}
	missing := o.inputs != nil && len(o.inputs.missing) > 0
	if missing && (!started || o.job == nil) {
		p.awaitInputs()
		return false
	}
	if o.inputs != nil && o.inputs.wrong != nil && (!started || o.job == nil) {
		p.fail(failuref(v1alpha1.ReasonInvalidSpec, "%s; mend it, and create a new run", o.inputs.wrong))
		return false
	}
	p.requestList = requestList(o)
	p.createConfig = o.config == nil && !missing
	p.createCertificates = o.job == nil
	if o.job == nil && !p.certificatesReady() {
		return false
	}
	p.createTarget, p.createClients = !started, o.job == nil
	var err error
	if p.lengths, err = contentLengths(p.run, o); err != nil {
		p.fail(failuref(v1alpha1.ReasonInvalidSpec, "%s", err))
		return false
	}
	return true
}

// begin gives a stage its start instant.
func (p *planner) begin(stage sessionpb.Stage) int64 {
	lead := startLead + time.Duration(loadplan.Replicas(&p.run.Spec))*startLeadPerClient
	at := p.now.Add(lead).UnixMicro()
	p.start = map[sessionpb.Stage]int64{stage: at}
	return at
}

func (p *planner) measure(at int64) {
	p.start = map[sessionpb.Stage]int64{sessionpb.Stage_STAGE_MEASUREMENT: at}
	p.status.MeasurementTime = ptr.To(metav1.NewMicroTime(time.UnixMicro(at)))
	_, extent := loadplan.Extents(&p.run.Spec)
	p.state(v1alpha1.ReasonMeasuring, "the clients send the load",
		p.progress(sessionpb.Stage_STAGE_MEASUREMENT, at, extent))
	p.requeueAfter = sooner(p.requeueAfter, progressInterval)
}

// collect stores the result as soon as the agent has read the server after the
// last client's end. Without an agent there is nothing to wait for, and what is
// gone by now isn't made again.
func (p *planner) collect() {
	p.createConfig, p.createCertificates, p.createTarget, p.createClients = false, false, false, false
	var end int64
	for i := range loadplan.Replicas(&p.run.Spec) {
		end = max(end, p.observed.sessions.Clients[i].Totals.EndedAt)
	}
	p.state(v1alpha1.ReasonCollecting, "every client has sent its figures", nil)
	agent := p.observed.sessions.Agent
	late := p.now.Sub(time.UnixMicro(end)) > readGrace
	if agent != nil && agent.Connected && !late && (agent.Latest == nil || agent.Latest.At < end) {
		p.read = true
		p.requeueAfter = sooner(p.requeueAfter, readGrace/20)
		return
	}
	p.store = true
}

// requeueAt asks for a look at an instant, unless one is planned before. What
// has passed was looked at.
func (p *planner) requeueAt(at time.Time) {
	if at.Before(p.now) {
		return
	}
	p.requeueAfter = sooner(p.requeueAfter, max(at.Sub(p.now)+time.Millisecond, time.Millisecond))
}

// sooner is the smaller of two durations of which zero means never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || (b != 0 && b < a) {
		return b
	}
	return a
}
