package benchmarkrun

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run"
)

// child reads an object of the run into obj and returns it. It returns nil if there is none, or if
// somebody else owns it, which it records.
func child[T client.Object](ctx context.Context, r *Reconciler, br *v1alpha1.BenchmarkRun, o *run.Observed, name string, obj T) (T, error) {
	return childFrom(ctx, r, r, br, o, name, obj)
}

// childFrom is like child, with a given reader.
func childFrom[T client.Object](ctx context.Context, r *Reconciler, from client.Reader, br *v1alpha1.BenchmarkRun, o *run.Observed, name string, obj T) (T, error) {
	key := types.NamespacedName{Namespace: br.Namespace, Name: name}
	found, err := r.read(ctx, from, key, obj)
	if err == nil && !found && run.Expects(br, obj) {
		// A cache that was filled by an API server that is behind may lack it.
		found, err = r.read(ctx, r.APIReader, key, obj)
	}
	if !found || !o.Owns(br, r.kind(obj), obj) {
		var none T
		return none, err
	}
	recorded, err := r.recorded(ctx, br, obj)
	if !recorded {
		if err == nil {
			o.Unrecorded = append(o.Unrecorded, run.Leftover{Kind: r.kind(obj), Object: obj})
		}
		var none T
		return none, err
	}
	return obj, nil
}

// recorded reports whether an object that names the run as its owner is one that a manager created
// and recorded. Owner references and labels don't show that: anybody who may create pods can write
// them. A manager that is killed between the creation and the status leaves an unrecorded object,
// which is created again. Before that is decided, the run is read past the cache.
func (r *Reconciler) recorded(ctx context.Context, br *v1alpha1.BenchmarkRun, obj client.Object) (bool, error) {
	if _, created := r.created.Load(obj.GetUID()); created || run.Recorded(br, obj) {
		return true, nil
	}
	live := &v1alpha1.BenchmarkRun{}
	if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(br), live); err != nil {
		return false, fmt.Errorf("get the run past the cache: %w", err)
	}
	if live.ResourceVersion != br.ResourceVersion {
		return false, errCacheBehind
	}
	return false, nil
}
