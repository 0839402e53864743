package api

import (
	"context"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/benchmark/verdict"
	"github.com/assay-dev/assay/internal/result"
)

// outcome says how a run with a verdict ends, and what tools must say of it.
type outcome struct {
	succeeded, valid, met metav1.ConditionStatus
	reason                string
	// message is that of the condition Stalled, finished that of Finished, throughput the value in the status.
	message, finished, throughput string
	// code is the exit code of kubectl assay watch.
	code int
}

// verdicts has an outcome for each verdict, and one without a verdict for a run that doesn't finish.
var verdicts = map[v1alpha1.Verdict]outcome{
	v1alpha1.VerdictPassed:  {metav1.ConditionTrue, metav1.ConditionTrue, metav1.ConditionTrue, v1alpha1.ReasonCompleted, "", "Completed.", "8282.17", 0},
	v1alpha1.VerdictFailed:  {metav1.ConditionTrue, metav1.ConditionTrue, metav1.ConditionFalse, v1alpha1.ReasonThresholdsMissed, "LatencyP99 is 51ms.", "Completed.", "8282.17", 2},
	v1alpha1.VerdictInvalid: {metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown, "ClientSaturated", "Client 0 was saturated.", "Completed.", "8282.17", 3},
	v1alpha1.VerdictError:   {metav1.ConditionFalse, metav1.ConditionFalse, metav1.ConditionFalse, v1alpha1.ReasonTargetCrashed, "The server exited.", "The server exited.", "", 1},
	"":                      {metav1.ConditionUnknown, "", "", v1alpha1.ReasonMeasuring, "", "", "", 0},
}

// operate plays the operator for the runs that are created in a namespace from now on: each measures, and then ends
// with the verdict, unless that is empty.
func operate(t *testing.T, namespace string, verdict v1alpha1.Verdict) {
	t.Helper()
	watcher, err := client.NewWithWatch(apiConfig, client.Options{Scheme: apiClient.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	events, err := watcher.Watch(t.Context(), &v1alpha1.BenchmarkRunList{}, client.InNamespace(namespace))
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for event := range events.ResultChan() {
			run, is := event.Object.(*v1alpha1.BenchmarkRun)
			if event.Type != watch.Added || !is {
				continue
			}
			if err := end(t.Context(), run, verdict); err != nil {
				t.Error(err)
			}
		}
	})
	t.Cleanup(func() { events.Stop(); running.Wait() })
}

// conclude plays the operator for the Benchmarks that are created in a namespace from now on: a round of each, and each that is asked for,
// ends with the verdict.
func conclude(t *testing.T, namespace string, outcome v1alpha1.BenchmarkVerdict) {
	t.Helper()
	watcher, err := client.NewWithWatch(apiConfig, client.Options{Scheme: apiClient.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	events, err := watcher.Watch(t.Context(), &v1alpha1.BenchmarkList{}, client.InNamespace(namespace))
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for event := range events.ResultChan() {
			b, is := event.Object.(*v1alpha1.Benchmark)
			if event.Type == watch.Deleted || !is || b.Status.Round != nil && ptr.Deref(b.Status.LastRequest, "") == b.Annotations[v1alpha1.AnnotationRunRound] {
				continue
			}
			lifecycle.Begin(b, v1alpha1.TriggerCreated, "hash", 2, 1, time.Now())
			b.Status.ObservedGeneration = &b.Generation
			lifecycle.Complete(b, &verdict.End{Verdict: outcome, Reason: v1alpha1.ReasonCompleted, Message: "The message."}, time.Now())
			if err := apiClient.Status().Update(t.Context(), b); err != nil {
				t.Error(err)
			}
		}
	})
	t.Cleanup(func() { events.Stop(); running.Wait() })
}

func end(ctx context.Context, run *v1alpha1.BenchmarkRun, verdict v1alpha1.Verdict) error {
	set := func(kind string, status metav1.ConditionStatus, reason, message string) {
		run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: run.Generation, LastTransitionTime: metav1.Now(),
		})
	}
	run.Status.ObservedGeneration = &run.Generation
	set(v1alpha1.ConditionFinished, metav1.ConditionFalse, v1alpha1.ReasonActive, "Measures.")
	set(v1alpha1.ConditionSucceeded, metav1.ConditionUnknown, v1alpha1.ReasonMeasuring, "Measures.")
	if err := apiClient.Status().Update(ctx, run); err != nil || verdict == "" {
		return err
	}
	o := verdicts[verdict]
	run.Status.Conditions, run.Status.Verdict = nil, verdict
	set(v1alpha1.ConditionFinished, metav1.ConditionTrue, o.reason, o.finished)
	set(v1alpha1.ConditionSucceeded, o.succeeded, o.reason, o.finished)
	set(v1alpha1.ConditionValid, o.valid, o.reason, o.message)
	set(v1alpha1.ConditionThresholdsMet, o.met, o.reason, o.message)
	stalled := metav1.ConditionTrue
	if verdict == v1alpha1.VerdictPassed {
		stalled = metav1.ConditionFalse
	}
	set(v1alpha1.ConditionStalled, stalled, o.reason, o.message)
	if o.throughput != "" {
		if err := store(ctx, run, o.throughput); err != nil {
			return err
		}
	}
	return apiClient.Status().Update(ctx, run)
}

// store creates the artifact of a run and fills in its result.
func store(ctx context.Context, run *v1alpha1.BenchmarkRun, throughput v1alpha1.Rate) error {
	measured := result.Client{}
	measured.Requests, measured.StartedAt, measured.EndedAt = 100, 1_000_000, 3_000_000
	for phase := range result.Phases {
		for n := range int64(100) {
			measured.Latencies.Of(phase).Record(1000 + n)
		}
	}
	second := result.Second{Seconds: 1, Requests: 100}
	second.SetLatency(measured.Latencies.Get(result.Total))
	r := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Run:           result.Run{Namespace: run.Namespace, Name: run.Name, UID: string(run.UID), Load: result.LoadClosed},
		Series:        []result.Second{second},
	}
	r.AddClients([]result.Client{measured})
	data, err := artifact.Encode(r, artifact.ConfigMapLimit)
	if err != nil {
		return err
	}
	stored := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: run.Namespace, Name: run.Name + "-result"},
		BinaryData: map[string][]byte{artifact.Key: data},
	}
	if err := apiClient.Create(ctx, stored); err != nil {
		return err
	}
	identity := artifact.Identify(data)
	run.Status.Artifact = &v1alpha1.ArtifactReference{
		ConfigMap: &v1alpha1.ArtifactConfigMap{Name: stored.Name, Key: artifact.Key}, SizeBytes: &identity.SizeBytes, SHA256: identity.SHA256,
	}
	count, p99 := int64(100), int64(30143)
	run.Status.Result = &v1alpha1.ResultStatus{
		Requests: &count, RequestsPerSecond: throughput,
		Latency: &v1alpha1.PhaseLatencies{Total: &v1alpha1.Latency{Count: &count, P99Microseconds: &p99}},
	}
	now := metav1.NewTime(time.Now())
	run.Status.CompletionTime = &now
	return nil
}
