package benchmark

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
)

// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;create;delete

// conclude ends the round under way: it stores all its figures, and then has the status say what they mean. The
// same runs give the same artifact, so that a manager that is killed in between finds its own.
func (r *Reconciler) conclude(ctx context.Context, b *v1alpha1.Benchmark, p *benchmark.Planner, runs []benchmark.Run, end *benchmark.End, now time.Time) error {
	round := b.Status.Round
	whole := &benchmark.Round{
		Namespace: b.Namespace, Benchmark: b.Name, Number: round.Number, Trigger: round.Trigger, Seed: *round.Seed, Hash: round.Hash, Spec: benchmark.Measured(&b.Spec),
		Started: round.StartTime.UTC(), Ended: lastEnd(runs, round.StartTime.UTC()), Cells: p.Cells, Runs: runs, ForeignRuns: int(ptr.Deref(round.ForeignRuns, 0)),
		Evaluation: end.Evaluation, Capacities: p.Capacities(runs), Verdict: end.Verdict, Reason: end.Reason, Message: end.Message,
	}
	encoded, err := whole.Encode(artifact.ConfigMapLimit)
	if err != nil {
		end = &benchmark.End{Verdict: v1alpha1.BenchmarkError, Reason: v1alpha1.ReasonArtifactNotStored, Message: fmt.Sprintf("The round can't be stored: %s.", err)}
	} else if round.Artifact, err = r.store(ctx, b, encoded); rejected(err) {
		end = &benchmark.End{Verdict: v1alpha1.BenchmarkError, Reason: v1alpha1.ReasonArtifactNotStored, Message: fmt.Sprintf("The round can't be stored: %s.", err)}
	} else if err != nil {
		return err
	}
	round.Effects = benchmark.EffectStatuses(p.Cells, end.Evaluation.Effects)
	round.Capacities = benchmark.CapacityStatuses(p.Cells, whole.Capacities)
	benchmark.Complete(b, end, now)
	r.forget(b.UID)
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
	obj := benchmark.NewArtifact(b, encoded)
	identity := artifact.Identify(encoded)
	reference := &v1alpha1.ArtifactReference{
		ConfigMap: &v1alpha1.ArtifactConfigMap{Name: obj.Name, Key: benchmark.ArtifactKey}, SizeBytes: &identity.SizeBytes, SHA256: identity.SHA256,
	}
	err := r.Create(ctx, obj)
	if !apierrors.IsAlreadyExists(err) {
		return reference, err
	}
	var existing corev1.ConfigMap
	if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(obj), &existing); err != nil {
		return nil, fmt.Errorf("get ConfigMap %s: %w", obj.Name, err)
	}
	if !metav1.IsControlledBy(&existing, b) || artifact.Identify(existing.BinaryData[benchmark.ArtifactKey]).SHA256 != identity.SHA256 {
		return nil, fmt.Errorf("ConfigMap %s %w", obj.Name, errConflict)
	}
	return reference, nil
}

// baseline returns the stored runs with which the cells are compared, by the names of the cells.
func (r *Reconciler) baseline(ctx context.Context, b *v1alpha1.Benchmark, known *round, cells []benchmark.Cell) (map[string][]benchmark.Run, error) {
	if b.Spec.Comparison == nil || known.stored != nil {
		return known.stored, nil
	}
	var err error
	stored := map[string][]benchmark.Run{}
	switch from := &b.Spec.Comparison.Baseline; {
	case from.LastPassed != nil && b.Status.LastPassed != nil:
		stored, err = r.storedRuns(ctx, b.Namespace, b.Status.LastPassed)
	case from.Benchmark != nil:
		other := &v1alpha1.Benchmark{}
		err = r.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: from.Benchmark.Name}, other)
		if err == nil && len(other.Status.History) > 0 {
			stored, err = r.storedRuns(ctx, b.Namespace, &other.Status.History[0])
		}
		err = client.IgnoreNotFound(err)
	case from.Runs != nil:
		var selected []benchmark.Run
		selected, err = r.selectedRuns(ctx, b, &from.Runs.Selector)
		for i := range cells {
			if len(selected) > 0 {
				stored[cells[i].Name] = selected
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the baseline: %w", err)
	}
	known.stored = stored
	return stored, nil
}

var errNotAnnounced = errors.New("it is not what the status announces")

// storedRuns returns the runs of a round that is stored. There are none if the artifact is gone.
func (r *Reconciler) storedRuns(ctx context.Context, namespace string, round *v1alpha1.RoundReference) (map[string][]benchmark.Run, error) {
	if round.Artifact == nil || round.Artifact.ConfigMap == nil {
		return map[string][]benchmark.Run{}, nil
	}
	var obj corev1.ConfigMap
	err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: round.Artifact.ConfigMap.Name}, &obj)
	if apierrors.IsNotFound(err) {
		return map[string][]benchmark.Run{}, nil
	} else if err != nil {
		return nil, err
	}
	data := obj.BinaryData[round.Artifact.ConfigMap.Key]
	if artifact.Identify(data).SHA256 != round.Artifact.SHA256 {
		return nil, fmt.Errorf("ConfigMap %s: %w", obj.Name, errNotAnnounced)
	}
	decoded, err := benchmark.DecodeRound(data)
	if err != nil {
		return nil, fmt.Errorf("ConfigMap %s: %w", obj.Name, err)
	}
	return decoded.Stored(), nil
}

// selectedPage limits the runs of one read.
const selectedPage = 100

// selectedRuns returns the finished runs that a selector selects.
func (r *Reconciler) selectedRuns(ctx context.Context, b *v1alpha1.Benchmark, selector *metav1.LabelSelector) ([]benchmark.Run, error) {
	by, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return nil, err
	}
	var selected []benchmark.Run
	for token := ""; ; {
		var page v1alpha1.BenchmarkRunList
		if err := r.APIReader.List(ctx, &page, client.InNamespace(b.Namespace), client.MatchingLabelsSelector{Selector: by},
			client.Limit(selectedPage), client.Continue(token)); err != nil {
			return nil, fmt.Errorf("list the selected runs: %w", err)
		}
		for i := range page.Items {
			run := &page.Items[i]
			if !meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) || metav1.IsControlledBy(run, b) {
				continue
			}
			read, err := r.figures(ctx, b, run, benchmark.RunKey{})
			if err != nil {
				return nil, err
			}
			if read.Valid {
				selected = append(selected, read)
			}
		}
		if token = page.Continue; token == "" {
			return benchmark.Newest(selected), nil
		}
	}
}
