package benchmarkrun

import (
	"context"
	"fmt"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/retry"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run"
)

// SetupWithManager registers the reconciler with mgr. A change to a run, its children or its
// sessions triggers a reconciliation. changed carries the UIDs of runs whose sessions changed.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, changed <-chan event.TypedGenericEvent[types.UID]) error {
	if err := metrics.Registry.Register(runsCollector{reader: mgr.GetClient()}); err != nil {
		return fmt.Errorf("register the metric of runs: %w", err)
	}
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.BenchmarkRun{}, laneField, laneIndex); err != nil {
		return fmt.Errorf("index the runs by lane: %w", err)
	}
	r.freed = make(chan event.TypedGenericEvent[string])
	built, err := ctrl.NewControllerManagedBy(mgr).
		Named("benchmarkrun").
		For(&v1alpha1.BenchmarkRun{}).
		Owns(&batchv1.Job{}).
		Owns(&corev1.ConfigMap{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(r.runsOfPod)).
		Watches(&v1alpha1.BenchmarkRun{}, handler.EnqueueRequestsFromMapFunc(r.nextInLane)).
		WatchesRawSource(source.Channel(r.freed, handler.TypedEnqueueRequestsFromMapFunc(r.next))).
		WatchesRawSource(source.Channel(changed, handler.TypedEnqueueRequestsFromMapFunc(r.runOfSession))).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4, RateLimiter: retry.Limiter()}).
		Build(r)
	if err != nil {
		return fmt.Errorf("build the controller: %w", err)
	}
	// A cluster may lack cert-manager: its kinds are watched from the first Certificate of a run
	// on.
	r.WatchCertificates = sync.OnceValue(func() error {
		issued := &unstructured.Unstructured{}
		issued.SetGroupVersionKind(manifest.CertificateKind)
		owner := handler.TypedEnqueueRequestForOwner[*unstructured.Unstructured](mgr.GetScheme(), mgr.GetRESTMapper(), &v1alpha1.BenchmarkRun{}, handler.OnlyControllerOwner())
		return built.Watch(source.Kind(mgr.GetCache(), issued, owner))
	})
	return nil
}

func (r *Reconciler) runOfSession(_ context.Context, uid types.UID) []reconcile.Request {
	var requests []reconcile.Request
	r.uids.Range(func(name, known any) bool {
		if known.(types.UID) == uid {
			requests = append(requests, reconcile.Request{NamespacedName: name.(types.NamespacedName)})
		}
		return len(requests) == 0
	})
	return requests
}

// runsOfPod returns the run that a pod belongs to and the next run of its lane, since the pod may
// be the last one that holds the lane.
func (r *Reconciler) runsOfPod(ctx context.Context, pod client.Object) []reconcile.Request {
	name := types.NamespacedName{Namespace: pod.GetNamespace(), Name: pod.GetLabels()[manifest.LabelRun]}
	return append(r.next(ctx, pod.GetLabels()[manifest.LabelLane]), reconcile.Request{NamespacedName: name})
}

func (r *Reconciler) nextInLane(ctx context.Context, br client.Object) []reconcile.Request {
	return r.next(ctx, br.(*v1alpha1.BenchmarkRun).Spec.Lane)
}

func (r *Reconciler) next(ctx context.Context, name string) []reconcile.Request {
	if name == "" {
		return nil
	}
	lane, _, err := r.observeLane(ctx, name)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Failed to list the runs of a lane", "lane", name)
		return nil
	}
	if name, ok := run.Next(lane); ok {
		return []reconcile.Request{{NamespacedName: name}}
	}
	return nil
}
