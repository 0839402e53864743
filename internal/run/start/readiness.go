package start

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
)

// Ready reports whether target and clients are ready, and sets their conditions.
func Ready(p *step.Planner) bool {
	o := p.Observed
	answered := observed.Probed(p.Run, o) != nil
	if becomes(p, v1alpha1.ConditionTargetReady, answered, "The readiness probe succeeded.", func() string { return targetProgress(p.Run, p.Observed, p.Now) }) && (o.Target != nil || o.Job != nil) {
		p.RequeueAt(observed.TargetReadyBy(p.Run, o))
		if o.Target != nil && o.Sessions.Agent == nil {
			p.RequeueAt(connectedBy(o))
		}
	}
	replicas := loadplan.Replicas(&p.Run.Spec)
	n := p.CountClients(func(c *session.ClientState) bool { return c.Ready && c.Connected })
	if becomes(p, v1alpha1.ConditionClientsReady, n == replicas, fmt.Sprintf("Clients ready: %d of %d.", n, replicas), func() string {
		return fmt.Sprintf("Clients ready: %d of %d.%s", n, replicas, clientProgress(p.Run, p.Observed))
	}) && o.Job != nil {
		p.RequeueAt(failure.ClientReadyBy(p.Run, o, false))
		p.RequeueAt(failure.ClientReadyBy(p.Run, o, true))
	}
	return answered && n == replicas
}

// becomes sets a condition of readiness, and reports whether it still has to become true. One that
// was true stays so: the sessions may be gone because the manager was restarted.
func becomes(p *step.Planner, kind string, ready bool, message string, progress func() string) bool {
	switch {
	case ready:
		p.SetCondition(kind, metav1.ConditionTrue, v1alpha1.ReasonReady, message)
	case !meta.IsStatusConditionTrue(p.Status.Conditions, kind):
		p.SetCondition(kind, metav1.ConditionFalse, v1alpha1.ReasonNotReady, progress())
		return true
	}
	return false
}

// AwaitReadiness says what the run waits for until its target and its clients are ready.
func AwaitReadiness(p *step.Planner) {
	targets := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionTargetReady)
	clients := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionClientsReady)
	if was := state.Of(p.Run); state.UnderLoad(was) {
		// The manager was restarted, and the sessions aren't back yet.
		p.SetState(was, "Waiting for the run's pods to reconnect.", p.Status.Progress)
	} else {
		p.SetState(v1alpha1.ReasonStarting, targets.Message+" "+clients.Message, nil)
	}
	all := p.Observed.Pods()
	if slices.ContainsFunc(all, pods.IsBlocked) {
		p.RequeueIn(pods.ImagePullTimeout / 4)
	}
	if _, missing := p.Observed.MissingClient(p.Run); missing || slices.ContainsFunc(all, pods.Starting) {
		p.RequeueIn(observed.PodEventInterval)
	}
	if disconnected(p.Run, p.Observed) {
		p.RequeueIn(observed.ContactTimeout / 4)
	}
}

// connectTimeout is the time from the start of the agent after which the status says that it hasn't connected.
const connectTimeout = 20 * time.Second

// connectedBy returns the time at which the agent should have connected to this manager.
func connectedBy(o *observed.Run) time.Time {
	since := pods.RunningSince(o.Target, manifest.AgentContainer)
	if since.IsZero() {
		return o.Target.CreationTimestamp.Add(time.Hour)
	}
	if o.LeaderSince.After(since) {
		since = o.LeaderSince
	}
	return since.Add(connectTimeout)
}

func targetProgress(run *v1alpha1.BenchmarkRun, o *observed.Run, now time.Time) string {
	pod := o.Target
	switch {
	case state.IsExternal(run):
		if failure := o.Sessions.Clients[0].ProbeFailure; failure != "" {
			return "The readiness probe failed: " + failure
		}
		return "Client 0 probes the target as soon as it runs."
	case pod == nil:
		return "The target is being created."
	case pods.Unschedulable(pod) != "":
		return "The target can't be scheduled yet: " + pods.Unschedulable(pod)
	case o.PodEvents[pod.Name] != nil:
		return "The target does not start yet: " + o.PodEvents[pod.Name].String()
	case o.Sessions.Agent != nil && o.Sessions.Agent.ProbeFailure != "":
		return "The readiness probe failed: " + o.Sessions.Agent.ProbeFailure
	case o.Sessions.Agent == nil && !now.Before(connectedBy(o)):
		return "The target's agent runs, but has not connected to the manager at " + o.Settings.SessionAddress + " yet."
	}
	return "The target is starting."
}

func clientProgress(run *v1alpha1.BenchmarkRun, o *observed.Run) string {
	if o.Job == nil && !observed.ClientsPlaceable(run, o) {
		return " They are created once the target has a node."
	}
	for i := range loadplan.Replicas(&run.Spec) {
		pod := o.Clients[i]
		if pod == nil {
			if event := o.PodEvents[manifest.ClientsName(run)]; event != nil {
				return fmt.Sprintf(" Client %d has no pod yet: %s", i, event)
			}
			continue
		}
		if message := pods.Unschedulable(pod); message != "" {
			return fmt.Sprintf(" Client %d can't be scheduled yet: %s%s", i, failure.Sentence(message), failure.PlacementCause(run, o))
		}
		if event := o.PodEvents[pod.Name]; event != nil {
			return fmt.Sprintf(" Client %d does not start yet: %s", i, event.OfClient(run))
		}
	}
	return ""
}

// disconnected reports whether the session of a pod is gone that was there.
func disconnected(run *v1alpha1.BenchmarkRun, o *observed.Run) bool {
	for i := range loadplan.Replicas(&run.Spec) {
		if c, known := o.Sessions.Clients[i]; (known || state.ClientsWereReady(run)) && !c.Connected {
			return true
		}
	}
	if state.IsExternal(run) {
		return false
	}
	agent := o.Sessions.Agent
	return (agent != nil && !agent.Connected) || (agent == nil && state.TargetWasReady(run))
}

const (
	// VerificationTimeout is the time that servers may take to log their version and connector once
	// the target is ready. Backends may still be starting: their readiness isn't probed.
	VerificationTimeout = 30 * time.Second
	// VerificationInterval is the interval at which its log is read at first.
	VerificationInterval = 100 * time.Millisecond
)

// Verify records what the servers logged. It returns what it waits for while one may still log it.
func Verify(p *step.Planner) (done bool, waits string) {
	ready := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionTargetReady)
	if p.Observed.Logs == nil || p.Observed.Target == nil || ready == nil || observed.Probed(p.Run, p.Observed) == nil {
		return true, ""
	}
	for _, name := range server.VerifiableContainers(&p.Run.Spec.Target) {
		logged := p.Logged[name]
		if (logged.Version == "" || logged.Opened() == "") && !p.Now.After(ready.LastTransitionTime.Add(VerificationTimeout)) {
			p.RequeueIn(max(VerificationInterval, p.Now.Sub(ready.LastTransitionTime.Time)/10)) // each reads all logs
			return false, cmp.Or(p.Observed.LogErrors[name], "container "+name+" has not logged its version and connector yet")
		}
	}
	t := &p.Started
	if logged, ok := p.Logged[server.ContainerName]; ok {
		t.ServerVersion, t.Connector, t.Libraries = shown(logged)
	}
	for i := range t.Backends {
		b := &t.Backends[i]
		if logged, ok := p.Logged[b.Name]; ok {
			b.ServerVersion, b.Connector, b.Libraries = shown(logged)
		}
	}
	recordTarget(p)
	return true, ""
}

// shown returns what a server logged, in the lengths that the status has room for.
func shown(l server.Log) (version, connector string, libraries []string) {
	for _, text := range l.Libraries[:min(len(l.Libraries), 16)] {
		if text != "" {
			libraries = append(libraries, printable.Bounded(text, 256))
		}
	}
	return printable.Bounded(l.Version, 256), printable.Bounded(l.Opened(), 256), libraries
}
