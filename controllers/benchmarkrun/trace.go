package benchmarkrun

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// trace sends the trace of a run whose end was written without this manager noticing: an earlier manager was
// killed after that, or the API server's answer was lost. The cache doesn't have the whole status.
func (r *Reconciler) trace(ctx context.Context, br *v1alpha1.BenchmarkRun) error {
	if !r.Traces.RunDue(br) {
		return nil
	}
	live := &v1alpha1.BenchmarkRun{}
	found, err := r.read(ctx, r.APIReader, client.ObjectKeyFromObject(br), live)
	if err == nil && found && live.UID == br.UID {
		r.Traces.Run(live)
	}
	return err
}
