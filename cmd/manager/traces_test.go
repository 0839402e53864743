package main

import (
	"context"
	"errors"
	"testing"
)

// stuck is a tracer whose receiver never answers.
type stuck struct{ bounded bool }

// Shutdown waits until its context ends.
func (s *stuck) Shutdown(ctx context.Context) error {
	_, s.bounded = ctx.Deadline()
	if ctx.Err() != nil {
		return errors.New("the context has ended already")
	}
	return nil
}

// TestFlush has a manager that stops: its last traces have a time of their own.
func TestFlush(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &stuck{}
	if err := (flush{s}).Start(ctx); err != nil || !s.bounded {
		t.Errorf("%v, bounded %t", err, s.bounded)
	}
	if flushTimeout >= shutdownTimeout {
		t.Error("the flush may outlast the manager")
	}
}

func TestTracesAreOff(t *testing.T) {
	for _, key := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} {
		t.Setenv(key, "")
	}
	got, err := (&options{}).traces(t.Context(), nil, nil, nil)
	if got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}
