package benchmark

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/inference"
	"github.com/assay-dev/assay/internal/benchmark/objects"
	"github.com/assay-dev/assay/internal/benchmark/plan"
	"github.com/assay-dev/assay/internal/benchmark/verdict"
	"github.com/assay-dev/assay/internal/run/state"
)

// plannedKey identifies the runs of a round that have the same spec, but for the load of trials.
type plannedKey struct {
	cell  int
	trial bool
}

// isChecked reports whether the API server has accepted every cell: no run is made before.
func isChecked(b *v1alpha1.Benchmark, known *round, p *plan.Planner) bool {
	return known.checked == len(checksOf(p)) || b.Status.Round.CurrentRun != nil || ptr.Deref(b.Status.Round.FinishedRuns, 0) > 0
}

// check has the API server check further cells without creating them, in the order of the cells. It returns its objection to
// the first that it doesn't accept. known.checked counts what it has accepted; of its answers, digests are kept. The error is
// errPart if some are left.
func (r *Reconciler) check(ctx context.Context, b *v1alpha1.Benchmark, known *round, p *plan.Planner) (objection string, err error) {
	checks := checksOf(p)
	for range checksAtOnce {
		next := checks[known.checked]
		cell := &p.Cells[next.Cell]
		spec, err := objects.PlannedSpec(p, next.RunKey)
		if next.Load != 0 {
			spec, err = cell.TrialJSON(&p.Spec.Template.Spec, p.Spec.Capacity, next.Load)
		}
		if err != nil {
			return err.Error(), nil //nolint:nilerr // it is the spec's
		}
		planned, err := r.dryRun(ctx, b, p, next.RunKey, spec)
		if rejected(err) {
			return fmt.Sprintf("Cell %s is not a valid BenchmarkRun: %s", cell.Name, err), nil
		}
		if err == nil {
			if missing := inference.CheckCell(&b.Spec, cell, &planned.Spec); missing != nil {
				return missing.Error(), nil
			}
		}
		if err == nil && next.Number == 0 { // of the trials, that with the load capacity.from
			known.planned[plannedKey{next.Cell, next.Trial}], err = objects.Digest(p, next.RunKey, planned)
		}
		if err != nil {
			return "", fmt.Errorf("check cell %s: %w", cell.Name, err)
		}
		if known.checked++; known.checked == len(checks) {
			return "", nil
		}
	}
	return "", errPart
}

// checksOf returns the runs that the API server has to accept before the first is made: one of each cell, and trials with the
// least and the largest load.
func checksOf(p *plan.Planner) (checks []plan.NextRun) {
	for cell := range p.Cells {
		checks = append(checks, plan.NextRun{RunKey: benchmark.RunKey{Round: p.Number, Cell: cell}})
		if c := p.Spec.Capacity; c != nil {
			for number, load := range []int64{c.From, c.Max} {
				checks = append(checks, plan.NextRun{RunKey: benchmark.RunKey{Round: p.Number, Cell: cell, Trial: true, Number: number}, Load: load})
			}
		}
	}
	return checks
}

// verify compares a run with what the round creates under its name. It returns the outcome of the round if they differ.
// Both are then read again first: a new version of the CustomResourceDefinition may have brought defaults
// that only one of them has, and of the planned one only a digest is kept.
func (r *Reconciler) verify(ctx context.Context, b *v1alpha1.Benchmark, known *round, p *plan.Planner, run *v1alpha1.BenchmarkRun, key benchmark.RunKey) (*verdict.End, error) {
	if known.own[run.UID] {
		return nil, nil
	}
	k := plannedKey{key.Cell, key.Trial}
	digest, err := objects.Digest(p, key, run)
	if err != nil {
		return nil, fmt.Errorf("verify run %s: %w", run.Name, err)
	}
	if planned, checked := known.planned[k]; checked && digest == planned {
		known.own[run.UID] = true
		return nil, nil
	}
	if run, err = r.live(ctx, run); err != nil {
		return nil, err
	}
	var planned *v1alpha1.BenchmarkRun
	spec, err := objects.PlannedSpec(p, key)
	if err == nil {
		planned, err = r.dryRun(ctx, b, p, key, spec)
	}
	if err == nil {
		known.planned[k], err = objects.Digest(p, key, planned)
	}
	var difference string
	if err == nil {
		difference, err = objects.Difference(p, key, run, planned)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("verify run %s: %w", run.Name, err)
	case difference == "":
		known.own[run.UID] = true
		return nil, nil
	}
	return objects.Forged(run.Name, p.Cells[key.Cell].Name, difference), nil
}

// dryRun returns a run as the API server would store it. If one of its name exists, another name is tried.
func (r *Reconciler) dryRun(ctx context.Context, b *v1alpha1.Benchmark, p *plan.Planner, key benchmark.RunKey, spec []byte) (*v1alpha1.BenchmarkRun, error) {
	run, err := objects.NewRun(b, key, &p.Cells[key.Cell], spec, p.Alternation(key))
	if err != nil {
		return nil, err
	}
	other := run.DeepCopy()
	err = r.Create(ctx, run, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
	if apierrors.IsAlreadyExists(err) {
		const room = 52 - len("-") - 5 // the longest name, and what the API server adds
		name := other.GetName()
		other.SetName("")
		other.SetGenerateName(strings.TrimRight(name[:min(len(name), room)], "-") + "-")
		run, err = other, r.Create(ctx, other, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
	}
	if err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(run.Object)
	planned := &v1alpha1.BenchmarkRun{}
	if err = errors.Join(err, json.Unmarshal(encoded, planned)); err != nil {
		return nil, fmt.Errorf("decode the dry run's response: %w", err)
	}
	return planned, nil
}

// cancelOwn deletes the run under way of a round with a forged one, which it leaves alone.
func (r *Reconciler) cancelOwn(ctx context.Context, b *v1alpha1.Benchmark, known *round) error {
	return r.deleteRuns(ctx, b, func(run *v1alpha1.BenchmarkRun, round int64) bool {
		return round == b.Status.Round.Number && !state.IsFinished(run) && known.own[run.UID]
	})
}
