package tracing

import (
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/certificate"
	"github.com/assay-dev/assay/internal/printable"
)

const (
	// serviceName is the default of OTEL_SERVICE_NAME.
	serviceName = "assay-manager"
	// scope names what makes the spans.
	scope = "github.com/assay-dev/assay"
	// maxAttributeBytes bounds the texts of attributes. Users choose names and images.
	maxAttributeBytes = 256
	// batchTimeout is the longest time for which spans wait for others.
	batchTimeout = time.Second
	// exportTimeout is the default of OTEL_EXPORTER_OTLP_TIMEOUT, the time for which a batch is tried again. The
	// specification's 10 seconds are less than a receiver needs to restart.
	exportTimeout = time.Minute
	// maxErrorBytes bounds an error in the log. A receiver chooses its text.
	maxErrorBytes = 512
)

// Options configure a Tracer.
type Options struct {
	// Version, Namespace and Pod are the manager's.
	Version, Namespace, Pod string
	// Sent is called with each batch of spans that was sent, or with the error that prevented it.
	Sent func(spans int, err error)
	Log  logr.Logger
}

// Tracer sends traces. A nil Tracer sends none. Its methods are safe to call from any goroutine, and don't wait for
// the receiver.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   oteltrace.Tracer
}

// New returns a Tracer for the OTLP receiver that the environment names, by the variables of the OpenTelemetry
// specification, or nil if it names none. getenv is os.Getenv. It connects when there is something to send. An error
// names the variable and never its value, which may be a credential.
func New(ctx context.Context, o Options, getenv func(string) string) (*Tracer, error) {
	on, err := check(getenv)
	if !on || err != nil {
		return nil, err
	}
	silence(o.Log)
	if err := trustPublicRoots(); err != nil {
		return nil, err
	}
	var options []otlptracegrpc.Option
	if getenv(prefix+"TIMEOUT") == "" && getenv(tracesPrefix+"TIMEOUT") == "" {
		options = append(options, otlptracegrpc.WithTimeout(exportTimeout))
	}
	exporter, err := otlptracegrpc.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("create the exporter of traces: %s", printable.Clipped(err.Error(), maxErrorBytes))
	}
	return newTracer(ctx, o, &counting{SpanExporter: exporter, sent: o.Sent, log: o.Log})
}

// trustPublicRoots makes this process trust the CAs of Mozilla's root program if its image has none.
var trustPublicRoots = sync.OnceValue(func() error {
	pool := x509.NewCertPool()
	if err := certificate.AddPublicRoots(pool); err != nil {
		return err
	}
	x509.SetFallbackRoots(pool)
	return nil
})

func newTracer(ctx context.Context, o Options, exporter sdktrace.SpanExporter) (*Tracer, error) {
	described, err := resource.New(ctx,
		resource.WithAttributes(
			semconv.ServiceName(serviceName), semconv.ServiceVersion(o.Version), semconv.ServiceInstanceID(o.Pod),
			semconv.K8SNamespaceName(o.Namespace), semconv.K8SPodName(o.Pod),
		),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv(),
	)
	if err != nil {
		return nil, fmt.Errorf("describe the manager in traces: OTEL_RESOURCE_ATTRIBUTES must be KEY=VALUE, separated by commas")
	}
	limits := sdktrace.NewSpanLimits()
	limits.AttributeValueLengthLimit = maxAttributeBytes
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter, sdktrace.WithBatchTimeout(batchTimeout), sdktrace.WithExportTimeout(exportTimeout+batchTimeout)),
		sdktrace.WithIDGenerator(ids{}),
		sdktrace.WithResource(described),
		sdktrace.WithRawSpanLimits(limits),
	)
	return &Tracer{provider: provider, tracer: provider.Tracer(scope, oteltrace.WithInstrumentationVersion(o.Version))}, nil
}

// Run sends the trace of a finished run. It must have its whole status.
func (t *Tracer) Run(br *v1alpha1.BenchmarkRun) {
	if t != nil {
		t.send(ofRun(br))
	}
}

// Round sends the trace of a round of a Benchmark that ended at a time with a verdict.
func (t *Tracer) Round(b *v1alpha1.Benchmark, round *v1alpha1.RoundStatus, verdict v1alpha1.BenchmarkVerdict, end time.Time) {
	if t != nil {
		t.send(ofRound(b, round, verdict, end))
	}
}

func (t *Tracer) send(tr *trace) {
	var links []oteltrace.Link
	if tr.link != "" {
		links = []oteltrace.Link{{SpanContext: contextOf(tr.link, roundSpan)}}
	}
	ctx := context.Background()
	var root oteltrace.Span
	for i := range tr.spans {
		s := &tr.spans[i]
		started, sent := t.tracer.Start(withIDs(ctx, tr.seed, s.name), s.name,
			oteltrace.WithTimestamp(s.start), oteltrace.WithAttributes(printables(s.attributes)...), oteltrace.WithLinks(links...))
		if s.failure != "" {
			sent.SetStatus(codes.Error, s.failure)
		}
		if i == 0 {
			ctx, root, links = started, sent, nil
			continue
		}
		sent.End(oteltrace.WithTimestamp(s.end))
	}
	root.End(oteltrace.WithTimestamp(tr.spans[0].end))
}

// printables makes the texts of attributes safe to print.
func printables(attributes []attribute.KeyValue) []attribute.KeyValue {
	attributes = slices.Clone(attributes)
	for i := range attributes {
		if a := &attributes[i]; a.Value.Type() == attribute.STRING {
			*a = a.Key.String(printable.Clipped(a.Value.AsString(), maxAttributeBytes))
		}
	}
	return attributes
}

// Shutdown sends what has not been sent yet, until the context ends.
func (t *Tracer) Shutdown(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// counting counts and logs what an exporter does. Nobody else handles its errors.
type counting struct {
	sdktrace.SpanExporter
	sent func(spans int, err error)
	log  logr.Logger
}

// ExportSpans implements trace.SpanExporter.
func (c *counting) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := c.SpanExporter.ExportSpans(ctx, spans)
	if c.sent != nil {
		c.sent(len(spans), err)
	}
	if err != nil {
		c.log.Info("Failed to send traces", "spans", len(spans), "error", printable.Clipped(err.Error(), maxErrorBytes))
	}
	return nil
}

// silence makes OpenTelemetry log without values: they contain headers of OTEL_EXPORTER_OTLP_HEADERS that it
// can't parse.
func silence(log logr.Logger) {
	otel.SetLogger(logr.New(valueless{log}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) { log.Info("Failed to handle traces") }))
}

// valueless is a sink of logs that only logs the messages of errors, which are constant.
type valueless struct{ log logr.Logger }

// Init implements logr.LogSink.
func (valueless) Init(logr.RuntimeInfo) {}

// Enabled implements logr.LogSink.
func (valueless) Enabled(int) bool { return false }

// Info implements logr.LogSink.
func (valueless) Info(int, string, ...any) {}

// Error implements logr.LogSink.
func (v valueless) Error(_ error, message string, _ ...any) {
	v.log.Info("Failed to configure traces", "step", message)
}

// WithValues implements logr.LogSink.
func (v valueless) WithValues(...any) logr.LogSink { return v }

// WithName implements logr.LogSink.
func (v valueless) WithName(string) logr.LogSink { return v }
