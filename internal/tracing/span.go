// Package tracing describes runs and rounds as OpenTelemetry traces, from what their statuses record, and sends
// them to an OTLP receiver. Trace and span IDs are derived from the UIDs: a manager that is restarted, and doesn't
// know whether a trace was sent, sends the same one.
package tracing

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/run"
)

// Attributes of Assay's own. docs/observability.md lists them.
const (
	attributeRun        = attribute.Key("assay.benchmarkrun.name")
	attributeRunUID     = attribute.Key("assay.benchmarkrun.uid")
	attributeLane       = attribute.Key("assay.benchmarkrun.lane")
	attributeReason     = attribute.Key("assay.benchmarkrun.reason")
	attributeVerdict    = attribute.Key("assay.benchmarkrun.verdict")
	attributeValid      = attribute.Key("assay.benchmarkrun.valid")
	attributeClients    = attribute.Key("assay.benchmarkrun.clients")
	attributeRequests   = attribute.Key("assay.benchmarkrun.requests")
	attributeErrors     = attribute.Key("assay.benchmarkrun.errors")
	attributeArtifact   = attribute.Key("assay.benchmarkrun.artifact.size")
	attributeBenchmark  = attribute.Key("assay.benchmark.name")
	attributeRound      = attribute.Key("assay.benchmark.round.number")
	attributeTrigger    = attribute.Key("assay.benchmark.round.trigger")
	attributeRoundRuns  = attribute.Key("assay.benchmark.round.runs")
	attributeRoundEnd   = attribute.Key("assay.benchmark.round.verdict")
	attributeRoundCause = attribute.Key("assay.benchmark.round.reason")
)

// roundSpan is the name of a round's span, to which those of its runs link.
const roundSpan = "Benchmark round"

// span is a span of a trace. The first one of a trace is the parent of all others.
type span struct {
	name       string
	start, end time.Time
	attributes []attribute.KeyValue
	// failure is the reason for which it failed, or empty.
	failure string
}

// trace is the trace of a run or of a round.
type trace struct {
	// seed determines all IDs.
	seed  string
	spans []span
	// link is the seed of the trace that the first span links to, or empty.
	link string
}

// phases are the child spans of a run by the events with which they begin. One without an own span
// belongs to the one before.
var phases = map[v1alpha1.TimelineEvent]string{
	v1alpha1.EventQueued:       "queue",
	v1alpha1.EventSuspended:    "suspended",
	v1alpha1.EventStarting:     "start target",
	v1alpha1.EventTargetReady:  "wait for clients",
	v1alpha1.EventClientsReady: "prepare load",
	v1alpha1.EventSettingUp:    "set up",
	v1alpha1.EventWarmingUp:    "warm up",
	v1alpha1.EventMeasuring:    "measure",
	v1alpha1.EventTearingDown:  "tear down",
	v1alpha1.EventCollecting:   "collect",
	v1alpha1.EventStoring:      "store",
}

// ofRun returns the trace of a finished run.
func ofRun(br *v1alpha1.BenchmarkRun) *trace {
	succeeded := run.Succeeded(br)
	begin := br.CreationTimestamp.Time
	root := span{name: "BenchmarkRun", start: begin, end: begin, attributes: runAttributes(br)}
	if succeeded.Status != metav1.ConditionTrue {
		root.failure = succeeded.Reason
	}
	t := &trace{seed: "run/" + string(br.UID), spans: []span{root}}
	t.link = roundOf(br)
	for _, m := range milestones(br) {
		last := &t.spans[len(t.spans)-1]
		if m.at.Before(last.start) { // the clock was set, or has a coarser resolution
			m.at = last.start
		}
		if len(t.spans) > 1 {
			last.end = m.at
		}
		t.spans[0].end = m.at
		if name, ok := phases[m.event]; ok {
			t.spans = append(t.spans, span{name: name, start: m.at, end: m.at, attributes: phaseAttributes(br, m.event)})
		}
	}
	t.spans[len(t.spans)-1].failure = root.failure
	return t
}

// milestone is the begin of a phase, or the end of the run.
type milestone struct {
	event v1alpha1.TimelineEvent
	at    time.Time
}

// milestones returns the milestones of a run. The queue begins with the run's creation. The measurement lasts from
// the clients' common start time to the last one's end. Before the target was ready, nobody waited
// for clients.
func milestones(br *v1alpha1.BenchmarkRun) []milestone {
	status := &br.Status
	var all []milestone
	for i, entry := range status.Timeline {
		m := milestone{entry.Event, entry.Time.Time}
		if i == 0 && (m.event == v1alpha1.EventQueued || m.event == v1alpha1.EventStarting) {
			all = append(all, milestone{v1alpha1.EventQueued, br.CreationTimestamp.Time})
		}
		switch {
		case m.event == v1alpha1.EventQueued && i == 0:
			continue
		case m.event == v1alpha1.EventClientsReady && !has(all, v1alpha1.EventTargetReady):
			continue
		case m.event == v1alpha1.EventMeasuring && status.MeasurementTime != nil:
			m.at = status.MeasurementTime.Time
		case m.event == v1alpha1.EventCollecting || m.event == v1alpha1.EventTearingDown:
			if end := measurementEnd(status); !end.IsZero() && end.Before(m.at) && !has(all, v1alpha1.EventTearingDown) {
				m.at = end
			}
		}
		all = append(all, m)
	}
	if !has(all, v1alpha1.EventFinished) { // of an earlier version
		all = append(all, milestone{v1alpha1.EventFinished, ptr.Deref(status.CompletionTime, metav1.Time{}).Time})
	}
	return all
}

func has(all []milestone, event v1alpha1.TimelineEvent) bool {
	return slices.ContainsFunc(all, func(m milestone) bool { return m.event == event })
}

func measurementEnd(status *v1alpha1.BenchmarkRunStatus) time.Time {
	if status.MeasurementTime == nil || status.Result == nil || status.Result.DurationMicroseconds == nil {
		return time.Time{}
	}
	return status.MeasurementTime.Add(time.Duration(*status.Result.DurationMicroseconds) * time.Microsecond)
}

// runAttributes describes a run without what its user may have meant to be secret: neither URLs nor messages.
func runAttributes(br *v1alpha1.BenchmarkRun) []attribute.KeyValue {
	succeeded := run.Succeeded(br)
	valid := ptr.Deref(meta.FindStatusCondition(br.Status.Conditions, v1alpha1.ConditionValid), metav1.Condition{})
	attributes := []attribute.KeyValue{
		semconv.K8SNamespaceName(br.Namespace),
		attributeRun.String(br.Name),
		attributeRunUID.String(string(br.UID)),
		attributeLane.String(br.Spec.Lane),
		attributeReason.String(succeeded.Reason),
		attributeVerdict.String(string(br.Status.Verdict)),
		attributeValid.String(valid.Reason),
		attributeClients.Int64(int64(ptr.Deref(br.Spec.Clients.Replicas, 1))),
	}
	if succeeded.Status != metav1.ConditionTrue {
		attributes = append(attributes, semconv.ErrorTypeKey.String(succeeded.Reason))
	}
	if owner := benchmark.OwnerOf(br); owner != nil {
		attributes = append(attributes, attributeBenchmark.String(owner.Name))
		if round, ok := benchmark.RoundOf(br); ok {
			attributes = append(attributes, attributeRound.Int64(round))
		}
	}
	return attributes
}

func phaseAttributes(br *v1alpha1.BenchmarkRun, event v1alpha1.TimelineEvent) []attribute.KeyValue {
	status := &br.Status
	switch {
	case event == v1alpha1.EventStarting && status.Target != nil && status.Target.Node != "":
		return []attribute.KeyValue{semconv.ContainerImageName(br.Spec.Target.Image), semconv.K8SNodeName(status.Target.Node)}
	case event == v1alpha1.EventStarting && br.Spec.Target.Image != "":
		return []attribute.KeyValue{semconv.ContainerImageName(br.Spec.Target.Image)}
	case event == v1alpha1.EventMeasuring && status.Result != nil && status.Result.Errors != nil:
		return []attribute.KeyValue{
			attributeRequests.Int64(ptr.Deref(status.Result.Requests, 0)), attributeErrors.Int64(ptr.Deref(status.Result.Errors.Total, 0)),
		}
	case event == v1alpha1.EventStoring && status.Artifact != nil:
		return []attribute.KeyValue{attributeArtifact.Int64(ptr.Deref(status.Artifact.SizeBytes, 0))}
	}
	return nil
}

// roundOf returns the seed of the trace of the round that made a run, or an empty text.
func roundOf(br *v1alpha1.BenchmarkRun) string {
	owner := benchmark.OwnerOf(br)
	round, ok := benchmark.RoundOf(br)
	if owner == nil || !ok {
		return ""
	}
	return roundSeed(owner.UID, round)
}

func roundSeed(uid types.UID, round int64) string { return fmt.Sprintf("round/%s/%d", uid, round) }

// ofRound returns the trace of a round of a Benchmark that ended at a time with a verdict.
func ofRound(b *v1alpha1.Benchmark, round *v1alpha1.RoundStatus, verdict v1alpha1.BenchmarkVerdict, end time.Time) *trace {
	s := span{name: roundSpan, start: round.StartTime.Time, end: end, attributes: []attribute.KeyValue{
		semconv.K8SNamespaceName(b.Namespace),
		attributeBenchmark.String(b.Name),
		attributeRound.Int64(round.Number),
		attributeTrigger.String(string(round.Trigger)),
		attributeRoundRuns.Int64(int64(ptr.Deref(round.FinishedRuns, 0))),
		attributeRoundEnd.String(string(verdict)),
		attributeRoundCause.String(round.Reason),
	}}
	if s.end.Before(s.start) {
		s.end = s.start
	}
	if verdict == v1alpha1.BenchmarkError {
		s.failure = cmp.Or(round.Reason, string(verdict))
	}
	return &trace{seed: roundSeed(b.UID, round.Number), spans: []span{s}}
}
