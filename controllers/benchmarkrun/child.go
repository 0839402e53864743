package benchmarkrun

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/ownership"
)

// child reads an object of the run into obj and returns it. It returns nil if there is none, or if
// somebody else owns it, which it records.
func child[T client.Object](ctx context.Context, r *Reconciler, from client.Reader, br *v1alpha1.BenchmarkRun, o *observed.Run, name string, obj T) (T, error) {
	key := types.NamespacedName{Namespace: br.Namespace, Name: name}
	found, err := r.read(ctx, from, key, obj)
	if err == nil && !found && ownership.Expects(br, obj) {
		// A cache that was filled by an API server that is behind may lack it.
		found, err = r.read(ctx, r.APIReader, key, obj)
	}
	var none T
	if !found || err != nil {
		return none, err
	}
	if own, err := r.owns(ctx, br, o, obj); !own || err != nil {
		return none, err
	}
	return obj, nil
}

// owns reports whether an object with a child's name is the run's own. Else it notes the object.
func (r *Reconciler) owns(ctx context.Context, br *v1alpha1.BenchmarkRun, o *observed.Run, obj client.Object) (bool, error) {
	relation, err := r.relation(ctx, br, obj)
	if err == nil && relation != ownership.Own {
		o.Strays = append(o.Strays, observed.Stray{Relation: relation, Kind: r.kind(obj), Object: obj})
	}
	return err == nil && relation == ownership.Own, err
}

// relation returns the relation of an object to a run. A manager that is killed between the creation and the status leaves
// an unrecorded object. Before that is decided, the run is read past the cache.
func (r *Reconciler) relation(ctx context.Context, br *v1alpha1.BenchmarkRun, obj client.Object) (ownership.Relation, error) {
	relation := ownership.Of(br, r.known.get(br.UID).made, obj)
	if relation != ownership.Unrecorded {
		return relation, nil
	}
	live := &v1alpha1.BenchmarkRun{}
	if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(br), live); err != nil {
		return relation, fmt.Errorf("get the run past the cache: %w", err)
	}
	if live.ResourceVersion != br.ResourceVersion {
		return relation, errCacheBehind
	}
	return relation, nil
}
