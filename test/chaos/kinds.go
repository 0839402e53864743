package main

import (
	"context"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// kind is a kind of fault.
type kind struct {
	name, about string
	// prepare, if set, changes the cluster before the run is created. strike makes the fault. Both
	// return what ends it, or nil.
	prepare, strike func(context.Context, *trial) (undo func() error, err error)
	// lasting makes the fault last until the run has ended, instead of for its hold.
	lasting bool
	// minHold and maxHold bound how long the fault lasts.
	minHold, maxHold time.Duration
	// late keeps the fault from striking before the measurement: what it needs is not there.
	late bool
	// hurtsPods means that the fault may take a pod with its counts.
	hurtsPods bool
	// ofClient, repeats and shifts say which of the fault's parameters matter.
	ofClient, repeats, shifts bool
	// reasons are the reasons with which the run may fail, and says what the message must then
	// contain. A run may always be completed: the fault may come too late, and the count shows
	// whether it was.
	reasons []string
	says    []string
}

var kinds = []*kind{
	// The manager. No run may fail for it.
	{name: "manager-killed", about: "The manager is killed.", strike: managerKilled},
	{name: "manager-killed-again", about: "The manager is killed two or three times, each time as soon as it runs.", strike: managerKilledAgain, repeats: true},
	{name: "manager-frozen", about: "The manager is frozen for longer than its lease.", strike: managerFrozen, minHold: 11 * time.Second, maxHold: time.Minute},
	{name: "manager-out-of-memory", about: "The manager is killed by the kernel at its memory limit.", strike: managerOutOfMemory},
	{name: "leader-killed", about: "There are two managers, and the one that leads is killed.", prepare: secondManager, strike: leaderKilled, lasting: true},

	// The control plane. Nor may it fail for this.
	{name: "api-server-stopped", about: "The API server is down.", strike: partStopped("kube-apiserver"), minHold: time.Second, maxHold: 2 * time.Minute},
	{name: "etcd-stopped", about: "etcd is down.", strike: partStopped("etcd"), minHold: time.Second, maxHold: 2 * time.Minute},
	{name: "scheduler-stopped", about: "The scheduler is down.", strike: partStopped("kube-scheduler"), minHold: time.Second, maxHold: 2 * time.Minute},
	{name: "controller-manager-stopped", about: "The controller manager is down.", strike: partStopped("kube-controller-manager"), minHold: time.Second, maxHold: 2 * time.Minute},
	{name: "kubelet-stopped", about: "The kubelet is down. Pods run on.", strike: partStopped("kubelet"), minHold: time.Second, maxHold: 2 * time.Minute},
	{name: "dns-gone", about: "CoreDNS is gone.", strike: dnsGone, minHold: time.Second, maxHold: 2 * time.Minute},

	// Pods of the run.
	{
		name: "client-killed", about: "A client's process is killed.", strike: killed(aClient, "client"), late: true, hurtsPods: true, ofClient: true,
		reasons: []string{v1alpha1.ReasonClientFailed}, says: []string{"137"},
	},
	{
		name: "client-deleted", about: "A client's pod is deleted.", strike: podDeleted(aClient), late: true, hurtsPods: true, ofClient: true,
		reasons: []string{v1alpha1.ReasonClientLost}, says: []string{"deleted"},
	},
	{
		name: "client-evicted", about: "A client's pod is evicted, as by kubectl drain.", strike: podEvicted(aClient), late: true, hurtsPods: true, ofClient: true,
		reasons: []string{v1alpha1.ReasonClientEvicted}, says: []string{"EvictionByEvictionAPI"},
	},
	{
		name: "client-out-of-memory", about: "A client is killed by the kernel at its memory limit.", strike: outOfMemory(aClient, "client"), late: true, hurtsPods: true, ofClient: true,
		reasons: []string{v1alpha1.ReasonClientFailed}, says: []string{"memory limit of 128Mi", "spec.clients.resources.memory"},
	},
	{
		name: "job-deleted", about: "The clients' Job is deleted.", strike: jobDeleted, late: true, hurtsPods: true,
		reasons: []string{v1alpha1.ReasonClientLost}, says: []string{"deleted"},
	},
	{
		name: "server-killed", about: "The server's process is killed.", strike: killed(target, "server"), late: true, hurtsPods: true,
		reasons: []string{v1alpha1.ReasonTargetCrashed}, says: []string{"137"},
	},
	{
		name: "agent-killed", about: "The agent's process is killed.", strike: killed(target, "agent"), late: true, hurtsPods: true,
		reasons: []string{v1alpha1.ReasonTargetLost}, says: []string{"agent", "137"},
	},
	{
		name: "target-deleted", about: "The target's pod is deleted.", strike: podDeleted(target), late: true, hurtsPods: true,
		reasons: []string{v1alpha1.ReasonTargetLost}, says: []string{"deleted"},
	},
	{
		name: "target-evicted", about: "The target's pod is evicted, as by kubectl drain.", strike: podEvicted(target), late: true, hurtsPods: true,
		reasons: []string{v1alpha1.ReasonTargetEvicted}, says: []string{"EvictionByEvictionAPI"},
	},
	{
		name: "server-out-of-memory", about: "The server is killed by the kernel at its memory limit.", strike: outOfMemory(target, "server"), late: true, hurtsPods: true,
		reasons: []string{v1alpha1.ReasonTargetCrashed}, says: []string{"memory limit of 128Mi", "spec.target.resources.memory"},
	},

	// Network and clocks.
	{
		name: "client-cut-off", about: "A client can't reach the manager.", strike: cutOff, late: true, ofClient: true,
		minHold: time.Second, maxHold: 110 * time.Second,
	},
	{
		name: "client-cut-off-for-long", about: "A client can't reach the manager for longer than the 2 minutes after which it counts as lost.", strike: cutOff, late: true, hurtsPods: true, ofClient: true,
		minHold: 125 * time.Second, maxHold: 3 * time.Minute, reasons: []string{v1alpha1.ReasonClientLost}, says: []string{"disconnected"},
	},
	{
		name: "client-clock-set", about: "A client's wall clock is set.", strike: clockSet(aClient, "client"), late: true, ofClient: true, shifts: true,
		reasons: []string{v1alpha1.ReasonClientFailed},
	},
	{
		name: "agent-clock-set", about: "The agent's wall clock is set.", strike: clockSet(target, "agent"), late: true, shifts: true,
		reasons: []string{v1alpha1.ReasonTargetLost},
	},
	{
		name: "manager-clock-set", about: "The manager's wall clock is set.", strike: managerClockSet, shifts: true,
		reasons: []string{v1alpha1.ReasonDeadlineExceeded, v1alpha1.ReasonClientFailed, v1alpha1.ReasonTargetNotReady, v1alpha1.ReasonClientsNotReady},
	},

	// The namespace.
	{
		name: "artifact-over-quota", about: "A quota allows no more ConfigMaps when the result is stored.", strike: artifactOverQuota, late: true, lasting: true,
		reasons: []string{v1alpha1.ReasonArtifactNotStored}, says: []string{"exceeded quota: chaos", "The measurement was complete (4000 requests, 0 of them failed)"},
	},
	{
		name: "artifact-over-quota-briefly", about: "A quota allows no more ConfigMaps for a while when the result is stored.", strike: artifactOverQuota, late: true,
		minHold: time.Second, maxHold: 30 * time.Second,
	},
	{
		name: "artifact-denied", about: "A webhook denies the result's ConfigMap.", strike: webhook("configmaps", "-result", true), late: true, lasting: true,
		reasons: []string{v1alpha1.ReasonArtifactNotStored}, says: []string{"not today", "The measurement was complete (4000 requests, 0 of them failed)"},
	},
	{name: "artifact-webhook-down", about: "A webhook that must see the result's ConfigMap is down for a while.", strike: webhook("configmaps", "-result", false), late: true, minHold: time.Second, maxHold: time.Minute},
	{
		name: "target-denied", about: "A webhook denies the target's pod.", prepare: webhook("pods", "-target", true), strike: nothing, lasting: true,
		reasons: []string{v1alpha1.ReasonPolicyDenied}, says: []string{"not today"},
	},
	{
		name: "clients-over-quota", about: "A quota allows no pods of clients from the start.", prepare: podsOverQuota, strike: nothing, lasting: true,
		reasons: []string{v1alpha1.ReasonQuotaExceeded}, says: []string{"exceeded quota: chaos"},
	},
	{name: "namespace-deleted", about: "The run's namespace is deleted.", strike: namespaceDeleted, hurtsPods: true, reasons: []string{deleted}},
}

func nothing(context.Context, *trial) (func() error, error) { return nil, nil }
