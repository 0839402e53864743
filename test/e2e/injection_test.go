//go:build e2e

package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/validity"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestInjectedContainers lets the API server add to all pods of a namespace a container that never ends by itself, as a mesh does.
func TestInjectedContainers(t *testing.T) {
	t.Parallel()
	c := theCluster
	ns := c.namespace(t)
	policy, binding := wrapper.Injection(ns, harness.ServerImage, `"-listen", ":18080"`)
	for _, obj := range []client.Object{policy, binding} {
		c.create(t, obj)
		t.Cleanup(func() { _ = c.Delete(context.Background(), obj) })
	}
	job, err := manifest.ClientJob(wrapper.NewRun(ns, "probe", "x").Obj(), "", nil, &manifest.Settings{LoadImage: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if err := wait.PollUntilContextTimeout(t.Context(), 250*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		probe := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "probe"}, Spec: job.Spec.Template.Spec}
		err := c.Create(ctx, probe, client.DryRunAll)
		return len(probe.Spec.Containers) > 1, err
	}); err != nil {
		t.Fatalf("the policy has no effect: %v", err)
	}

	run := wrapper.NewRun(ns, "mesh", harness.ServerImage).Lane("mesh").Path("/fixed/1000/10").Requests(2, 200).Clients(2, "50m", "64Mi").Obj()
	c.create(t, run)
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	valid := condition(done, v1alpha1.ConditionValid)
	for _, text := range []string{
		validity.ReasonContainerInjected + ": ", "containers[proxy] of the target", "containers[proxy] of 2 of 2 clients",
		validity.ReasonPodChanged + ": ", "qosClass of the target is Burstable instead of Guaranteed",
	} {
		if valid.Status != metav1.ConditionFalse || !strings.Contains(valid.Message, text) {
			t.Errorf("%s %s, want %q in: %s", valid.Status, valid.Reason, text, valid.Message)
		}
	}
	c.nothingLeft(t, done, time.Minute)

	// A client that dies ends the run at once: without a session it would have two minutes.
	run = wrapper.NewRun(ns, "killed", harness.ServerImage).Lane("mesh").Path("/fixed/1000/10").Seconds(1, 600).Clients(1, "50m", "64Mi").Obj()
	c.create(t, run)
	c.state(t, run, v1alpha1.ReasonMeasuring, 2*time.Minute)
	c.kill(t, c.pod(t, ns, client.MatchingLabels{manifest.LabelRunUID: string(run.UID), manifest.LabelRole: manifest.RoleClient}), manifest.ClientContainer)
	done = c.finished(t, run, time.Minute)
	wantFailed(t, done, v1alpha1.ReasonClientFailed, "Client 0 exited before its measurement was complete: exit code 137")
	c.nothingLeft(t, done, time.Minute)
}
