package benchmarkrun

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/session"
)

// collected takes a new run to the point at which its result can be stored.
func collected(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.measuring()
	b.measured(b.sessions.starts[measurementStage])
	return b
}

func (b *bench) artifact() *corev1.ConfigMap {
	b.t.Helper()
	stored := &corev1.ConfigMap{}
	if err := b.get("run-result", stored); err != nil {
		b.t.Fatal(err)
	}
	return stored
}

// statusWrites returns funcs that let the given number of status writes pass, and kill the manager
// before the next, or after it.
func statusWrites(pass int, after bool) interceptor.Funcs {
	return interceptor.Funcs{SubResourceUpdate: func(ctx context.Context, c client.Client, name string, obj client.Object, o ...client.SubResourceUpdateOption) error {
		pass--
		if pass >= 0 || after {
			if err := c.SubResource(name).Update(ctx, obj, o...); err != nil || pass >= 0 {
				return err
			}
		}
		return errKilled
	}}
}

// artifactCreation returns funcs that kill the manager before the artifact is created, or after it.
func artifactCreation(after bool) interceptor.Funcs {
	return interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, obj client.Object, o ...client.CreateOption) error {
		if obj.GetName() != "run-result" {
			return c.Create(ctx, obj, o...)
		}
		if after {
			return errors.Join(c.Create(ctx, obj, o...), errKilled)
		}
		return errKilled
	}}
}

// TestReconcileStoresWhateverIsKilled kills the manager at each point between the last total and the
// verdict. The pods keep their totals until the verdict is written; where they are gone, the artifact
// must do.
func TestReconcileStoresWhateverIsKilled(t *testing.T) {
	for name, test := range map[string]struct {
		funcs    interceptor.Funcs
		podsGone bool
	}{
		"before the digest is in the status":        {statusWrites(0, false), false},
		"after the digest is in the status":         {statusWrites(0, true), false},
		"before the artifact is created":            {artifactCreation(false), false},
		"after the artifact is created":             {artifactCreation(true), true},
		"before the verdict is written":             {statusWrites(1, false), true},
		"after the verdict, without its answer":     {statusWrites(1, true), true},
		"after the artifact, with the pods waiting": {artifactCreation(true), false},
	} {
		t.Run(name, func(t *testing.T) {
			b := collected(t)
			restore := b.intercept(test.funcs)
			b.killed()
			restore()
			if b.sessions.released {
				t.Error("the pods were released before the verdict was written")
			}
			b.known = knownRuns{}
			if test.podsGone {
				b.sessions.observation = session.Observation{}
			}
			b.reconcile()
			if got := b.state(); got.Reason != v1alpha1.ReasonCompleted || *b.run.Status.Result.Requests != 2000 {
				t.Fatalf("%+v", got)
			}
			stored := b.artifact()
			if sum := artifact.Identify(stored.BinaryData[artifact.Key]).SHA256; sum != b.run.Status.Artifact.SHA256 {
				t.Errorf("the artifact has digest %s, the status %s", sum, b.run.Status.Artifact.SHA256)
			}
		})
	}
}

func TestReconcileWritesTheVerdictWithTheArtifact(t *testing.T) {
	b := collected(t)
	b.reconcile()
	if got := b.state(); got.Reason != v1alpha1.ReasonCompleted || !b.sessions.released {
		t.Errorf("%+v, released %t", got, b.sessions.released)
	}
	stored := b.artifact()
	if !ptr.Deref(stored.Immutable, false) {
		t.Error("the artifact can be changed")
	}
	stored.BinaryData[artifact.Key] = []byte("other")
	if err := api.Update(t.Context(), stored); err == nil {
		t.Error("the artifact was changed")
	}
}

// TestReconcileEndsARunWithAnotherArtifact puts a ConfigMap in place of the artifact, as anybody may
// who can write ConfigMaps in the run's namespace.
func TestReconcileEndsARunWithAnotherArtifact(t *testing.T) {
	// The artifact of another run: well formed, and of a successful measurement.
	other := collected(t)
	other.reconcile()
	theirs := other.artifact().BinaryData[artifact.Key]

	forged := func(b *bench, data []byte) *corev1.ConfigMap {
		return &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: b.run.Namespace, Name: "run-result", Labels: map[string]string{manifest.LabelRunUID: string(b.run.UID)},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(b.run, v1alpha1.GroupVersion.WithKind("BenchmarkRun"))},
			},
			BinaryData: map[string][]byte{artifact.Key: data},
		}
	}
	foreign := func(b *bench, data []byte) *corev1.ConfigMap {
		obj := forged(b, data)
		obj.OwnerReferences = nil
		return obj
	}
	for name, test := range map[string]struct {
		put    func(*bench, []byte) *corev1.ConfigMap
		data   []byte
		before bool // the run has a result
		want   string
	}{
		"of another run, before the result":       {put: forged, data: theirs, before: true, want: v1alpha1.ReasonArtifactInvalid},
		"unreadable, before the result":           {put: forged, data: []byte("?"), before: true, want: v1alpha1.ReasonArtifactInvalid},
		"of another owner, before the result":     {put: foreign, data: theirs, before: true, want: v1alpha1.ReasonNameConflict},
		"of another run, instead of the result":   {put: forged, data: theirs, want: v1alpha1.ReasonArtifactInvalid},
		"unreadable, instead of the result":       {put: forged, data: []byte("?"), want: v1alpha1.ReasonArtifactInvalid},
		"empty, instead of the result":            {put: forged, want: v1alpha1.ReasonArtifactInvalid},
		"of another owner, instead of the result": {put: foreign, data: theirs, want: v1alpha1.ReasonNameConflict},
	} {
		t.Run(name, func(t *testing.T) {
			b := collected(t)
			put := func() {
				if err := api.Create(t.Context(), test.put(b, test.data)); err != nil {
					t.Fatal(err)
				}
			}
			if test.before {
				put()
			} else {
				restore := b.intercept(statusWrites(1, false)) // before the verdict
				b.killed()
				restore()
				if err := api.Delete(t.Context(), b.artifact()); err != nil {
					t.Fatal(err)
				}
				put()
				b.sessions.observation = session.Observation{}
			}
			b.reconcile()
			if got := b.state(); got.Reason != test.want || b.run.Status.Artifact != nil {
				t.Errorf("%+v, artifact %+v", got, b.run.Status.Artifact)
			}
			// As long as the pods have the measurement, its metrics are kept.
			if r := b.run.Status.Result; test.before != (r != nil) || r != nil && *r.Requests != 2000 {
				t.Errorf("the status has the result %+v", r)
			}
		})
	}
}

// TestReconcileEndsARunWhoseArtifactHasAnotherSchema has a manager of another version store the
// result, and be replaced before it writes the verdict.
func TestReconcileEndsARunWhoseArtifactHasAnotherSchema(t *testing.T) {
	for name, data := range map[string][]byte{"unreadable": []byte("?"), "of another schema": packed(t, `{"schemaVersion":99}`)} {
		t.Run(name, func(t *testing.T) {
			b := collected(t)
			restore := b.intercept(statusWrites(1, false))
			b.killed()
			restore()
			if err := api.Delete(t.Context(), b.artifact()); err != nil {
				t.Fatal(err)
			}
			obj := manifest.Artifact(b.run, data, nil)
			if err := api.Create(t.Context(), obj); err != nil {
				t.Fatal(err)
			}
			b.run.Status.Artifact.SHA256 = artifact.Identify(data).SHA256
			if err := api.Status().Update(t.Context(), b.run); err != nil {
				t.Fatal(err)
			}
			b.sessions.observation = session.Observation{}
			b.reconcile()
			if got := b.state(); got.Reason != v1alpha1.ReasonArtifactInvalid {
				t.Errorf("%+v", got)
			}
		})
	}
}

func packed(t *testing.T, plain string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(plain)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var errForbidden = apierrors.NewForbidden(corev1.Resource("configmaps"), "run-result", errors.New("exceeded quota"))

// failingStore returns funcs that let the creation of the artifact fail as long as there is an error.
func failingStore(err *error) interceptor.Funcs {
	return interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, obj client.Object, o ...client.CreateOption) error {
		if obj.GetName() == "run-result" && *err != nil {
			return *err
		}
		return c.Create(ctx, obj, o...)
	}}
}

// attempt reconciles the run, which may fail.
func (b *bench) attempt() {
	b.t.Helper()
	_, _ = b.Reconcile(b.t.Context(), b.request())
	b.reload()
}

// TestReconcileStoresAnArtifactThatWasRefused has a quota refuse the artifact, or a webhook fail, for a
// while. The result is merged and encoded once, and the status written once.
func TestReconcileStoresAnArtifactThatWasRefused(t *testing.T) {
	for name, cause := range map[string]error{
		"quota": errForbidden, "webhook": apierrors.NewInternalError(errors.New("failed calling webhook: connection refused")),
	} {
		t.Run(name, func(t *testing.T) {
			b := collected(t)
			err := cause
			defer b.intercept(failingStore(&err))()
			b.attempt()
			if got := b.state(); got.Reason != v1alpha1.ReasonCollecting || !strings.Contains(got.Message, "Retrying: ") || !strings.Contains(got.Message, cause.Error()) ||
				b.sessions.released {
				t.Fatalf("%+v, released %t", got, b.sessions.released)
			}
			written := b.run.ResourceVersion
			for range 3 {
				b.clock.SetTime(b.clock.Now().Add(5 * time.Second))
				b.attempt()
			}
			if b.run.ResourceVersion != written || b.sessions.merged != 1 {
				t.Errorf("version %s of the status was replaced by %s; %d merges", written, b.run.ResourceVersion, b.sessions.merged)
			}
			err = nil
			b.attempt()
			if got := b.state(); got.Reason != v1alpha1.ReasonCompleted || artifact.Identify(b.artifact().BinaryData[artifact.Key]).SHA256 != b.run.Status.Artifact.SHA256 {
				t.Errorf("%+v", got)
			}
			b.attempt()
			if b.known.get(b.run.UID).unstored != nil {
				t.Error("the artifact is kept in memory")
			}
		})
	}
}

// TestReconcileKeepsTheFiguresOfARejectedArtifact has a quota refuse the artifact until the manager gives up.
func TestReconcileKeepsTheFiguresOfARejectedArtifact(t *testing.T) {
	b := collected(t)
	err := error(errForbidden)
	defer b.intercept(failingStore(&err))()
	b.attempt()
	b.clock.SetTime(b.clock.Now().Add(time.Minute))
	b.attempt()
	if got := b.state(); got.Reason != v1alpha1.ReasonArtifactNotStored || b.run.Status.Artifact != nil || b.run.Status.Result == nil || *b.run.Status.Result.Requests != 2000 {
		t.Errorf("%+v, artifact %+v, result %+v", got, b.run.Status.Artifact, b.run.Status.Result)
	}
}
