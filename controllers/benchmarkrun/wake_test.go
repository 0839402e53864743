package benchmarkrun

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/test/wrapper"
)

func TestLaneIndexHasWhatIsUnfinished(t *testing.T) {
	br := wrapper.NewRun("ns", "run", "image:1").Lane("l").Obj()
	if got := laneIndex(br); len(got) != 1 || got[0] != "l" {
		t.Errorf("a waiting run: %q", got)
	}
	br.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue}}
	if got := laneIndex(br); got != nil {
		t.Errorf("a finished run: %q", got)
	}
}

// TestWaitingRunsWakeUp runs a manager with its cache. A waiting run asks for no reconciliation of its own,
// so that it is admitted only if what frees its lane wakes it.
func TestWaitingRunsWakeUp(t *testing.T) {
	write := func(t *testing.T, br *v1alpha1.BenchmarkRun, write func(context.Context) error) {
		t.Helper()
		eventually(t, func(ctx context.Context) bool {
			return api.Get(ctx, client.ObjectKeyFromObject(br), br) == nil && write(ctx) == nil
		})
	}
	tests := map[string]func(t *testing.T, br *v1alpha1.BenchmarkRun){
		"finished": func(t *testing.T, br *v1alpha1.BenchmarkRun) {
			write(t, br, func(ctx context.Context) error {
				meta.SetStatusCondition(&br.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: "Test"})
				br.Status.CompletionTime = ptr.To(metav1.Now())
				return api.Status().Update(ctx, br)
			})
		},
		"suspended": func(t *testing.T, br *v1alpha1.BenchmarkRun) {
			write(t, br, func(ctx context.Context) error {
				br.Spec.Suspend = ptr.To(true)
				return api.Update(ctx, br)
			})
		},
		"deleted": func(t *testing.T, br *v1alpha1.BenchmarkRun) {
			if err := api.Delete(t.Context(), br); err != nil {
				t.Fatal(err)
			}
			// Nobody collects garbage here: the target holds the lane until it is deleted.
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: br.Namespace, Name: br.Name + "-target"}}
			if err := api.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
				t.Fatal(err)
			}
		},
	}
	namespaces := map[string]cache.Config{}
	first, second := map[string]*v1alpha1.BenchmarkRun{}, map[string]*v1alpha1.BenchmarkRun{}
	for name := range tests {
		for _, runs := range []map[string]*v1alpha1.BenchmarkRun{first, second} {
			ns := mustCreate(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "wake-"}})
			namespaces[ns.Name] = cache.Config{}
			runs[name] = wrapper.NewRun(ns.Name, "run", "image:1").Lane("wake-" + name).Obj()
		}
	}
	manage(t, namespaces)
	for name, free := range tests {
		t.Run(name, func(t *testing.T) {
			mustCreate(t, first[name])
			awaitAdmission(t, first[name])
			mustCreate(t, second[name])
			eventually(t, func(ctx context.Context) bool {
				err := api.Get(ctx, client.ObjectKeyFromObject(second[name]), second[name])
				return err == nil && state.Of(second[name]) == v1alpha1.ReasonQueued && state.Succeeded(second[name]).Message != ""
			})
			free(t, first[name])
			awaitAdmission(t, second[name])
		})
	}
}

// manage runs a manager of some namespaces until the end of the test.
func manage(t *testing.T, namespaces map[string]cache.Config) {
	t.Helper()
	mgr, err := ctrl.NewManager(apiConfig, ctrl.Options{
		Scheme: api.Scheme(), Cache: cache.Options{DefaultNamespaces: namespaces}, Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := newBench(t).Reconciler
	r.Client, r.APIReader, r.Clock, r.Sessions = mgr.GetClient(), mgr.GetAPIReader(), clock.RealClock{}, manager.New(nil, func(string) {}, logr.Discard())
	if err := r.SetupWithManager(mgr, make(chan event.TypedGenericEvent[types.UID])); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func awaitAdmission(t *testing.T, br *v1alpha1.BenchmarkRun) {
	t.Helper()
	eventually(t, func(ctx context.Context) bool {
		return api.Get(ctx, client.ObjectKeyFromObject(br), br) == nil && state.IsAdmitted(br)
	})
}

func eventually(t *testing.T, is func(context.Context) bool) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return is(ctx), nil
	}); err != nil {
		t.Fatal(err)
	}
}

// TestWakeOutlastsItsReconciliation checks that the next run of a lane is reconciled though the time of the reconciliation that
// freed the lane was over.
func TestWakeOutlastsItsReconciliation(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	r := &Reconciler{freed: make(chan event.TypedGenericEvent[types.NamespacedName])}
	left := types.NamespacedName{Namespace: "ns", Name: "lane"}
	r.wake(ctx, left)
	if got := <-r.freed; got.Object != left {
		t.Errorf("%v was freed", got.Object)
	}
}
