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
	"github.com/assay-dev/assay/internal/memory"
	"github.com/assay-dev/assay/internal/run/state"
)

// baseline returns the stored runs with which the cells are compared, by the names of the cells.
func (r *Reconciler) baseline(ctx context.Context, b *v1alpha1.Benchmark, known *round, cells []cells.Cell) (map[string][]benchmark.Run, error) {
	if b.Spec.Comparison == nil || known.stored != nil {
		return known.stored, nil
	}
	var err error
	stored, from := map[string][]benchmark.Run{}, &b.Spec.Comparison.Baseline
	switch {
	case from.LastPassed != nil && b.Status.LastPassed != nil:
		stored, err = r.storedRuns(ctx, b, b.Status.LastPassed)
	case from.Benchmark != nil:
		other := &v1alpha1.Benchmark{}
		err = r.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: from.Benchmark.Name}, other)
		if err == nil && len(other.Status.History) > 0 {
			stored, err = r.storedRuns(ctx, b, &other.Status.History[0])
		}
		err = client.IgnoreNotFound(err)
	case from.Runs != nil:
		var selected []benchmark.Run
		selected, err = r.selectRuns(ctx, b, &from.Runs.Selector, known)
		for i := range cells {
			if len(selected) > 0 {
				stored[cells[i].Name] = selected
			}
		}
	}
	if err == nil && from.Runs == nil { // else they are kept one after the other
		err = r.keep(b, known, known.pointers(stored)...)
	}
	if err != nil {
		return nil, fmt.Errorf("read the baseline: %w", err)
	}
	known.stored = stored
	return stored, nil
}

// pointers returns the runs of a stored baseline, which share the texts of their conditions.
func (r *round) pointers(stored map[string][]benchmark.Run) (all []*benchmark.Run) {
	for _, runs := range stored {
		for i := range runs {
			runs[i].Conditions = r.shared(runs[i].Conditions)
			all = append(all, &runs[i])
		}
	}
	return all
}

// storedRuns returns the runs of a round that is stored. There are none if the artifact is gone.
func (r *Reconciler) storedRuns(ctx context.Context, b *v1alpha1.Benchmark, round *v1alpha1.RoundReference) (map[string][]benchmark.Run, error) {
	stored, err := r.storedRound(ctx, b, round)
	if stored == nil || err != nil {
		return map[string][]benchmark.Run{}, err
	}
	return stored.Stored(), nil
}

// errUnreadable reports that an artifact can't be read, now or later.
var errUnreadable = errors.New("it is not the artifact that the status announces")

// storedRound returns a round that is stored, or nil if its artifact is gone. It is read for a Benchmark of its namespace.
func (r *Reconciler) storedRound(ctx context.Context, b *v1alpha1.Benchmark, round *v1alpha1.RoundReference) (*benchmark.Round, error) {
	if round.Artifact == nil || round.Artifact.ConfigMap == nil {
		return nil, nil
	}
	var obj corev1.ConfigMap
	err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: round.Artifact.ConfigMap.Name}, &obj)
	if apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("get ConfigMap %s: %w", round.Artifact.ConfigMap.Name, err)
	}
	data := obj.BinaryData[round.Artifact.ConfigMap.Key]
	if artifact.Identify(data).SHA256 != round.Artifact.SHA256 {
		return nil, fmt.Errorf("ConfigMap %s: %w", obj.Name, errUnreadable)
	}
	if size, err := artifact.Size(data, benchmark.Round{}); err != nil {
		return nil, fmt.Errorf("ConfigMap %s: %w: %w", obj.Name, errUnreadable, err)
	} else if err := r.hold(b, size); err != nil {
		return nil, fmt.Errorf("read ConfigMap %s: %w", obj.Name, err)
	}
	decoded, err := benchmark.DecodeRound(data)
	if err != nil {
		return nil, fmt.Errorf("ConfigMap %s: %w: %w", obj.Name, errUnreadable, err)
	}
	return decoded, nil
}

// hold accounts for an artifact of some bytes that is read, until the end of the reconciliation or the next artifact: what goes on
// is little. The error says for users why there is no room.
func (r *Reconciler) hold(b *v1alpha1.Benchmark, bytes int64) error {
	return r.Memory.Hold(ownerOf(b), memory.Artifact, bytes)
}

func ownerOf(b *v1alpha1.Benchmark) memory.Owner {
	return memory.Owner{Namespace: b.Namespace, UID: string(b.UID)}
}

// lastTrend returns the trend up to the newest completed round whose artifact can be read, or nil if there is none.
func (r *Reconciler) lastTrend(ctx context.Context, b *v1alpha1.Benchmark) (*benchmark.Trend, error) {
	for i := range b.Status.History {
		switch round, err := r.storedRound(ctx, b, &b.Status.History[i]); {
		case round != nil:
			return round.Trend, nil
		case err != nil && !errors.Is(err, errUnreadable):
			return nil, fmt.Errorf("read the trend: %w", err)
		}
	}
	return nil, nil
}

// selectedRuns holds the runs of spec.comparison.baseline.runs as far as they are read.
type selectedRuns struct {
	// token continues the list, which is complete if listed is set. found has its newest runs, of which read has results.
	token       string
	listed      bool
	found, read []benchmark.Run
	next        int
}

// selectRuns returns the newest of the valid runs that a selector selects. The error is errPart if some were not read yet.
func (r *Reconciler) selectRuns(ctx context.Context, b *v1alpha1.Benchmark, selector *metav1.LabelSelector, of *round) ([]benchmark.Run, error) {
	known := &of.selected
	if !known.listed {
		return nil, r.listSelected(ctx, b, selector, known)
	}
	for range readsAtOnce {
		if known.next == len(known.found) {
			return known.read, nil
		}
		run := &v1alpha1.BenchmarkRun{}
		err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: b.Namespace, Name: known.found[known.next].Name}, run)
		if err == nil && state.IsFinished(run) {
			var read benchmark.Run
			if read, err = r.metrics(ctx, b, run, benchmark.RunKey{}); read.Valid {
				read.Levels, read.Conditions = nil, of.shared(read.Conditions)
				if err := r.keep(b, of, &read); err != nil {
					return nil, err
				}
				known.read = append(known.read, read)
			}
		}
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("get the selected run %s: %w", known.found[known.next].Name, err)
		}
		known.next++
	}
	return nil, errPart
}

// listSelected lists a page of the runs that a selector selects.
func (r *Reconciler) listSelected(ctx context.Context, b *v1alpha1.Benchmark, selector *metav1.LabelSelector, known *selectedRuns) error {
	by, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return err
	}
	var page v1alpha1.BenchmarkRunList
	err = r.APIReader.List(ctx, &page, client.InNamespace(b.Namespace), client.MatchingLabelsSelector{Selector: by}, client.Limit(pageSize), client.Continue(known.token))
	if apierrors.IsResourceExpired(err) {
		*known = selectedRuns{}
		return errPart
	} else if err != nil {
		return fmt.Errorf("list the selected runs: %w", err)
	}
	for i := range page.Items {
		run := &page.Items[i]
		if state.IsFinished(run) && meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionValid) && !metav1.IsControlledBy(run, b) {
			known.found = append(known.found, benchmark.Run{Name: run.Name, Ended: run.Status.CompletionTime.UTC()})
		}
	}
	known.found = benchmark.Newest(known.found)
	known.token, known.listed = page.Continue, page.Continue == ""
	return errPart
}
