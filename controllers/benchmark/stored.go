package benchmark

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
)

// baseline returns the stored runs with which the cells are compared, by the names of the cells.
func (r *Reconciler) baseline(ctx context.Context, b *v1alpha1.Benchmark, known *round, cells []cells.Cell) (map[string][]benchmark.Run, error) {
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

// storedRuns returns the runs of a round that is stored. There are none if the artifact is gone.
func (r *Reconciler) storedRuns(ctx context.Context, namespace string, round *v1alpha1.RoundReference) (map[string][]benchmark.Run, error) {
	stored, err := r.storedRound(ctx, namespace, round)
	if stored == nil || err != nil {
		return map[string][]benchmark.Run{}, err
	}
	return stored.Stored(), nil
}

// errUnreadable reports that an artifact can't be read, now or later.
var errUnreadable = errors.New("it is not the artifact that the status announces")

// storedRound returns a round that is stored, or nil if its artifact is gone.
func (r *Reconciler) storedRound(ctx context.Context, namespace string, round *v1alpha1.RoundReference) (*benchmark.Round, error) {
	if round.Artifact == nil || round.Artifact.ConfigMap == nil {
		return nil, nil
	}
	var obj corev1.ConfigMap
	err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: round.Artifact.ConfigMap.Name}, &obj)
	if apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("get ConfigMap %s: %w", round.Artifact.ConfigMap.Name, err)
	}
	data := obj.BinaryData[round.Artifact.ConfigMap.Key]
	if artifact.Identify(data).SHA256 != round.Artifact.SHA256 {
		return nil, fmt.Errorf("ConfigMap %s: %w", obj.Name, errUnreadable)
	}
	decoded, err := benchmark.DecodeRound(data)
	if err != nil {
		return nil, fmt.Errorf("ConfigMap %s: %w: %w", obj.Name, errUnreadable, err)
	}
	return decoded, nil
}

// lastTrend returns the trend up to the newest completed round whose artifact can be read, or nil if there is none.
func (r *Reconciler) lastTrend(ctx context.Context, b *v1alpha1.Benchmark) (*benchmark.Trend, error) {
	for i := range b.Status.History {
		switch round, err := r.storedRound(ctx, b.Namespace, &b.Status.History[i]); {
		case round != nil:
			return round.Trend, nil
		case err != nil && !errors.Is(err, errUnreadable):
			return nil, fmt.Errorf("read the trend: %w", err)
		}
	}
	return nil, nil
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
