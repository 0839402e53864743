//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/validity"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// The scenarios of this file need the second node of `make cluster-up NODES=2`, and the manager on the
// first; see `make test-nodes`. They run one after the other: there is one second node, and one network to it.

// on puts the target on a node.
func on(node string, run *wrapper.Run) *wrapper.Run {
	return run.Pod(&v1alpha1.PodSettings{NodeSelector: map[string]string{corev1.LabelHostname: node}})
}

// apart puts the target on the first node and one client on the second, each with a CPU of its own.
func apart(run *wrapper.Run) *wrapper.Run {
	return on(harness.FirstNode, run).TargetResources("1", "256Mi").Clients(1, "1", "256Mi").Placement(v1alpha1.PlacementApart)
}

// wantNodes fails the test unless target and client 0 ran on these nodes.
func wantNodes(t *testing.T, run *v1alpha1.BenchmarkRun, target, client string) {
	t.Helper()
	if run.Status.Target.Node != target || len(run.Status.Clients) == 0 || run.Status.Clients[0].Node != client {
		t.Fatalf("the target ran on node %q and the clients on %+v, want %s and %s", run.Status.Target.Node, run.Status.Clients, target, client)
	}
}

func targetOf(run *v1alpha1.BenchmarkRun) client.MatchingLabels {
	return client.MatchingLabels{manifest.LabelRunUID: string(run.UID), manifest.LabelRole: manifest.RoleTarget}
}

func clientsOf(run *v1alpha1.BenchmarkRun) client.MatchingLabels {
	return client.MatchingLabels{manifest.LabelRunUID: string(run.UID), manifest.LabelRole: manifest.RoleClient}
}

// measures waits until the clients of a run have made requests.
func (c *cluster) measures(t *testing.T, run *v1alpha1.BenchmarkRun) {
	t.Helper()
	c.until(t, run, time.Minute, "requests", func(r *v1alpha1.BenchmarkRun) bool {
		return r.Status.Progress != nil && ptr.Deref(r.Status.Progress.Requests, 0) > 0 &&
			condition(r, v1alpha1.ConditionSucceeded).Reason == v1alpha1.ReasonMeasuring
	})
}

// findingOf returns the severity of a finding of a run; empty if the run doesn't have it.
func (c *cluster) findingOf(t *testing.T, run *v1alpha1.BenchmarkRun, reason string) result.Severity {
	t.Helper()
	findings := c.artifact(t, run).Findings
	i := slices.IndexFunc(findings, func(f result.Finding) bool { return f.Reason == reason })
	if i < 0 {
		return ""
	}
	t.Log(findings[i].Message)
	return findings[i].Severity
}

// limitLink limits the network between the nodes until the end of the test.
func limitLink(t *testing.T, link harness.Link) {
	t.Helper()
	t.Cleanup(func() {
		if err := harness.SetLink(context.WithoutCancel(t.Context()), harness.Link{}); err != nil {
			t.Error(err)
		}
	})
	if err := harness.SetLink(t.Context(), link); err != nil {
		t.Fatal(err)
	}
}

// cpusOf returns the CPUs on which the first process of a container may run, as the kernel lists them.
func cpusOf(t *testing.T, pod *corev1.Pod, container string) string {
	t.Helper()
	pid, err := harness.Process(pod, container)
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "Cpus_allowed_list:")
	list, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(list)
}

// TestNodesApart measures a server from the other node. Every request is counted, target and client each
// have a CPU of their own although both nodes are one machine, and the result is valid.
func TestNodesApart(t *testing.T) {
	c := theCluster
	run := apart(wrapper.NewRun(c.namespace(t), "apart", harness.ServerImage)).Path("/fixed/2000/1000").
		Requests(8, 8000).Retain(v1alpha1.RetainAlways).Obj()
	// Both nodes are one machine, on which anything may run besides.
	run.Spec.AcceptedFindings = []v1alpha1.FindingReason{validity.ReasonNodeBusy}
	c.create(t, run)
	measuring := c.state(t, run, v1alpha1.ReasonMeasuring, time.Minute)
	server, load := cpusOf(t, c.pod(t, run.Namespace, targetOf(measuring)), "server"), cpusOf(t, c.pod(t, run.Namespace, clientsOf(measuring)), "client")
	for _, list := range []string{server, load} {
		if _, err := strconv.Atoi(list); err != nil || server == load {
			t.Errorf("the server may run on CPUs %s and the client on %s, want one each that differ", server, load)
		}
	}
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	wantNodes(t, done, harness.FirstNode, harness.SecondNode)
	if s := done.Status.Result; *s.Requests != 8000 || *s.Errors.Total != 0 || *s.BodyBytesReceived != 8000*1000 {
		t.Errorf("result: %d requests, %d errors, %d bytes", *s.Requests, *s.Errors.Total, *s.BodyBytesReceived)
	}
	if got := c.serverReport(t, done)["/fixed/2000/1000"]; got.Requests != 8000 {
		t.Errorf("the server had %d requests, want 8000", got.Requests)
	}
	if got := done.Status.Target.CPUExclusivity; got != v1alpha1.CPUsExclusive {
		t.Errorf("the server's CPUs are %s", got)
	}
	if valid := condition(done, v1alpha1.ConditionValid); valid.Status != metav1.ConditionTrue {
		t.Errorf("%+v", valid)
	}
	if got := c.findingOf(t, done, validity.ReasonSharedNode); got != "" {
		t.Errorf("SharedNode %s, although they are apart", got)
	}
	if around := c.artifact(t, done).Clients[0].NodeUsage; around == nil || around.SegmentsSent == 0 {
		t.Errorf("around the client: %+v", around)
	}
	// Its log comes from the second node's kubelet.
	if log := c.logs(t, c.pod(t, run.Namespace, clientsOf(done)), "client"); len(log) == 0 {
		t.Error("the client's log is empty")
	}
}

// TestNodesTogether measures a server from its own node, as the run asks for, although the other node is free.
func TestNodesTogether(t *testing.T) {
	c := theCluster
	run := on(harness.FirstNode, wrapper.NewRun(c.namespace(t), "together", harness.ServerImage)).Path("/fixed/1000/10").
		Placement(v1alpha1.PlacementTogether).Requests(2, 1000).Obj()
	c.create(t, run)
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	wantNodes(t, done, harness.FirstNode, harness.FirstNode)
	if got := c.findingOf(t, done, validity.ReasonSharedNode); got != result.Accepted {
		t.Errorf("SharedNode %q, want it to be accepted", got)
	}
}

// TestNodesLost powers off the node of the target or of the client during a measurement. The run must say
// which was lost while the node is away, and delete its objects when it is back.
func TestNodesLost(t *testing.T) {
	endless := func(t *testing.T, name string) *wrapper.Run {
		return wrapper.NewRun(theCluster.namespace(t), name, harness.ServerImage).Path("/fixed/1000/10").Seconds(2, 600).Placement(v1alpha1.PlacementApart)
	}
	tests := map[string]struct {
		run    func(*testing.T) *wrapper.Run
		reason string
		says   string
	}{
		"target": {
			run:    func(t *testing.T) *wrapper.Run { return on(harness.SecondNode, endless(t, "target")) },
			reason: v1alpha1.ReasonTargetLost, says: "agent was disconnected for 2m0s. Check node assay-2",
		},
		"client": {
			run:    func(t *testing.T) *wrapper.Run { return apart(endless(t, "client")) },
			reason: v1alpha1.ReasonClientLost, says: "Client 0 was disconnected for 2m0s. Check node assay-2",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := theCluster
			run := test.run(t).Obj()
			c.create(t, run)
			c.measures(t, run)
			t.Cleanup(func() {
				if err := harness.StartNode(context.WithoutCancel(t.Context())); err != nil {
					t.Error(err)
				}
			})
			if err := harness.StopNode(t.Context()); err != nil {
				t.Fatal(err)
			}
			done := c.finished(t, run, 4*time.Minute)
			wantFailed(t, done, test.reason, test.says)
			if err := harness.StartNode(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.nothingLeft(t, done, 2*time.Minute)
		})
	}
}

// TestNodesCutOff cuts the network between client and target during a measurement, until Kubernetes takes the
// client's node for lost. When the network is back, the client makes the requests that are left.
func TestNodesCutOff(t *testing.T) {
	c := theCluster
	const requests, path = 8000, "/fixed/10000/10"
	run := apart(wrapper.NewRun(c.namespace(t), "cut", harness.ServerImage)).Path(path).Requests(8, requests).Retain(v1alpha1.RetainAlways).Obj()
	c.create(t, run)
	c.measures(t, run)
	limitLink(t, harness.Link{LossPercent: 100})
	if err := wait.PollUntilContextTimeout(t.Context(), time.Second, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		var node corev1.Node
		if err := c.Get(ctx, client.ObjectKey{Name: harness.SecondNode}, &node); err != nil {
			return false, err
		}
		return slices.ContainsFunc(node.Status.Conditions, func(n corev1.NodeCondition) bool {
			return n.Type == corev1.NodeReady && n.Status == corev1.ConditionUnknown
		}), nil
	}); err != nil {
		t.Fatalf("node %s is still ready: %v", harness.SecondNode, err)
	}
	limitLink(t, harness.Link{})
	done := c.finished(t, run, 3*time.Minute)
	wantSucceeded(t, done)
	wantNodes(t, done, harness.FirstNode, harness.SecondNode)
	s := done.Status.Result
	if *s.Requests != requests || *s.Errors.Total == 0 {
		t.Errorf("result: %d requests, %d errors; want %d and those that the cut made time out", *s.Requests, *s.Errors.Total, requests)
	}
	// A request that failed may have reached the server or not.
	if got := c.serverReport(t, done)[path]; got.Requests < requests-*s.Errors.Total || got.Requests > requests {
		t.Errorf("the server had %d requests, the client made %d of which %d failed", got.Requests, requests, *s.Errors.Total)
	}
}

// TestNodesNetwork measures a server over a network that is the limit, or that loses packets. Every
// request is counted once, and the result says that it is one of the network.
func TestNodesNetwork(t *testing.T) {
	tests := map[string]struct {
		link harness.Link
		// The narrow link is full for 10 s. Its responses are longer than what is sent at once.
		requests, length int64
		// maxBitsPerSecond bounds what the bodies can take of the network.
		maxBitsPerSecond int64
		retransmits      bool
	}{
		"narrow": {link: harness.Link{Rate: "20mbit"}, requests: 250, length: 100_000, maxBitsPerSecond: 20_000_000},
		"lossy":  {link: harness.Link{LossPercent: 1}, requests: 2000, length: 10_000, retransmits: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := theCluster
			limitLink(t, test.link)
			requests, path := test.requests, fmt.Sprintf("/fixed/0/%d", test.length)
			run := apart(wrapper.NewRun(c.namespace(t), name, harness.ServerImage)).Path(path).Requests(8, requests).Retain(v1alpha1.RetainAlways).Obj()
			c.create(t, run)
			done := c.finished(t, run, 3*time.Minute)
			wantSucceeded(t, done)
			wantNodes(t, done, harness.FirstNode, harness.SecondNode)
			s := done.Status.Result
			if *s.Requests != requests || *s.Errors.Total != 0 || *s.BodyBytesReceived != requests*test.length {
				t.Errorf("result: %d requests, %d errors, %d bytes", *s.Requests, *s.Errors.Total, *s.BodyBytesReceived)
			}
			if got := c.serverReport(t, done)[path]; got.Requests != requests {
				t.Errorf("the server had %d requests, want %d", got.Requests, requests)
			}
			bits := *s.BodyBytesReceived * 8 * 1_000_000 / *s.DurationMicroseconds
			t.Logf("%d bits/s, %s", bits, condition(done, v1alpha1.ConditionValid).Message)
			if test.maxBitsPerSecond > 0 && bits > test.maxBitsPerSecond {
				t.Errorf("%d bits/s through a network of %s", bits, test.link.Rate)
			}
			if got := c.findingOf(t, done, validity.ReasonNetworkLimited); got != result.Warns {
				t.Errorf("NetworkLimited %q, want a warning", got)
			}
			if around := c.artifact(t, done).NodeUsage; test.retransmits && (around == nil || around.SegmentsRetransmitted <= 0) {
				t.Errorf("around the target: %+v", around)
			}
		})
	}
}
