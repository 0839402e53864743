package benchmark

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/cells"
	"github.com/assay-dev/assay/internal/benchmark/objects"
	"github.com/assay-dev/assay/internal/benchmark/plan"
	"github.com/assay-dev/assay/internal/benchmark/verdict"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/state"
)

// +kubebuilder:rbac:groups=assay.dev,resources=benchmarkruns,verbs=get;list;watch;create;delete

// observe returns the runs of the round under way, by name: the cache has them in any order, and the round's artifact must be the same
// when it is made again. The metrics of each are read once. If a run has the name of one that the round plans, but isn't it, the outcome
// is not nil. The error is errPart if some were not read yet.
func (r *Reconciler) observe(ctx context.Context, b *v1alpha1.Benchmark, known *round, p *plan.Planner) ([]benchmark.Run, *verdict.End, error) {
	var list v1alpha1.BenchmarkRunList
	if err := r.List(ctx, &list, client.InNamespace(b.Namespace), client.MatchingFields{ownerField: string(b.UID)}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, nil, fmt.Errorf("list the runs: %w", err)
	}
	var states []benchmark.Run
	var forged *verdict.End
	reads := 0
	for i := range list.Items {
		run := &list.Items[i]
		key, ok := benchmark.ParseRunName(b.Name, run.Name)
		if !ok || !objects.Plans(p, key) {
			continue
		}
		seen, read := known.runs[run.UID]
		if !read && known.forged[run.UID] == nil {
			if !known.own[run.UID] || state.IsFinished(run) {
				reads++
			}
			if reads > readsAtOnce {
				return nil, nil, errPart
			}
			var err error
			if seen, known.forged[run.UID], err = r.observeRun(ctx, b, known, p, run, key); err != nil {
				return nil, nil, err
			}
		}
		if end := known.forged[run.UID]; end != nil {
			forged = cmp.Or(forged, end)
			continue
		}
		states = append(states, seen)
	}
	slices.SortFunc(states, func(a, b benchmark.Run) int { return strings.Compare(a.Name, b.Name) })
	return states, forged, nil
}

// observeRun returns the state of a run. It reads one that has finished past the cache, which lacks most of it.
func (r *Reconciler) observeRun(ctx context.Context, b *v1alpha1.Benchmark, known *round, p *plan.Planner, run *v1alpha1.BenchmarkRun, key benchmark.RunKey) (benchmark.Run, *verdict.End, error) {
	seen := benchmark.Run{RunKey: key, Name: run.Name, Started: run.CreationTimestamp.Time}
	finished := state.IsFinished(run)
	if finished {
		live, err := r.live(ctx, run)
		if err != nil {
			return seen, nil, err
		}
		run = live
	}
	if end, err := r.verify(ctx, b, known, p, run, key); end != nil || err != nil || !finished {
		return seen, end, err
	}
	seen, err := r.metrics(ctx, b, run, key)
	if err == nil {
		seen.Conditions = known.shared(seen.Conditions)
		err = r.keep(b, known, &seen)
	}
	if err == nil {
		known.runs[run.UID] = seen
	}
	return seen, nil, err
}

// live reads a run past the cache.
func (r *Reconciler) live(ctx context.Context, run *v1alpha1.BenchmarkRun) (*v1alpha1.BenchmarkRun, error) {
	live := &v1alpha1.BenchmarkRun{}
	if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(run), live); err != nil {
		return nil, fmt.Errorf("get run %s: %w", run.Name, err)
	}
	if live.UID != run.UID {
		return nil, fmt.Errorf("get run %s: it was deleted and created again", run.Name)
	}
	return live, nil
}

// countForeign counts the runs of others that the lane admitted between the begin of the round and the end of
// its last run. Later ones don't count, and those that were deleted since do: the artifact must be the same after a crash.
func (r *Reconciler) countForeign(ctx context.Context, b *v1alpha1.Benchmark, end time.Time) error {
	var list v1alpha1.BenchmarkRunList
	if err := r.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the runs of the lane: %w", err)
	}
	foreign, before := int32(0), ptr.Deref(b.Status.Round.ForeignRuns, 0)
	for i := range list.Items {
		run := &list.Items[i]
		admitted := run.Status.AdmissionTime
		if run.Spec.Lane == b.Spec.Template.Spec.Lane && admitted != nil && b.Status.Round.StartTime.Before(admitted) && !admitted.After(end) && !metav1.IsControlledBy(run, b) {
			foreign++
		}
	}
	b.Status.Round.ForeignRuns = ptr.To(max(foreign, before))
	return nil
}

// metrics returns what a finished run says.
func (r *Reconciler) metrics(ctx context.Context, b *v1alpha1.Benchmark, run *v1alpha1.BenchmarkRun, key benchmark.RunKey) (benchmark.Run, error) {
	read := benchmark.Run{RunKey: key, Name: run.Name, Started: run.CreationTimestamp.UTC(), Ended: run.Status.CompletionTime.UTC()}
	if capacity := b.Spec.Capacity; key.Trial && capacity != nil {
		var err error
		if read.Load, err = cells.LoadOf(&run.Spec, capacity); err != nil {
			read.Message = err.Error()
			return read, nil
		}
	}
	measured, err := r.result(ctx, b, run)
	if err != nil {
		return read, err
	}
	if measured == nil {
		succeeded := state.Succeeded(run)
		read.Fail(succeeded.Reason, succeeded.Message)
		return read, nil
	}
	nodeType, err := r.nodeType(ctx, measured.Environment.TargetNode)
	if err != nil {
		return read, err
	}
	read.Complete(measured, nodeType, benchmark.RequestMetrics(&b.Spec)...)
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

// result reads the result of a finished run for a Benchmark of its namespace. It returns nil for one that has none, or whose artifact is not
// the one that the status announces.
func (r *Reconciler) result(ctx context.Context, b *v1alpha1.Benchmark, run *v1alpha1.BenchmarkRun) (*result.Result, error) {
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
	size, err := artifact.Size(data, result.Result{})
	if err != nil {
		return nil, nil //nolint:nilerr // a run without a result is replaced
	}
	if err := r.hold(b, size); err != nil {
		return nil, fmt.Errorf("read the artifact of run %s: %w", run.Name, err)
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
