// Package benchmark reconciles Benchmarks: it makes the BenchmarkRuns of a round, reads their metrics, and
// writes what package benchmark in internal concludes from them.
package benchmark

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/controllers/fair"
	"github.com/assay-dev/assay/controllers/metrics"
	"github.com/assay-dev/assay/controllers/scope"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/objects"
	"github.com/assay-dev/assay/internal/benchmark/verdict"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/memory"
	"github.com/assay-dev/assay/internal/run/state"
)

// Reconciler reconciles Benchmarks.
type Reconciler struct {
	client.Client
	// APIReader reads past the cache, which has neither artifacts nor the results of finished runs.
	APIReader client.Reader
	Events    events.EventRecorder
	// Metrics may be nil.
	Metrics *metrics.Metrics
	Clock   clock.PassiveClock
	// Memory accounts for artifacts while they are read. It may be nil.
	Memory *memory.Account
	// Overdue ends the process, because a reconciliation has taken too long.
	Overdue func()
	// Scope is what the manager serves. It may be nil.
	Scope *scope.Scope
	// RunPods has the labels of runs and artifacts.
	RunPods manifest.RunPods

	mu sync.Mutex
	// rounds holds the rounds under way as far as this manager has read them, by their Benchmarks.
	rounds map[types.NamespacedName]*round
}

// round is a round under way. Everything in it can be read again.
type round struct {
	// benchmark is the Benchmark's UID.
	benchmark types.UID
	number    int64
	// checked is the number of checks, of those of checksOf, that the API server has passed.
	checked int
	// planned holds the digests of the runs that the round creates as the API server would store them, by cell and whether
	// they are trials. own holds the UIDs of runs that were found to be like them.
	planned map[plannedKey][sha256.Size]byte
	own     map[types.UID]bool
	// forged holds the outcomes of runs that aren't like the planned ones, and nil for others.
	forged map[types.UID]*verdict.End
	// runs holds the finished runs whose metrics were read.
	runs map[types.UID]benchmark.Run
	// conditions holds those of the runs, which are mostly the same: a round may have 25,600 runs.
	conditions map[benchmark.Conditions]benchmark.Conditions
	selected   selectedRuns
	// stored holds the runs of a stored baseline by the names of cells; nil if they weren't read.
	stored map[string][]benchmark.Run
	// held counts the bytes of runs and those of the baseline in the account.
	held int64
	// levelsOmitted reports whether the runs have no levels, because there was no memory for them.
	levelsOmitted bool
	// ending is not nil once the round is evaluated.
	ending *ending
}

// workers is the number of Benchmarks that are reconciled at a time.
const workers = 4

// ownerField is the cache's index of runs by the UID of their Benchmark.
const ownerField = "benchmark"

// SetupWithManager registers the reconciler.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &v1alpha1.BenchmarkRun{}, ownerField, ownerIndex); err != nil {
		return fmt.Errorf("index the runs by Benchmark: %w", err)
	}
	err := ctrl.NewControllerManagedBy(mgr).
		Named("benchmark").
		For(&v1alpha1.Benchmark{}).
		Owns(&v1alpha1.BenchmarkRun{}, builder.WithPredicates(steps)).
		WithOptions(fair.Options(workers, r.Overdue)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("build the controller: %w", err)
	}
	return nil
}

// steps selects the events of runs after which a round may go on.
var steps = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		before, after := e.ObjectOld.(*v1alpha1.BenchmarkRun), e.ObjectNew.(*v1alpha1.BenchmarkRun)
		return state.Of(before) != state.Of(after) || before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero()
	},
}

func ownerIndex(obj client.Object) []string {
	if owner := objects.OwnerOf(obj); owner != nil {
		return []string{string(owner.UID)}
	}
	return nil
}

// of returns what is known of the round under way of a Benchmark.
func (r *Reconciler) of(b *v1alpha1.Benchmark) *round {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rounds == nil {
		r.rounds = map[types.NamespacedName]*round{}
	}
	name := client.ObjectKeyFromObject(b)
	known := r.rounds[name]
	if known == nil || known.benchmark != b.UID || known.number != b.Status.Round.Number {
		r.drop(name)
		known = &round{
			benchmark: b.UID, number: b.Status.Round.Number,
			planned: map[plannedKey][sha256.Size]byte{}, own: map[types.UID]bool{}, forged: map[types.UID]*verdict.End{}, runs: map[types.UID]benchmark.Run{},
			conditions: map[benchmark.Conditions]benchmark.Conditions{},
		}
		r.rounds[name] = known
	}
	return known
}

// shared returns conditions whose texts are those of an earlier run with the same.
func (r *round) shared(c benchmark.Conditions) benchmark.Conditions {
	if known, ok := r.conditions[c]; ok {
		return known
	}
	r.conditions[c] = c
	return c
}

func (r *Reconciler) forget(benchmark types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(benchmark)
}

// drop drops what is known of a round, and gives back what it holds. r.mu must be held.
func (r *Reconciler) drop(benchmark types.NamespacedName) {
	if known := r.rounds[benchmark]; known != nil {
		_ = r.Memory.Hold(memory.Owner{Namespace: benchmark.Namespace, UID: string(known.benchmark)}, memory.Rounds, 0) // less is always accepted
	}
	delete(r.rounds, benchmark)
}

// keep accounts for runs of the round under way, or of its baseline, that are kept until its end. Without room for them, none of the
// round's runs keeps its levels, as in an artifact for which they are too large. Without room even then, all is forgotten and read again
// later, so that a round that waits holds nothing for which others wait.
func (r *Reconciler) keep(b *v1alpha1.Benchmark, known *round, runs ...*benchmark.Run) error {
	hold := func() error {
		held := known.held
		for _, run := range runs {
			if known.levelsOmitted {
				run.Levels = nil
			}
			held += run.Bytes()
		}
		err := r.Memory.Hold(ownerOf(b), memory.Rounds, held)
		if err == nil {
			known.held = held
		}
		return err
	}
	err := hold()
	if err != nil && !known.levelsOmitted {
		known.levelsOmitted = true
		for uid, run := range known.runs {
			with := run.Bytes()
			run.Levels = nil
			known.runs[uid] = run
			known.held -= with - run.Bytes()
		}
		err = hold()
	}
	if err != nil {
		r.forget(client.ObjectKeyFromObject(b))
		return fmt.Errorf("keep the runs of the round: %w", err)
	}
	return nil
}
