package benchmark

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/memory"
	"github.com/assay-dev/assay/internal/result"
)

// part reconciles once, and reads the Benchmark again.
func (b *bench) part() {
	b.t.Helper()
	if _, err := b.Reconcile(b.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(b.b)}); err != nil {
		b.t.Fatal(err)
	}
	if err := api.Get(b.t.Context(), client.ObjectKeyFromObject(b.b), b.b); err != nil {
		b.t.Fatal(err)
	}
}

// backwards lists runs in reverse.
type backwards struct{ client.Client }

func (c backwards) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := c.Client.List(ctx, list, options...)
	if runs, ok := list.(*v1alpha1.BenchmarkRunList); ok {
		slices.Reverse(runs.Items)
	}
	return err
}

// TestTheEndIsDoneInParts ends a round: the evaluation, the trend and the artifact are a reconciliation each. Another manager that takes
// over in between, or a run that was deleted, has it begin again.
func TestTheEndIsDoneInParts(t *testing.T) {
	for name, test := range map[string]struct {
		between func(*bench)
		parts   int
		verdict v1alpha1.BenchmarkVerdict
	}{
		"at a stretch":    {func(*bench) {}, 3, v1alpha1.BenchmarkPassed},
		"another manager": {func(b *bench) { b.Reconciler = newReconciler() }, 4, v1alpha1.BenchmarkPassed},
		"another manager, which has read neither the end nor the runs in that order": {func(b *bench) {
			before := b.b.DeepCopy()
			for lifecycle.IsActive(b.b) {
				b.part()
			}
			before.ResourceVersion = b.b.ResourceVersion
			if err := api.Status().Update(b.t.Context(), before); err != nil {
				b.t.Fatal(err)
			}
			b.b, b.Reconciler = before, newReconciler()
			b.Client = backwards{b.Client}
		}, 4, v1alpha1.BenchmarkPassed},
		"no memory, once": {func(b *bench) {
			b.Memory = memory.New(2 * plainBytes)
			if _, err := b.Reconcile(b.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(b.b)}); err != nil { // the trend
				b.t.Fatal(err)
			}
			if _, err := b.Reconcile(b.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(b.b)}); !errors.Is(err, memory.ErrFull) {
				b.t.Errorf("without memory: %v", err)
			}
			b.Memory = nil
		}, 2, v1alpha1.BenchmarkPassed},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, gated)
			b.reconcile()
			for last := false; !last; { // of six runs
				last = strings.HasSuffix(b.b.Status.Round.CurrentRun.Name, "-b05")
				b.measured(func(*v1alpha1.BenchmarkRun) int64 { return 1000 })
				if !last {
					b.reconcile()
				}
			}
			b.part()
			if !lifecycle.IsActive(b.b) || *b.b.Status.Round.FinishedRuns != 6 {
				t.Fatalf("after the evaluation: %+v", b.b.Status.Round)
			}
			test.between(b)
			parts := 1
			for ; lifecycle.IsActive(b.b) && parts < 10; parts++ {
				b.part()
			}
			if parts != test.parts {
				t.Errorf("%d parts, want %d", parts, test.parts)
			}
			wantRound(t, b, 1, v1alpha1.TriggerCreated, test.verdict)
		})
	}
}

// TestARoundsRunsAreInTheAccount keeps runs of rounds until there is no memory for more: their levels go first, then all that the
// round holds.
func TestARoundsRunsAreInTheAccount(t *testing.T) {
	run := func(i int) *benchmark.Run {
		r := &benchmark.Run{Name: fmt.Sprint(i), Metrics: map[v1alpha1.BenchmarkMetric]float64{"LatencyP99": 1}}
		for range benchmark.MaxLevels {
			r.Levels = append(r.Levels, benchmark.RunLevel{Metrics: make([]float32, len(result.LevelMetrics))})
		}
		return r
	}
	whole := run(0).Bytes()
	r := &Reconciler{Memory: memory.New(20 * whole)}
	b := manyCells()
	b.Status.Round = &v1alpha1.RoundStatus{Number: 1}
	known, kept, omittedAt := r.of(b), 0, 0
	for ; ; kept++ {
		next := run(kept)
		err := r.keep(b, known, next)
		if used := r.Memory.Used(); used > 10*whole {
			t.Fatalf("a namespace holds %d bytes of %d", used, 20*whole)
		}
		if err != nil {
			if !errors.Is(err, memory.ErrFull) {
				t.Fatal(err)
			}
			break
		}
		known.runs[types.UID(next.Name)] = *next
		sum := int64(0)
		for _, kept := range known.runs {
			sum += kept.Bytes()
			if known.levelsOmitted != (kept.Levels == nil) {
				t.Fatalf("%d levels, omitted: %t", len(kept.Levels), known.levelsOmitted)
			}
		}
		if used := r.Memory.Used(); used != sum || sum != known.held {
			t.Fatalf("%d bytes are held, %d are kept, %d are known", used, sum, known.held)
		}
		if known.levelsOmitted && omittedAt == 0 {
			omittedAt = kept
		}
	}
	if omittedAt != 10 || kept < 20 {
		t.Errorf("the levels went with run %d, all with run %d", omittedAt, kept)
	}
	if r.Memory.Used() != 0 || len(r.rounds) != 0 {
		t.Errorf("%d bytes are held while the round waits", r.Memory.Used())
	}

	// The next round, and one of a Benchmark that was created again, hold nothing of the one before.
	for range 3 {
		if err := r.keep(b, r.of(b), run(0)); err != nil {
			t.Fatal(err)
		}
		if r.Memory.Used() != whole {
			t.Errorf("%d bytes are held of a run of %d", r.Memory.Used(), whole)
		}
		b.Status.Round.Number++
	}
	b.UID = "2"
	if r.of(b); r.Memory.Used() != 0 {
		t.Errorf("%d bytes are held of a Benchmark that is gone", r.Memory.Used())
	}
}

// TestARoundThatCannotBeStoredIsRefused has the largest Benchmark, all of whose metrics decide.
func TestARoundThatCannotBeStoredIsRefused(t *testing.T) {
	b := manyCells()
	b.Spec.Capacity = nil
	b.Spec.Comparison = &v1alpha1.Comparison{Baseline: v1alpha1.Baseline{LastPassed: &v1alpha1.LastPassed{}}, Measure: v1alpha1.MeasureStored}
	for _, m := range benchmark.MetricNames[:16] {
		b.Spec.Comparison.Metrics = append(b.Spec.Comparison.Metrics, v1alpha1.ComparedMetric{Name: m, TolerancePercent: ptr.To(int32(5))})
	}
	c := newCounted(t, b)
	c.settle()
	var runs v1alpha1.BenchmarkRunList
	if err := c.List(t.Context(), &runs); err != nil {
		t.Fatal(err)
	}
	const want = "spec.repetitions: 100 blocks and 0 trials of each of 256 cells with 16 metrics of claims and of the gate could take "
	if s := lifecycle.Succeeded(c.b); s.Reason != v1alpha1.ReasonInvalidSpec || !strings.HasPrefix(s.Message, want) || len(runs.Items) != 0 || c.b.Status.Round != nil {
		t.Errorf("%d runs, %+v", len(runs.Items), s)
	}
}
