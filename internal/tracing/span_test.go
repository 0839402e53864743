package tracing

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/test/wrapper"
)

// begin is the creation time of the runs and the start of the rounds of these tests.
var begin = time.Unix(1_000_000, 0).UTC()

// event is an event at a time after the run's creation.
type event struct {
	name  v1alpha1.TimelineEvent
	after time.Duration
}

// whole is the timeline of a run with a warm-up. The last client started at 9.5 s.
var whole = []event{
	{v1alpha1.EventQueued, 100 * time.Millisecond}, {v1alpha1.EventStarting, 2 * time.Second}, {v1alpha1.EventTargetReady, 5 * time.Second},
	{v1alpha1.EventClientsReady, 6 * time.Second}, {v1alpha1.EventWarmingUp, 6100 * time.Millisecond}, {v1alpha1.EventMeasuring, 9 * time.Second},
	{v1alpha1.EventCollecting, 15 * time.Second}, {v1alpha1.EventStoring, 15200 * time.Millisecond}, {v1alpha1.EventFinished, 15700 * time.Millisecond},
}

// newRun returns a run of the third round of a Benchmark, which ended with a reason.
func newRun(reason string, events []event) *v1alpha1.BenchmarkRun {
	br := wrapper.NewRun("shop", "run", "tomcat:9.0").Clients(2, "1", "128Mi").Lane("nightly").Obj()
	br.UID, br.CreationTimestamp = "4d3b6b6c-1111-4222-8333-444455556666", metav1.NewTime(begin)
	br.Labels = map[string]string{benchmark.LabelRound: "3"}
	br.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "Benchmark", Name: "sizes", UID: "round-uid", Controller: ptr.To(true),
	}}
	succeeded := metav1.ConditionFalse
	status := &br.Status
	status.Verdict = v1alpha1.VerdictError
	if reason == v1alpha1.ReasonCompleted {
		succeeded = metav1.ConditionTrue
		status.Verdict = v1alpha1.VerdictPassed
		status.MeasurementTime = ptr.To(metav1.NewMicroTime(begin.Add(9500 * time.Millisecond)))
		status.Result = &v1alpha1.ResultStatus{
			Requests: ptr.To(int64(1000)), DurationMicroseconds: ptr.To(int64(5_000_000)), Errors: &v1alpha1.ErrorCounts{Total: ptr.To(int64(3))},
		}
		status.Artifact = &v1alpha1.ArtifactReference{SizeBytes: ptr.To(int64(4096))}
	}
	status.Target = &v1alpha1.TargetStatus{Node: "node-1"}
	status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionSucceeded, Status: succeeded, Reason: reason, Message: "the server printed: password=hunter2"},
		{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue, Reason: reason},
		{Type: v1alpha1.ConditionValid, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonWarnings},
	}
	for _, e := range events {
		status.Timeline = append(status.Timeline, v1alpha1.TimelineEntry{Event: e.name, Time: metav1.NewMicroTime(begin.Add(e.after))})
	}
	if n := len(events); n > 0 {
		status.CompletionTime = ptr.To(metav1.NewTime(begin.Add(events[n-1].after).Truncate(time.Second)))
	}
	return br
}

// described returns the spans of a trace with their times after the run's creation.
func described(t *trace) string {
	var lines []string
	for _, s := range t.spans {
		line := fmt.Sprintf("%s %s-%s", s.name, s.start.Sub(begin), s.end.Sub(begin))
		if s.failure != "" {
			line += " " + s.failure
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestSpansOfRun(t *testing.T) {
	s := time.Second
	for name, test := range map[string]struct {
		reason string
		events []event
		want   string
	}{
		"completed": {v1alpha1.ReasonCompleted, whole, `
BenchmarkRun 0s-15.7s
queue 0s-2s
start target 2s-5s
wait for clients 5s-6s
prepare load 6s-6.1s
warm up 6.1s-9.5s
measure 9.5s-14.5s
collect 14.5s-15.2s
store 15.2s-15.7s`},
		"the target crashed": {v1alpha1.ReasonTargetCrashed, []event{
			{v1alpha1.EventQueued, 0}, {v1alpha1.EventStarting, 2 * s}, {v1alpha1.EventTargetReady, 5 * s}, {v1alpha1.EventFinished, 7 * s},
		}, `
BenchmarkRun 0s-7s TargetCrashed
queue 0s-2s
start target 2s-5s
wait for clients 5s-7s TargetCrashed`},
		"admitted at once": {v1alpha1.ReasonDeadlineExceeded, []event{{v1alpha1.EventStarting, s}, {v1alpha1.EventFinished, 60 * s}}, `
BenchmarkRun 0s-1m0s DeadlineExceeded
queue 0s-1s
start target 1s-1m0s DeadlineExceeded`},
		"never admitted": {v1alpha1.ReasonInvalidSpec, []event{{v1alpha1.EventFinished, s}}, `
BenchmarkRun 0s-1s InvalidSpec`},
		"clients before the target": {v1alpha1.ReasonClientLost, []event{
			{v1alpha1.EventStarting, s}, {v1alpha1.EventClientsReady, 2 * s}, {v1alpha1.EventTargetReady, 3 * s}, {v1alpha1.EventMeasuring, 4 * s}, {v1alpha1.EventFinished, 5 * s},
		}, `
BenchmarkRun 0s-5s ClientLost
queue 0s-1s
start target 1s-3s
wait for clients 3s-4s
measure 4s-5s ClientLost`},
		"a script": {v1alpha1.ReasonScriptException, []event{
			{v1alpha1.EventStarting, s}, {v1alpha1.EventTargetReady, 2 * s}, {v1alpha1.EventClientsReady, 3 * s}, {v1alpha1.EventSettingUp, 3 * s},
			{v1alpha1.EventMeasuring, 4 * s}, {v1alpha1.EventTearingDown, 8 * s}, {v1alpha1.EventFinished, 9 * s},
		}, `
BenchmarkRun 0s-9s ScriptException
queue 0s-1s
start target 1s-2s
wait for clients 2s-3s
prepare load 3s-3s
set up 3s-4s
measure 4s-8s
tear down 8s-9s ScriptException`},
		"the clock was set back": {v1alpha1.ReasonClientLost, []event{
			{v1alpha1.EventStarting, 10 * s}, {v1alpha1.EventTargetReady, 4 * s}, {v1alpha1.EventFinished, 5 * s},
		}, `
BenchmarkRun 0s-10s ClientLost
queue 0s-10s
start target 10s-10s
wait for clients 10s-10s ClientLost`},
		"suspended until it was deleted": {v1alpha1.ReasonDeadlineExceeded, []event{{v1alpha1.EventSuspended, s}, {v1alpha1.EventFinished, 2 * s}}, `
BenchmarkRun 0s-2s DeadlineExceeded
suspended 1s-2s DeadlineExceeded`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(strings.TrimPrefix(test.want, "\n"), described(ofRun(newRun(test.reason, test.events)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSpansOfEarlierVersion has a run without a timeline.
func TestSpansOfEarlierVersion(t *testing.T) {
	br := newRun(v1alpha1.ReasonCompleted, whole)
	br.Status.Timeline = nil
	if got := described(ofRun(br)); got != "BenchmarkRun 0s-15s" {
		t.Errorf("%s", got)
	}
}

// TestIDs checks that IDs only depend on UIDs and names, and differ.
func TestIDs(t *testing.T) {
	if a, b := traceID("run/a"), traceID("run/a"); a != b || !a.IsValid() {
		t.Errorf("%s and %s", a, b)
	}
	seen := map[string]bool{}
	for _, seed := range []string{"run/a", "run/b", roundSeed("a", 1), roundSeed("a", 11), roundSeed("b", 1)} {
		for _, id := range []string{traceID(seed).String(), spanID(seed, "queue").String(), spanID(seed, "store").String()} {
			if seen[id] {
				t.Errorf("%s has an ID of another", seed)
			}
			seen[id] = true
		}
	}
	// A changed formula would give the runs of a release other IDs than those of the one before.
	if got := traceID("run/4d3b6b6c-1111-4222-8333-444455556666").String(); got != wantTraceID {
		t.Errorf("trace ID %s", got)
	}
}

func TestSpanOfRound(t *testing.T) {
	b := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "sizes", UID: types.UID("round-uid")}}
	round := &v1alpha1.RoundStatus{Number: 3, StartTime: metav1.NewTime(begin), Trigger: v1alpha1.TriggerScheduled, Reason: v1alpha1.ReasonCancelled}
	failed := ofRound(b, round, v1alpha1.BenchmarkError, begin.Add(time.Hour))
	if got := described(failed); got != "Benchmark round 0s-1h0m0s Cancelled" {
		t.Errorf("%s", got)
	}
	if link := ofRun(newRun(v1alpha1.ReasonCompleted, whole)).link; link != failed.seed {
		t.Errorf("its run links to %s, the round is %s", link, failed.seed)
	}
	if got := described(ofRound(b, round, v1alpha1.BenchmarkPassed, begin.Add(-time.Hour))); got != "Benchmark round 0s-0s" {
		t.Errorf("%s", got)
	}
	alone := newRun(v1alpha1.ReasonCompleted, whole)
	alone.OwnerReferences = nil
	if link := ofRun(alone).link; link != "" {
		t.Errorf("a run of no Benchmark links to %s", link)
	}
}
