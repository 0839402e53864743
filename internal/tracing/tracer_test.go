package tracing

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/assay-dev/assay/api/v1alpha1"
)

// wantTraceID is the beginning of the SHA-256 of assay.dev/trace/run/UID, by sha256sum.
const wantTraceID = "88b9d4070498df0b604410ff81e12b1c"

// kept is an exporter that keeps its spans when it is shut down.
type kept struct{ *tracetest.InMemoryExporter }

// Shutdown implements trace.SpanExporter.
func (kept) Shutdown(context.Context) error { return nil }

// sent returns the spans that a Tracer sends.
func sent(t *testing.T, send func(*Tracer)) tracetest.SpanStubs {
	t.Helper()
	exporter := kept{tracetest.NewInMemoryExporter()}
	tracer, err := newTracer(t.Context(), Options{Version: "1.2.3", Namespace: "assay-system", Pod: "assay-manager-0"}, exporter)
	if err != nil {
		t.Fatal(err)
	}
	send(tracer)
	if err := tracer.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	return exporter.GetSpans()
}

// attributes returns a span's attributes as text.
func attributes(s *tracetest.SpanStub) map[string]string {
	all := map[string]string{}
	for _, a := range s.Attributes {
		all[string(a.Key)] = a.Value.String()
	}
	return all
}

func named(t *testing.T, spans tracetest.SpanStubs, name string) *tracetest.SpanStub {
	t.Helper()
	i := slices.IndexFunc(spans, func(s tracetest.SpanStub) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no span %s", name)
	}
	return &spans[i]
}

// TestRun checks what is sent of a run: one trace, linked to the round's span.
func TestRun(t *testing.T) {
	br := newRun(v1alpha1.ReasonCompleted, whole)
	spans := sent(t, func(tracer *Tracer) { tracer.Run(br) })
	if len(spans) != 9 {
		t.Fatalf("%d spans", len(spans))
	}
	root := named(t, spans, "BenchmarkRun")
	if root.Parent.IsValid() || root.SpanContext.TraceID() != traceID("run/"+string(br.UID)) || !root.StartTime.Equal(begin) {
		t.Errorf("%+v", root)
	}
	for i := range spans {
		s := &spans[i]
		if s.Name != "BenchmarkRun" && s.Parent.SpanID() != root.SpanContext.SpanID() || s.SpanContext.TraceID() != root.SpanContext.TraceID() {
			t.Errorf("%s isn't a child of the run", s.Name)
		}
		if s.SpanContext.SpanID() != spanID("run/"+string(br.UID), s.Name) {
			t.Errorf("%s has the ID %s", s.Name, s.SpanContext.SpanID())
		}
		if s.Status.Code != codes.Unset {
			t.Errorf("%s: %+v", s.Name, s.Status)
		}
	}
	round := sent(t, func(tracer *Tracer) {
		b := &v1alpha1.Benchmark{}
		b.UID = "round-uid"
		tracer.Round(b, &v1alpha1.RoundStatus{Number: 3}, v1alpha1.BenchmarkPassed, begin)
	})
	if len(root.Links) != 1 || len(round) != 1 || root.Links[0].SpanContext.SpanID() != round[0].SpanContext.SpanID() ||
		root.Links[0].SpanContext.TraceID() != round[0].SpanContext.TraceID() {
		t.Errorf("the run links to %+v, the round is %+v", root.Links, round)
	}
	for name, want := range map[string]map[string]string{
		"BenchmarkRun": {
			"k8s.namespace.name": "shop", "assay.benchmarkrun.name": "run", "assay.benchmarkrun.uid": string(br.UID), "assay.benchmarkrun.lane": "nightly",
			"assay.benchmarkrun.reason": "Completed", "assay.benchmarkrun.verdict": "Passed", "assay.benchmarkrun.valid": "Warnings",
			"assay.benchmarkrun.clients": "2", "assay.benchmark.name": "sizes", "assay.benchmark.round.number": "3",
		},
		"start target": {"container.image.name": "tomcat:9.0", "k8s.node.name": "node-1"},
		"measure":      {"assay.benchmarkrun.requests": "1000", "assay.benchmarkrun.errors": "3"},
		"store":        {"assay.benchmarkrun.artifact.size": "4096"},
		"queue":        {},
	} {
		if diff := cmp.Diff(want, attributes(named(t, spans, name))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	resource := map[string]string{}
	for _, a := range root.Resource.Attributes() {
		resource[string(a.Key)] = a.Value.String()
	}
	if resource["service.name"] != "assay-manager" || resource["service.version"] != "1.2.3" || resource["k8s.pod.name"] != "assay-manager-0" ||
		resource["process.command_args"] != "" {
		t.Errorf("resource: %v", resource)
	}
}

// TestSameTrace sends the trace of a run by two managers.
func TestSameTrace(t *testing.T) {
	br := newRun(v1alpha1.ReasonTargetCrashed, whole)
	var all []tracetest.SpanStubs
	for range 2 {
		all = append(all, sent(t, func(tracer *Tracer) { tracer.Run(br.DeepCopy()) }))
	}
	for i := range all[0] {
		a, b := &all[0][i], &all[1][i]
		if !a.SpanContext.Equal(b.SpanContext) || !a.Parent.Equal(b.Parent) || !a.StartTime.Equal(b.StartTime) || !a.EndTime.Equal(b.EndTime) ||
			a.Name != b.Name || !cmp.Equal(attributes(a), attributes(b)) || a.Status != b.Status {
			t.Errorf("%+v\n%+v", a, b)
		}
	}
}

// TestFailedRun checks that a failure is visible by its reason alone.
func TestFailedRun(t *testing.T) {
	spans := sent(t, func(tracer *Tracer) { tracer.Run(newRun(v1alpha1.ReasonTargetCrashed, whole[:4])) })
	root := named(t, spans, "BenchmarkRun")
	if root.Status.Code != codes.Error || root.Status.Description != v1alpha1.ReasonTargetCrashed || attributes(root)["error.type"] != v1alpha1.ReasonTargetCrashed {
		t.Errorf("%+v", root.Status)
	}
	failed := 0
	for i := range spans {
		if spans[i].Status.Code == codes.Error {
			failed++
		}
	}
	if failed != 2 {
		t.Errorf("%d spans failed, want the run and its last phase", failed)
	}
}

// TestUsersText has a user who chooses everything that can be chosen.
func TestUsersText(t *testing.T) {
	br := newRun(v1alpha1.ReasonCompleted, whole)
	br.Spec.Lane = strings.Repeat("l", 10_000)
	br.Spec.Target.Image = "image\x1b[31m\n" + strings.Repeat("ä", 10_000)
	spans := sent(t, func(tracer *Tracer) { tracer.Run(br) })
	for i := range spans {
		for key, value := range attributes(&spans[i]) {
			if len([]rune(value)) > maxAttributeBytes+1 || strings.ContainsAny(value, "\x1b\n") {
				t.Errorf("%s has %q", key, value)
			}
			if strings.Contains(value, "hunter2") {
				t.Errorf("%s has the text of a condition", key)
			}
		}
		if strings.Contains(spans[i].Status.Description, "hunter2") {
			t.Error("the status has the text of a condition")
		}
	}
}

// TestOff has no receiver, so that there is no Tracer and nothing runs.
func TestOff(t *testing.T) {
	before := runtime.NumGoroutine()
	for _, environment := range []map[string]string{
		{},
		{"OTEL_EXPORTER_OTLP_HEADERS": "a=b", "OTEL_SERVICE_NAME": "x"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4317", "OTEL_SDK_DISABLED": "true"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4317", "OTEL_TRACES_EXPORTER": "none"},
	} {
		tracer, err := New(t.Context(), Options{}, func(key string) string { return environment[key] })
		if tracer != nil || err != nil {
			t.Errorf("%v: %v, %v", environment, tracer, err)
		}
		tracer.Run(newRun(v1alpha1.ReasonCompleted, whole))
		tracer.Round(&v1alpha1.Benchmark{}, &v1alpha1.RoundStatus{}, v1alpha1.BenchmarkPassed, begin)
		if err := tracer.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines were started", after-before)
	}
}

// lines returns a logger and what it logged.
func lines() (logr.Logger, *strings.Builder) {
	var logged strings.Builder
	return funcr.New(func(prefix, args string) { logged.WriteString(prefix + args + "\n") }, funcr.Options{Verbosity: 9}), &logged
}

// failing is an exporter that fails with a text that a receiver chose.
type failing struct{ sdktrace.SpanExporter }

// ExportSpans implements trace.SpanExporter.
func (failing) ExportSpans(context.Context, []sdktrace.ReadOnlySpan) error {
	return errors.New("rpc error: \x1b[31m" + strings.Repeat("no ", 10_000))
}

func TestFailureIsCountedAndLogged(t *testing.T) {
	log, logged := lines()
	var counted int
	tracer, err := newTracer(t.Context(), Options{}, &counting{SpanExporter: failing{tracetest.NewNoopExporter()}, log: log, sent: func(n int, err error) {
		if err != nil {
			counted += n
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	tracer.Run(newRun(v1alpha1.ReasonCompleted, whole))
	if err := tracer.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if counted != 9 || !strings.Contains(logged.String(), "Failed to send traces") || logged.Len() > 2*maxErrorBytes || strings.Contains(logged.String(), "\x1b") {
		t.Errorf("%d spans failed: %q", counted, logged)
	}
}

// TestSilence has OpenTelemetry log values that are secret, as it does with headers that it can't parse.
func TestSilence(t *testing.T) {
	log, logged := lines()
	silence(log)
	t.Cleanup(func() { silence(logr.Discard()) })
	valueless{log}.WithValues("header", "hunter2").WithName("n").Error(errors.New("hunter2"), "parse headers", "input", "hunter2")
	otel.Handle(errors.New("hunter2"))
	if strings.Contains(logged.String(), "hunter2") || !strings.Contains(logged.String(), "parse headers") || !strings.Contains(logged.String(), "Failed to handle traces") {
		t.Errorf("%s", logged)
	}
}
