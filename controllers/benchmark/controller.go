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
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
)

// +kubebuilder:rbac:groups=assay.dev,resources=benchmarks,verbs=list;watch
// +kubebuilder:rbac:groups=assay.dev,resources=benchmarks/status,verbs=update
// +kubebuilder:rbac:groups=assay.dev,resources=benchmarks/finalizers,verbs=update

// conflictRetryDelay is the time to wait for a newer version of a Benchmark.
const conflictRetryDelay = 100 * time.Millisecond

// Reconcile takes a Benchmark one step further.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	b := &v1alpha1.Benchmark{}
	err := r.Get(ctx, request.NamespacedName, b)
	if err == nil && reflect.ValueOf(b.Spec).IsZero() { // the cache holds no large one
		*b = v1alpha1.Benchmark{}
		err = r.APIReader.Get(ctx, request.NamespacedName, b)
	}
	if apierrors.IsNotFound(err) || err == nil && !b.DeletionTimestamp.IsZero() {
		r.forget(request.NamespacedName)
		return ctrl.Result{}, nil // its runs and artifacts go with it
	} else if err != nil {
		return ctrl.Result{}, fmt.Errorf("get the Benchmark: %w", err)
	}
	before := b.DeepCopy()
	benchmark.ClearRetry(b)
	wait, err := r.step(ctx, b)
	switch {
	case err == nil:
		b.Status.ObservedGeneration = ptr.To(b.Generation)
	case !apierrors.IsConflict(err):
		benchmark.Retry(b, err)
	}
	if written := r.writeStatus(ctx, before, b); apierrors.IsConflict(written) {
		return ctrl.Result{RequeueAfter: conflictRetryDelay}, nil
	} else if err = errors.Join(err, written); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: wait}, nil
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
	hash, err := benchmark.Hash(&b.Spec)
	if err != nil {
		return 0, err
	}
	if why := benchmark.Cancelled(b, hash); why != "" {
		if err := r.cancel(ctx, b); err != nil {
			return 0, err
		}
		benchmark.Complete(b, &benchmark.End{Verdict: v1alpha1.BenchmarkError, Reason: v1alpha1.ReasonCancelled, Message: why}, now)
	}
	if err := r.accept(ctx, b, now); err != nil {
		return 0, err
	}
	cells, wait, err := r.plan(b, now)
	if err != nil && (cells == nil || !benchmark.IsActive(b)) { // the spec's; a round goes on without a valid schedule
		benchmark.Reject(b, hash, err.Error(), now)
		return 0, nil
	}
	if err == nil {
		benchmark.Restore(b, now)
	}
	if trigger := benchmark.Trigger(b, hash, wait.due); trigger != "" {
		benchmark.Begin(b, trigger, hash, len(cells), rand.Int64(), now)
		return time.Millisecond, nil // the seed is written before the first run is made
	}
	if !benchmark.IsActive(b) {
		r.forget(client.ObjectKeyFromObject(b))
		benchmark.Idle(b, now)
		return wait.next, r.expire(ctx, b)
	}
	return r.advance(ctx, b, cells, now)
}

// schedule holds the due times of a Benchmark's schedule, and the time until the next.
type schedule struct {
	due  benchmark.Due
	next time.Duration
}

// plan returns the cells, and what the schedule asks for. Its errors are the spec's.
func (r *Reconciler) plan(b *v1alpha1.Benchmark, now time.Time) ([]benchmark.Cell, schedule, error) {
	cells, err := benchmark.Cells(&b.Spec)
	if err == nil {
		err = benchmark.CheckSize(&b.Spec)
	}
	if err == nil {
		err = benchmark.CheckRepetitions(&b.Spec, cells)
	}
	var s schedule
	if b.Spec.Schedule == nil || err != nil {
		b.Status.NextScheduleTime = nil
		return cells, s, err
	}
	times, err := benchmark.ParseSchedule(b.Spec.Schedule)
	if err != nil {
		return cells, s, err
	}
	after := b.CreationTimestamp.Time
	if last := b.Status.LastScheduleTime; last != nil {
		after = last.Time
	}
	s.due = times.Due(after, now)
	if !s.due.Last.IsZero() && !benchmark.IsSuspended(b) {
		b.Status.LastScheduleTime = ptr.To(metav1.NewTime(s.due.Last))
	}
	b.Status.NextScheduleTime = ptr.To(metav1.NewTime(s.due.Next))
	s.next = max(s.due.Next.Sub(now), time.Millisecond)
	return cells, s, nil
}

// advance takes the round under way one step further.
func (r *Reconciler) advance(ctx context.Context, b *v1alpha1.Benchmark, cells []benchmark.Cell, now time.Time) (time.Duration, error) {
	known := r.of(b)
	planner := &benchmark.Planner{
		Benchmark: b.Name, Spec: &b.Spec, Cells: cells, Number: b.Status.Round.Number, Seed: *b.Status.Round.Seed,
	}
	if !isChecked(b, known) {
		objection, err := r.check(ctx, b, known, planner)
		if err != nil {
			return 0, err
		}
		if objection != "" {
			benchmark.Complete(b, &benchmark.End{Verdict: v1alpha1.BenchmarkError, Reason: v1alpha1.ReasonInvalidSpec, Message: objection}, now)
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
		benchmark.Complete(b, forged, now)
		return 0, nil
	}
	if planner.Stored, err = r.baseline(ctx, b, known, cells); err != nil {
		return 0, err
	}
	step := planner.Next(runs)
	if err := r.countForeign(ctx, b, lastEnd(runs, b.Status.Round.StartTime.UTC())); err != nil {
		return 0, err
	}
	benchmark.Track(b, planner, runs, step, now)
	switch {
	case step.End != nil:
		return 0, r.conclude(ctx, b, planner, runs, step.End, now)
	case step.Waiting != nil || step.Suspended:
		return 0, nil
	case now.Before(step.NotBefore):
		return step.NotBefore.Sub(now), nil
	}
	return 0, r.next(ctx, b, planner, step.Create, now)
}

// next creates the next run of a round.
func (r *Reconciler) next(ctx context.Context, b *v1alpha1.Benchmark, p *benchmark.Planner, next *benchmark.NextRun, now time.Time) error {
	cell := &p.Cells[next.Cell]
	spec, err := cell.JSON(&p.Spec.Template.Spec)
	if next.Trial {
		spec, err = cell.TrialJSON(&p.Spec.Template.Spec, p.Spec.Capacity, next.Load)
	}
	if err != nil {
		return err
	}
	run, err := benchmark.NewRun(b, next.RunKey, cell, spec)
	if err == nil {
		err = r.create(ctx, b, run)
	}
	switch {
	case err == nil:
		return nil
	case rejected(err):
		end := benchmark.Rejected(next.Name, err.Error())
		if errors.Is(err, errConflict) {
			end.Reason = v1alpha1.ReasonNameConflict
		}
		benchmark.Complete(b, end, now)
		return nil
	}
	return fmt.Errorf("create run %s: %w", next.Name, err)
}

// rejected reports whether another attempt would fail, too.
func rejected(err error) bool {
	return errors.Is(err, errConflict) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err)
}
