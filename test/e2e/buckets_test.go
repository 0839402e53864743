//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/objectstore"
	"github.com/assay-dev/assay/test/wrapper"
)

// withBuckets configures the release to store full results of a namespace on an S3 server, and to delete them with their
// runs. The release is restored at the end of the test.
func (c *cluster) withBuckets(t *testing.T, ns string, s *objectStore) {
	t.Helper()
	values := restored(t)
	credentials := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.OperatorNamespace, GenerateName: "assay-e2e-buckets-"},
		StringData: map[string]string{"AWS_ACCESS_KEY_ID": objectstore.AccessKey, "AWS_SECRET_ACCESS_KEY": objectstore.SecretKey},
	}
	c.create(t, credentials)
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), credentials); err != nil {
			t.Error(err)
		}
	})
	buckets, err := json.Marshal(map[string]any{"results": map[string]any{
		"buckets":           map[string]any{"namespaces": map[string]string{ns: s.url()}, "reclaimPolicy": "Delete", "deletionTimeoutSeconds": 30},
		"bucketCredentials": map[string]string{"secretName": credentials.Name},
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "buckets.yaml")
	if err := os.WriteFile(file, buckets, 0o600); err != nil {
		t.Fatal(err)
	}
	helm(t, "upgrade", "assay", chart, "--values", values, "--values", file, "--wait", "--timeout", "2m")
}

// gone waits until a run is gone.
func (c *cluster) gone(t *testing.T, run *v1alpha1.BenchmarkRun, limit time.Duration) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, limit, true, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(run), run)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	}); err != nil {
		t.Fatalf("run %s is still there after %s, with finalizers %v: %s", run.Name, limit, run.Finalizers, conditions(run))
	}
}

// wantArchived checks that a run's full result is in the bucket, and that the plugin reads it.
func wantArchived(t *testing.T, s *objectStore, run *v1alpha1.BenchmarkRun, clients int) {
	t.Helper()
	wantSucceeded(t, run)
	if archived := condition(run, v1alpha1.ConditionArchived); archived.Status != metav1.ConditionTrue {
		t.Fatalf("the full result isn't in the bucket: %s", conditions(run))
	}
	object := run.Status.Artifact.Object
	if keys := s.keys(t); !slices.Contains(keys, object.Key) || !strings.HasPrefix(object.Key, run.Namespace+"/"+run.Name+"-"+string(run.UID)+"/") {
		t.Fatalf("the bucket has %v, the status %s", keys, object.Key)
	}
	data, err := os.ReadFile(s.file(object.Key))
	if err != nil {
		t.Fatal(err)
	}
	if got := artifact.Identify(data); got.SHA256 != object.SHA256 || got.SizeBytes != *object.SizeBytes {
		t.Errorf("the object is %+v, the status has %+v", got, object)
	}
	var full result.Result
	if err := json.Unmarshal([]byte(plugin(t, 0, "report", run.Name, "-n", run.Namespace, "--file", s.file(object.Key), "-o", "json")), &full); err != nil {
		t.Fatal(err)
	}
	if len(full.Clients) != clients || len(full.Series) == 0 {
		t.Fatalf("%d clients and %d seconds", len(full.Clients), len(full.Series))
	}
	requests := int64(0)
	for _, second := range full.Series {
		succeeded := int64(0)
		for _, n := range second.Sketch.Counts() {
			succeeded += n
		}
		if succeeded != second.Requests-second.Errors {
			t.Errorf("second %d has a sketch of %d of its %d successful requests", second.Second, succeeded, second.Requests-second.Errors)
		}
		requests += second.Requests
	}
	if requests != *run.Status.Result.Requests {
		t.Errorf("the seconds have %d requests, the status %d", requests, *run.Status.Result.Requests)
	}
}

// TestFullResultsInABucket stores full results on a real S3 server, which is killed in the middle of a write and later
// for good. Each run must end with its result, and each deleted run must go, with its object if the server is there.
func TestFullResultsInABucket(t *testing.T) {
	c := theCluster
	ns := c.namespace(t)
	s := newObjectStore(t, c.nodeAddress(t))
	c.withBuckets(t, ns, s)
	newRun := func(name string) *v1alpha1.BenchmarkRun {
		run := wrapper.NewRun(ns, name, harness.ServerImage).Lane("buckets-"+name).Path("/fixed/2000/100").Clients(2, "50m", "64Mi").Requests(2, 1000).Obj()
		c.create(t, run)
		return run
	}

	stored := c.finished(t, newRun("stored"), 2*time.Minute)
	wantArchived(t, s, stored, 2)
	if !slices.Equal(stored.Finalizers, []string{v1alpha1.FinalizerBucketObjects}) {
		t.Errorf("finalizers %v", stored.Finalizers)
	}
	key := stored.Status.Artifact.Object.Key
	if err := c.Delete(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	c.gone(t, stored, 20*time.Second)
	if keys := s.keys(t); slices.Contains(keys, key) {
		t.Errorf("the deleted run's object is still in the bucket: %v", keys)
	}

	killed := s.proxy.KillAfter(3000, "PUT /") // headers, and some of the body
	run := newRun("interrupted")
	select {
	case <-killed:
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing was written")
	}
	c.until(t, run, time.Minute, "another attempt", func(r *v1alpha1.BenchmarkRun) bool {
		return strings.Contains(condition(r, v1alpha1.ConditionSucceeded).Message, v1alpha1.RetryPrefix)
	})
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	interrupted := c.finished(t, run, time.Minute)
	wantArchived(t, s, interrupted, 2)

	left := c.finished(t, newRun("left"), 2*time.Minute)
	s.Kill()
	if err := c.Delete(t.Context(), interrupted); err != nil {
		t.Fatal(err)
	}
	deleted := time.Now()
	c.gone(t, interrupted, 90*time.Second)
	if took := time.Since(deleted); took < 25*time.Second {
		t.Errorf("the run went %s after its deletion, although its object is there", took)
	}
	var events eventsv1.EventList
	if err := c.List(t.Context(), &events, client.InNamespace(ns)); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(events.Items, func(e eventsv1.Event) bool {
		return e.Reason == v1alpha1.ReasonObjectsRetained && strings.Contains(e.Note, interrupted.Status.Artifact.Object.Key)
	}) {
		t.Errorf("no event names the object that stays: %+v", events.Items)
	}

	// A manager without buckets keeps no run.
	helm(t, "upgrade", "assay", chart, "--reset-then-reuse-values", "--set", "results.buckets.namespaces=null", "--set", "results.buckets.reclaimPolicy=Retain", "--wait", "--timeout", "2m")
	c.until(t, left, time.Minute, "the end of the finalizer", func(r *v1alpha1.BenchmarkRun) bool { return len(r.Finalizers) == 0 })
}
