package benchmarkrun

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
)

var errKilled = errors.New("the manager is killed")

// intercept replaces calls of the bench's client by funcs, until restored.
func (b *bench) intercept(funcs interceptor.Funcs) (restore func()) {
	b.t.Helper()
	watching, err := client.NewWithWatch(apiConfig, client.Options{Scheme: api.Scheme()})
	if err != nil {
		b.t.Fatal(err)
	}
	b.Client = indexed{interceptor.NewClient(watching, funcs)}
	return func() { b.Client = indexed{api} }
}

// killed reconciles the run and expects errKilled.
func (b *bench) killed() {
	b.t.Helper()
	b.reload()
	if _, err := b.Reconcile(b.t.Context(), b.request()); !errors.Is(err, errKilled) {
		b.t.Fatalf("the manager wasn't killed: %v", err)
	}
	b.reload()
}

// serverEnds makes the server's container terminated.
func (b *bench) serverEnds(end corev1.ContainerStateTerminated) {
	b.t.Helper()
	var pod corev1.Pod
	if err := b.get("run-target", &pod); err != nil {
		b.t.Fatal(err)
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: server.ContainerName, State: corev1.ContainerState{Terminated: &end}}}
	if err := api.Status().Update(b.t.Context(), &pod); err != nil {
		b.t.Fatal(err)
	}
}

func TestReconcileKeepsItsVerdictWhenKilledBeforeWritingIt(t *testing.T) {
	b := newBench(t)
	b.measuring()
	b.serverEnds(corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: "out of luck"})
	restore := b.intercept(interceptor.Funcs{
		SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
			return errKilled
		},
	})
	b.killed()
	restore()
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonTargetCrashed {
		t.Errorf("%+v", got)
	}
}
