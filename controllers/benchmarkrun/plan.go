package benchmarkrun

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/target"
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
	// start gives the start instant of stages, in microseconds since the Unix
	// epoch.
	start map[sessionpb.Stage]int64
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
	p.status.Target, p.status.Clients = nil, nil
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
	ready := p.observeReadiness()
	starts := o.sessions.Starts
	switch {
	case o.collected(replicas):
		p.collect()
	case starts[sessionpb.Stage_STAGE_MEASUREMENT] != 0:
		p.measure(starts[sessionpb.Stage_STAGE_MEASUREMENT])
	case p.run.Spec.Warmup != nil && starts[sessionpb.Stage_STAGE_WARMUP] != 0:
		p.warmUp(starts[sessionpb.Stage_STAGE_WARMUP])
	case !ready:
		p.awaitReadiness()
	case !p.prove():
		p.state(v1alpha1.ReasonStarting, "reading what the server logged", nil)
	case !isExternal(p.run) && o.sessions.Agent.Latest == nil:
		p.read = true // its CPUs have to be known before there is load
		p.state(v1alpha1.ReasonStarting, "reading the target's CPUs", nil)
	case p.unpinned() != nil:
		p.fail(p.unpinned())
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
	if missing && !(started && o.job != nil) {
		p.awaitInputs()
		return false
	}
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

func (p *planner) observeTarget() {
	pod := p.observed.target
	t := ptr.Deref(p.status.Target, v1alpha1.TargetStatus{})
	if isExternal(p.run) {
		p.address, _ = target.ExternalAddress(p.run.Spec.Target.Server.External)
		t.Address = bounded(p.address, 64)
	} else if pod == nil {
		return
	} else {
		p.observePod(pod, &t)
	}
	if seen := evidence(p.run, p.observed); seen != nil {
		t.ServerSoftware, t.TLS = bounded(seen.Software, 256), tlsStatus(seen.TLS)
	}
	if agent := p.observed.sessions.Agent; agent != nil && pod != nil {
		if agent.Latest != nil {
			t.CPUs = bounded(agent.Latest.CPUs, 1024)
			t.CPUExclusivity = targetExclusivity(pod, agent.Latest)
		}
	}
	p.status.Target = &t
}

// observePod takes what Kubernetes says of the target's pod.
func (p *planner) observePod(pod *corev1.Pod, t *v1alpha1.TargetStatus) {
	t.Node, t.Kernel = pod.Spec.NodeName, cmp.Or(t.Kernel, bounded(p.observed.kernel, 256))
	if ip := pod.Status.PodIP; ip != "" {
		p.address = hostPort(ip, target.Port(&p.run.Spec.Target))
		t.Address = p.address
		p.watch = session.Watch{
			Address: p.address, Path: target.ReadinessPath(&p.run.Spec), Host: target.Host(p.run), TLS: target.SessionTLS(p.run),
		}
	}
	backends := t.Backends
	t.Backends = nil
	for _, container := range servers(pod) {
		if container.Name == target.ContainerName {
			continue
		}
		b := v1alpha1.BackendStatus{Name: container.Name}
		for _, known := range backends {
			if known.Name == b.Name {
				b = known
			}
		}
		t.Backends = append(t.Backends, b)
	}
	containers := map[string]string{}
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == target.ContainerName {
			t.ImageID = status.ImageID
		}
		for i := range t.Backends {
			if t.Backends[i].Name == status.Name {
				t.Backends[i].ImageID = status.ImageID
			}
		}
		if _, id, ok := strings.Cut(status.ContainerID, "://"); ok && status.Name != agentContainer {
			containers[id] = status.Name
		}
	}
	if len(t.Backends) > 0 {
		p.watch.Containers = containers
	}
}

// observeReadiness says whether target and clients are ready.
func (p *planner) observeReadiness() bool {
	answered := targetAnswered(p.run, p.observed)
	if answered {
		p.condition(v1alpha1.ConditionTargetReady, metav1.ConditionTrue, v1alpha1.ReasonReady, "the target answered with success")
	} else if !meta.IsStatusConditionTrue(p.status.Conditions, v1alpha1.ConditionTargetReady) {
		p.condition(v1alpha1.ConditionTargetReady, metav1.ConditionFalse, v1alpha1.ReasonNotReady, p.targetProgress())
		if p.observed.target != nil || p.observed.job != nil {
			p.requeueAt(targetReadyBy(p.run, p.observed))
		}
	}
	replicas := loadplan.Replicas(&p.run.Spec)
	ready := 0
	for i := range replicas {
		if c := p.observed.sessions.Clients[i]; c.Ready && c.Connected {
			ready++
		}
	}
	if ready == replicas {
		p.condition(v1alpha1.ConditionClientsReady, metav1.ConditionTrue, v1alpha1.ReasonReady, fmt.Sprintf("all %d clients are ready", replicas))
	} else if !meta.IsStatusConditionTrue(p.status.Conditions, v1alpha1.ConditionClientsReady) {
		p.condition(v1alpha1.ConditionClientsReady, metav1.ConditionFalse, v1alpha1.ReasonNotReady, fmt.Sprintf("%d of %d clients are ready%s", ready, replicas, p.clientProgress()))
		if p.observed.job != nil {
			p.requeueAt(p.observed.job.CreationTimestamp.Add(clientsGrace))
		}
	}
	return answered && ready == replicas
}

func (p *planner) awaitReadiness() {
	targets := meta.FindStatusCondition(p.status.Conditions, v1alpha1.ConditionTargetReady)
	clients := meta.FindStatusCondition(p.status.Conditions, v1alpha1.ConditionClientsReady)
	if state := stateOf(p.run); underLoad(state) {
		// The manager was restarted, and the sessions aren't back yet.
		p.state(state, "waiting for the sessions of the run's pods", p.status.Progress)
	} else {
		p.state(v1alpha1.ReasonStarting, targets.Message+"; "+clients.Message, nil)
	}
	if stalled(p.observed) {
		p.requeueAfter = sooner(p.requeueAfter, imageGrace/4)
	}
	if p.disconnected() {
		p.requeueAfter = sooner(p.requeueAfter, silence/4)
	}
}

func (p *planner) targetProgress() string {
	pod := p.observed.target
	switch {
	case isExternal(p.run):
		if silent := p.observed.sessions.Clients[0].Silent; silent != "" {
			return "the target doesn't answer yet: " + silent
		}
		return "client 0 asks the target as soon as it runs"
	case pod == nil:
		return "the target is being created"
	case unschedulable(pod) != "":
		return "the target waits for a node: " + unschedulable(pod)
	case p.observed.sessions.Agent != nil && p.observed.sessions.Agent.Silent != "":
		return "the target doesn't answer yet: " + p.observed.sessions.Agent.Silent
	}
	return "the target is starting"
}

func (p *planner) clientProgress() string {
	for i := range loadplan.Replicas(&p.run.Spec) {
		if pod := p.observed.clients[i]; pod != nil && unschedulable(pod) != "" {
			return fmt.Sprintf("; client %d waits for a node: %s", i, unschedulable(pod))
		}
	}
	return ""
}

func (p *planner) warmUp(at int64) {
	replicas := loadplan.Replicas(&p.run.Spec)
	ended := 0
	for i := range replicas {
		if c := p.observed.sessions.Clients[i]; c.WarmupEnded && c.Connected {
			ended++
		}
	}
	if ended == replicas {
		p.measure(p.begin(sessionpb.Stage_STAGE_MEASUREMENT))
		return
	}
	p.start = map[sessionpb.Stage]int64{sessionpb.Stage_STAGE_WARMUP: at}
	extent, _ := loadplan.Extents(&p.run.Spec)
	p.state(v1alpha1.ReasonWarmingUp, fmt.Sprintf("%d of %d clients have ended their warm-up", ended, replicas),
		p.progress(sessionpb.Stage_STAGE_WARMUP, at, extent))
	p.requeueAfter = sooner(p.requeueAfter, progressInterval)
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

// disconnected is whether some session that was there is gone.
func (p *planner) disconnected() bool {
	for i := range loadplan.Replicas(&p.run.Spec) {
		if c, known := p.observed.sessions.Clients[i]; (known || clientsWereReady(p.run)) && !c.Connected {
			return true
		}
	}
	if isExternal(p.run) {
		return false
	}
	agent := p.observed.sessions.Agent
	return (agent != nil && !agent.Connected) || (agent == nil && targetWasReady(p.run))
}

// underLoad is whether a state is one in which the pods have begun their load.
func underLoad(state string) bool {
	switch state {
	case v1alpha1.ReasonWarmingUp, v1alpha1.ReasonMeasuring, v1alpha1.ReasonCollecting:
		return true
	}
	return false
}

// requeueAt asks for a look at an instant, unless one is planned before.
func (p *planner) requeueAt(at time.Time) {
	if at.IsZero() {
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

func stalled(o *observed) bool {
	pods := []*corev1.Pod{o.target}
	for _, pod := range o.clients {
		pods = append(pods, pod)
	}
	for _, pod := range pods {
		// Far in the future every grace has passed.
		if pod != nil && waiting(pod, pod.CreationTimestamp.Add(365*24*time.Hour)) != nil {
			return true
		}
	}
	return false
}
