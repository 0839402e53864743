// Package benchmarkrun reconciles BenchmarkRuns. Each reconciliation observes the run, its children
// and the sessions of its pods (observe.go), asks package run for a plan (a pure function), applies
// it (act.go) and writes the status once.
package benchmarkrun

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run"
)

// +kubebuilder:rbac:groups=assay.dev,resources=benchmarkruns,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=assay.dev,resources=benchmarkruns/status,verbs=update
// +kubebuilder:rbac:groups=assay.dev,resources=benchmarkruns/finalizers,verbs=update

// conflictRetryDelay is the time to wait for a newer version of a run.
const conflictRetryDelay = 100 * time.Millisecond

// Reconcile takes a run one step further.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	br, err := r.get(ctx, request.NamespacedName)
	if br == nil || err != nil {
		return ctrl.Result{}, err
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
	if err := errors.Join(err, r.writeStatus(ctx, br, plan)); apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: conflictRetryDelay}, nil
	} else if err != nil {
		return ctrl.Result{}, err
	}
	r.notify(string(br.UID), plan)
	return ctrl.Result{RequeueAfter: plan.RequeueAfter}, nil
}

// step plans the next step of a run, as far as it could be observed, and applies the plan. The
// status that it returns says what failed.
func (r *Reconciler) step(ctx context.Context, br *v1alpha1.BenchmarkRun, observed *run.Observed, err error) (*run.Plan, error) {
	now := r.Clock.Now()
	if err != nil {
		plan := run.Interrupted(br, observed, now, err)
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
// that failed, or of which nobody knows whether it was written, the lane stays reserved until the next
// reconciliation of the run. Then the next run of the lane is reconciled: it may have found it held.
func (r *Reconciler) settle(ctx context.Context, br *v1alpha1.BenchmarkRun, plan *run.Plan) {
	admitting := meta.IsStatusConditionTrue(plan.Status.Conditions, v1alpha1.ConditionAdmitted)
	if admitting || !r.lanes.release(br) || r.freed == nil {
		return
	}
	select {
	case r.freed <- event.TypedGenericEvent[string]{Object: br.Spec.Lane}:
	case <-ctx.Done():
	}
}

// get reads a run. It returns nil for one that is deleted, whose sessions it forgets.
func (r *Reconciler) get(ctx context.Context, name types.NamespacedName) (*v1alpha1.BenchmarkRun, error) {
	br := &v1alpha1.BenchmarkRun{}
	err := r.Get(ctx, name, br)
	switch {
	case apierrors.IsNotFound(err) || err == nil && !br.DeletionTimestamp.IsZero():
		if uid, known := r.uids.LoadAndDelete(name); known {
			r.Sessions.Forget(string(uid.(types.UID)))
			for _, made := range []*sync.Map{&r.signed, &r.created} {
				made.Range(func(key, owner any) bool {
					if owner == uid {
						made.Delete(key)
					}
					return true
				})
			}
		}
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get the run: %w", err)
	}
	r.uids.Store(name, br.UID)
	return br, nil
}

// writeStatus writes the status if it changed, and then announces that by events and metrics. A
// conflict means that the cache is behind: the newer version is reconciled when it arrives.
func (r *Reconciler) writeStatus(ctx context.Context, br *v1alpha1.BenchmarkRun, plan *run.Plan) error {
	if equality.Semantic.DeepEqual(br.Status, plan.Status) {
		return nil
	}
	updated := br.DeepCopy()
	updated.Status = plan.Status
	if err := r.Status().Update(ctx, updated); err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	r.lanes.note(updated)
	r.announce(br, updated)
	return nil
}
