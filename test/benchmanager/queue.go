package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/test/harness"
)

// The bounds of the case queue.
const (
	maxAdmission = time.Second
	maxStart     = 10 * time.Second
	// maxCalls bounds the API calls per run.
	maxCalls = 60.0

	queueLane    = "queue"
	queueClients = 2
	queueSeconds = 5
	// quiet is the time without API calls after which a manager counts as started.
	quiet = 3 * time.Second
)

// measureQueue measures a manager that starts with many finished and many waiting runs, and gives the
// lane to some of these.
func measureQueue(ctx context.Context, s *settings, checks *harness.Checks) (err error) {
	step("queue: start the API server")
	c, err := startCluster(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	template, stored, err := c.template(ctx, s)
	if err != nil {
		return fmt.Errorf("run the template: %w", err)
	}
	size := len(stored.BinaryData[artifact.Key])
	step("queue: create %d finished runs with artifacts of %d bytes, and %d waiting ones", s.finished, size, s.queued)
	if err := c.seed(ctx, s, template, stored); err != nil {
		return fmt.Errorf("create runs: %w", err)
	}
	_, from, err := c.calls(0)
	if err != nil {
		return err
	}
	w, err := c.watchRuns(ctx)
	if err != nil {
		return err
	}
	p, err := c.startManager(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := c.await(ctx, nil, p, func() (bool, error) { return len(w.admissions()) > 0, nil }); err != nil {
		return fmt.Errorf("wait for the first admission: %w", err)
	}
	first := w.admissions()[0].at.Sub(p.started)
	step("queue: the first run was admitted after %s", duration(first))
	startup, from, err := c.settle(ctx, p, from)
	if err != nil {
		return err
	}
	idle, err := p.used()
	if err != nil {
		return err
	}
	step("queue: %d API calls to start; %d runs get the lane (RSS %s, at most %s)", startup.total(), s.turns, mebibytes(idle.resident), mebibytes(idle.peak))
	if s.profile != "" {
		if err := p.profile(ctx, s.profile, time.Second); err != nil {
			return err
		}
	}
	k, err := c.startKubelet(ctx, p, newWorkload(queueSeconds))
	if err != nil {
		return err
	}
	if err := c.await(ctx, k, p, func() (bool, error) { return len(w.admissions()) > s.turns, nil }); err != nil {
		return fmt.Errorf("wait for the runs: %w", err)
	}
	counted, _, err := c.calls(from)
	if err != nil {
		return err
	}
	end, err := p.used()
	if err != nil {
		return err
	}
	var waits []time.Duration
	for i, a := range w.admissions()[:s.turns] {
		run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: a.run}}
		if ok, err := c.succeeded(ctx, run); err != nil || !ok {
			return errors.Join(err, fmt.Errorf("run %s finished: %t", a.run, ok))
		}
		waits = append(waits, w.admissions()[i+1].at.Sub(slices.MaxFunc([]time.Time{k.lastGone(a.run), w.finished(a.run)}, time.Time.Compare)))
	}
	what := fmt.Sprintf("%d finished runs with artifacts of %d KiB, %d waiting", s.finished, size>>10, s.queued)
	harness.AtMost(checks, what+": start of the process to the first admission", first, maxStart, duration)
	harness.AtMost(checks, "peak RSS", end.peak, maxResident, mebibytes)
	checks.Value("RSS after the start", mebibytes(idle.resident))
	checks.Value("CPU time of the start", idle.cpu.Round(10*time.Millisecond).String())
	checks.Value("API calls of the start", fmt.Sprintf("%d: %s", startup.total(), startup.per(1)))
	checks.Value(fmt.Sprintf("lane free to the next run admitted, median of %d", s.turns), duration(quantile(waits, 0.5)))
	harness.AtMost(checks, "the same, longest", slices.Max(waits), maxAdmission, duration)
	harness.AtMost(checks, fmt.Sprintf("API calls per run of %d clients and %d s", queueClients, queueSeconds), float64(counted.total())/float64(s.turns), maxCalls, count)
	checks.Value("by kind", counted.per(s.turns))
	checks.Value("CPU time per run", ((end.cpu - idle.cpu) / time.Duration(s.turns)).Round(time.Millisecond).String())
	return nil
}

// template has a manager complete a run, and returns it with its artifact.
func (c *cluster) template(ctx context.Context, s *settings) (_ *v1alpha1.BenchmarkRun, _ *corev1.ConfigMap, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p, err := c.startManager(s)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	k, err := c.startKubelet(ctx, p, newWorkload(queueSeconds))
	if err != nil {
		return nil, nil, err
	}
	run := newRun("template", queueLane, queueClients, queueSeconds)
	if err := c.Create(ctx, run); err != nil {
		return nil, nil, err
	}
	if err := c.await(ctx, k, p, func() (bool, error) { return c.succeeded(ctx, run) }); err != nil {
		return nil, nil, err
	}
	var stored corev1.ConfigMap
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: manifest.ArtifactName(run)}, &stored); err != nil {
		return nil, nil, err
	}
	return run, &stored, c.await(ctx, k, p, func() (bool, error) {
		var pods corev1.PodList
		err := c.List(ctx, &pods, client.InNamespace(namespace))
		return len(pods.Items) == 0, err
	})
}

// seed creates runs that are like the template and finished an hour ago, and then waiting ones.
func (c *cluster) seed(ctx context.Context, s *settings, template *v1alpha1.BenchmarkRun, stored *corev1.ConfigMap) error {
	if err := harness.Parallel(ctx, s.finished, func(i int) error {
		run := newRun(fmt.Sprintf("finished-%d", i), queueLane, queueClients, queueSeconds)
		if err := c.Create(ctx, run); err != nil {
			return err
		}
		run.Status = *template.Status.DeepCopy()
		run.Status.CompletionTime = ptr.To(metav1.NewTime(template.Status.CompletionTime.Add(-time.Hour)))
		run.Status.Artifact.ConfigMap.Name = manifest.ArtifactName(run)
		if err := c.Status().Update(ctx, run); err != nil {
			return err
		}
		return c.Create(ctx, manifest.Artifact(run, stored.BinaryData[artifact.Key], nil))
	}); err != nil {
		return err
	}
	return harness.Parallel(ctx, s.queued, func(i int) error {
		return c.Create(ctx, newRun(fmt.Sprintf("waiting-%d", i), queueLane, queueClients, queueSeconds))
	})
}

// settle waits until the manager makes no more API calls. It returns those since a position of the
// audit log, and the position of the end.
func (c *cluster) settle(ctx context.Context, p *process, from int64) (calls, int64, error) {
	all, changed := calls{}, time.Now()
	err := c.await(ctx, nil, p, func() (bool, error) {
		more, end, err := c.calls(from)
		if err != nil {
			return false, err
		}
		if more.total() > 0 {
			changed = time.Now()
		}
		for kind, n := range more {
			all[kind] += n
		}
		from = end
		return time.Since(changed) > quiet, nil
	})
	return all, from, err
}

// runWatch notes when runs are admitted and when they finish.
type runWatch struct {
	mu       sync.Mutex
	admitted []admission
	known    map[string]bool
	ends     map[string]time.Time
}

// admission is the time at which a run's admission was seen.
type admission struct {
	run string
	at  time.Time
}

// watchRuns watches the runs that change from now on.
func (c *cluster) watchRuns(ctx context.Context) (*runWatch, error) {
	var list metav1.PartialObjectMetadataList
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("BenchmarkRunList"))
	if err := c.List(ctx, &list, client.InNamespace(namespace), client.Limit(1)); err != nil {
		return nil, err
	}
	events, err := c.Watch(ctx, &v1alpha1.BenchmarkRunList{}, client.InNamespace(namespace),
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	if err != nil {
		return nil, err
	}
	w := &runWatch{known: map[string]bool{}, ends: map[string]time.Time{}}
	context.AfterFunc(ctx, events.Stop)
	go func() {
		for event := range events.ResultChan() {
			if run, ok := event.Object.(*v1alpha1.BenchmarkRun); ok {
				w.see(run, time.Now())
			}
		}
	}()
	return w, nil
}

func (w *runWatch) see(run *v1alpha1.BenchmarkRun, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionAdmitted) && !w.known[run.Name] {
		w.known[run.Name] = true
		w.admitted = append(w.admitted, admission{run.Name, at})
	}
	if meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished) && w.ends[run.Name].IsZero() {
		w.ends[run.Name] = at
	}
}

func (w *runWatch) admissions() []admission {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.admitted)
}

func (w *runWatch) finished(run string) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ends[run]
}
