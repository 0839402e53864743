package benchmark

import (
	"context"
	"errors"
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

// ending is a round of which nothing is missing but its artifact.
type ending struct {
	// runs is the number of runs of which it is made.
	runs int
	end  *verdict.End
	full *benchmark.Round
	// continued reports whether the trend goes up to this round, form is the first in which the round wasn't too large.
	continued bool
	form      int
}

// newEnding returns the end of a round, before it has its trend.
func newEnding(b *v1alpha1.Benchmark, p *plan.Planner, runs []benchmark.Run, end *verdict.End, levelsOmitted bool) *ending {
	round := b.Status.Round
	full := &benchmark.Round{
		Namespace: b.Namespace, Benchmark: b.Name, Number: round.Number, Trigger: round.Trigger, Seed: *round.Seed, Hash: round.Hash, Spec: lifecycle.Measured(&b.Spec),
		Started: round.StartTime.UTC(), Ended: lastEnd(runs, round.StartTime.UTC()), Cells: p.Cells, Runs: runs, LevelsOmitted: levelsOmitted,
		ForeignRuns: int(ptr.Deref(round.ForeignRuns, 0)),
		Evaluation:  end.Evaluation, Capacities: p.Capacities(runs), Verdict: end.Verdict, Reason: end.Reason, Message: end.Message,
	}
	if c := b.Spec.Comparison; c != nil && c.Baseline.LastPassed != nil {
		full.Baseline = b.Status.LastPassed
	}
	return &ending{runs: len(runs), end: end, full: full}
}

// plainBytes is about what a run takes as JSON while the round is encoded.
const plainBytes = 1 << 10

// conclude ends the round under way: it stores all its metrics, and then has the status say what they mean. The
// same runs give the same artifact, so that a manager that is killed in between finds its own. The trend, and each form of the artifact,
// can take a second: each is a part of its own, and the error is then errPart.
func (r *Reconciler) conclude(ctx context.Context, b *v1alpha1.Benchmark, known *round, now time.Time) error {
	round, e := b.Status.Round, known.ending
	if !e.continued {
		previous, err := r.lastTrend(ctx, b)
		if err != nil {
			return err
		}
		e.full.Trend, e.continued = trend.Next(previous, e.full), true
		return errPart
	}
	if err := r.hold(b, plainBytes*int64(e.runs)); err != nil {
		return fmt.Errorf("encode the round: %w", err)
	}
	end := e.end
	encoded, err := e.full.EncodeForm(e.form, artifact.ConfigMapLimit)
	if errors.Is(err, artifact.ErrTooLarge) && e.form < benchmark.Forms-1 {
		e.form++
		return errPart
	}
	unstorable := err != nil
	if !unstorable {
		round.Artifact, err = r.store(ctx, b, encoded)
	}
	if unstorable || rejected(err) {
		end = &verdict.End{Verdict: v1alpha1.BenchmarkError, Reason: v1alpha1.ReasonArtifactNotStored, Message: fmt.Sprintf("The round can't be stored: %s.", err)}
	} else if err != nil {
		return err
	}
	round.Claims = lifecycle.Claims(&end.Evaluation)
	round.Effects = lifecycle.Effects(e.full.Cells, end.Evaluation.Effects)
	round.Capacities = lifecycle.Capacities(e.full.Cells, e.full.Capacities)
	b.Status.Trend = lifecycle.LevelChanges(e.full.Trend)
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
	if err := r.label(ctx, b, obj); err != nil {
		return nil, err
	}
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
