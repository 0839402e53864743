package doctor

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// node is a node on which pods of runs can be.
type node struct {
	name string
	cpu  resource.Quantity
}

func (e *examination) nodeCount(ctx context.Context) Check {
	const name = "nodes"
	var list corev1.NodeList
	if err := e.get(ctx, "/api/v1/nodes", "", &list); err != nil {
		return unreadable(name, "nodes", "list nodes", err)
	}
	for i := range list.Items {
		n := &list.Items[i]
		ready := false
		for _, c := range n.Status.Conditions {
			ready = ready || c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}
		if ready && !n.Spec.Unschedulable && !tainted(n) {
			e.nodes = append(e.nodes, node{n.Name, *n.Status.Allocatable.Cpu()})
		}
	}
	switch len(e.nodes) {
	case 0:
		return Check{name, Fail, "No node is ready for pods without tolerations.", "Add a node, or set target.tolerations and clients.tolerations."}
	case 1:
		return Check{name, Warn, "One node is ready for pods. Target and clients share its caches, memory bandwidth and kernel.",
			"Add a second node. On one node give target and clients whole CPUs."}
	}
	return Check{name, OK, fmt.Sprintf("%d nodes are ready for pods.", len(e.nodes)), ""}
}

// tainted reports whether pods without tolerations aren't scheduled to a node.
func tainted(n *corev1.Node) bool {
	for _, taint := range n.Spec.Taints {
		if taint.Effect != corev1.TaintEffectPreferNoSchedule {
			return true
		}
	}
	return false
}

// maxNodes bounds the number of kubelets that are asked.
const maxNodes = 20

// cpuManagers asks the kubelets for their CPU manager policy. It is in no object of the API: only the kubelet's own
// endpoint configz has it, which the API server passes on.
func (e *examination) cpuManagers(ctx context.Context) []Check {
	const name = "CPU manager"
	var checks []Check
	for i, n := range e.nodes {
		if i == maxNodes {
			return append(checks, Check{name, Unknown, fmt.Sprintf("Only the first %d of %d nodes were asked.", maxNodes, len(e.nodes)), ""})
		}
		var configuration struct {
			KubeletConfig struct {
				CPUManagerPolicy string `json:"cpuManagerPolicy"`
			} `json:"kubeletconfig"`
		}
		err := e.get(ctx, "/api/v1/nodes/"+url.PathEscape(n.name)+"/proxy/configz", "", &configuration)
		switch policy := configuration.KubeletConfig.CPUManagerPolicy; {
		case err != nil:
			c := unreadable(name+" of "+n.name, "the kubelet's configuration, the only place that has its policy", "get nodes/proxy, which allows much else", err)
			c.Remedy += " Without it: a run with cpuPinning Required fails with CPUNotExclusive if the policy isn't static."
			checks = append(checks, Check{c.Name, c.Status, c.Message, strings.TrimSpace(c.Remedy)})
		case policy == "static":
			checks = append(checks, Check{name + " of " + n.name, OK, "Its policy is static: containers with whole CPUs have them to themselves.", ""})
		default:
			checks = append(checks, Check{name + " of " + n.name, Warn, fmt.Sprintf("Its policy is %q: target and clients share CPUs with other pods.", policy),
				"Set cpuManagerPolicy: static in the kubelet's configuration. See docs/install.md."})
		}
	}
	return checks
}

// queue checks whether runs of the namespace wait for their lane.
func (e *examination) queue(ctx context.Context) Check {
	const name = "queue"
	var runs v1alpha1.BenchmarkRunList
	if err := e.get(ctx, "/apis/assay.dev/v1alpha1/namespaces/"+e.namespace+"/benchmarkruns", "", &runs); err != nil {
		if absent(err) {
			return Check{name, Unknown, "The cluster doesn't know BenchmarkRuns.", install}
		}
		return unreadable(name, "BenchmarkRuns", "list benchmarkruns.assay.dev in namespace "+e.namespace, err)
	}
	var waiting []string
	unseen := ""
	for i := range runs.Items {
		run := &runs.Items[i]
		c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded)
		switch {
		case c == nil:
			unseen = run.Name
		case c.Reason == v1alpha1.ReasonQueued:
			waiting = append(waiting, fmt.Sprintf("%s (lane %s): %s", run.Name, run.Spec.Lane, c.Message))
		}
	}
	switch {
	case unseen != "":
		return Check{name, Warn, fmt.Sprintf("Run %s hasn't been seen by an operator.", unseen), "If this stays, see the checks of the operator and its leader above."}
	case len(waiting) > 0:
		return Check{name, Warn, fmt.Sprintf("%d runs of namespace %s wait for their lane, a queue in which one runs at a time. %s", len(waiting), e.namespace, waiting[0]),
			"Wait, suspend or delete the run before it. Use another lane only for runs that can't disturb each other."}
	}
	return Check{name, OK, fmt.Sprintf("No run of namespace %s waits.", e.namespace), ""}
}

// quietPercent is the CPU usage of a node, in percent, above which other programs are likely to disturb a run.
const quietPercent = 20

// load checks by the metrics API whether a node is busy with something else.
func (e *examination) load(ctx context.Context) Check {
	const name = "load of the nodes"
	var list struct {
		Items []struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
			Usage corev1.ResourceList `json:"usage"`
		} `json:"items"`
	}
	if err := e.get(ctx, "/apis/metrics.k8s.io/v1beta1/nodes", "", &list); err != nil {
		if absent(err) {
			return Check{name, Unknown, "The cluster has no metrics API.", "Install metrics-server to see it here. Runs measure disturbances themselves."}
		}
		return unreadable(name, "the metrics of nodes", "list nodes.metrics.k8s.io", err)
	}
	seen, busy := 0, []string{}
	for _, item := range list.Items {
		for _, n := range e.nodes {
			if n.name != item.Metadata.Name || n.cpu.MilliValue() == 0 {
				continue
			}
			seen++
			if percent := item.Usage.Cpu().MilliValue() * 100 / n.cpu.MilliValue(); percent > quietPercent {
				busy = append(busy, fmt.Sprintf("%s uses %d%% of its CPUs", n.name, percent))
			}
		}
	}
	switch {
	case seen == 0:
		return Check{name, Unknown, "The metrics API has none of the nodes.", ""}
	case len(busy) > 0:
		return Check{name, Warn, strings.Join(busy, ", ") + ".", "If this isn't a run of Assay, move the other pods: they disturb runs."}
	}
	return Check{name, OK, fmt.Sprintf("No node uses more than %d%% of its CPUs.", quietPercent), ""}
}
