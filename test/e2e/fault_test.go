//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestManagerKilled kills the manager during a measurement and again while the
// result can't be stored. Every request must be counted once.
func TestManagerKilled(t *testing.T) {
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "survivor", harness.ServerImage).Path("/fixed/2000/100").
		Clients(2, "100m", "128Mi").Requests(2, 4000).Retain(v1alpha1.RetainAlways).Obj()
	block := c.blockArtifact(t, run)
	c.create(t, run)
	c.until(t, run, time.Minute, "requests", func(r *v1alpha1.BenchmarkRun) bool {
		return r.Status.Progress != nil && ptr.Deref(r.Status.Progress.Requests, 0) > 0 &&
			condition(r, v1alpha1.ConditionSucceeded).Reason == v1alpha1.ReasonMeasuring
	})
	c.kill(t, c.manager(t), "manager")
	c.state(t, run, v1alpha1.ReasonCollecting, 2*time.Minute)
	c.kill(t, c.manager(t), "manager")
	if err := c.Delete(t.Context(), block); err != nil {
		t.Fatal(err)
	}
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	if s := done.Status.Result; *s.Requests != 8000 || *s.Errors.Total != 0 {
		t.Errorf("%d requests with %d errors, want 8000 with none", *s.Requests, *s.Errors.Total)
	}
	if got := c.serverReport(t, done)["/fixed/2000/100"]; got.Requests != 8000 {
		t.Errorf("the server had %d requests, want 8000", got.Requests)
	}
	var stored corev1.ConfigMapList
	if err := c.List(t.Context(), &stored, client.InNamespace(run.Namespace), client.HasLabels{manifest.LabelRunUID}); err != nil {
		t.Fatal(err)
	}
	artifacts := 0
	for _, m := range stored.Items {
		if len(m.BinaryData) > 0 {
			artifacts++
		}
	}
	if artifacts != 1 {
		t.Errorf("%d artifacts, want 1", artifacts)
	}
}

// blockArtifact makes the API server reject a run's artifact, as with an admission
// webhook that is down.
func (c *cluster) blockArtifact(t *testing.T, run *v1alpha1.BenchmarkRun) *admissionv1.ValidatingWebhookConfiguration {
	t.Helper()
	block := &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: run.Namespace},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name:                    "down.assay.dev",
			AdmissionReviewVersions: []string{"v1"},
			SideEffects:             ptr.To(admissionv1.SideEffectClassNone),
			FailurePolicy:           ptr.To(admissionv1.Fail),
			TimeoutSeconds:          ptr.To(int32(1)),
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: run.Namespace}},
			MatchConditions:         []admissionv1.MatchCondition{{Name: "artifact", Expression: "object.metadata.name.endsWith('-result')"}},
			ClientConfig:            admissionv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:9/")},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}
	c.create(t, block)
	t.Cleanup(func() { _ = client.IgnoreNotFound(c.Delete(t.Context(), block)) })
	return block
}

// TestFaults makes runs fail in different ways. Each must end with a reason and a
// message with the evidence and the fix, and its objects must be deleted.
func TestFaults(t *testing.T) {
	type run = wrapper.Run
	endless := func(r *run) *run { return r.Path("/fixed/1000/10").Seconds(1, 300) }
	client := func(index string) map[string]string {
		return map[string]string{manifest.LabelRole: manifest.RoleClient, "batch.kubernetes.io/job-completion-index": index}
	}
	target := map[string]string{manifest.LabelRole: manifest.RoleTarget}
	tests := map[string]struct {
		spec func(*run) *run
		// victim is the pod that fails during the measurement. killed is the container
		// whose process is killed; if it is empty, the pod is deleted.
		victim map[string]string
		killed string
		// fills makes the victim's content exceed its limit on the node's disk instead.
		fills  bool
		reason string
		says   []string
	}{
		"client-killed": {
			spec:   func(r *run) *run { return endless(r).Clients(2, "100m", "128Mi") },
			victim: client("1"), killed: "client", reason: v1alpha1.ReasonClientFailed, says: []string{"Client 1", "137"},
		},
		"client-deleted": {spec: endless, victim: client("0"), reason: v1alpha1.ReasonClientLost, says: []string{"Client 0"}},
		"server-killed":  {spec: endless, victim: target, killed: "server", reason: v1alpha1.ReasonTargetCrashed, says: []string{"137"}},
		"agent-killed":   {spec: endless, victim: target, killed: "agent", reason: v1alpha1.ReasonTargetLost, says: []string{"agent", "137"}},
		"target-deleted": {spec: endless, victim: target, reason: v1alpha1.ReasonTargetLost, says: []string{"deleted"}},
		"target-over-disk": {
			spec: func(r *run) *run {
				r.Content("/a", 1000).Spec.Target.Server.Generic.ContentPath = "/srv"
				return endless(r)
			},
			victim: target, fills: true, reason: v1alpha1.ReasonTargetEvicted, says: []string{"Usage of EmptyDir volume"},
		},
		"server-crashed": {
			spec:   func(r *run) *run { return endless(r).Args("--crash-after=500") },
			reason: v1alpha1.ReasonTargetCrashed, says: []string{"exit code 3", "exiting after -crash-after requests"},
		},
		"image-missing": {
			spec:   func(r *run) *run { r.Spec.Target.Image = "localhost/assay-test/no-such-image:1"; return r },
			reason: v1alpha1.ReasonTargetImageUnavailable, says: []string{"no-such-image:1", "spec.target.image"},
		},
		"command-missing": {
			spec:   func(r *run) *run { r.Spec.Target.Server.Generic.Command = []string{"/no/such/program"}; return r },
			reason: v1alpha1.ReasonTargetNotStarted, says: []string{"/no/such/program", "spec.target.server"},
		},
		"never-ready": {
			spec:   func(r *run) *run { return r.Path("/down").ReadyWithin(30) },
			reason: v1alpha1.ReasonTargetNotReady, says: []string{"/down", "503", "30s"},
		},
		"target-too-big": {
			spec:   func(r *run) *run { return r.TargetResources("900", "1Gi").ReadyWithin(5) },
			reason: v1alpha1.ReasonTargetUnschedulable, says: []string{"spec.target.resources"},
		},
		"client-too-big": {
			spec:   func(r *run) *run { return r.Path("/fixed/100/10").Clients(1, "900", "128Mi").Deadline(40) },
			reason: v1alpha1.ReasonDeadlineExceeded, says: []string{"spec.activeDeadlineSeconds", "40s", "Client 0 can't be scheduled yet"},
		},
		"deadline": {
			// A duration beyond the deadline would be refused. How long a number of requests
			// takes isn't known before: 10,000 of 0.1 s each.
			spec:   func(r *run) *run { return r.Path("/fixed/100000/10").Requests(1, 10000).Deadline(40) },
			reason: v1alpha1.ReasonDeadlineExceeded, says: []string{"spec.activeDeadlineSeconds", v1alpha1.ReasonMeasuring},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := theCluster
			run := test.spec(wrapper.NewRun(c.namespace(t), name, harness.ServerImage).Lane(name)).Obj()
			c.create(t, run)
			if test.victim != nil {
				c.state(t, run, v1alpha1.ReasonMeasuring, time.Minute)
				pod := c.running(t, run.Namespace, test.victim)
				if test.killed != "" {
					c.kill(t, pod, test.killed)
				} else if test.fills {
					fill(t, pod, "/srv", 32<<20)
				} else if err := c.Delete(t.Context(), pod); err != nil {
					t.Fatal(err)
				}
			}
			done := c.finished(t, run, 2*time.Minute)
			wantFailed(t, done, test.reason, test.says...)
			c.nothingLeft(t, done, time.Minute)
		})
	}
}

// fill writes a file into a directory of the server of a pod. It writes from outside: the server
// itself may only read it.
func fill(t *testing.T, pod *corev1.Pod, directory string, bytes int) {
	t.Helper()
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name != "server" {
			continue
		}
		_, id, _ := strings.Cut(status.ContainerID, "://")
		mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", processOf(t, id)))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(mounts)) {
			if fields := strings.Fields(line); fields[4] == directory { // of the directory fields[3] of a file system
				if err := os.WriteFile(filepath.Join(fields[3], "fill"), make([]byte, bytes), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
		}
	}
	t.Fatalf("the server of pod %s has nothing mounted at %s", pod.Name, directory)
}

// TestRetention checks that the pods of a failed run are stopped but not deleted.
func TestRetention(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "kept", harness.ServerImage).Lane("retention").Path("/fixed/1000/10").
		Requests(1, 1000000).Deadline(10).Retain(v1alpha1.RetainOnFailure).Obj()
	c.create(t, run)
	done := c.finished(t, run, time.Minute)
	wantFailed(t, done, v1alpha1.ReasonDeadlineExceeded)
	if report := c.serverReport(t, done)["/fixed/1000/10"]; report.Requests == 0 {
		t.Errorf("log of the retained target: %+v", report)
	}
}

// TestNameConflict checks that a run doesn't change an object that isn't its own.
func TestNameConflict(t *testing.T) {
	t.Parallel()
	c := theCluster
	ns := c.namespace(t)
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "taken-config"}, Data: map[string]string{"mine": "yes"}}
	c.create(t, theirs)
	run := wrapper.NewRun(ns, "taken", harness.ServerImage).Lane("conflict").Obj()
	c.create(t, run)
	done := c.finished(t, run, time.Minute)
	wantFailed(t, done, v1alpha1.ReasonNameConflict, "ConfigMap taken-config")
	c.nothingLeft(t, done, time.Minute)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(theirs), theirs); err != nil || theirs.Data["mine"] != "yes" {
		t.Errorf("ConfigMap of the other owner: %v %v", theirs.Data, err)
	}
}
