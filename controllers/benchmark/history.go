package benchmark

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/objects"
	"github.com/assay-dev/assay/internal/run/state"
)

// cancel deletes the run under way.
func (r *Reconciler) cancel(ctx context.Context, b *v1alpha1.Benchmark) error {
	return r.deleteRuns(ctx, b, func(run *v1alpha1.BenchmarkRun, round int64) bool {
		return round == b.Status.Round.Number && !state.IsFinished(run)
	})
}

// expire deletes the runs and artifacts of rounds that history doesn't keep.
func (r *Reconciler) expire(ctx context.Context, b *v1alpha1.Benchmark) error {
	if b.Status.Round == nil {
		return nil
	}
	lifecycle.Expire(b)
	kept := func(round int64) bool {
		return round >= b.Status.Round.Number ||
			slices.ContainsFunc(b.Status.History, func(r v1alpha1.RoundReference) bool { return r.Number == round })
	}
	if err := r.deleteRuns(ctx, b, func(_ *v1alpha1.BenchmarkRun, round int64) bool { return !kept(round) }); err != nil {
		return err
	}
	for token := ""; ; {
		var page metav1.PartialObjectMetadataList
		page.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
		if err := r.APIReader.List(ctx, &page, client.InNamespace(b.Namespace), client.MatchingLabels{benchmark.LabelBenchmark: b.Name},
			client.Limit(pageSize), client.Continue(token)); err != nil {
			return fmt.Errorf("list the artifacts: %w", err)
		}
		for i := range page.Items {
			obj := &page.Items[i]
			round, ok := objects.RoundOf(obj)
			if ok && metav1.IsControlledBy(obj, b) && !kept(round) {
				if err := r.delete(ctx, obj); err != nil {
					return err
				}
			}
		}
		if token = page.Continue; token == "" {
			return nil
		}
	}
}

func (r *Reconciler) deleteRuns(ctx context.Context, b *v1alpha1.Benchmark, which func(run *v1alpha1.BenchmarkRun, round int64) bool) error {
	var runs v1alpha1.BenchmarkRunList
	if err := r.List(ctx, &runs, client.InNamespace(b.Namespace), client.MatchingFields{ownerField: string(b.UID)}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the runs: %w", err)
	}
	deletions := 0
	for i := range runs.Items {
		run := &runs.Items[i]
		key, ok := benchmark.ParseRunName(b.Name, run.Name)
		if !ok || !run.DeletionTimestamp.IsZero() || !which(run, key.Round) {
			continue
		}
		if deletions++; deletions > deletionsAtOnce {
			return errPart
		}
		if err := r.delete(ctx, run); err != nil {
			return err
		}
	}
	return nil
}

// delete deletes an object that was observed, and no other of its name.
func (r *Reconciler) delete(ctx context.Context, obj client.Object) error {
	uid := obj.GetUID()
	err := r.Delete(ctx, obj, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %s: %w", obj.GetName(), err)
	}
	return nil
}
