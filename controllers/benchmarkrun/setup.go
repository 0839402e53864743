package benchmarkrun

import (
	"context"
	"fmt"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/fair"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/lane"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/state"
)

// SetupWithManager registers the reconciler with mgr. A change to a run, its children or its
// sessions triggers a reconciliation. changed carries the UIDs of runs whose sessions changed.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, changed <-chan event.TypedGenericEvent[types.UID]) error {
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.BenchmarkRun{}, laneField, laneIndex); err != nil {
		return fmt.Errorf("index the runs by lane: %w", err)
	}
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.BenchmarkRun{}, placeField, placeIndex); err != nil {
		return fmt.Errorf("index the runs by their place: %w", err)
	}
	if err := fillTogether(mgr.GetCache()); err != nil {
		return err
	}
	r.freed = make(chan event.TypedGenericEvent[types.NamespacedName])
	r.uploaded = make(chan event.TypedGenericEvent[types.UID])
	built, err := ctrl.NewControllerManagedBy(mgr).
		Named("benchmarkrun").
		For(&v1alpha1.BenchmarkRun{}).
		Owns(&batchv1.Job{}).
		Owns(&corev1.ConfigMap{}, builder.OnlyMetadata).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(runOfPod)).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(r.nextAfterPod), builder.WithPredicates(podEnds)).
		Watches(&v1alpha1.BenchmarkRun{}, handler.EnqueueRequestsFromMapFunc(r.nextAfterRun), builder.WithPredicates(laneMoves)).
		WatchesRawSource(source.Channel(r.freed, handler.TypedEnqueueRequestsFromMapFunc(r.nextAfter))).
		WatchesRawSource(source.Channel(r.uploaded, handler.TypedEnqueueRequestsFromMapFunc(r.runOfSession))).
		WatchesRawSource(r.first(mgr.GetCache())).
		WatchesRawSource(source.Channel(changed, handler.TypedEnqueueRequestsFromMapFunc(r.runOfSession))).
		WithOptions(fair.Options(4, r.Overdue)).
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

// fillTogether starts to read the objects of runs into a cache that is about to read the runs. Without it the manager waits for the
// runs, which are indexed, and reads what controllers watch only when these start.
func fillTogether(c cache.Cache) error {
	configMaps := &metav1.PartialObjectMetadata{}
	configMaps.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	for _, kind := range []client.Object{configMaps, &corev1.Pod{}, &batchv1.Job{}, &v1alpha1.Benchmark{}} {
		if _, err := c.GetInformer(context.Background(), kind, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("cache the objects of runs: %w", err)
		}
	}
	return nil
}

// first is a source of the runs that a manager reconciles first when it starts: those that hold a lane, and
// the next one of each lane. All others, which may be thousands of finished and waiting runs, are those of the
// cache's initial list and have a lower priority.
func (r *Reconciler) first(runs cache.Cache) source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		go func() {
			var list v1alpha1.BenchmarkRunList
			_, err := runs.GetInformer(ctx, &v1alpha1.BenchmarkRun{}) // waits for the initial list
			if err == nil {
				err = runs.List(ctx, &list, client.UnsafeDisableDeepCopy)
			}
			if err != nil {
				ctrl.LoggerFrom(ctx).Error(err, "Failed to list the active runs")
				return
			}
			lanes := map[string]bool{}
			for i := range list.Items {
				br := &list.Items[i]
				if state.IsFinished(br) {
					continue
				}
				lanes[br.Spec.Lane] = true
				if state.IsAdmitted(br) {
					queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(br)})
				}
			}
			for lane := range lanes {
				for _, request := range r.next(ctx, lane) {
					queue.Add(request)
				}
			}
		}()
		return nil
	})
}

func (r *Reconciler) runOfSession(_ context.Context, uid types.UID) []reconcile.Request {
	if name := r.known.get(uid).name; name.Name != "" {
		return []reconcile.Request{{NamespacedName: name}}
	}
	return nil
}

// podEnds selects the events after which a pod no longer holds its lane. laneMoves selects those after
// which a run no longer holds its lane, or no longer waits for it. A queue of thousands of runs is
// looked through after these alone; a run that begins to wait is reconciled for itself.
var (
	podEnds = predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return pods.ContainersEnded(e.ObjectNew.(*corev1.Pod)) && !pods.ContainersEnded(e.ObjectOld.(*corev1.Pod))
		},
	}
	laneMoves = predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return inLane(e.ObjectOld.(*v1alpha1.BenchmarkRun)) != inLane(e.ObjectNew.(*v1alpha1.BenchmarkRun))
		},
	}
)

// inLane returns all that decides whether a run waits for its lane or holds it.
func inLane(br *v1alpha1.BenchmarkRun) [4]bool {
	return [...]bool{state.IsAdmitted(br), state.IsFinished(br), state.IsSuspended(br), br.DeletionTimestamp.IsZero()}
}

func runOfPod(_ context.Context, pod client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: pod.GetLabels()[manifest.LabelRun]}}}
}

func (r *Reconciler) nextAfterPod(ctx context.Context, pod client.Object) []reconcile.Request {
	return r.next(ctx, pod.GetLabels()[manifest.LabelLane])
}

// nextAfterRun returns the runs that may start after one has entered or left its lane: also the others of its block.
func (r *Reconciler) nextAfterRun(ctx context.Context, obj client.Object) []reconcile.Request {
	br := obj.(*v1alpha1.BenchmarkRun)
	requests := r.nextAfter(ctx, types.NamespacedName{Namespace: br.Namespace, Name: br.Spec.Lane})
	others, err := r.ofBlock(ctx, br)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Failed to list the runs of a block")
	}
	for _, other := range others {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(other)})
	}
	return requests
}

// nextAfter returns the runs that may start after one of a namespace has left a lane, the oldest first: the next of the
// lane, and those of the namespace in others, which may have waited for one of its active runs to end. So no lane keeps
// a namespace's place to itself.
func (r *Reconciler) nextAfter(ctx context.Context, left types.NamespacedName) []reconcile.Request {
	requests := r.next(ctx, left.Name)
	if r.Settings.MaxActiveRuns == 0 || left.Namespace == "" {
		return requests
	}
	var waiting v1alpha1.BenchmarkRunList
	if err := r.List(ctx, &waiting, client.InNamespace(left.Namespace), client.MatchingFields{placeField: placeWaiting}, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Failed to list the waiting runs of a namespace", "namespace", left.Namespace)
		return requests
	}
	held := map[string]bool{}
	for _, br := range r.lanes.active() {
		held[br.Spec.Lane] = br.Spec.Lane != left.Name
	}
	isNext := map[types.NamespacedName]bool{}
	for _, next := range requests {
		isNext[next.NamespacedName] = true
	}
	var oldest []*v1alpha1.BenchmarkRun
	for i := range waiting.Items {
		br := &waiting.Items[i]
		ofLane := isNext[client.ObjectKeyFromObject(br)]
		if ofLane || br.Spec.Lane != left.Name && !held[br.Spec.Lane] {
			oldest = append(oldest, br)
		}
		if ofLane {
			requests = nil // it has its place among the others
		}
	}
	slices.SortFunc(oldest, lane.CompareAge)
	for _, br := range oldest {
		if !held[br.Spec.Lane] && len(requests) < maxNext {
			held[br.Spec.Lane] = true
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(br)})
		}
	}
	return requests
}

// maxNext limits the runs that are looked at after one has left its lane.
const maxNext = 32

func (r *Reconciler) next(ctx context.Context, name string) []reconcile.Request {
	if name == "" {
		return nil
	}
	queue, _, err := r.observeLane(ctx, name)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Failed to list the runs of a lane", "lane", name)
		return nil
	}
	if name, ok := lane.Next(queue); ok {
		return []reconcile.Request{{NamespacedName: name}}
	}
	return nil
}
