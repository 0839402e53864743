//go:build e2e

package e2e

import (
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/benchmarkrun"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestManagerKilled kills the manager while a run is measured and again while
// its result can't be stored, and finds every request counted once.
func TestManagerKilled(t *testing.T) {
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "survivor", serverImage).Path("/fixed/2000/100").
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
	if err := c.List(t.Context(), &stored, client.InNamespace(run.Namespace), client.HasLabels{benchmarkrun.LabelRunUID}); err != nil {
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

// blockArtifact keeps the API server from taking a run's artifact, as an
// admission webhook that is down does.
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

func TestClientKilled(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "killed", serverImage).Lane("client-killed").Path("/fixed/1000/10").
		Clients(2, "100m", "128Mi").Seconds(1, 300).Obj()
	c.create(t, run)
	measuring := c.state(t, run, v1alpha1.ReasonMeasuring, time.Minute)
	client1 := c.pod(t, run.Namespace, map[string]string{
		benchmarkrun.LabelRunUID: string(measuring.UID), "batch.kubernetes.io/job-completion-index": "1",
	})
	c.kill(t, client1, "client")
	done := c.finished(t, run, time.Minute)
	wantFailed(t, done, v1alpha1.ReasonClientFailed, "client 1", "137")
	c.nothingLeft(t, done, time.Minute)
}

func TestClientDeleted(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "lost", serverImage).Lane("client-deleted").Path("/fixed/1000/10").Seconds(1, 300).Obj()
	c.create(t, run)
	measuring := c.state(t, run, v1alpha1.ReasonMeasuring, time.Minute)
	pod := c.pod(t, run.Namespace, map[string]string{
		benchmarkrun.LabelRunUID: string(measuring.UID), benchmarkrun.LabelRole: benchmarkrun.RoleClient,
	})
	if err := c.Delete(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	done := c.finished(t, run, time.Minute)
	wantFailed(t, done, v1alpha1.ReasonClientLost, "client 0")
	c.nothingLeft(t, done, time.Minute)
}

func TestTargetCrashed(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "crashed", serverImage).Lane("target-crashed").Args("--crash-after=500").
		Path("/fixed/1000/10").Seconds(1, 300).Obj()
	c.create(t, run)
	done := c.finished(t, run, 2*time.Minute)
	wantFailed(t, done, v1alpha1.ReasonTargetCrashed, "exit code 3", "crashing as told")
	c.nothingLeft(t, done, time.Minute)
}

func TestTargetDeleted(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "target-gone", serverImage).Lane("target-deleted").Path("/fixed/1000/10").Seconds(1, 300).Obj()
	c.create(t, run)
	measuring := c.state(t, run, v1alpha1.ReasonMeasuring, time.Minute)
	pod := c.pod(t, run.Namespace, map[string]string{
		benchmarkrun.LabelRunUID: string(measuring.UID), benchmarkrun.LabelRole: benchmarkrun.RoleTarget,
	})
	if err := c.Delete(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	done := c.finished(t, run, time.Minute)
	wantFailed(t, done, v1alpha1.ReasonTargetLost, "deleted")
	c.nothingLeft(t, done, time.Minute)
}

func TestImageMissing(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "no-image", "localhost/assay-test/no-such-image:1").Lane("image-missing").Obj()
	c.create(t, run)
	done := c.finished(t, run, 2*time.Minute)
	wantFailed(t, done, v1alpha1.ReasonTargetImageUnavailable, "no-such-image:1", "spec.target.image")
	c.nothingLeft(t, done, time.Minute)
}

func TestCommandMissing(t *testing.T) {
	t.Parallel()
	c := theCluster
	w := wrapper.NewRun(c.namespace(t), "no-command", serverImage).Lane("command-missing")
	w.Spec.Target.Server.Generic.Command = []string{"/no/such/program"}
	c.create(t, w.Obj())
	done := c.finished(t, w.Obj(), 2*time.Minute)
	wantFailed(t, done, v1alpha1.ReasonTargetNotStarted, "/no/such/program", "spec.target.server")
	c.nothingLeft(t, done, time.Minute)
}

func TestTargetNeverReady(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "never-ready", serverImage).Lane("never-ready").Path("/down").ReadyWithin(8).Obj()
	c.create(t, run)
	done := c.finished(t, run, time.Minute)
	wantFailed(t, done, v1alpha1.ReasonTargetNotReady, "/down", "503", "8 s")
	c.nothingLeft(t, done, time.Minute)
}

func TestTargetUnschedulable(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "too-big", serverImage).Lane("unschedulable").TargetResources("900", "1Gi").ReadyWithin(5).Obj()
	c.create(t, run)
	done := c.finished(t, run, time.Minute)
	wantFailed(t, done, v1alpha1.ReasonTargetUnschedulable, "spec.target.resources")
	c.nothingLeft(t, done, time.Minute)
}

func TestClientUnschedulable(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "big-client", serverImage).Lane("big-client").Path("/fixed/100/10").
		Clients(1, "900", "128Mi").Deadline(10).Obj()
	c.create(t, run)
	done := c.finished(t, run, time.Minute)
	wantFailed(t, done, v1alpha1.ReasonDeadlineExceeded, "spec.activeDeadlineSeconds", "10 s", "client 0 waits for a node")
	c.nothingLeft(t, done, time.Minute)
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "too-long", serverImage).Lane("deadline").Path("/fixed/1000/10").Seconds(1, 300).Deadline(10).Obj()
	c.create(t, run)
	done := c.finished(t, run, time.Minute)
	wantFailed(t, done, v1alpha1.ReasonDeadlineExceeded, "spec.activeDeadlineSeconds", v1alpha1.ReasonMeasuring)
	c.nothingLeft(t, done, time.Minute)
}

// TestRetention keeps the pods of a run that failed, stopped.
func TestRetention(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "kept", serverImage).Lane("retention").Path("/fixed/1000/10").
		Seconds(1, 300).Deadline(10).Retain(v1alpha1.RetainOnFailure).Obj()
	c.create(t, run)
	done := c.finished(t, run, time.Minute)
	wantFailed(t, done, v1alpha1.ReasonDeadlineExceeded)
	if report := c.serverReport(t, done)["/fixed/1000/10"]; report.Requests == 0 {
		t.Errorf("the kept target's log says: %+v", report)
	}
}

// TestNameConflict leaves somebody else's object alone.
func TestNameConflict(t *testing.T) {
	t.Parallel()
	c := theCluster
	ns := c.namespace(t)
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "taken-config"}, Data: map[string]string{"mine": "yes"}}
	c.create(t, theirs)
	run := wrapper.NewRun(ns, "taken", serverImage).Lane("conflict").Obj()
	c.create(t, run)
	done := c.finished(t, run, time.Minute)
	wantFailed(t, done, v1alpha1.ReasonNameConflict, "ConfigMap taken-config")
	c.nothingLeft(t, done, time.Minute)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(theirs), theirs); err != nil || theirs.Data["mine"] != "yes" {
		t.Errorf("the other's ConfigMap: %v %v", theirs.Data, err)
	}
}
