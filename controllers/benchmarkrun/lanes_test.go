package benchmarkrun

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestReconcileIgnoresOthersPodsInALane has tenants label pods as those of a lane.
func TestReconcileIgnoresOthersPodsInALane(t *testing.T) {
	b := newBench(t)
	b.reload()
	ns := mustCreate(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "attacker-"}})
	for _, namespace := range []string{ns.Name, b.run.Namespace} {
		for _, labels := range []map[string]string{
			{manifest.LabelLane: b.run.Spec.Lane},
			{manifest.LabelLane: b.run.Spec.Lane, manifest.LabelRun: "run", manifest.LabelRunUID: string(b.run.UID), manifest.LabelRole: manifest.RoleTarget},
			{manifest.LabelLane: b.run.Spec.Lane, manifest.LabelRun: "x", manifest.LabelRunUID: "x", manifest.LabelRole: manifest.RoleTarget},
		} {
			pod := clientPodSpec(namespace, "")
			pod.GenerateName, pod.Labels = "x-", labels
			mustCreate(t, pod)
		}
	}
	watching, err := client.NewWithWatch(apiConfig, client.Options{Scheme: api.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	b.APIReader = interceptor.NewClient(watching, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		var o client.ListOptions
		if _, ok := list.(*corev1.PodList); ok && (o.ApplyOptions(options).Namespace == "" || o.Namespace == ns.Name || o.Limit == 0) {
			t.Errorf("pods of namespace %q were read, %d at a time", o.Namespace, o.Limit)
		}
		return c.List(ctx, list, options...)
	}})
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonStarting {
		t.Errorf("%+v", got)
	}
}

// TestReconcileNamesNothingOfOtherNamespaces looks for names of another namespace in what a waiting
// run says.
func TestReconcileNamesNothingOfOtherNamespaces(t *testing.T) {
	first := newBench(t)
	second := newBench(t, func(w *wrapper.Run) { w.Lane(first.run.Spec.Lane + "-shared") })
	third := newBench(t, func(w *wrapper.Run) { w.Lane(first.run.Spec.Lane + "-shared") })
	second.reconcile()
	third.reconcile()
	waiting, holder := third, second
	if second.state().Reason == v1alpha1.ReasonQueued { // created in the same second, with generated names
		second.reload()
		second.reconcile()
		waiting, holder = second, third
	}
	got := waiting.state()
	if got.Reason != v1alpha1.ReasonQueued || strings.Contains(got.Message, holder.run.Namespace) {
		t.Errorf("%+v names %s", got, holder.run.Namespace)
	}
}

// lagging is a client whose cache doesn't show that runs were admitted.
type lagging struct{ cached }

// List implements client.Client.
func (c lagging) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := c.cached.List(ctx, list, options...)
	if runs, ok := list.(*v1alpha1.BenchmarkRunList); ok {
		for i := range runs.Items {
			runs.Items[i].Status, runs.Items[i].ResourceVersion = v1alpha1.BenchmarkRunStatus{}, "1"
		}
	}
	return err
}

// TestReconcileAdmitsOneRunWhileTheCacheIsBehind admits a run, and then has the cache still show it as
// waiting, last in its lane.
func TestReconcileAdmitsOneRunWhileTheCacheIsBehind(t *testing.T) {
	for name, sameManager := range map[string]bool{"same manager": true, "restarted manager": false} {
		t.Run(name, func(t *testing.T) {
			first := newBench(t)
			first.reconcile()
			if got := first.state(); got.Reason != v1alpha1.ReasonStarting {
				t.Fatalf("%+v", got)
			}
			second := newBench(t, func(w *wrapper.Run) { w.Lane(first.run.Spec.Lane) })
			if sameManager {
				second.Reconciler, second.sessions = first.Reconciler, first.sessions
			}
			second.Client = lagging{cached{api}}
			second.reconcile()
			if got := second.state(); got.Reason != v1alpha1.ReasonQueued || !strings.Contains(got.Message, "hold the lane") {
				t.Errorf("%+v", got)
			}
		})
	}
}
