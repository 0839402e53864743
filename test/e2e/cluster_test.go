//go:build e2e

// Package e2e runs scenarios on the cluster of KUBECONFIG, on which Assay is
// installed: real pods, real load, real failures. Tests that kill processes need to
// see the processes of the cluster's node.
package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/harness"
)

const tomcatImage = "localhost/assay-test/tomcat:9.0"

// cluster is a connection to the cluster.
type cluster struct{ *harness.Cluster }

var theCluster *cluster

// TestMain connects to the cluster once, for all scenarios.
func TestMain(m *testing.M) {
	connection, err := harness.Connect(0)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
	theCluster = &cluster{connection}
	os.Exit(m.Run())
}

// namespace creates a namespace that enforces restricted Pod Security, and deletes
// it at the end of the test.
func (c *cluster) namespace(t *testing.T) string {
	t.Helper()
	name, err := c.NewNamespace(t.Context(), "assay-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := c.Delete(context.Background(), ns); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	})
	return name
}

// create creates an object. It fails the test if the API server rejects it.
func (c *cluster) create(t *testing.T, obj client.Object) {
	t.Helper()
	if err := c.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

// until watches a run until done reports true.
func (c *cluster) until(t *testing.T, run *v1alpha1.BenchmarkRun, limit time.Duration, what string, done func(*v1alpha1.BenchmarkRun) bool) *v1alpha1.BenchmarkRun {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	last := run
	for ctx.Err() == nil {
		var current v1alpha1.BenchmarkRun
		err := c.Get(ctx, client.ObjectKeyFromObject(run), &current)
		if err == nil && done(&current) {
			return &current
		}
		if err == nil {
			last = &current
		}
		events, err := c.Watch(ctx, &v1alpha1.BenchmarkRunList{}, client.InNamespace(run.Namespace),
			client.MatchingFields{"metadata.name": run.Name},
			&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: current.ResourceVersion}})
		if err != nil {
			continue // the API server may be unavailable for a moment
		}
		for event := range events.ResultChan() {
			seen, ok := event.Object.(*v1alpha1.BenchmarkRun)
			if !ok || event.Type == watch.Deleted {
				break
			}
			if last = seen; done(seen) {
				events.Stop()
				return seen
			}
		}
		events.Stop()
	}
	t.Fatalf("%s did not occur within %s; conditions: %s", what, limit, conditions(last))
	return nil
}

// finished waits until the run has finished.
func (c *cluster) finished(t *testing.T, run *v1alpha1.BenchmarkRun, limit time.Duration) *v1alpha1.BenchmarkRun {
	t.Helper()
	return c.until(t, run, limit, "the end of the run", func(r *v1alpha1.BenchmarkRun) bool {
		return meta.IsStatusConditionTrue(r.Status.Conditions, v1alpha1.ConditionFinished)
	})
}

// state waits until the reason of Succeeded is the state.
func (c *cluster) state(t *testing.T, run *v1alpha1.BenchmarkRun, reason string, limit time.Duration) *v1alpha1.BenchmarkRun {
	t.Helper()
	return c.until(t, run, limit, "the state "+reason, func(r *v1alpha1.BenchmarkRun) bool {
		return condition(r, v1alpha1.ConditionSucceeded).Reason == reason
	})
}

func condition(run *v1alpha1.BenchmarkRun, kind string) metav1.Condition {
	return harness.Condition(run, kind)
}

// thresholds returns the condition ThresholdsMet. Of a result that this host was too busy to make valid, which
// is Unknown, its status is what the metrics in its message say.
func thresholds(run *v1alpha1.BenchmarkRun) metav1.Condition {
	c := condition(run, v1alpha1.ConditionThresholdsMet)
	if c.Reason == v1alpha1.ReasonNotValid {
		c.Status = metav1.ConditionTrue
		if strings.Contains(c.Message, "(missed)") {
			c.Status = metav1.ConditionFalse
		}
	}
	return c
}

func conditions(run *v1alpha1.BenchmarkRun) string {
	var text strings.Builder
	for _, c := range run.Status.Conditions {
		fmt.Fprintf(&text, "\n  %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
	}
	return text.String()
}

// wantSucceeded fails the test unless the run succeeded.
func wantSucceeded(t *testing.T, run *v1alpha1.BenchmarkRun) {
	t.Helper()
	if c := condition(run, v1alpha1.ConditionSucceeded); c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonCompleted {
		t.Fatalf("the run did not succeed:%s", conditions(run))
	}
}

// wantFailed fails the test unless the run failed with this reason and a message
// that contains all texts.
func wantFailed(t *testing.T, run *v1alpha1.BenchmarkRun, reason string, texts ...string) {
	t.Helper()
	c := condition(run, v1alpha1.ConditionSucceeded)
	if c.Status != metav1.ConditionFalse || c.Reason != reason {
		t.Fatalf("want Succeeded=False for %s, got:%s", reason, conditions(run))
	}
	for _, text := range texts {
		if !strings.Contains(c.Message, text) {
			t.Errorf("the message does not contain %q: %s", text, c.Message)
		}
	}
	if run.Status.Result != nil {
		t.Error("a failed run has a result")
	}
}

// nothingLeft waits until all objects of a run are deleted except its artifact, if
// it has one.
func (c *cluster) nothingLeft(t *testing.T, run *v1alpha1.BenchmarkRun, limit time.Duration) {
	t.Helper()
	var left []client.Object
	if err := wait.PollUntilContextTimeout(t.Context(), 250*time.Millisecond, limit, true, func(context.Context) (bool, error) {
		left = c.children(t, run)
		return len(left) == 0, nil
	}); err != nil {
		t.Fatalf("not deleted after %s: %s", limit, harness.Names(left))
	}
}

// children returns the objects of a run but its artifact.
func (c *cluster) children(t *testing.T, run *v1alpha1.BenchmarkRun) []client.Object {
	t.Helper()
	children, err := c.Children(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(children, func(object client.Object) bool {
		return run.Status.Artifact != nil && object.GetName() == run.Status.Artifact.ConfigMap.Name
	})
}

// pod returns the only pod of a namespace with these labels.
func (c *cluster) pod(t *testing.T, namespace string, labels client.MatchingLabels) *corev1.Pod {
	t.Helper()
	pod, err := c.Pod(t.Context(), namespace, labels)
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

// running returns the only pod of a namespace with these labels when the API server knows of its containers that they run: they may serve
// before.
func (c *cluster) running(t *testing.T, namespace string, labels client.MatchingLabels) (pod *corev1.Pod) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		pod = c.pod(t, namespace, labels)
		return len(pod.Status.ContainerStatuses) > 0 && !slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.State.Running == nil }), nil
	}); err != nil {
		t.Fatalf("%v: %+v", err, pod.Status)
	}
	return pod
}

// logs returns the log of a container.
func (c *cluster) logs(t *testing.T, pod *corev1.Pod, container string) []byte {
	t.Helper()
	log, err := c.Kube.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Container: container}).DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// kill sends SIGKILL to the first process of a pod's container.
func (c *cluster) kill(t *testing.T, pod *corev1.Pod, container string) {
	t.Helper()
	pid, err := harness.Process(pod, container)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// processOf returns the lowest process ID in the control groups of a container.
func processOf(t *testing.T, containerID string) int {
	t.Helper()
	pid, err := harness.FirstProcess(containerID)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// manager returns the pod of the operator.
func (c *cluster) manager(t *testing.T) *corev1.Pod {
	t.Helper()
	return c.pod(t, harness.OperatorNamespace, harness.ManagerLabels)
}
