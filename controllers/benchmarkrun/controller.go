// Package benchmarkrun carries out BenchmarkRuns. Each reconciliation derives
// everything anew from the resource, its children and the sessions of its
// pods: observe.go reads them, plan.go, failure.go and verdict.go decide (they
// are pure), act.go carries the decision out, and the status is written once.
package benchmarkrun

import (
	"context"
	"errors"
	"fmt"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/manager"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/internal/steady"
)

// +kubebuilder:rbac:groups=assay.dev,resources=benchmarkruns,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=assay.dev,resources=benchmarkruns/status,verbs=update
// +kubebuilder:rbac:groups=assay.dev,resources=benchmarkruns/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create

// Sessions is the manager's end of the pods' sessions. Everything told to the
// pods of a run is kept and told again to pods that connect later.
type Sessions interface {
	Observe(run string) manager.Observation
	Series(run string) []result.Second
	ServerCPU(run string, from, to int64) int64
	Windows(run string, clients int, c steady.Criterion) []result.WarmupWindow
	Watch(run string, watch session.Watch)
	Prepare(run string, plans []*session.Plan, address string)
	Start(run string, stage sessionpb.Stage, at int64)
	End(run string)
	RequestSample(run string)
	Release(run string)
	Forget(run string)
}

// Reconciler carries out BenchmarkRuns.
type Reconciler struct {
	client.Client
	// Live reads past the cache.
	Live     client.Reader
	Events   events.EventRecorder
	Clock    clock.PassiveClock
	Sessions Sessions
	// Authority returns the certificate, in PEM, by which pods check the manager.
	Authority func() []byte
	Settings  manifest.Settings
	// Logs reads the end of a container's log; nil when that can't be done.
	Logs Logs
	// WatchCertificates has changes of cert-manager's Certificates noticed from
	// then on; nil when nothing is to. SetupWithManager sets it.
	WatchCertificates func() error

	// admission is held while a run may be given its lane, so that no two are.
	admission sync.Mutex
	// uids remembers the UIDs of runs, to forget the sessions of deleted ones.
	uids sync.Map
	// signed remembers the Secrets that this manager has made, by name, with the
	// UIDs of their runs.
	signed sync.Map
}

// Reconcile takes a run one step further.
func (r *Reconciler) Reconcile(ctx context.Context, run *v1alpha1.BenchmarkRun) (ctrl.Result, error) {
	if !isAdmitted(run) && !isFinished(run) {
		r.admission.Lock()
		defer r.admission.Unlock()
	}
	observed, err := r.observe(ctx, run)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !isAdmitted(run) && !isFinished(run) && !isSuspended(run) {
		if observed.turn, err = r.observeTurn(ctx, run); err == nil && observed.turn.free {
			err = r.observeStart(ctx, run, observed)
		}
		if err != nil {
			return ctrl.Result{}, err
		}
	}
	plan := decide(run, observed, r.Clock.Now())
	failed, err := r.act(ctx, run, observed, &plan)
	if failed != nil {
		plan = decideFailure(run, observed, r.Clock.Now(), failed)
	}
	if plan.expire {
		return ctrl.Result{}, err
	}
	if err := errors.Join(err, r.writeStatus(ctx, run, &plan)); err != nil {
		return ctrl.Result{}, err
	}
	r.tell(string(run.UID), run, &plan)
	return ctrl.Result{RequeueAfter: plan.requeueAfter}, nil
}

// writeStatus writes the status if it changed, and then says so by events and
// metrics. A conflict means that the run was read from a cache that is behind:
// the newer version is on its way and is reconciled when it comes.
func (r *Reconciler) writeStatus(ctx context.Context, run *v1alpha1.BenchmarkRun, plan *plan) error {
	if equality.Semantic.DeepEqual(run.Status, plan.status) {
		return nil
	}
	updated := run.DeepCopy()
	updated.Status = plan.status
	if err := r.Status().Update(ctx, updated); err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	r.announce(run, updated)
	return nil
}

// SetupWithManager has the manager call Reconcile whenever a run, one of its
// children or one of its pods' sessions changed. changed carries the UIDs of
// runs whose sessions did.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager, changed <-chan event.TypedGenericEvent[types.UID]) error {
	if err := metrics.Registry.Register(runsCollector{reader: mgr.GetClient()}); err != nil {
		return fmt.Errorf("register the metric of runs: %w", err)
	}
	sessions := source.Channel(changed, handler.TypedEnqueueRequestsFromMapFunc(r.runOfSession))
	built, err := ctrl.NewControllerManagedBy(mgr).
		Named("benchmarkrun").
		For(&v1alpha1.BenchmarkRun{}).
		Owns(&batchv1.Job{}).
		Owns(&corev1.ConfigMap{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(r.runsOfPod)).
		Watches(&v1alpha1.BenchmarkRun{}, handler.EnqueueRequestsFromMapFunc(r.nextInLane)).
		WatchesRawSource(sessions).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		Build(reconcile.Func(r.reconcileRequest))
	if err != nil {
		return fmt.Errorf("build the controller: %w", err)
	}
	// A cluster may be without cert-manager: its kinds are watched when the first
	// run has a Certificate.
	var watching sync.Mutex
	watched := false
	r.WatchCertificates = func() error {
		watching.Lock()
		defer watching.Unlock()
		if watched {
			return nil
		}
		issued := &unstructured.Unstructured{}
		issued.SetGroupVersionKind(manifest.CertificateKind)
		owner := handler.TypedEnqueueRequestForOwner[*unstructured.Unstructured](mgr.GetScheme(), mgr.GetRESTMapper(), &v1alpha1.BenchmarkRun{}, handler.OnlyControllerOwner())
		err := built.Watch(source.Kind(mgr.GetCache(), issued, owner))
		watched = err == nil
		return err
	}
	return nil
}

// reconcileRequest reads the run and forgets the sessions of a deleted one. A
// conflict isn't an error: see writeStatus.
func (r *Reconciler) reconcileRequest(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	run := &v1alpha1.BenchmarkRun{}
	err := r.Get(ctx, request.NamespacedName, run)
	if apierrors.IsNotFound(err) || (err == nil && !run.DeletionTimestamp.IsZero()) {
		if uid, ok := r.uids.LoadAndDelete(request.NamespacedName); ok {
			r.Sessions.Forget(string(uid.(types.UID)))
			r.signed.Range(func(name, run any) bool {
				if run == uid {
					r.signed.Delete(name)
				}
				return true
			})
		}
		return ctrl.Result{}, nil
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("get the run: %w", err)
	}
	r.uids.Store(request.NamespacedName, run.UID)
	outcome, err := r.Reconcile(ctx, run)
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: conflictPause}, nil
	}
	return outcome, err
}

// runOfSession finds the run with a UID.
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

// runsOfPod finds the run that a pod belongs to and, since the pod may be the
// last to leave its lane, the next run of the lane.
func (r *Reconciler) runsOfPod(ctx context.Context, pod client.Object) []reconcile.Request {
	name := types.NamespacedName{Namespace: pod.GetNamespace(), Name: pod.GetLabels()[manifest.LabelRun]}
	return append(r.next(ctx, pod.GetLabels()[manifest.LabelLane]), reconcile.Request{NamespacedName: name})
}

// nextInLane finds the next run of a lane in which something changed.
func (r *Reconciler) nextInLane(ctx context.Context, run client.Object) []reconcile.Request {
	return r.next(ctx, run.(*v1alpha1.BenchmarkRun).Spec.Lane)
}

func (r *Reconciler) next(ctx context.Context, lane string) []reconcile.Request {
	var runs v1alpha1.BenchmarkRunList
	if err := r.List(ctx, &runs); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "can't list the runs of a lane", "lane", lane)
		return nil
	}
	waiting := waitingIn(lane, runs.Items)
	if len(waiting) == 0 {
		return nil
	}
	return []reconcile.Request{{NamespacedName: waiting[0]}}
}
