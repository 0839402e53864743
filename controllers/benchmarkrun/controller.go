// Package benchmarkrun reconciles BenchmarkRuns. Each reconciliation observes the run, its children
// and the sessions of its pods (observe.go), asks package run for a plan (a pure function), applies
// it (act.go) and writes the status once.
package benchmarkrun

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/metrics"
	"github.com/assay-dev/assay/controllers/scope"
	"github.com/assay-dev/assay/internal/memory"
	"github.com/assay-dev/assay/internal/run"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/run/step"
)

// +kubebuilder:rbac:groups=assay.dev,resources=benchmarkruns,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=assay.dev,resources=benchmarkruns/status,verbs=update
// +kubebuilder:rbac:groups=assay.dev,resources=benchmarkruns/finalizers,verbs=update

// errExists reports that an artifact exists that this manager didn't create. The next reconciliation
// reads it.
var errExists = errors.New("it exists already")

// conflictRetryDelay is the time to wait for a newer version of a run.
const conflictRetryDelay = 100 * time.Millisecond

// Reconcile takes a run one step further.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	br, err := r.get(ctx, request.NamespacedName)
	if br == nil || err != nil {
		return ctrl.Result{}, err
	}
	if serves, err := r.Scope.Serves(ctx, br.Namespace, !state.IsFinished(br)); err != nil {
		return ctrl.Result{}, err
	} else if !serves {
		return ctrl.Result{RequeueAfter: scope.Interval}, nil
	}
	defer func() { _ = r.holdArtifact(br, 0) }() // less is always accepted
	if !br.DeletionTimestamp.IsZero() {
		return r.finalize(ctx, br)
	}
	observed, err := r.observe(ctx, br)
	if errors.Is(err, errCacheBehind) {
		return ctrl.Result{RequeueAfter: conflictRetryDelay}, nil
	}
	plan, err := r.step(ctx, br, observed, err)
	if errors.Is(err, errCacheBehind) {
		return ctrl.Result{RequeueAfter: conflictRetryDelay}, nil
	}
	if plan.Expire {
		return ctrl.Result{}, err
	}
	written := r.writeStatus(ctx, br, plan)
	if refused(written) {
		r.release(ctx, br)
	}
	err = errors.Join(err, written)
	if err == nil && plan.Finalizer != step.KeepFinalizer {
		err = r.changeFinalizer(ctx, br, plan) // before the first object is stored
	}
	if err == nil && plan.Upload != nil {
		r.upload(ctx, br, plan)
	}
	if err == nil && plan.Store != nil {
		plan, err = r.store(ctx, br, observed, plan)
	}
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: conflictRetryDelay}, nil
	} else if err != nil {
		return ctrl.Result{}, err
	}
	r.notify(br, plan)
	return ctrl.Result{RequeueAfter: plan.RequeueAfter}, nil
}

// finalize takes a deleted run, which its objects in a bucket keep, one step further. Whatever becomes of the run's
// children, its finalizer is removed in time: the garbage collector deletes those.
func (r *Reconciler) finalize(ctx context.Context, br *v1alpha1.BenchmarkRun) (ctrl.Result, error) {
	observed, failed := r.observe(ctx, br)
	plan := run.Decide(br, observed, r.Clock.Now())
	r.settle(ctx, br, &plan)
	_, err := r.act(ctx, br, &plan)
	failed = errors.Join(failed, err)
	r.notify(br, &plan)
	if plan.Reclaim {
		r.reclaim(ctx, br, observed.Reclaim.Object)
	}
	if plan.Finalizer == step.RemoveFinalizer {
		err := r.changeFinalizer(ctx, br, &plan)
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: conflictRetryDelay}, nil
		}
		return ctrl.Result{}, err
	}
	if err := errors.Join(failed, r.writeStatus(ctx, br, &plan)); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Failed to clean up a deleted run")
	}
	if failed != nil && (plan.RequeueAfter == 0 || plan.RequeueAfter > time.Second) {
		plan.RequeueAfter = time.Second
	}
	return ctrl.Result{RequeueAfter: plan.RequeueAfter}, nil
}

// step plans the next step of a run, as far as it could be observed, and applies the plan. The
// status that it returns says what failed.
func (r *Reconciler) step(ctx context.Context, br *v1alpha1.BenchmarkRun, observed *observed.Run, err error) (*step.Plan, error) {
	now := r.Clock.Now()
	if err != nil {
		plan := run.Interrupted(br, observed, now, err)
		r.settleUnobserved(ctx, br)
		return &plan, err
	}
	plan := run.Decide(br, observed, now)
	defer func() { r.settle(ctx, br, &plan) }()
	planned := plan.Create
	if observed.Refusal, err = r.act(ctx, br, &plan); observed.Refusal != nil {
		plan = run.Decide(br, observed, now)
	}
	for i := range planned {
		plan.Record(planned[i].Object)
	}
	if err != nil && !apierrors.IsConflict(err) && !errors.Is(err, errCacheBehind) {
		plan.Retry(err)
	}
	return &plan, err
}

// settle gives up the lane that is reserved for a run, unless the plan admits the run. After an admission
// of which nobody knows whether it was written, the lane stays reserved until the next reconciliation of
// the run. Then the next run of the lane is reconciled: it may have found it held.
func (r *Reconciler) settle(ctx context.Context, br *v1alpha1.BenchmarkRun, plan *step.Plan) {
	if !meta.IsStatusConditionTrue(plan.Status.Conditions, v1alpha1.ConditionAdmitted) {
		r.freeInputs(br)
		r.release(ctx, br)
	}
}

// settleUnobserved does the same for a run that can't be observed, as soon as the API server says whether
// the run was admitted: it may stay unobservable for as long as somebody wishes.
func (r *Reconciler) settleUnobserved(ctx context.Context, br *v1alpha1.BenchmarkRun) {
	if !r.lanes.isReserved(br) {
		return
	}
	live := &v1alpha1.BenchmarkRun{}
	found, err := r.read(ctx, r.APIReader, client.ObjectKeyFromObject(br), live)
	switch {
	case err != nil:
	case found && live.UID == br.UID && state.IsAdmitted(live):
		r.lanes.note(live)
	default:
		r.release(ctx, br)
	}
}

func (r *Reconciler) release(ctx context.Context, br *v1alpha1.BenchmarkRun) {
	if r.lanes.release(br) {
		r.wake(ctx, types.NamespacedName{Namespace: br.Namespace, Name: br.Spec.Lane})
	}
}

// wake has the runs reconciled that may start after one of a namespace has left a lane.
func (r *Reconciler) wake(ctx context.Context, left types.NamespacedName) {
	if r.freed == nil {
		return
	}
	select {
	case r.freed <- event.TypedGenericEvent[types.NamespacedName]{Object: left}:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) { // of this reconciliation: the next run must not wait for another event
			go r.wake(context.WithoutCancel(ctx), left)
		}
	}
}

// refused reports whether an error is the API server's answer that it has not written an object.
func refused(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Code/100 == 4
}

// get reads a run. It returns nil for one that is deleted, whose sessions it forgets, unless the run's objects have to be
// deleted first.
func (r *Reconciler) get(ctx context.Context, name types.NamespacedName) (*v1alpha1.BenchmarkRun, error) {
	br := &v1alpha1.BenchmarkRun{}
	err := r.Get(ctx, name, br)
	if err == nil && isTrimmed(br) {
		*br = v1alpha1.BenchmarkRun{}
		err = r.APIReader.Get(ctx, name, br)
	}
	switch {
	case apierrors.IsNotFound(err) || err == nil && !br.DeletionTimestamp.IsZero() && !state.HasFinalizer(br):
		for _, uid := range r.known.forget(name) {
			r.Sessions.Forget(string(uid))
			r.Memory.Free(memory.Owner{Namespace: name.Namespace, UID: string(uid)})
		}
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get the run: %w", err)
	}
	r.known.see(br, name)
	if state.IsOver(br) {
		r.freeInputs(br)
	}
	return br, nil
}

// store creates the artifact that the written status announces, and writes the verdict. A manager
// that is killed in between, or doesn't get the answer, leaves that to the next reconciliation, which
// reads the artifact.
func (r *Reconciler) store(ctx context.Context, br *v1alpha1.BenchmarkRun, observed *observed.Run, plan *step.Plan) (*step.Plan, error) {
	refusal, err := r.create(ctx, br, &plan.Store.Creation)
	if err == nil && refusal == nil && plan.Store.Object.GetUID() == "" {
		err = fmt.Errorf("create the artifact: %w", errExists)
	}
	observed.Unstored = plan.Store
	switch {
	case refusal != nil:
		r.Metrics.ArtifactFailed(metrics.KindBenchmarkRun, refusal.Err)
	case err != nil && !errors.Is(err, errExists) && !errors.Is(err, errCacheBehind):
		r.Metrics.ArtifactFailed(metrics.KindBenchmarkRun, err)
	}
	if err != nil || refusal != nil {
		_ = r.keep(br, plan.Store) // else the result is merged again
	}
	if err != nil {
		plan.Retry(err)
		return plan, errors.Join(err, r.writeStatus(ctx, br, plan))
	}
	if observed.Refusal = refusal; refusal == nil {
		observed.Stored = &plan.Store.Stored
	}
	next := run.Decide(br, observed, r.Clock.Now())
	return &next, r.writeStatus(ctx, br, &next)
}

// writeStatus writes the status if it changed, and then announces that by events and metrics. br has
// it afterwards. A conflict means that the cache is behind: the newer version is reconciled when it
// arrives.
func (r *Reconciler) writeStatus(ctx context.Context, br *v1alpha1.BenchmarkRun, plan *step.Plan) error {
	if equality.Semantic.DeepEqual(br.Status, plan.Status) {
		return nil
	}
	if state.IsFinished(br) {
		return r.writeFinished(ctx, br, plan)
	}
	updated := br.DeepCopy()
	updated.Status = plan.Status
	if err := r.Status().Update(ctx, updated); err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	r.lanes.note(updated)
	r.announce(br, updated, plan.Findings)
	updated.DeepCopyInto(br)
	return nil
}

// writeFinished writes what may still change in the status of a finished run: which spec was observed,
// and whether the cleanup goes on. The cache doesn't have the rest.
func (r *Reconciler) writeFinished(ctx context.Context, br *v1alpha1.BenchmarkRun, plan *step.Plan) error {
	live := &v1alpha1.BenchmarkRun{}
	found, err := r.read(ctx, r.APIReader, client.ObjectKeyFromObject(br), live)
	if err != nil || !found || live.UID != br.UID {
		return err
	}
	live.Status.ObservedGeneration = plan.Status.ObservedGeneration
	if c := meta.FindStatusCondition(plan.Status.Conditions, v1alpha1.ConditionReconciling); c != nil {
		meta.SetStatusCondition(&live.Status.Conditions, *c)
	}
	if err := r.Status().Update(ctx, live); err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	return nil
}
