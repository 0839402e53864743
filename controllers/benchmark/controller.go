package benchmark

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/scope"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/objects"
	"github.com/assay-dev/assay/internal/benchmark/plan"
	"github.com/assay-dev/assay/internal/benchmark/schedule"
	"github.com/assay-dev/assay/internal/benchmark/verdict"
	"github.com/assay-dev/assay/internal/manifest"
)

// +kubebuilder:rbac:groups=assay.dev,resources=benchmarks,verbs=list;watch
// +kubebuilder:rbac:groups=assay.dev,resources=benchmarks/status,verbs=update
// +kubebuilder:rbac:groups=assay.dev,resources=benchmarks/finalizers,verbs=update

// conflictRetryDelay is the time to wait for a newer version of a Benchmark.
const conflictRetryDelay = 100 * time.Millisecond

// Reconcile takes a Benchmark one step further.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	if serves, err := r.Scope.Serves(ctx, request.Namespace, false); err != nil {
		return ctrl.Result{}, err
	} else if !serves {
		return ctrl.Result{RequeueAfter: scope.Interval}, nil
	}
	b, err := r.get(ctx, request.NamespacedName)
	if apierrors.IsNotFound(err) || err == nil && !b.DeletionTimestamp.IsZero() {
		r.forget(request.NamespacedName)
		return ctrl.Result{}, nil // its runs and artifacts go with it
	} else if err != nil {
		return ctrl.Result{}, fmt.Errorf("get the Benchmark: %w", err)
	}
	before := b.DeepCopy()
	defer func() { _ = r.hold(b, 0) }() // less is always accepted
	lifecycle.ClearRetry(b)
	wait, err := r.step(ctx, b)
	switch {
	case err == nil:
		b.Status.ObservedGeneration = ptr.To(b.Generation)
	case errors.Is(err, errPart):
		wait, err = partDelay, nil
	case !apierrors.IsConflict(err):
		lifecycle.Retry(b, err)
	}
	if written := r.writeStatus(ctx, before, b); apierrors.IsConflict(written) {
		return ctrl.Result{RequeueAfter: conflictRetryDelay}, nil
	} else if err = errors.Join(err, written); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: wait}, nil
}

// get reads a Benchmark. The cache holds no large spec, and the manager has no right to get what it may list.
func (r *Reconciler) get(ctx context.Context, name types.NamespacedName) (*v1alpha1.Benchmark, error) {
	b := &v1alpha1.Benchmark{}
	if err := r.Get(ctx, name, b); err != nil || !reflect.ValueOf(b.Spec).IsZero() {
		return b, err
	}
	var live v1alpha1.BenchmarkList
	if err := r.APIReader.List(ctx, &live, client.InNamespace(name.Namespace), client.MatchingFields{"metadata.name": name.Name}); err != nil {
		return nil, err
	}
	if len(live.Items) == 0 {
		return nil, apierrors.NewNotFound(v1alpha1.GroupVersion.WithResource("benchmarks").GroupResource(), name.Name)
	}
	return &live.Items[0], nil
}

// writeStatus writes the status if it changed.
func (r *Reconciler) writeStatus(ctx context.Context, before, b *v1alpha1.Benchmark) error {
	if equality.Semantic.DeepEqual(before.Status, b.Status) {
		return nil
	}
	if err := r.Status().Update(ctx, b); err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	r.announce(before, b)
	return nil
}

// step changes the status of a Benchmark, and makes what the status then announces. It returns the time until
// the next step, or zero if an event will cause it.
func (r *Reconciler) step(ctx context.Context, b *v1alpha1.Benchmark) (time.Duration, error) {
	now := r.Clock.Now()
	hash, err := lifecycle.Hash(&b.Spec)
	if err != nil {
		return 0, err
	}
	if why := lifecycle.Cancelled(b, hash); why != "" {
		if err := r.cancel(ctx, b); err != nil {
			return 0, err
		}
		lifecycle.Complete(b, &verdict.End{Verdict: v1alpha1.BenchmarkError, Reason: v1alpha1.ReasonCancelled, Message: why}, now)
	}
	if err := r.accept(ctx, b, now); err != nil {
		return 0, err
	}
	all, due, err := r.plan(b, now)
	if err != nil && (all == nil || !lifecycle.IsActive(b)) { // the spec's; a round goes on without a valid schedule
		lifecycle.Reject(b, hash, err.Error(), now)
		return 0, nil
	}
	if err == nil {
		lifecycle.Restore(b, now)
	}
	if trigger := lifecycle.Trigger(b, hash, due); trigger != "" {
		lifecycle.Begin(b, trigger, hash, len(all), rand.Int64(), now)
		return time.Millisecond, nil // the seed is written before the first run is made
	}
	if !lifecycle.IsActive(b) {
		r.forget(client.ObjectKeyFromObject(b))
		lifecycle.Idle(b, now)
		return untilNext(due, now), r.expire(ctx, b)
	}
	return r.advance(ctx, b, all, now)
}

// untilNext returns the time until a schedule's next time, or zero without a schedule.
func untilNext(due schedule.Due, now time.Time) time.Duration {
	if due.Next.IsZero() {
		return 0
	}
	return max(due.Next.Sub(now), time.Millisecond)
}

// plan returns the cells, and what the schedule asks for. Its errors are the spec's.
func (r *Reconciler) plan(b *v1alpha1.Benchmark, now time.Time) ([]cells.Cell, schedule.Due, error) {
	all, err := cells.Of(&b.Spec)
	if err == nil {
		err = lifecycle.CheckSize(&b.Spec, len(all))
	}
	if err == nil {
		err = blocks.CheckOrder(&b.Spec, len(all))
	}
	if err == nil {
		err = inference.CheckClaims(&b.Spec, all)
	}
	if b.Spec.Schedule == nil || err != nil {
		b.Status.NextScheduleTime = nil
		return all, schedule.Due{}, err
	}
	times, err := schedule.Parse(b.Spec.Schedule)
	if err != nil {
		return all, schedule.Due{}, err
	}
	after := b.CreationTimestamp.Time
	if last := b.Status.LastScheduleTime; last != nil {
		after = last.Time
	}
	due := times.Due(after, now)
	if !due.Last.IsZero() && !lifecycle.IsSuspended(b) {
		b.Status.LastScheduleTime = ptr.To(metav1.NewTime(due.Last))
	}
	b.Status.NextScheduleTime = ptr.To(metav1.NewTime(due.Next))
	return all, due, nil
}

// advance takes the round under way one step further.
func (r *Reconciler) advance(ctx context.Context, b *v1alpha1.Benchmark, all []cells.Cell, now time.Time) (time.Duration, error) {
	known := r.of(b)
	planner := &plan.Planner{
		Design: inference.Design{Spec: &b.Spec, Cells: all}, Benchmark: b.Name, Number: b.Status.Round.Number, Seed: *b.Status.Round.Seed,
	}
	if !isChecked(b, known, planner) {
		objection, err := r.check(ctx, b, known, planner)
		if err != nil {
			return 0, err
		}
		if objection != "" {
			lifecycle.Complete(b, &verdict.End{Verdict: v1alpha1.BenchmarkError, Reason: v1alpha1.ReasonInvalidSpec, Message: objection}, now)
			return 0, nil
		}
	}
	runs, forged, err := r.observe(ctx, b, known, planner)
	if err != nil {
		return 0, err
	}
	if forged != nil {
		if err := r.cancelOwn(ctx, b, known); err != nil {
			return 0, err
		}
		lifecycle.Complete(b, forged, now)
		return 0, nil
	}
	if planner.Stored, err = r.baseline(ctx, b, known, all); err != nil {
		return 0, err
	}
	if known.ending != nil && known.ending.runs == len(runs) {
		return 0, r.conclude(ctx, b, known, now)
	}
	step := planner.Next(runs)
	if err := r.countForeign(ctx, b, lastEnd(runs, b.Status.Round.StartTime.UTC())); err != nil {
		return 0, err
	}
	lifecycle.Track(b, planner, runs, step, now)
	switch {
	case step.End != nil:
		known.ending = newEnding(b, planner, runs, step.End, known.levelsOmitted)
		return 0, errPart
	case step.Waiting != nil || step.Suspended:
		return 0, nil
	case now.Before(step.NotBefore):
		return step.NotBefore.Sub(now), nil
	}
	return 0, r.next(ctx, b, planner, step.Create, now)
}

// next creates the next run of a round.
func (r *Reconciler) next(ctx context.Context, b *v1alpha1.Benchmark, p *plan.Planner, next *plan.NextRun, now time.Time) error {
	cell := &p.Cells[next.Cell]
	spec, err := cell.JSON(&p.Spec.Template.Spec)
	if next.Trial {
		spec, err = cell.TrialJSON(&p.Spec.Template.Spec, p.Spec.Capacity, next.Load)
	}
	if err != nil {
		return err
	}
	run, err := objects.NewRun(b, next.RunKey, cell, spec, p.Alternation(next.RunKey))
	if err == nil {
		err = r.label(ctx, b, run)
	}
	if err == nil {
		err = r.create(ctx, b, run)
	}
	switch {
	case err == nil:
		return nil
	case rejected(err):
		end := verdict.Rejected(next.Name, err.Error())
		if errors.Is(err, errConflict) {
			end.Reason = v1alpha1.ReasonNameConflict
		}
		lifecycle.Complete(b, end, now)
		return nil
	}
	return fmt.Errorf("create run %s: %w", next.Name, err)
}

// label puts the administrator's labels, and those of the Benchmark that objects inherit, on one that is about to be created.
func (r *Reconciler) label(ctx context.Context, b *v1alpha1.Benchmark, obj manifest.Object) error {
	var live v1alpha1.Benchmark
	if len(r.RunPods.InheritLabels) > 0 { // the cache has no labels of users
		if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(b), &live); err != nil {
			return fmt.Errorf("read the labels of the Benchmark: %w", err)
		}
	}
	r.RunPods.Label(obj, live.Labels)
	return nil
}

// rejected reports whether another attempt would fail, too.
func rejected(err error) bool {
	return errors.Is(err, errConflict) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err)
}
