package benchmarkrun

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/memory"
	"github.com/assay-dev/assay/internal/run/lane"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/test/wrapper"
)

// with returns a bench with another run of the same manager, in a namespace of its own.
func (b *bench) with(lane string) *bench {
	b.t.Helper()
	other := newBench(b.t, func(w *wrapper.Run) { w.Lane(lane) })
	other.Reconciler, other.sessions, other.clock = b.Reconciler, b.sessions, b.clock
	return other
}

// hadItsTurn makes a run come after those of other namespaces.
func (b *bench) hadItsTurn(other *bench) {
	b.lanes.state(other.run.Spec.Lane).lastAdmission[other.run.Namespace] = time.Now()
}

func (b *bench) wantState(reason, message string) {
	b.t.Helper()
	if got := b.state(); got.Reason != reason || !strings.Contains(got.Message, message) {
		b.t.Errorf("%s: %s, want %s: %s", got.Reason, got.Message, reason, message)
	}
}

// TestReconcileWaitsForNoCallOfAnotherRun stops the API server in the middle of an admission. Neither a
// run of the same lane nor one of another lane waits for it.
func TestReconcileWaitsForNoCallOfAnotherRun(t *testing.T) {
	first := newBench(t)
	name := first.run.Spec.Lane
	same, other := first.with(name), first.with(name+"-other")
	first.hadItsTurn(same)
	called, answer, done := make(chan bool), make(chan bool), make(chan error)
	first.intercept(interceptor.Funcs{SubResourceUpdate: func(ctx context.Context, c client.Client, name string, obj client.Object, options ...client.SubResourceUpdateOption) error {
		if obj.GetNamespace() == first.run.Namespace {
			close(called)
			<-answer
		}
		return c.SubResource(name).Update(ctx, obj, options...)
	}})
	go func() {
		_, err := first.Reconcile(t.Context(), first.request())
		done <- err
	}()
	<-called
	same.reconcile()
	same.wantState(v1alpha1.ReasonQueued, "hold the lane")
	other.reconcile()
	other.wantState(v1alpha1.ReasonStarting, "")
	close(answer)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	first.reload()
	first.wantState(v1alpha1.ReasonStarting, "")
}

// blind is a client whose cache doesn't have runs of other namespaces yet. It calls listed, which may be nil,
// after it has listed the pods of a lane.
type blind struct {
	client.Client
	namespace string
	listed    func()
}

// List implements client.Client.
func (c blind) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, ok := list.(*v1alpha1.BenchmarkRunList); ok {
		options = append(options, client.InNamespace(c.namespace))
	}
	err := c.Client.List(ctx, list, options...)
	if c.listed != nil && slices.ContainsFunc(options, isOfLane) {
		c.listed()
	}
	return err
}

func isOfLane(option client.ListOption) bool {
	labels, ok := option.(client.MatchingLabels)
	return ok && labels[manifest.LabelLane] != ""
}

// TestReconcileAdmitsNoRunByAnOldObservation admits a run between another one's observation and admission.
func TestReconcileAdmitsNoRunByAnOldObservation(t *testing.T) {
	first := newBench(t)
	second := first.with(first.run.Spec.Lane)
	first.hadItsTurn(second)
	first.Client = blind{cached{api}, first.run.Namespace, func() {
		first.Client = blind{cached{api}, second.run.Namespace, nil}
		second.reconcile()
		first.Client = cached{api}
	}}
	first.reload()
	if result, err := first.Reconcile(t.Context(), first.request()); err != nil || result.RequeueAfter == 0 {
		first.reload()
		t.Errorf("%+v, %v: %+v", result, err, first.run.Status.Conditions)
	}
	second.wantState(v1alpha1.ReasonStarting, "")
	first.reconcile()
	first.wantState(v1alpha1.ReasonQueued, "hold the lane")
}

// outdated is a cache that has an old version of a run.
type outdated struct {
	client.Client
	run *v1alpha1.BenchmarkRun
}

// Get implements client.Client.
func (c outdated) Get(ctx context.Context, key client.ObjectKey, obj client.Object, options ...client.GetOption) error {
	if br, ok := obj.(*v1alpha1.BenchmarkRun); ok && key == client.ObjectKeyFromObject(c.run) {
		c.run.DeepCopyInto(br)
		return nil
	}
	return c.Client.Get(ctx, key, obj, options...)
}

// TestReconcileKeepsThePodsOfARunThatTheCacheHasNotAdmitted reconciles a run with a cache from before its
// admission, while a run of another namespace waits, whose turn is next. The run must not be queued
// again: its pods would be deleted.
func TestReconcileKeepsThePodsOfARunThatTheCacheHasNotAdmitted(t *testing.T) {
	first := newBench(t)
	second := first.with(first.run.Spec.Lane)
	first.hadItsTurn(second)
	first.reload()
	old := first.run.DeepCopy()
	first.reconcile()
	first.wantState(v1alpha1.ReasonStarting, "")
	first.Client = outdated{first.Client, old}
	result, err := first.Reconcile(t.Context(), first.request())
	if err != nil || result.RequeueAfter == 0 {
		t.Errorf("%+v, %v", result, err)
	}
	target := &corev1.Pod{}
	if err := first.get(manifest.TargetName(first.run), target); err != nil || !target.DeletionTimestamp.IsZero() {
		t.Errorf("the target's pod is deleted: %v %v", target.DeletionTimestamp, err)
	}
}

// TestReconcileKeepsTheLaneOfAnUnansweredAdmission has the API server take the write of an admission but
// not answer. Nobody else may have the lane, although the cache still shows no admission.
func TestReconcileKeepsTheLaneOfAnUnansweredAdmission(t *testing.T) {
	first := newBench(t)
	second := first.with(first.run.Spec.Lane)
	restore := first.intercept(interceptor.Funcs{SubResourceUpdate: func(ctx context.Context, c client.Client, name string, obj client.Object, options ...client.SubResourceUpdateOption) error {
		return errors.Join(errKilled, c.SubResource(name).Update(ctx, obj, options...))
	}})
	first.hadItsTurn(second)
	first.killed()
	restore()
	second.Client = lagging{cached{api}}
	second.reconcile()
	second.wantState(v1alpha1.ReasonQueued, "hold the lane")
}

// TestReconcileGivesUpTheLaneOfARunThatIsNotAdmitted has an admission fail, and then a run of another
// namespace come first. That run found the lane held: it must be reconciled again.
func TestReconcileGivesUpTheLaneOfARunThatIsNotAdmitted(t *testing.T) {
	first := newBench(t)
	name := first.run.Spec.Lane
	first.freed = make(chan event.TypedGenericEvent[types.NamespacedName], 1)
	restore := first.intercept(interceptor.Funcs{SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
		return errKilled
	}})
	first.killed()
	restore()
	second := first.with(name)
	first.hadItsTurn(first)
	second.reconcile()
	second.wantState(v1alpha1.ReasonQueued, "hold the lane")
	first.reconcile()
	first.wantState(v1alpha1.ReasonQueued, "")
	select {
	case e := <-first.freed:
		if e.Object.Name != name || e.Object.Namespace != first.run.Namespace {
			t.Errorf("lane %s is free", e.Object)
		}
	default:
		t.Fatal("nobody learns that the lane is free")
	}
	second.reconcile()
	second.wantState(v1alpha1.ReasonStarting, "")
}

// wantFreed checks that the next run of a lane is told, and then admitted.
func (b *bench) wantFreed(second *bench) {
	b.t.Helper()
	select {
	case <-b.freed:
	default:
		b.t.Fatal("nobody learns that the lane is free")
	}
	second.reconcile()
	second.wantState(v1alpha1.ReasonStarting, "")
}

// TestReconcileGivesUpTheLaneOfARefusedAdmission has the API server refuse the write of an admission. It
// was not written, whatever may follow.
func TestReconcileGivesUpTheLaneOfARefusedAdmission(t *testing.T) {
	first := newBench(t)
	second := first.with(first.run.Spec.Lane)
	first.freed = make(chan event.TypedGenericEvent[types.NamespacedName], 1)
	first.hadItsTurn(second)
	forbidden := apierrors.NewForbidden(v1alpha1.GroupVersion.WithResource("benchmarkruns").GroupResource(), first.run.Name, errKilled)
	restore := first.intercept(interceptor.Funcs{SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
		return forbidden
	}})
	first.reload()
	if _, err := first.Reconcile(t.Context(), first.request()); !apierrors.IsForbidden(err) {
		t.Fatal(err)
	}
	restore()
	first.hadItsTurn(first)
	first.wantFreed(second)
}

// TestReconcileGivesUpTheLaneOfARunThatCanNotBeObserved has an admission fail, and then all observations
// of the run.
func TestReconcileGivesUpTheLaneOfARunThatCanNotBeObserved(t *testing.T) {
	first := newBench(t)
	second := first.with(first.run.Spec.Lane)
	first.freed = make(chan event.TypedGenericEvent[types.NamespacedName], 1)
	first.hadItsTurn(second)
	first.intercept(interceptor.Funcs{SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
		return errKilled
	}})
	first.killed()
	restore := first.intercept(interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		if _, ok := list.(*corev1.PodList); ok {
			return errKilled
		}
		return c.List(ctx, list, options...)
	}})
	first.killed()
	restore()
	first.hadItsTurn(first)
	first.wantFreed(second)
}

// TestTurnsSurviveARestart has a namespace use a lane. The manager that follows gives the lane to another
// namespace, though its run is younger.
func TestTurnsSurviveARestart(t *testing.T) {
	first := newBench(t)
	name := first.run.Spec.Lane
	first.reconcile()
	first.wantState(v1alpha1.ReasonStarting, "")
	first.podsRun()
	first.sessions.observation.Agent.Failure = "on purpose"
	first.reconcile()
	first.reconcile() // cleans up
	var target corev1.Pod
	if err := first.get("run-target", &target); err == nil {
		if err := api.Delete(t.Context(), &target, client.GracePeriodSeconds(0)); err != nil {
			t.Fatal(err)
		}
	}
	again := wrapper.NewRun(first.run.Namespace, "again", "image:1").Lane(name).Obj()
	mustCreate(t, again)
	fresh := newBench(t, func(w *wrapper.Run) { w.Lane(name) }) // the manager that follows
	position := func(br *v1alpha1.BenchmarkRun) lane.Position {
		var o observed.Run
		if err := fresh.observePosition(t.Context(), br, &o); err != nil {
			t.Fatal(err)
		}
		return o.Position
	}
	if got := position(again); got.Free || got.Ahead != 1 {
		t.Errorf("the namespace that had its turn: %+v", got)
	}
	fresh.reload()
	if got := position(fresh.run); !got.Free {
		t.Errorf("the one that had none: %+v", got)
	}
}

// TestAForeignFinalizerDoesNotHoldALane has a tenant plant a pod that can't be deleted, for a run that is
// first in its lane.
func TestAForeignFinalizerDoesNotHoldALane(t *testing.T) {
	first := newBench(t)
	first.reload()
	first.with("unused")
	pod := forged(first, first.run.Namespace, "run-target", manifest.RoleTarget, refOf(first))
	pod.Finalizers = []string{"example.org/forever"}
	mustCreate(t, pod)
	t.Cleanup(func() {
		pod.Finalizers = nil
		if err := api.Update(context.Background(), pod); err != nil {
			t.Error(err)
		}
	})
	first.reconcile()
	first.wantState(v1alpha1.ReasonQueued, "Waiting for the deletion of Pod run-target")
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil || pod.DeletionTimestamp.IsZero() {
		t.Fatalf("%v: deleted at %s", err, pod.DeletionTimestamp)
	}
	second := first.with(first.run.Spec.Lane)
	first.hadItsTurn(second)
	second.reconcile()
	second.wantState(v1alpha1.ReasonQueued, "1 runs are ahead")
	first.clock.SetTime(time.Now().Add(lane.ReleaseTimeout + time.Minute))
	first.reconcile()
	first.wantState(v1alpha1.ReasonNameConflict, "example.org/forever")
	second.reconcile()
	second.wantState(v1alpha1.ReasonStarting, "")
}

// TestNamespacesHaveABoundOfActiveRuns has a namespace use several lanes. One run more than it may have waits, though its lane
// is free, and lets others go ahead; the next manager keeps to that; and it starts when another run of the namespace ends.
func TestNamespacesHaveABoundOfActiveRuns(t *testing.T) {
	first := newBench(t)
	first.Settings.MaxActiveRuns = 1
	first.freed = make(chan event.TypedGenericEvent[types.NamespacedName], 1)
	lane := first.run.Spec.Lane
	second := &bench{Reconciler: first.Reconciler, t: t, sessions: first.sessions, clock: first.clock}
	second.run = wrapper.NewRun(first.run.Namespace, "second", "image:1").Requests(5, 1000).Lane(lane + "-2").Obj()
	mustCreate(t, second.run)
	first.reconcile()
	first.wantState(v1alpha1.ReasonStarting, "")
	second.reconcile()
	second.wantState(v1alpha1.ReasonQueued, "1 are active, in all lanes")
	other := newBench(t, func(w *wrapper.Run) { w.Lane(second.run.Spec.Lane) })
	other.Settings.MaxActiveRuns = 1
	second.reconcile()
	select {
	case e := <-first.freed:
		if got, want := first.nextAfter(t.Context(), e.Object), []reconcile.Request{other.request()}; !slices.Equal(got, want) {
			t.Errorf("%v comes next, not %v", got, want)
		}
	default:
		t.Error("nobody goes ahead")
	}
	other.reconcile()
	other.wantState(v1alpha1.ReasonStarting, "")
	if err := api.Delete(t.Context(), other.run); err != nil {
		t.Fatal(err)
	}
	restarted := newBench(t)
	restarted.Settings.MaxActiveRuns = 1
	second.Reconciler, second.sessions = restarted.Reconciler, restarted.sessions
	second.reconcile()
	second.wantState(v1alpha1.ReasonQueued, "1 are active, in all lanes")
	if err := api.Delete(t.Context(), first.run); err != nil {
		t.Fatal(err)
	}
	left := types.NamespacedName{Namespace: first.run.Namespace, Name: lane}
	if got, want := second.nextAfter(t.Context(), left), []reconcile.Request{second.request()}; !slices.Equal(got, want) {
		t.Errorf("%v comes next, not %v", got, want)
	}
	second.reconcile()
	second.wantState(v1alpha1.ReasonStarting, "")
}

// TestALaneDoesNotKeepItsNamespacesPlace has a run of another lane wait for longer than the next of the lane that is left.
func TestALaneDoesNotKeepItsNamespacesPlace(t *testing.T) {
	first := newBench(t)
	first.Settings.MaxActiveRuns = 1
	left := types.NamespacedName{Namespace: first.run.Namespace, Name: first.run.Spec.Lane}
	var want []reconcile.Request
	for _, c := range []struct{ name, lane string }{{"a-older", left.Name + "-2"}, {"b-next", left.Name}, {"c-after-next", left.Name}, {"d-younger", left.Name + "-2"}} {
		run := wrapper.NewRun(left.Namespace, c.name, "image:1").Requests(5, 1000).Lane(c.lane).Obj()
		mustCreate(t, run)
		if len(want) < 2 {
			want = append(want, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(run)})
		}
	}
	if err := api.Delete(t.Context(), first.run); err != nil {
		t.Fatal(err)
	}
	if got := first.nextAfter(t.Context(), left); !slices.Equal(got, want) {
		t.Errorf("%v come next, not %v", got, want)
	}
}

// TestABoundOfActiveRunsIsKeptByAllWorkers has two runs of a namespace, in lanes of their own, both find it not full.
func TestABoundOfActiveRunsIsKeptByAllWorkers(t *testing.T) {
	first := newBench(t)
	first.Settings.MaxActiveRuns = 1
	second := wrapper.NewRun(first.run.Namespace, "second", "image:1").Requests(5, 1000).Lane(first.run.Spec.Lane + "-2").Obj()
	mustCreate(t, second)
	first.reload()
	_, version, err := first.observeLane(t.Context(), second.Spec.Lane)
	if err != nil {
		t.Fatal(err)
	}
	if o := (&observed.Run{}); first.observePosition(t.Context(), first.run, o) != nil || !o.Position.Free {
		t.Fatalf("%+v", o.Position)
	}
	if first.lanes.reserve(second, version) {
		t.Error("both are admitted")
	}
	o := &observed.Run{}
	if err := first.observePosition(t.Context(), second, o); err != nil || !strings.Contains(o.Position.Full, "1 are active") {
		t.Errorf("%+v: %v", o.Position, err)
	}
}

// TestRunsWaitForMemory has the inputs of a run find no room: it says so, lets others go ahead, and starts when there is room.
func TestRunsWaitForMemory(t *testing.T) {
	b := newBench(t)
	b.freed = make(chan event.TypedGenericEvent[types.NamespacedName], 1)
	b.Memory = memory.New(1 << 20)
	large := memory.Owner{Namespace: b.run.Namespace, UID: "large"}
	if err := b.Memory.Hold(large, memory.Totals, 1<<19); err != nil {
		t.Fatal(err)
	}
	b.reconcile()
	b.wantState(v1alpha1.ReasonQueued, "the manager has no memory left")
	if e := <-b.freed; e.Object.Name != b.run.Spec.Lane || len(b.nextAfter(t.Context(), e.Object)) > 0 {
		t.Errorf("%v comes next in %v", b.nextAfter(t.Context(), e.Object), e.Object)
	}
	other := newBench(t, func(w *wrapper.Run) { w.Lane(b.run.Spec.Lane) })
	if got, want := b.nextAfter(t.Context(), types.NamespacedName{Name: b.run.Spec.Lane}), []reconcile.Request{other.request()}; !slices.Equal(got, want) {
		t.Errorf("%v comes next, not %v", got, want)
	}
	if err := api.Delete(t.Context(), other.run); err != nil {
		t.Fatal(err)
	}
	b.Memory.Free(large)
	b.reconcile()
	b.wantState(v1alpha1.ReasonQueued, "the manager has no memory left")
	b.later(memoryInterval)
	b.reconcile()
	b.wantState(v1alpha1.ReasonStarting, "")
	if b.Memory.Used() == 0 {
		t.Error("an active run holds nothing")
	}
	b.Memory = memory.New(1 << 20)
	b.reconcile()
	if b.Memory.Used() == 0 {
		t.Error("an active run holds nothing after a restart")
	}
	if err := api.Delete(t.Context(), b.run); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Reconcile(t.Context(), b.request()); err != nil || b.Memory.Used() != 0 {
		t.Errorf("a deleted run holds %d bytes: %v", b.Memory.Used(), err)
	}
}
