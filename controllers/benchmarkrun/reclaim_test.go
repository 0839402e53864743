package benchmarkrun

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/bucket"
	"github.com/assay-dev/assay/internal/run/state"
)

// reclaiming is like archiving, with a bucket whose objects are deleted with their runs.
func reclaiming(t *testing.T) (*bench, *directory) {
	t.Helper()
	b, d := archiving(t)
	d.Buckets = bucket.New(&bucket.Config{Default: "file://" + d.path, ReclaimPolicy: bucket.Delete, DeletionTimeoutSeconds: 300})
	return b, d
}

// deleted deletes the run.
func (b *bench) deleted() {
	b.t.Helper()
	if err := api.Delete(b.t.Context(), b.run); err != nil {
		b.t.Fatal(err)
	}
}

// gone reconciles the run and reports whether it is gone then.
func (b *bench) gone() bool {
	b.t.Helper()
	if _, err := b.Reconcile(b.t.Context(), b.request()); err != nil {
		b.t.Fatal(err)
	}
	err := api.Get(b.t.Context(), client.ObjectKeyFromObject(b.run), b.run)
	if client.IgnoreNotFound(err) != nil {
		b.t.Fatal(err)
	}
	return err != nil
}

// reclaimed reconciles a deleted run, whose bucket answers, until it is gone.
func (b *bench) reclaimed(d *directory) {
	b.t.Helper()
	for !b.gone() {
		<-b.uploaded
	}
	if keys := d.objects(b.t); len(keys) > 0 {
		b.t.Errorf("the bucket still has %v", keys)
	}
}

// event returns the last event, or "" if there was none.
func (b *bench) event() string {
	last := ""
	for recorder := b.Events.(*events.FakeRecorder); ; {
		select {
		case last = <-recorder.Events:
		default:
			return last
		}
	}
}

// finalizerWrites fails at the changes of finalizers, before or after they are written.
func finalizerWrites(written bool) interceptor.Funcs {
	return interceptor.Funcs{Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, options ...client.PatchOption) error {
		if _, ok := obj.(*v1alpha1.BenchmarkRun); !ok {
			return c.Patch(ctx, obj, patch, options...)
		}
		if written {
			if err := c.Patch(ctx, obj, patch, options...); err != nil {
				return err
			}
		}
		return errKilled
	}}
}

func TestReconcileDeletesObjectsWithTheirRun(t *testing.T) {
	b, d := reclaiming(t)
	d.before = func(ctx context.Context, _ string) error {
		live := &v1alpha1.BenchmarkRun{}
		if err := api.Get(ctx, b.request().NamespacedName, live); err != nil || !state.HasFinalizer(live) {
			t.Errorf("an object is stored without a finalizer: %v, %v", live.Finalizers, err)
		}
		return nil
	}
	b.finish()
	b.checkArchived(d)
	b.deleted()
	b.event()
	b.reclaimed(d)
	if event := b.event(); event != "" {
		t.Errorf("event %q", event)
	}
	b.gone() // as after the event of the deletion
	if b.attempted(b.run.UID, reclaims) != nil {
		t.Error("the manager still knows the run")
	}
}

// TestReconcileDeletesWhateverIsKilled kills the manager at each point on the way of a run's objects, and then deletes
// the run. No object stays, and the run is gone.
func TestReconcileDeletesWhateverIsKilled(t *testing.T) {
	for name, test := range map[string]struct {
		funcs    interceptor.Funcs
		uploaded bool // the object is stored when the manager is killed
	}{
		"before the finalizer is set":          {finalizerWrites(false), false},
		"after the finalizer is set":           {finalizerWrites(true), false},
		"before the artifact is created":       {artifactCreation(false), true},
		"after the artifact is created":        {artifactCreation(true), true},
		"after the verdict, without an answer": {statusWrites(0, true), true},
	} {
		t.Run(name, func(t *testing.T) {
			b, d := reclaiming(t)
			if test.uploaded {
				b.reconcile()
				<-b.uploaded
			}
			restore := b.intercept(test.funcs)
			b.killed()
			restore()
			if objects := d.objects(t); len(objects) > 0 && !state.HasFinalizer(b.run) {
				t.Errorf("object %v without a finalizer", objects)
			}
			b.forgets()
			b.deleted()
			b.reclaimed(d)
		})
	}
}

// TestReconcileDeletesTheObjectsAgain kills the manager after it has deleted the objects, before or after it has removed
// the finalizer.
func TestReconcileDeletesTheObjectsAgain(t *testing.T) {
	for name, removed := range map[string]bool{"before the finalizer is removed": false, "after the finalizer is removed": true} {
		t.Run(name, func(t *testing.T) {
			b, d := reclaiming(t)
			b.finish()
			b.deleted()
			if b.gone() {
				t.Fatal("the run is gone before its object")
			}
			<-b.uploaded
			restore := b.intercept(finalizerWrites(removed))
			if _, err := b.Reconcile(t.Context(), b.request()); !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			restore()
			b.forgets()
			b.reclaimed(d)
		})
	}
}

// TestReconcileLetsARunGo has a bucket that fails to delete. The run is kept for a limited time; then an event names the
// object that stays.
func TestReconcileLetsARunGo(t *testing.T) {
	b, d := reclaiming(t)
	b.finish()
	key := b.run.Status.Artifact.Object.Key
	d.reclaim = func(context.Context) error { return errors.New("access denied: SignatureDoesNotMatch") }
	b.deleted()
	for attempt, after := range []time.Duration{0, time.Minute, 3 * time.Minute} {
		b.clock.SetTime(b.clock.Now().Add(after))
		if b.gone() {
			t.Fatalf("gone at attempt %d", attempt)
		}
		<-b.uploaded
		if b.gone() {
			t.Fatalf("gone after attempt %d", attempt)
		}
		c := meta.FindStatusCondition(b.run.Status.Conditions, v1alpha1.ConditionReconciling)
		if c.Status != metav1.ConditionTrue || c.Reason != v1alpha1.ReasonDeletingObjects || !strings.Contains(c.Message, "SignatureDoesNotMatch") {
			t.Errorf("after attempt %d: %+v", attempt, c)
		}
	}
	b.event()
	b.clock.SetTime(b.run.DeletionTimestamp.Add(5 * time.Minute)) // by the API server's clock
	if !b.gone() {
		t.Fatal("the run is kept for too long")
	}
	if event := b.event(); !strings.Contains(event, v1alpha1.ReasonObjectsRetained) || !strings.Contains(event, key) || !strings.Contains(event, "SignatureDoesNotMatch") {
		t.Errorf("event %q", event)
	}
	if keys := d.objects(t); len(keys) != 1 || keys[0] != key {
		t.Errorf("the bucket has %v", keys)
	}
}

// TestReconcileLetsARunGoWithoutItsBucket has managers that can't delete what an earlier one has stored: they have no
// bucket, another one, or another policy.
func TestReconcileLetsARunGoWithoutItsBucket(t *testing.T) {
	other := "file://" + t.TempDir()
	for name, buckets := range map[string]Buckets{
		"no bucket":      nil,
		"another bucket": bucket.New(&bucket.Config{Default: other, ReclaimPolicy: bucket.Delete, DeletionTimeoutSeconds: 300}),
		"policy Retain":  bucket.New(&bucket.Config{Default: other, ReclaimPolicy: bucket.Retain, DeletionTimeoutSeconds: 300}),
	} {
		t.Run(name, func(t *testing.T) {
			b, d := reclaiming(t)
			b.finish()
			b.deleted()
			b.forgets()
			b.event()
			b.Buckets = buckets
			if !b.gone() {
				<-b.uploaded
				if !b.gone() {
					t.Fatal("the run is kept")
				}
			}
			if event := b.event(); !strings.Contains(event, v1alpha1.ReasonObjectsRetained) || !strings.Contains(event, b.run.Status.Artifact.Object.Key) {
				t.Errorf("event %q", event)
			}
			if keys := d.objects(t); len(keys) != 1 {
				t.Errorf("the bucket has %v", keys)
			}
		})
	}
}

// TestReconcileFollowsThePolicy starts managers with other configurations while a finished run is there.
func TestReconcileFollowsThePolicy(t *testing.T) {
	b, d := archiving(t)
	b.finish()
	retain, without := b.Buckets, Buckets(nil)
	del := bucket.New(&bucket.Config{Default: "file://" + d.path, ReclaimPolicy: bucket.Delete, DeletionTimeoutSeconds: 300})
	for i, next := range []struct {
		buckets Buckets
		has     bool
	}{{retain, false}, {del, true}, {without, false}, {del, true}, {retain, false}, {del, true}} {
		b.Buckets = next.buckets
		before := b.run.Status
		b.reconcile()
		if state.HasFinalizer(b.run) != next.has {
			t.Errorf("manager %d: finalizers %v", i, b.run.Finalizers)
		}
		if diff := cmp.Diff(before, b.run.Status); diff != "" {
			t.Errorf("manager %d changed the status (-before +after):\n%s", i, diff)
		}
	}
	b.deleted()
	b.reclaimed(d)
}

// TestReconcileWaitsForAnUpload deletes a run while its object is being stored. The upload is stopped; what it may have
// stored is deleted after it has ended.
func TestReconcileWaitsForAnUpload(t *testing.T) {
	b, d := reclaiming(t)
	asked, stopped := make(chan struct{}), make(chan struct{})
	d.before = func(ctx context.Context, _ string) error {
		close(asked)
		<-ctx.Done()
		<-stopped
		return nil // the server has it, whatever became of the request
	}
	d.late = true
	b.reconcile()
	<-asked
	b.deleted()
	for range 2 {
		if b.gone() {
			t.Fatal("the run is gone before its upload has ended")
		}
	}
	if b.attempted(b.run.UID, reclaims) != nil {
		t.Error("objects are deleted before the upload has ended")
	}
	close(stopped)
	<-b.uploaded
	if keys := d.objects(t); len(keys) != 1 {
		t.Fatalf("the bucket has %v", keys)
	}
	b.reclaimed(d)
}

// TestReconcileDeletesPodsBeforeObjects has a bucket that doesn't answer: the pods of a deleted run don't hold its lane
// meanwhile.
func TestReconcileDeletesPodsBeforeObjects(t *testing.T) {
	b, d := reclaiming(t)
	answer := make(chan struct{})
	d.reclaim = func(context.Context) error {
		<-answer
		return nil
	}
	b.reconcile()
	<-b.uploaded
	b.deleted()
	if b.gone() {
		t.Fatal("the run is gone before its object")
	}
	pod := &corev1.Pod{}
	if err := b.get("run-target", pod); err != nil && !apierrors.IsNotFound(err) || err == nil && pod.DeletionTimestamp.IsZero() {
		t.Errorf("the target: deleted %v, %v", pod.DeletionTimestamp, err)
	}
	if !b.sessions.forgotten {
		t.Error("the sessions go on")
	}
	close(answer)
	b.reclaimed(d)
}
