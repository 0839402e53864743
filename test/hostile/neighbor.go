package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

const (
	// neighborLimit bounds the wait for an admission or the begin of a round, and neighborEnd that for the end of a run.
	neighborLimit = time.Minute
	neighborEnd   = 3 * time.Minute
	// neighborPause is the time between two of its runs, and between two of its rounds.
	neighborPause = time.Second
	// neighborRequests is the number of requests of each of a run's two clients.
	neighborRequests = 500
)

// neighbor makes runs and rounds in a namespace that has nothing to do with the attacker.
type neighbor struct {
	*harness.Cluster
	namespace    string
	runs, rounds int
}

// lane returns one of a few lanes, so that a run doesn't wait for the pods of the one before it.
func lane(kind string, number int) string { return fmt.Sprintf("hostile-%s-%d", kind, number%4) }

// small returns a small run.
func (n *neighbor) small(name string) *wrapper.Run {
	return wrapper.NewRun(n.namespace, name, harness.ServerImage).Path("/fixed/2000/100").Clients(2, "50m", "128Mi").Requests(2, neighborRequests)
}

// run makes a run, and returns the time until it was admitted and what is wrong with it.
func (n *neighbor) run(ctx context.Context) (admitted time.Duration, problem error) {
	n.runs++
	run := n.small(fmt.Sprintf("neighbor-%d", n.runs)).Lane(lane("neighbor", n.runs)).Obj()
	defer func() { problem = errors.Join(problem, n.remove(ctx, run)) }()
	began := time.Now()
	if err := harness.Retry(ctx, func(ctx context.Context) error { return n.Create(ctx, run) }); err != nil {
		return time.Since(began), fmt.Errorf("create run %s: %w", run.Name, err)
	}
	err := harness.Await(ctx, neighborLimit, func(ctx context.Context) error {
		if err := n.Get(ctx, client.ObjectKeyFromObject(run), run); err != nil {
			return err
		}
		if harness.Condition(run, v1alpha1.ConditionAdmitted).Status != metav1.ConditionTrue {
			return errors.New("it has not been admitted")
		}
		return nil
	})
	admitted = time.Since(began)
	if err == nil {
		err = harness.Await(ctx, neighborEnd, func(ctx context.Context) error { return n.Finished(ctx, run) })
	}
	if err == nil {
		err = exact(run)
	}
	if err != nil {
		err = fmt.Errorf("run %s: %w", run.Name, err)
	}
	return admitted, err
}

// exact returns an error unless a run was completed and counted each request.
func exact(run *v1alpha1.BenchmarkRun) error {
	const want = 2 * neighborRequests
	if c := harness.Condition(run, v1alpha1.ConditionSucceeded); c.Reason != v1alpha1.ReasonCompleted {
		return fmt.Errorf("it ended with %s: %s", c.Reason, c.Message)
	}
	if r := run.Status.Result; r == nil || ptr.Deref(r.Requests, -1) != want || ptr.Deref(r.Errors.Total, -1) != 0 {
		return fmt.Errorf("its result is not %d requests without errors: %+v", want, r)
	}
	return nil
}

// round creates a Benchmark, and returns the time until its round had begun with its first run.
func (n *neighbor) round(ctx context.Context) (begun time.Duration, problem error) {
	n.rounds++
	b := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Namespace: n.namespace, Name: fmt.Sprintf("round-%d", n.rounds)}}
	b.Spec.Template.Spec = n.small("").Lane(lane("round", n.rounds)).Obj().Spec
	b.Spec.Repetitions = &v1alpha1.Repetitions{Min: ptr.To(int32(1))}
	defer func() { problem = errors.Join(problem, n.remove(ctx, b)) }()
	began := time.Now()
	if err := harness.Retry(ctx, func(ctx context.Context) error { return n.Create(ctx, b) }); err != nil {
		return time.Since(began), fmt.Errorf("create Benchmark %s: %w", b.Name, err)
	}
	err := harness.Await(ctx, neighborLimit, func(ctx context.Context) error {
		if err := n.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if b.Status.Round == nil || b.Status.Round.CurrentRun == nil {
			return errors.New("its round has not begun")
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("round of Benchmark %s: %w", b.Name, err)
	}
	return time.Since(began), err
}

// remove deletes an object and what it owns.
func (n *neighbor) remove(ctx context.Context, object client.Object) error {
	return harness.Retry(context.WithoutCancel(ctx), func(ctx context.Context) error {
		return client.IgnoreNotFound(n.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	})
}
