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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/result"
)

// +kubebuilder:rbac:groups=assay.dev,resources=benchmarkruns,verbs=get;list;watch;create;delete

// stateOf returns the reason of a run's condition Succeeded.
func stateOf(run *v1alpha1.BenchmarkRun) string {
	if c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded); c != nil {
		return c.Reason
	}
	return v1alpha1.ReasonQueued
}

// observe returns the runs of the round under way. The figures of each are read once.
func (r *Reconciler) observe(ctx context.Context, b *v1alpha1.Benchmark, known *round) ([]benchmark.Run, error) {
	var list v1alpha1.BenchmarkRunList
	if err := r.List(ctx, &list, client.InNamespace(b.Namespace), client.MatchingFields{ownerField: string(b.UID)}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the runs: %w", err)
	}
	var states []benchmark.Run
	for i := range list.Items {
		run := &list.Items[i]
		key, ok := benchmark.ParseRunName(b.Name, run.Name)
		if !ok || key.Round != known.number {
			continue
		}
		state, read := known.runs[run.Name]
		switch {
		case read:
		case !meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished):
			state = benchmark.Run{RunKey: key, Name: run.Name, Started: run.CreationTimestamp.Time}
		default:
			var err error
			if state, err = r.read(ctx, b, run, key); err != nil {
				return nil, err
			}
			known.runs[run.Name] = state
		}
		states = append(states, state)
	}
	return states, nil
}

// countForeign counts the runs of others that the lane admitted between the begin of the round and the end of
// its last run. Later ones don't count: the artifact must be the same after a crash.
func (r *Reconciler) countForeign(ctx context.Context, b *v1alpha1.Benchmark, end time.Time) error {
	var list v1alpha1.BenchmarkRunList
	if err := r.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the runs of the lane: %w", err)
	}
	foreign := int32(0)
	for i := range list.Items {
		run := &list.Items[i]
		admitted := run.Status.AdmissionTime
		if run.Spec.Lane == b.Spec.Template.Spec.Lane && admitted != nil && b.Status.Round.StartTime.Before(admitted) && !admitted.After(end) && !metav1.IsControlledBy(run, b) {
			foreign++
		}
	}
	b.Status.Round.ForeignRuns = &foreign
	return nil
}

// read reads a finished run and its artifact past the cache.
func (r *Reconciler) read(ctx context.Context, b *v1alpha1.Benchmark, run *v1alpha1.BenchmarkRun, key benchmark.RunKey) (benchmark.Run, error) {
	live := &v1alpha1.BenchmarkRun{}
	if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(run), live); err != nil {
		return benchmark.Run{}, fmt.Errorf("get run %s: %w", run.Name, err)
	}
	return r.figures(ctx, b, live, key)
}

// figures returns what a finished run says.
func (r *Reconciler) figures(ctx context.Context, b *v1alpha1.Benchmark, run *v1alpha1.BenchmarkRun, key benchmark.RunKey) (benchmark.Run, error) {
	read := benchmark.Run{RunKey: key, Name: run.Name, Started: run.CreationTimestamp.UTC(), Ended: run.Status.CompletionTime.UTC()}
	if capacity := b.Spec.Capacity; key.Trial && capacity != nil {
		var err error
		if read.Load, err = benchmark.LoadOf(&run.Spec, capacity); err != nil {
			read.Message = err.Error()
			return read, nil
		}
	}
	measured, err := r.result(ctx, run)
	if err != nil {
		return read, err
	}
	if measured == nil {
		succeeded := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionSucceeded)
		read.Fail(succeeded.Reason, succeeded.Message)
		return read, nil
	}
	nodeType, err := r.nodeType(ctx, measured.Environment.TargetNode)
	if err != nil {
		return read, err
	}
	read.Complete(measured, nodeType)
	return read, nil
}

// +kubebuilder:rbac:groups="",resources=nodes,verbs=get

// nodeType returns the type of a node, or "" if it isn't known, or this manager may not read nodes.
func (r *Reconciler) nodeType(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	node := &corev1.Node{}
	err := r.APIReader.Get(ctx, client.ObjectKey{Name: name}, node)
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("get node %s: %w", name, err)
	}
	return node.Labels[corev1.LabelInstanceTypeStable], nil
}

// result reads the result of a finished run. It returns nil for one that has none, or whose artifact is not
// the one that the status announces.
func (r *Reconciler) result(ctx context.Context, run *v1alpha1.BenchmarkRun) (*result.Result, error) {
	announced := run.Status.Artifact
	if announced == nil || announced.ConfigMap == nil || run.Status.Verdict == v1alpha1.VerdictError {
		return nil, nil
	}
	var stored corev1.ConfigMap
	err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: announced.ConfigMap.Name}, &stored)
	if apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("get the artifact of run %s: %w", run.Name, err)
	}
	data := stored.BinaryData[announced.ConfigMap.Key]
	if artifact.Identify(data).SHA256 != announced.SHA256 {
		return nil, nil
	}
	measured, err := artifact.Decode(data)
	if err != nil {
		return nil, nil //nolint:nilerr // a run without a result is replaced
	}
	return measured, nil
}

// errConflict reports that an object exists under a name that the Benchmark needs.
var errConflict = errors.New("exists and isn't the Benchmark's own: delete or rename it")

// create creates a run. One that exists already, since the cache was behind, is left alone.
func (r *Reconciler) create(ctx context.Context, b *v1alpha1.Benchmark, run *unstructured.Unstructured) error {
	name := run.GetName()
	err := r.Create(ctx, run, client.FieldValidation(metav1.FieldValidationStrict))
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	existing := &v1alpha1.BenchmarkRun{}
	if err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: run.GetNamespace(), Name: name}, existing); err != nil {
		return fmt.Errorf("get run %s: %w", name, err)
	}
	if !metav1.IsControlledBy(existing, b) {
		return fmt.Errorf("BenchmarkRun %s %w", name, errConflict)
	}
	return nil
}

// check has the API server check each cell without creating it. It returns its objection to the first that
// it doesn't accept.
func (r *Reconciler) check(ctx context.Context, b *v1alpha1.Benchmark, cells []benchmark.Cell) (objection string, err error) {
	for i := range cells {
		key := benchmark.RunKey{Round: b.Status.Round.Number, Cell: i}
		spec, err := cells[i].JSON(&b.Spec.Template.Spec)
		if err != nil {
			return err.Error(), nil //nolint:nilerr // it is the spec's
		}
		specs := map[benchmark.RunKey][]byte{key: spec}
		if c := b.Spec.Capacity; c != nil {
			for number, load := range []int64{c.From, c.Max} {
				trial := benchmark.RunKey{Round: key.Round, Cell: i, Trial: true, Number: number}
				if specs[trial], err = cells[i].TrialJSON(&b.Spec.Template.Spec, c, load); err != nil {
					return err.Error(), nil //nolint:nilerr // it is the spec's
				}
			}
		}
		for key, spec := range specs {
			if err := r.dryRun(ctx, b, &cells[i], key, spec); rejected(err) {
				return fmt.Sprintf("Cell %s is not a valid BenchmarkRun: %s", cells[i].Name, err), nil
			} else if err != nil {
				return "", fmt.Errorf("check cell %s: %w", cells[i].Name, err)
			}
		}
	}
	return "", nil
}

// dryRun has the API server check a run. One that exists was accepted.
func (r *Reconciler) dryRun(ctx context.Context, b *v1alpha1.Benchmark, cell *benchmark.Cell, key benchmark.RunKey, spec []byte) error {
	run, err := benchmark.NewRun(b, key, cell, spec)
	if err != nil {
		return err
	}
	err = r.Create(ctx, run, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
