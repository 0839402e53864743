package benchmarkrun

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/bucket"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session"
)

// directory is a bucket that fails as a test wants.
type directory struct {
	*bucket.Buckets
	path string
	// before is called before an object is stored, reclaim before objects are deleted.
	before  func(ctx context.Context, key string) error
	reclaim func(ctx context.Context) error
	// late makes it store objects although nobody waits for them any more.
	late bool
}

// Reclaim implements Buckets.
func (d *directory) Reclaim(ctx context.Context, namespace, location, prefix string) (int, error) {
	if d.reclaim != nil {
		if err := d.reclaim(ctx); err != nil {
			return 0, err
		}
	}
	return d.Buckets.Reclaim(ctx, namespace, location, prefix)
}

// Put implements Buckets.
func (d *directory) Put(ctx context.Context, namespace, key string, data []byte) error {
	if d.before != nil {
		if err := d.before(ctx, key); err != nil {
			return err
		}
	}
	if d.late {
		ctx = context.WithoutCancel(ctx)
	}
	return d.Buckets.Put(ctx, namespace, key, data)
}

// objects returns the keys of all objects.
func (d *directory) objects(t testing.TB) []string {
	t.Helper()
	var keys []string
	err := filepath.WalkDir(d.path, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			key, _ := filepath.Rel(d.path, path)
			keys = append(keys, filepath.ToSlash(key))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// archiving takes a new run, whose namespace has a bucket, to the point at which its result can be stored.
func archiving(t *testing.T) (*bench, *directory) {
	t.Helper()
	b := collected(t)
	d := &directory{path: t.TempDir()}
	d.Buckets = bucket.New(&bucket.Config{Default: "file://" + d.path})
	b.Buckets, b.uploaded = d, make(chan event.TypedGenericEvent[types.UID], 1)
	return b, d
}

// finish reconciles until the run has finished, after each attempt to store its full result.
func (b *bench) finish() {
	b.t.Helper()
	for b.reconcile(); b.run.Status.CompletionTime == nil; b.reconcile() {
		if event := <-b.uploaded; event.Object != b.run.UID {
			b.t.Fatalf("an attempt of run %s", event.Object)
		}
	}
}

func (b *bench) archived() metav1.Condition {
	b.t.Helper()
	c := meta.FindStatusCondition(b.run.Status.Conditions, v1alpha1.ConditionArchived)
	if c == nil {
		b.t.Error("no condition Archived")
		return metav1.Condition{}
	}
	return *c
}

// checkArchived checks that the run has completed, and that its object is the only one in the bucket.
func (b *bench) checkArchived(d *directory) {
	b.t.Helper()
	if got := b.state(); got.Reason != v1alpha1.ReasonCompleted {
		b.t.Fatalf("%+v", got)
	}
	if got := b.archived(); got.Status != metav1.ConditionTrue {
		b.t.Errorf("%+v", got)
	}
	object, stored := b.run.Status.Artifact.Object, b.artifact()
	if object == nil || object.Key != stored.Data["key"] || object.Bucket != stored.Data["bucket"] || object.SHA256 != stored.Data["sha256"] {
		b.t.Fatalf("the status has %+v, the artifact %v", object, stored.Data)
	}
	if keys := d.objects(b.t); len(keys) != 1 || keys[0] != object.Key || !strings.HasPrefix(keys[0], bucket.Prefix(b.run.Namespace, b.run.Name, string(b.run.UID))) {
		b.t.Fatalf("the bucket has %v, want %s", keys, object.Key)
	}
	data, err := os.ReadFile(filepath.Join(d.path, filepath.FromSlash(object.Key)))
	if err != nil {
		b.t.Fatal(err)
	}
	if got := artifact.Identify(data); got.SHA256 != object.SHA256 || got.SizeBytes != *object.SizeBytes {
		b.t.Errorf("the object is %+v, the status has %+v", got, object)
	}
	full, err := artifact.DecodeFull(data)
	if err != nil {
		b.t.Fatal(err)
	}
	if len(full.Series) != 1 || len(full.Series[0].Sketch) == 0 {
		b.t.Errorf("the full result lacks the sketch of its second: %+v", full.Series)
	}
	if h := full.Clients[1].Latencies[result.Total]; h == nil || h.Count() != 1000 {
		b.t.Errorf("the full result has no histogram of client 1: %+v", h)
	}
	if series := b.stored().Series; len(series) != 1 || len(series[0].Sketch) == 0 {
		b.t.Errorf("the artifact has room for the sketch of its second, and lacks it: %+v", series)
	}
}

func TestReconcileArchives(t *testing.T) {
	b, d := archiving(t)
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonCollecting || !strings.Contains(got.Message, "is being stored in bucket file://"+d.path) || b.sessions.released {
		t.Errorf("%+v, released %t", got, b.sessions.released)
	}
	b.finish()
	b.checkArchived(d)
	if !b.sessions.released || b.sessions.merged != 1 {
		t.Errorf("released %t, merged %d times", b.sessions.released, b.sessions.merged)
	}
}

// TestReconcileArchivesWhateverIsKilled kills the manager at each point on the way of a full result. At none of them an
// artifact exists without its object, and the next manager finds the object again.
func TestReconcileArchivesWhateverIsKilled(t *testing.T) {
	for name, test := range map[string]struct {
		funcs    interceptor.Funcs
		uploaded bool // the object is stored when the manager is killed
		podsGone bool
	}{
		"before the digest is in the status":    {statusWrites(0, false), false, false},
		"after the digest is in the status":     {statusWrites(0, true), false, false},
		"before the artifact is created":        {artifactCreation(false), true, false},
		"after the artifact is created":         {artifactCreation(true), true, true},
		"before the verdict is written":         {statusWrites(0, false), true, true},
		"after the verdict, without its answer": {statusWrites(0, true), true, true},
	} {
		t.Run(name, func(t *testing.T) {
			b, d := archiving(t)
			if test.uploaded {
				b.reconcile()
				<-b.uploaded
			}
			restore := b.intercept(test.funcs)
			b.killed()
			restore()
			if b.sessions.released && b.run.Status.CompletionTime == nil {
				t.Error("the pods were released before the verdict was written")
			}
			if err := b.get("run-result", &corev1.ConfigMap{}); err == nil && len(d.objects(t)) != 1 {
				t.Error("the artifact exists without its object")
			} else if err != nil && !apierrors.IsNotFound(err) {
				t.Fatal(err)
			}
			b.forgets()
			if test.podsGone {
				b.sessions.observation = session.Observation{}
			}
			b.finish()
			b.checkArchived(d)
		})
	}
}

// forgets makes the reconciler forget what a new manager doesn't know.
func (b *bench) forgets() {
	b.known = knownRuns{}
}

// TestReconcileFindsItsObjectAgain kills the manager when the object is stored and nothing knows it.
func TestReconcileFindsItsObjectAgain(t *testing.T) {
	b, d := archiving(t)
	b.reconcile()
	<-b.uploaded
	b.forgets()
	b.finish()
	b.checkArchived(d)
}

func TestReconcileWaitsForABucket(t *testing.T) {
	b, d := archiving(t)
	d.before = func(context.Context, string) error { return errors.New("connection refused") }
	b.reconcile()
	<-b.uploaded
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonCollecting || !strings.Contains(got.Message, v1alpha1.RetryPrefix+"connection refused") {
		t.Errorf("%+v", got)
	}
	if err := b.get("run-result", &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("the artifact before its object: %v", err)
	}
	d.before = nil
	b.clock.SetTime(b.clock.Now().Add(10 * time.Second))
	b.finish()
	b.checkArchived(d)
}

func TestReconcileGivesABucketUp(t *testing.T) {
	b, d := archiving(t)
	d.before = func(context.Context, string) error { return errors.New("connection refused") }
	b.reconcile()
	<-b.uploaded
	b.clock.SetTime(b.clock.Now().Add(time.Minute))
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonCompleted || !b.sessions.released {
		t.Errorf("%+v, released %t", got, b.sessions.released)
	}
	if got := b.archived(); got.Status != metav1.ConditionFalse || got.Reason != v1alpha1.ReasonBucketUnavailable || !strings.Contains(got.Message, "connection refused") {
		t.Errorf("%+v", got)
	}
	stored := b.artifact()
	if b.run.Status.Artifact.Object != nil || len(stored.Data) != 0 || len(d.objects(t)) != 0 {
		t.Errorf("the status has %+v, the artifact %v, the bucket %v", b.run.Status.Artifact.Object, stored.Data, d.objects(t))
	}
	if sum := artifact.Identify(stored.BinaryData[artifact.Key]).SHA256; sum != b.run.Status.Artifact.SHA256 {
		t.Errorf("the artifact has digest %s, the status %s", sum, b.run.Status.Artifact.SHA256)
	}
}

// TestReconcileNeverWaitsForABucket has a bucket that doesn't answer: a reconciliation returns, and the next doesn't
// begin another attempt.
func TestReconcileNeverWaitsForABucket(t *testing.T) {
	b, d := archiving(t)
	answer, asked := make(chan struct{}), make(chan struct{}, 2)
	d.before = func(context.Context, string) error {
		asked <- struct{}{}
		<-answer
		return nil
	}
	b.reconcile()
	<-asked
	b.reconcile()
	close(answer)
	b.finish()
	b.checkArchived(d)
	if len(asked) != 0 {
		t.Error("a second attempt began")
	}
}

// TestReconcileNeverReplacesAnObject has somebody else's object under the run's key.
func TestReconcileNeverReplacesAnObject(t *testing.T) {
	b, d := archiving(t)
	other := []byte("something else")
	d.before = func(_ context.Context, key string) error {
		path := filepath.Join(d.path, filepath.FromSlash(key))
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, other, 0o644))
	}
	b.reconcile()
	<-b.uploaded
	b.reconcile()
	if got := b.archived(); got.Status != metav1.ConditionFalse || !strings.Contains(got.Message, bucket.ErrOther.Error()) {
		t.Errorf("%+v", got)
	}
	if got := b.state(); got.Reason != v1alpha1.ReasonCompleted {
		t.Errorf("%+v", got)
	}
	keys := d.objects(t)
	if len(keys) != 1 {
		t.Fatalf("the bucket has %v", keys)
	}
	if left, err := os.ReadFile(filepath.Join(d.path, filepath.FromSlash(keys[0]))); err != nil || !bytes.Equal(left, other) {
		t.Errorf("the object has now %q, %v", left, err)
	}
}
