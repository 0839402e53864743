package benchmarkrun

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// TestReconcileGoesOnWithoutTheRightToReadNodes reconciles a run as a manager of a namespaced
// installation may have to. It must ask for the node once only.
func TestReconcileGoesOnWithoutTheRightToReadNodes(t *testing.T) {
	asksOnce(t, func(name string) error { return apierrors.NewForbidden(corev1.Resource("nodes"), name, nil) })
}

// TestReconcileReadsANodeOnce reconciles a run whose target's node doesn't say what kernel it has.
func TestReconcileReadsANodeOnce(t *testing.T) {
	asksOnce(t, func(string) error { return nil })
}

func asksOnce(t *testing.T, answer func(name string) error) {
	t.Helper()
	b := newBench(t)
	watching, err := client.NewWithWatch(apiConfig, client.Options{Scheme: api.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	b.APIReader = interceptor.NewClient(watching, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, name client.ObjectKey, obj client.Object, options ...client.GetOption) error {
			if _, isNode := obj.(*corev1.Node); isNode {
				asked++
				return answer(name.Name)
			}
			return c.Get(ctx, name, obj, options...)
		},
	})
	b.measuring()
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonMeasuring || asked != 1 {
		t.Errorf("%+v after %d reads of the node", got, asked)
	}
}
