package tracing

import (
	"context"
	"crypto/sha256"

	oteltrace "go.opentelemetry.io/otel/trace"
)

// traceID returns the ID of a trace by its seed.
func traceID(seed string) oteltrace.TraceID {
	sum := sha256.Sum256([]byte("assay.dev/trace/" + seed))
	return oteltrace.TraceID(sum[:16])
}

// spanID returns the ID of a span by its trace's seed and its name, which is unique in the trace.
func spanID(seed, name string) oteltrace.SpanID {
	sum := sha256.Sum256([]byte("assay.dev/span/" + seed + "/" + name))
	return oteltrace.SpanID(sum[:8])
}

// contextOf returns the context by which others link to a span.
func contextOf(seed, name string) oteltrace.SpanContext {
	return oteltrace.NewSpanContext(oteltrace.SpanContextConfig{
		TraceID: traceID(seed), SpanID: spanID(seed, name), TraceFlags: oteltrace.FlagsSampled, Remote: true,
	})
}

type spanKey struct{}

// ids implements the SDK's IDGenerator. The IDs are those that withIDs has put into the context.
type ids struct{}

type idsOf struct{ seed, name string }

func withIDs(ctx context.Context, seed, name string) context.Context {
	return context.WithValue(ctx, spanKey{}, idsOf{seed, name})
}

// NewIDs implements trace.IDGenerator.
func (ids) NewIDs(ctx context.Context) (oteltrace.TraceID, oteltrace.SpanID) {
	of, _ := ctx.Value(spanKey{}).(idsOf)
	return traceID(of.seed), spanID(of.seed, of.name)
}

// NewSpanID implements trace.IDGenerator.
func (ids) NewSpanID(ctx context.Context, _ oteltrace.TraceID) oteltrace.SpanID {
	of, _ := ctx.Value(spanKey{}).(idsOf)
	return spanID(of.seed, of.name)
}
