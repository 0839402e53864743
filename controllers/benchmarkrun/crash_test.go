package benchmarkrun

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/test/wrapper"
)

var errKilled = errors.New("the manager is killed")

// intercept replaces calls of the bench's client by funcs, until restored.
func (b *bench) intercept(funcs interceptor.Funcs) (restore func()) {
	b.t.Helper()
	watching, err := client.NewWithWatch(apiConfig, client.Options{Scheme: api.Scheme()})
	if err != nil {
		b.t.Fatal(err)
	}
	b.Client = cached{interceptor.NewClient(watching, funcs)}
	return func() { b.Client = cached{api} }
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

// TestALossIsConfirmedPastTheCache makes the cache lack the target's pod or the clients' Job, as that
// of a manager that was started with an API server that is behind. Only if the API server itself
// doesn't have them, the run ends.
func TestALossIsConfirmedPastTheCache(t *testing.T) {
	tests := map[string]struct {
		obj    client.Object
		reason string
	}{
		"run-target": {&corev1.Pod{}, v1alpha1.ReasonTargetLost},
		"run-client": {&batchv1.Job{}, v1alpha1.ReasonClientLost},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.measuring()
			b.reconcile()
			b.intercept(interceptor.Funcs{
				Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
					if key.Name == name {
						return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
					}
					return c.Get(ctx, key, obj, options...)
				},
			})
			b.reconcile()
			if got := b.state(); got.Reason != v1alpha1.ReasonMeasuring {
				t.Errorf("the cache is behind: %s: %s", got.Reason, got.Message)
			}
			if err := b.get(name, test.obj); err != nil {
				t.Fatal(err)
			}
			if err := api.Delete(t.Context(), test.obj, client.GracePeriodSeconds(0), client.PropagationPolicy("Background")); err != nil {
				t.Fatal(err)
			}
			b.reconcile()
			if got := b.state(); got.Reason != test.reason {
				t.Errorf("it was deleted: %s: %s", got.Reason, got.Message)
			}
		})
	}
}

// TestTheDeadlineNeedsNoReading makes every read of the run's children fail.
func TestTheDeadlineNeedsNoReading(t *testing.T) {
	b := newBench(t, func(w *wrapper.Run) { w.Deadline(60) })
	b.measuring()
	b.intercept(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
			if key.Name != b.run.Name {
				return errKilled
			}
			return c.Get(ctx, key, obj, options...)
		},
	})
	b.killed()
	if got := b.state(); got.Reason != v1alpha1.ReasonMeasuring || !strings.Contains(got.Message, "Retrying: ") || !strings.Contains(got.Message, errKilled.Error()) {
		t.Errorf("before the deadline: %s: %s", got.Reason, got.Message)
	}
	b.clock.SetTime(b.clock.Now().Add(2 * time.Minute))
	b.killed()
	if got := b.state(); got.Reason != v1alpha1.ReasonDeadlineExceeded {
		t.Errorf("after the deadline: %s: %s", got.Reason, got.Message)
	}
}

// TestAMeasurementThatIsCompleteAtItsPodsIsNotLost kills the manager, several times, for longer than
// the run's deadline. Meanwhile the clients finish; they reconnect only after the last manager has
// reconciled the run.
func TestAMeasurementThatIsCompleteAtItsPodsIsNotLost(t *testing.T) {
	b := newBench(t, func(w *wrapper.Run) { w.Deadline(60) })
	b.measuring()
	at := b.sessions.starts[measurementStage]
	b.measured(at)
	pods := b.sessions.observation

	b.clock.SetTime(b.clock.Now().Add(4 * time.Minute))
	b.sessions.observation = session.Observation{Since: b.clock.Now()}
	b.since.Store(nil) // another manager
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonMeasuring {
		t.Fatalf("before the pods are back: %s: %s", got.Reason, got.Message)
	}
	b.clock.SetTime(b.clock.Now().Add(time.Second))
	for i, c := range pods.Clients {
		c.TotalsSince, c.DisconnectedSince = b.clock.Now(), b.clock.Now()
		pods.Clients[i] = c
	}
	pods.Starts = map[sessionpb.Stage]int64{measurementStage: at}
	b.sessions.observation = pods
	b.reconcile()
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonCompleted {
		t.Errorf("afterwards: %s: %s", got.Reason, got.Message)
	}
}

// TestASlowStatusDoesNotMakeClientsLate makes the status write take ten seconds. The start time is
// that much later, and another manager keeps to it.
func TestASlowStatusDoesNotMakeClientsLate(t *testing.T) {
	b := newBench(t)
	b.reconcile()
	b.podsRun()
	restore := b.intercept(interceptor.Funcs{
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, obj client.Object, options ...client.SubResourceUpdateOption) error {
			b.clock.SetTime(b.clock.Now().Add(10 * time.Second))
			return c.SubResource(sub).Update(ctx, obj, options...)
		},
	})
	b.reconcile()
	restore()
	at := b.sessions.starts[measurementStage]
	if ahead := time.UnixMicro(at).Sub(b.clock.Now()); ahead <= 0 || ahead > time.Second {
		t.Fatalf("the clients start %s after the status was written", ahead)
	}
	b.sessions.observation.Starts = map[sessionpb.Stage]int64{measurementStage: at}
	b.reconcile()
	if got := b.run.Status.MeasurementTime; got == nil || got.UnixMicro() != at {
		t.Errorf("the status has %v, not %v", got, time.UnixMicro(at))
	}
	b.clock.SetTime(b.clock.Now().Add(10 * time.Second))
	b.sessions.observation.Clients = nil
	b.reconcile()
	if got := b.run.Status.MeasurementTime; got == nil || got.UnixMicro() != at {
		t.Errorf("the status has %v after a restart, not %v", got, time.UnixMicro(at))
	}
}

// TestAnErrorIsInTheStatus makes the artifact's creation fail for a while.
func TestAnErrorIsInTheStatus(t *testing.T) {
	b := newBench(t)
	b.measuring()
	b.measured(b.sessions.starts[measurementStage])
	restore := b.intercept(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, options ...client.CreateOption) error {
			if strings.HasSuffix(obj.GetName(), "-result") {
				return errKilled
			}
			return c.Create(ctx, obj, options...)
		},
	})
	b.killed()
	restore()
	if got := b.state(); got.Reason != v1alpha1.ReasonCollecting || !strings.Contains(got.Message, "Retrying: create ConfigMap run-result: "+errKilled.Error()) {
		t.Errorf("%s: %s", got.Reason, got.Message)
	}
	b.reconcile()
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonCompleted {
		t.Errorf("%s: %s", got.Reason, got.Message)
	}
}
