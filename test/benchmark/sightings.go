package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/test/harness"
)

// maxPause bounds the time from the end of a run to the first pod of the next.
const maxPause = 2 * time.Second

// sighting holds what was seen of the runs with one name. Times are those at which the watch received it.
type sighting struct {
	name string
	// round is the Benchmark's name and the number of the round.
	round string
	// uids are more than one if the run was made again.
	uids                        []types.UID
	created, firstPod, finished time.Time
}

// sightings records the runs of a namespace in the order in which they were first seen.
type sightings struct {
	mu   sync.Mutex
	runs []*sighting
}

// watch watches the runs and pods of a namespace until ctx is done.
func watch(ctx context.Context, c *harness.Cluster, namespace string) (*sightings, error) {
	watched, err := cache.New(c.Config, cache.Options{Scheme: c.Scheme(), DefaultNamespaces: map[string]cache.Config{namespace: {}}})
	if err != nil {
		return nil, err
	}
	s := &sightings{}
	go func() { _ = watched.Start(ctx) }()
	for _, obj := range []client.Object{&v1alpha1.BenchmarkRun{}, &corev1.Pod{}} {
		informer, err := watched.GetInformer(ctx, obj)
		if err != nil {
			return nil, fmt.Errorf("watch %T: %w", obj, err)
		}
		if _, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { s.record(obj, time.Now()) },
			UpdateFunc: func(_, obj any) { s.record(obj, time.Now()) },
		}); err != nil {
			return nil, fmt.Errorf("watch %T: %w", obj, err)
		}
	}
	return s, nil
}

func (s *sightings) record(obj any, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch obj := obj.(type) {
	case *v1alpha1.BenchmarkRun:
		seen := s.of(obj.Name)
		seen.round = obj.Labels[benchmark.LabelBenchmark] + "/" + obj.Labels[benchmark.LabelRound]
		if !slices.Contains(seen.uids, obj.UID) {
			seen.uids = append(seen.uids, obj.UID)
		}
		if seen.created.IsZero() {
			seen.created = now
		}
		if seen.finished.IsZero() && meta.IsStatusConditionTrue(obj.Status.Conditions, v1alpha1.ConditionFinished) {
			seen.finished = now
		}
	case *corev1.Pod:
		if seen := s.of(obj.Labels[manifest.LabelRun]); seen.firstPod.IsZero() {
			seen.firstPod = now
		}
	}
}

func (s *sightings) of(name string) *sighting {
	i := slices.IndexFunc(s.runs, func(seen *sighting) bool { return seen.name == name })
	if i < 0 {
		i = len(s.runs)
		s.runs = append(s.runs, &sighting{name: name})
	}
	return s.runs[i]
}

// all returns the runs in the order of their creation. A run of which only a pod was seen is missing.
func (s *sightings) all() []sighting {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []sighting
	for _, seen := range s.runs {
		if !seen.created.IsZero() {
			all = append(all, *seen)
		}
	}
	slices.SortStableFunc(all, func(a, b sighting) int { return a.created.Compare(b.created) })
	return all
}

// pauses returns the times from the end of each run to the first pod of the next run of the same round that doesn't begin
// before that, as those of a block do, and the number of those that weren't seen.
func pauses(runs []sighting) (seen []time.Duration, unseen int) {
	for i := 1; i < len(runs); i++ {
		last, next := &runs[i-1], &runs[i]
		switch {
		case last.round != next.round:
		case last.finished.IsZero() || next.firstPod.IsZero():
			unseen++
		case next.firstPod.After(last.finished):
			seen = append(seen, next.firstPod.Sub(last.finished))
		}
	}
	slices.Sort(seen)
	return seen, unseen
}

// describePauses returns the median and the longest pause in words.
func describePauses(seen []time.Duration, unseen int) string {
	text := "none seen"
	if n := len(seen); n > 0 {
		text = fmt.Sprintf("median %s, longest %s of %d", harness.Median(seen).Round(time.Millisecond), seen[n-1].Round(time.Millisecond), n)
	}
	if unseen > 0 {
		text += ", " + strconv.Itoa(unseen) + " not seen"
	}
	return text
}

// checkPauses checks the times between the runs of each round.
func (s *stage) checkPauses() {
	seen, unseen := pauses(s.seen.all())
	met := len(seen) > 0 && unseen == 0 && seen[len(seen)-1] <= maxPause
	s.check("Finished → next run's first pod", describePauses(seen, unseen), "≤ "+maxPause.String(), met)
}
