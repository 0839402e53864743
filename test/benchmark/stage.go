package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// stage holds the namespace and the lane in which a section makes its Benchmark.
type stage struct {
	*harness.Cluster
	*options
	*harness.Checks
	name      string
	namespace string
	seen      *sightings
}

// enter shows a section in a namespace of its own, which it watches.
func enter(ctx context.Context, c *harness.Cluster, o *options, checks *harness.Checks, of *section) error {
	return c.InNamespace(ctx, "assay-benchmark-", func(namespace string) error {
		watching, stop := context.WithCancel(ctx)
		defer stop()
		seen, err := watch(watching, c, namespace)
		if err != nil {
			return err
		}
		return of.show(ctx, &stage{Cluster: c, options: o, Checks: checks, name: of.name, namespace: namespace, seen: seen})
	})
}

// check records a value of the section with its bound.
func (s *stage) check(about, measured, bound string, met bool) {
	s.Add(s.name+": "+about, measured, bound, met)
}

// newBenchmark returns a Benchmark with a template in the lane of the section.
func (s *stage) newBenchmark(name string, run *wrapper.Run) *v1alpha1.Benchmark {
	b := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	b.Spec.Template.Spec = run.Lane("benchmark-" + s.name).Obj().Spec
	return b
}

// get reads a Benchmark again. It is decoded into an empty object: what the API server omits must be gone.
func (s *stage) get(ctx context.Context, b *v1alpha1.Benchmark) error {
	read := v1alpha1.Benchmark{}
	err := s.Get(ctx, client.ObjectKeyFromObject(b), &read)
	if err == nil {
		*b = read
	}
	return err
}

// change changes a Benchmark.
func (s *stage) change(ctx context.Context, b *v1alpha1.Benchmark, change func(*v1alpha1.Benchmark)) error {
	changed := b.DeepCopy()
	change(changed)
	return s.Patch(ctx, changed, client.MergeFrom(b))
}

// begin begins a round: the first by creating the Benchmark, others on request.
func (s *stage) begin(ctx context.Context, b *v1alpha1.Benchmark, number int64) error {
	if number == 1 {
		return s.Create(ctx, b)
	}
	return s.change(ctx, b, func(b *v1alpha1.Benchmark) {
		b.Annotations = map[string]string{v1alpha1.AnnotationRunRound: strconv.FormatInt(number, 10)}
	})
}

// ended returns nil when a round has ended.
func (s *stage) ended(ctx context.Context, b *v1alpha1.Benchmark, number int64) error {
	if err := s.get(ctx, b); err != nil {
		return err
	}
	if r := b.Status.Round; r == nil || r.Number < number || r.CompletionTime == nil || !meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionFinished) {
		return fmt.Errorf("round %d has not ended: %s", number, lifecycle.Succeeded(b).Message)
	}
	return nil
}

// round makes a round and returns what is stored of it.
func (s *stage) round(ctx context.Context, b *v1alpha1.Benchmark, number int64, limit time.Duration) (*benchmark.Round, error) {
	if err := s.begin(ctx, b, number); err != nil {
		return nil, fmt.Errorf("begin round %d: %w", number, err)
	}
	if err := harness.Await(ctx, limit, func(ctx context.Context) error { return s.ended(ctx, b, number) }); err != nil {
		return nil, err
	}
	return s.stored(ctx, b)
}

// stored returns the artifact of a Benchmark's round.
func (s *stage) stored(ctx context.Context, b *v1alpha1.Benchmark) (*benchmark.Round, error) {
	data, err := s.Artifact(ctx, b.Namespace, b.Status.Round.Artifact)
	if err != nil {
		return nil, fmt.Errorf("round %d: %w: %s", b.Status.Round.Number, err, lifecycle.Succeeded(b).Message)
	}
	return benchmark.DecodeRound(data)
}
