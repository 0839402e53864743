// Command overhead measures what Assay itself adds to a run, on the cluster of KUBECONFIG, and prints medians with their
// bounds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

const help = `Usage: overhead [flags]

Measures what Assay itself adds to a run, and prints medians:

  pods Running → first request   from the last pod of the run being seen Running to its first measured request
  last response → Finished       from the last response to the condition Finished being seen in the resource
  start skew                     between the first client's start and the last one's
  apply → first request          from the run's creation to its first measured request

Times of cluster events are those at which this program's watches receive them. Times of the load are
those of the clients. All of them come from the same host's clock.
`

// sample holds the durations of one run.
type sample struct {
	toFirstRequest, toFinished, skew, fromApply time.Duration
}

func main() {
	runs := flag.Int("runs", 10, "Number of runs.")
	namespace := flag.String("namespace", "default", "Namespace of the runs.")
	image := flag.String("image", harness.ServerImage, "Image of the target.")
	(&harness.Program{Name: "overhead", Help: help, Run: func(ctx context.Context, _ []string) error {
		return measure(ctx, *namespace, *image, *runs)
	}}).Main()
}

func measure(ctx context.Context, namespace, image string, runs int) error {
	c, err := harness.Connect(harness.RequestTimeout)
	if err != nil {
		return err
	}
	before := harness.LoadAverage()
	var samples []sample
	for i := range runs {
		s, err := runOnce(ctx, c, namespace, fmt.Sprintf("overhead-%d", i), image)
		if err != nil {
			return fmt.Errorf("run %d: %w", i, err)
		}
		fmt.Fprintf(os.Stderr, "run %d of %d: %+v\n", i+1, runs, s)
		samples = append(samples, s)
	}
	checks := check(samples)
	fmt.Printf("\n%s:\n\n%s", harness.Machine(before), checks.Table())
	return checks.Err()
}

// runOnce creates a run, waits for its end and deletes it.
func runOnce(ctx context.Context, c *harness.Cluster, namespace, name, image string) (s sample, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	run := wrapper.NewRun(namespace, name, image).Lane("overhead").Path("/fixed/1000/100").
		TargetResources("300m", "128Mi").Clients(2, "500m", "128Mi").Requests(4, 2000).Obj()
	pods, err := c.Watch(ctx, &corev1.PodList{}, client.InNamespace(namespace), client.MatchingLabels{manifest.LabelRun: name})
	if err != nil {
		return sample{}, fmt.Errorf("watch pods: %w", err)
	}
	running := make(chan time.Time, 1)
	go func() { running <- lastRunning(pods.ResultChan()) }()
	defer pods.Stop()

	applied := time.Now()
	if err := c.Create(ctx, run); err != nil {
		return sample{}, fmt.Errorf("create the run: %w", err)
	}
	defer func() { err = errors.Join(err, remove(ctx, c, run)) }()
	finished, at, err := waitUntilFinished(ctx, c, run)
	if err != nil {
		return sample{}, err
	}
	pods.Stop()
	r, err := c.Result(ctx, finished, time.Minute)
	if err != nil {
		return sample{}, err
	}
	first, last, _ := result.Window(r.Clients)
	return sample{
		toFirstRequest: time.UnixMicro(first).Sub(<-running),
		toFinished:     at.Sub(time.UnixMicro(last)),
		skew:           time.Duration(r.StartSkewMicroseconds()) * time.Microsecond,
		fromApply:      time.UnixMicro(first).Sub(applied),
	}, nil
}

// remove deletes a run and waits until its pods are gone, because the next run waits for
// that in its lane (queue of runs).
func remove(ctx context.Context, c *harness.Cluster, run *v1alpha1.BenchmarkRun) error {
	ctx = context.WithoutCancel(ctx)
	if err := c.Delete(ctx, run); err != nil {
		return fmt.Errorf("delete the run: %w", err)
	}
	return harness.Await(ctx, time.Minute, func(ctx context.Context) error {
		pods, err := c.Pods(ctx, run.Namespace, client.MatchingLabels{manifest.LabelRun: run.Name})
		if err == nil && len(pods) > 0 {
			err = fmt.Errorf("%d pods of the run are left", len(pods))
		}
		return err
	})
}

// waitUntilFinished waits for the end of a run and returns the time at which the watch received it.
func waitUntilFinished(ctx context.Context, c *harness.Cluster, run *v1alpha1.BenchmarkRun) (*v1alpha1.BenchmarkRun, time.Time, error) {
	events, err := c.Watch(ctx, &v1alpha1.BenchmarkRunList{}, client.InNamespace(run.Namespace), client.MatchingFields{"metadata.name": run.Name},
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: run.ResourceVersion}})
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("watch the run: %w", err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		seen, ok := event.Object.(*v1alpha1.BenchmarkRun)
		if ok && meta.IsStatusConditionTrue(seen.Status.Conditions, v1alpha1.ConditionFinished) {
			return seen, time.Now(), nil
		}
	}
	return nil, time.Time{}, fmt.Errorf("the watch ended before the run did: %w", ctx.Err())
}

// lastRunning returns the time at which the last pod was first seen Running. It returns when the watch
// has stopped.
func lastRunning(events <-chan watch.Event) (last time.Time) {
	seen := map[types.UID]bool{}
	for event := range events {
		pod, ok := event.Object.(*corev1.Pod)
		if ok && pod.Status.Phase == corev1.PodRunning && !seen[pod.UID] {
			seen[pod.UID], last = true, time.Now()
		}
	}
	return last
}

// check compares the medians of the samples with their bounds.
func check(samples []sample) *harness.Checks {
	var checks harness.Checks
	for _, row := range []struct {
		name  string
		of    func(sample) time.Duration
		bound time.Duration
	}{
		{"pods Running → first request", func(s sample) time.Duration { return s.toFirstRequest }, time.Second},
		{"last response → Finished", func(s sample) time.Duration { return s.toFinished }, time.Second},
		{"start skew of two clients", func(s sample) time.Duration { return s.skew }, 5 * time.Millisecond},
		{"apply → first request", func(s sample) time.Duration { return s.fromApply }, 2 * time.Second},
	} {
		var values []time.Duration
		for _, s := range samples {
			values = append(values, row.of(s))
		}
		median := harness.Median(values)
		round := func(d time.Duration) string { return d.Round(10 * time.Microsecond).String() }
		checks.Add(row.name, fmt.Sprintf("median %s (%s to %s)", round(median), round(slices.Min(values)), round(slices.Max(values))),
			"≤ "+row.bound.String(), median <= row.bound)
	}
	return &checks
}
