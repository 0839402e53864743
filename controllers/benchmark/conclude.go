package benchmark

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/metrics"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/objects"
	"github.com/assay-dev/assay/internal/benchmark/plan"
	"github.com/assay-dev/assay/internal/benchmark/trend"
	"github.com/assay-dev/assay/internal/benchmark/verdict"
)

// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;create;delete

// conclude ends the round under way: it stores all its metrics, and then has the status say what they mean. The
// same runs give the same artifact, so that a manager that is killed in between finds its own.
func (r *Reconciler) conclude(ctx context.Context, b *v1alpha1.Benchmark, p *plan.Planner, runs []benchmark.Run, end *verdict.End, now time.Time) error {
	round := b.Status.Round
	full := &benchmark.Round{
		Namespace: b.Namespace, Benchmark: b.Name, Number: round.Number, Trigger: round.Trigger, Seed: *round.Seed, Hash: round.Hash, Spec: lifecycle.Measured(&b.Spec),
		Started: round.StartTime.UTC(), Ended: lastEnd(runs, round.StartTime.UTC()), Cells: p.Cells, Runs: runs, ForeignRuns: int(ptr.Deref(round.ForeignRuns, 0)),
		Evaluation: end.Evaluation, Capacities: p.Capacities(runs), Verdict: end.Verdict, Reason: end.Reason, Message: end.Message,
	}
	if c := b.Spec.Comparison; c != nil && c.Baseline.LastPassed != nil {
		full.Baseline = b.Status.LastPassed
	}
	previous, err := r.lastTrend(ctx, b)
	if err != nil {
		return err
	}
	full.Trend = trend.Next(previous, full)
	encoded, err := full.Encode(artifact.ConfigMapLimit)
	if err != nil {
		end = &verdict.End{Verdict: v1alpha1.BenchmarkError, Reason: v1alpha1.ReasonArtifactNotStored, Message: fmt.Sprintf("The round can't be stored: %s.", err)}
	} else if round.Artifact, err = r.store(ctx, b, encoded); rejected(err) {
		end = &verdict.End{Verdict: v1alpha1.BenchmarkError, Reason: v1alpha1.ReasonArtifactNotStored, Message: fmt.Sprintf("The round can't be stored: %s.", err)}
	} else if err != nil {
		return err
	}
	round.Effects = lifecycle.Effects(p.Cells, end.Evaluation.Effects)
	round.Capacities = lifecycle.Capacities(p.Cells, full.Capacities)
	b.Status.Trend = lifecycle.LevelChanges(full.Trend)
	lifecycle.Complete(b, end, now)
	r.forget(client.ObjectKeyFromObject(b))
	return nil
}

// lastEnd returns the end of the last run.
func lastEnd(runs []benchmark.Run, end time.Time) time.Time {
	for i := range runs {
		if runs[i].Ended.After(end) {
			end = runs[i].Ended
		}
	}
	return end.UTC()
}

// store creates the artifact of the round under way.
func (r *Reconciler) store(ctx context.Context, b *v1alpha1.Benchmark, encoded []byte) (*v1alpha1.ArtifactReference, error) {
	obj := objects.NewArtifact(b, encoded)
	identity := artifact.Identify(encoded)
	reference := &v1alpha1.ArtifactReference{
		ConfigMap: &v1alpha1.ArtifactConfigMap{Name: obj.Name, Key: benchmark.ArtifactKey}, SizeBytes: &identity.SizeBytes, SHA256: identity.SHA256,
	}
	err := r.Create(ctx, obj)
	switch {
	case err == nil:
		return reference, nil
	case !apierrors.IsAlreadyExists(err):
		r.Metrics.ArtifactFailed(metrics.KindBenchmark, err)
		return nil, fmt.Errorf("create ConfigMap %s: %w", obj.Name, err)
	}
	var existing corev1.ConfigMap
	if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(obj), &existing); err != nil {
		return nil, fmt.Errorf("get ConfigMap %s: %w", obj.Name, err)
	}
	if !metav1.IsControlledBy(&existing, b) || artifact.Identify(existing.BinaryData[benchmark.ArtifactKey]).SHA256 != identity.SHA256 {
		r.Metrics.ArtifactFailed(metrics.KindBenchmark, err)
		return nil, fmt.Errorf("ConfigMap %s %w", obj.Name, errConflict)
	}
	return reference, nil
}
