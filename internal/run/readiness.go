package run

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
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
)

// ready reports whether target and clients are ready, and sets their conditions.
func (p *planner) ready() bool {
	o := p.observed
	answered := observed.Probed(p.run, o) != nil
	if p.becomes(v1alpha1.ConditionTargetReady, answered, "The readiness probe succeeded.", p.targetProgress) && (o.Target != nil || o.Job != nil) {
		p.requeueAt(observed.TargetReadyBy(p.run, o))
	}
	replicas := loadplan.Replicas(&p.run.Spec)
	n := p.countClients(func(c *session.ClientState) bool { return c.Ready && c.Connected })
	if p.becomes(v1alpha1.ConditionClientsReady, n == replicas, fmt.Sprintf("All %d clients are ready.", replicas), func() string {
		return fmt.Sprintf("%d of %d clients are ready.%s", n, replicas, p.clientProgress())
	}) && o.Job != nil {
		p.requeueAt(failure.ClientReadyBy(p.run, o, false))
		p.requeueAt(failure.ClientReadyBy(p.run, o, true))
	}
	return answered && n == replicas
}

// becomes sets a condition of readiness, and reports whether it still has to become true. One that
// was true stays so: the sessions may be gone because the manager was restarted.
func (p *planner) becomes(kind string, ready bool, message string, progress func() string) bool {
	switch {
	case ready:
		p.condition(kind, metav1.ConditionTrue, v1alpha1.ReasonReady, message)
	case !meta.IsStatusConditionTrue(p.Status.Conditions, kind):
		p.condition(kind, metav1.ConditionFalse, v1alpha1.ReasonNotReady, progress())
		return true
	}
	return false
}

func (p *planner) awaitReadiness() {
	targets := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionTargetReady)
	clients := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionClientsReady)
	if was := state.Of(p.run); state.UnderLoad(was) {
		// The manager was restarted, and the sessions aren't back yet.
		p.state(was, "Waiting for the run's pods to reconnect.", p.Status.Progress)
	} else {
		p.state(v1alpha1.ReasonStarting, targets.Message+" "+clients.Message, nil)
	}
	all := p.observed.Pods()
	if slices.ContainsFunc(all, pods.IsBlocked) {
		p.requeueIn(pods.ImagePullTimeout / 4)
	}
	if _, missing := p.observed.MissingClient(p.run); missing || slices.ContainsFunc(all, pods.Starting) {
		p.requeueIn(observed.PodEventInterval)
	}
	if p.disconnected() {
		p.requeueIn(observed.ContactTimeout / 4)
	}
}

func (p *planner) targetProgress() string {
	pod := p.observed.Target
	switch {
	case state.IsExternal(p.run):
		if failure := p.observed.Sessions.Clients[0].ProbeFailure; failure != "" {
			return "The readiness probe failed: " + failure
		}
		return "Client 0 probes the target as soon as it runs."
	case pod == nil:
		return "The target is being created."
	case pods.Unschedulable(pod) != "":
		return "The target can't be scheduled yet: " + pods.Unschedulable(pod)
	case p.observed.PodEvents[pod.Name] != nil:
		return "The target does not start yet: " + p.observed.PodEvents[pod.Name].String()
	case p.observed.Sessions.Agent != nil && p.observed.Sessions.Agent.ProbeFailure != "":
		return "The readiness probe failed: " + p.observed.Sessions.Agent.ProbeFailure
	}
	return "The target is starting."
}

func (p *planner) clientProgress() string {
	if p.observed.Job == nil && !observed.ClientsPlaceable(p.run, p.observed) {
		return " They are created once the target has a node."
	}
	for i := range loadplan.Replicas(&p.run.Spec) {
		pod := p.observed.Clients[i]
		if pod == nil {
			if event := p.observed.PodEvents[manifest.ClientsName(p.run)]; event != nil {
				return fmt.Sprintf(" Client %d has no pod yet: %s", i, event)
			}
			continue
		}
		if message := pods.Unschedulable(pod); message != "" {
			return fmt.Sprintf(" Client %d can't be scheduled yet: %s%s", i, failure.Sentence(message), failure.PlacementCause(p.run, p.observed))
		}
		if event := p.observed.PodEvents[pod.Name]; event != nil {
			return fmt.Sprintf(" Client %d does not start yet: %s", i, event.OfClient(p.run))
		}
	}
	return ""
}

// disconnected reports whether the session of a pod is gone that was there.
func (p *planner) disconnected() bool {
	for i := range loadplan.Replicas(&p.run.Spec) {
		if c, known := p.observed.Sessions.Clients[i]; (known || state.ClientsWereReady(p.run)) && !c.Connected {
			return true
		}
	}
	if state.IsExternal(p.run) {
		return false
	}
	agent := p.observed.Sessions.Agent
	return (agent != nil && !agent.Connected) || (agent == nil && state.TargetWasReady(p.run))
}

const (
	// verificationTimeout is the time that servers may take to log their version and connector once
	// the target is ready. Backends may still be starting: their readiness isn't probed.
	verificationTimeout = 30 * time.Second
	// verificationInterval is the interval at which its log is read until then.
	verificationInterval = 100 * time.Millisecond
)

// verify records what the servers logged. It returns what it waits for while one may still log it.
func (p *planner) verify() (done bool, waits string) {
	ready := meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionTargetReady)
	if p.observed.Logs == nil || p.observed.Target == nil || ready == nil || observed.Probed(p.run, p.observed) == nil {
		return true, ""
	}
	for _, name := range server.VerifiableContainers(&p.run.Spec.Target) {
		logged := p.logged[name]
		if (logged.Version == "" || logged.Opened() == "") && !p.now.After(ready.LastTransitionTime.Add(verificationTimeout)) {
			p.requeueIn(verificationInterval)
			return false, cmp.Or(p.observed.LogErrors[name], "container "+name+" has not logged its version and connector yet")
		}
	}
	t := &p.started
	if logged, ok := p.logged[server.ContainerName]; ok {
		t.ServerVersion, t.Connector, t.Libraries = shown(logged)
	}
	for i := range t.Backends {
		b := &t.Backends[i]
		if logged, ok := p.logged[b.Name]; ok {
			b.ServerVersion, b.Connector, b.Libraries = shown(logged)
		}
	}
	p.recordTarget()
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
