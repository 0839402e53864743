package benchmarkrun

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
)

func (p *planner) observeTarget() {
	pod := p.observed.target
	t := ptr.Deref(p.status.Target, v1alpha1.TargetStatus{})
	switch {
	case isExternal(p.run):
		p.address, _ = server.ExternalAddress(&p.run.Spec.Target)
		t.Address = bounded(p.address, 64)
	case pod == nil:
		return
	default:
		p.observePod(pod, &t)
	}
	if seen := evidence(p.run, p.observed); seen != nil {
		t.ServerSoftware, t.TLS = bounded(seen.Software, 256), tlsStatus(seen.TLS)
	}
	if agent := p.observed.sessions.Agent; agent != nil && pod != nil {
		if agent.Latest != nil {
			t.CPUs = bounded(agent.Latest.CPUs, 1024)
			t.CPUExclusivity = targetExclusivity(p.run, agent.Latest)
		}
	}
	p.status.Target = &t
}

// observePod takes what Kubernetes says of the target's pod.
func (p *planner) observePod(pod *corev1.Pod, t *v1alpha1.TargetStatus) {
	t.Node, t.Kernel = pod.Spec.NodeName, cmp.Or(t.Kernel, bounded(p.observed.kernel, 256))
	if ip := pod.Status.PodIP; ip != "" {
		p.address = hostPort(ip, server.Port(&p.run.Spec.Target))
		t.Address = p.address
		p.watch = session.Watch{
			Address: p.address, Path: server.ReadinessPath(&p.run.Spec), Host: server.Host(p.run), TLS: server.SessionTLS(p.run),
			Streams: loadplan.Streams(&p.run.Spec),
		}
	}
	backends := t.Backends
	t.Backends = nil
	for i := range p.run.Spec.Target.Backends {
		b := v1alpha1.BackendStatus{Name: p.run.Spec.Target.Backends[i].Name}
		for _, known := range backends {
			if known.Name == b.Name {
				b = known
			}
		}
		t.Backends = append(t.Backends, b)
	}
	containers := map[string]string{}
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == server.ContainerName {
			t.ImageID = status.ImageID
		}
		for i := range t.Backends {
			if t.Backends[i].Name == status.Name {
				t.Backends[i].ImageID = status.ImageID
			}
		}
	}
	for _, container := range manifest.Servers(p.run, pod) {
		for _, status := range pod.Status.ContainerStatuses {
			if _, id, ok := strings.Cut(status.ContainerID, "://"); ok && status.Name == container.Name {
				containers[id] = status.Name
			}
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
			p.requeueAt(clientReadyBy(p.run, p.observed, false))
			p.requeueAt(clientReadyBy(p.run, p.observed, true))
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
	if slices.ContainsFunc(p.observed.pods(), starting) {
		p.requeueAfter = sooner(p.requeueAfter, troublePause)
	}
	if p.disconnected() {
		p.requeueAfter = sooner(p.requeueAfter, silence/4)
	}
}

func (p *planner) targetProgress() string {
	pod := p.observed.target
	switch {
	case isExternal(p.run):
		if silent := p.observed.sessions.Clients[0].ProbeFailure; silent != "" {
			return "the target doesn't answer yet: " + silent
		}
		return "client 0 asks the target as soon as it runs"
	case pod == nil:
		return "the target is being created"
	case unschedulable(pod) != "":
		return "the target waits for a node: " + unschedulable(pod)
	case p.observed.troubled(pod) != "":
		return "the target doesn't start yet: " + p.observed.troubled(pod)
	case p.observed.sessions.Agent != nil && p.observed.sessions.Agent.ProbeFailure != "":
		return "the target doesn't answer yet: " + p.observed.sessions.Agent.ProbeFailure
	}
	return "the target is starting"
}

func (p *planner) clientProgress() string {
	for i := range loadplan.Replicas(&p.run.Spec) {
		if pod := p.observed.clients[i]; pod != nil && unschedulable(pod) != "" {
			return fmt.Sprintf("; client %d waits for a node: %s", i, unschedulable(pod))
		}
		if pod := p.observed.clients[i]; p.observed.troubled(pod) != "" {
			return fmt.Sprintf("; client %d doesn't start yet: %s", i, p.observed.troubles[pod.Name].ofClient(p.run))
		}
	}
	return ""
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
	case v1alpha1.ReasonSettingUp, v1alpha1.ReasonWarmingUp, v1alpha1.ReasonMeasuring, v1alpha1.ReasonTearingDown, v1alpha1.ReasonCollecting:
		return true
	}
	return false
}

// pods are those of a run that there are.
func (o *observed) pods() []*corev1.Pod {
	var all []*corev1.Pod
	if o.target != nil {
		all = append(all, o.target)
	}
	for _, pod := range o.clients {
		all = append(all, pod)
	}
	return all
}

func stalled(o *observed) bool {
	return slices.ContainsFunc(o.pods(), func(pod *corev1.Pod) bool {
		// Far in the future every grace has passed.
		return waiting(pod, pod.CreationTimestamp.Add(365*24*time.Hour)) != nil
	})
}
