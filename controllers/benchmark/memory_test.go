package benchmark

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/memory"
	"github.com/assay-dev/assay/internal/result"
)

// same is a reader for which each ConfigMap has the same artifact.
type same struct {
	client.Reader
	data []byte
}

// Get implements client.Reader.
func (s same) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	obj.(*corev1.ConfigMap).BinaryData = map[string][]byte{"key": s.data}
	return nil
}

// TestArtifactsAreInTheAccount has the Benchmarks of several namespaces read artifacts, first all at once, then each for a moment.
func TestArtifactsAreInTheAccount(t *testing.T) {
	round, err := (&benchmark.Round{Message: strings.Repeat("x", 1<<20)}).Encode(artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	measured, err := artifact.Encode(resultOf(1000), artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		data []byte
		of   any
		read func(*Reconciler, *v1alpha1.Benchmark, *v1alpha1.ArtifactReference) (bool, error)
	}{
		"rounds": {round, benchmark.Round{}, func(r *Reconciler, b *v1alpha1.Benchmark, of *v1alpha1.ArtifactReference) (bool, error) {
			read, err := r.storedRound(t.Context(), b, &v1alpha1.RoundReference{Artifact: of})
			return read != nil, err
		}},
		"results": {measured, result.Result{}, func(r *Reconciler, b *v1alpha1.Benchmark, of *v1alpha1.ArtifactReference) (bool, error) {
			read, err := r.result(t.Context(), b, &v1alpha1.BenchmarkRun{Status: v1alpha1.BenchmarkRunStatus{Artifact: of}})
			return read != nil, err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			size, err := artifact.Size(test.data, test.of)
			if err != nil {
				t.Fatal(err)
			}
			limit := 8 * size
			r := &Reconciler{APIReader: same{data: test.data}, Memory: memory.New(limit)}
			reference := &v1alpha1.ArtifactReference{
				ConfigMap: &v1alpha1.ArtifactConfigMap{Name: "a", Key: "key"}, SHA256: artifact.Identify(test.data).SHA256,
			}
			of := func(namespace, i int) *v1alpha1.Benchmark {
				return &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint(namespace), UID: types.UID(fmt.Sprint(namespace, i))}}
			}
			read := func(b *v1alpha1.Benchmark) bool {
				found, err := test.read(r, b, reference)
				if found == (err != nil) || err != nil && !errors.Is(err, memory.ErrFull) {
					t.Errorf("found %t: %v", found, err)
				}
				if used := r.Memory.Used(); used > limit {
					t.Errorf("%d bytes are held of %d", used, limit)
				}
				return found
			}
			for namespace, want := range []int{4, 2, 1, 0} { // half of what the others don't hold
				got := 0
				for i := range 10 {
					if read(of(namespace, i)) {
						got++
					}
				}
				if got != want {
					t.Errorf("namespace %d reads %d artifacts at once, want %d", namespace, got, want)
				}
			}
			if !read(of(0, 0)) || r.Memory.Used() != 7*size {
				t.Errorf("with the next artifact of a Benchmark instead of the one before, %d bytes are held of %d", r.Memory.Used(), 7*size)
			}
			for i := range 40 {
				r.Memory.Free(ownerOf(of(i/10, i%10)))
			}
			var all sync.WaitGroup
			for i := range 40 {
				all.Go(func() {
					for range 5 {
						read(of(i/10, i%10))
						r.Memory.Free(ownerOf(of(i/10, i%10)))
					}
				})
			}
			all.Wait()
			if r.Memory.Used() != 0 {
				t.Errorf("%d bytes are held at the end", r.Memory.Used())
			}
		})
	}
}

// TestARoundWaitsForMemory has no memory for the round of the baseline, and then for the result of a run.
func TestARoundWaitsForMemory(t *testing.T) {
	b := newBench(t, gated)
	b.round(1000)
	wantRound(t, b, 1, v1alpha1.TriggerCreated, v1alpha1.BenchmarkPassed)
	b.annotate(v1alpha1.AnnotationRunRound, "again")
	large := memory.Owner{Namespace: b.b.Namespace, UID: "large"}
	waits := func() {
		t.Helper()
		b.Memory = memory.New(64 << 20)
		if err := b.Memory.Hold(large, memory.Totals, 32<<20); err != nil {
			t.Fatal(err)
		}
		var err error
		for range 20 {
			if _, err = b.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(b.b)}); err != nil {
				break
			}
		}
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(b.b), b.b); err != nil {
			t.Fatal(err)
		}
		if c := lifecycle.Succeeded(b.b); !errors.Is(err, memory.ErrFull) || !strings.Contains(c.Message, v1alpha1.RetryPrefix) || !strings.Contains(c.Message, memory.ErrFull.Error()) {
			t.Errorf("%v: %+v", err, c)
		}
		b.Memory.Free(large)
	}
	waits() // for the baseline
	b.reconcile()
	b.measured(func(*v1alpha1.BenchmarkRun) int64 { return 1000 })
	waits() // for the result
	for b.reconcile(); lifecycle.IsActive(b.b); b.reconcile() {
		b.measured(func(*v1alpha1.BenchmarkRun) int64 { return 1000 })
	}
	wantRound(t, b, 2, v1alpha1.TriggerRequested, v1alpha1.BenchmarkPassed)
	if b.Memory.Used() != 0 {
		t.Errorf("%d bytes are held at the end", b.Memory.Used())
	}
}
