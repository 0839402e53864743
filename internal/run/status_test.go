package run

import (
	"reflect"
	"testing"

	"github.com/assay-dev/assay/internal/result"
)

// TestStatusHasEveryFigure checks that every field of the status has a figure.
func TestStatusHasEveryFigure(t *testing.T) {
	r := &result.Result{}
	for k := range r.Merged.Errors {
		r.Merged.Errors[k] = int64(k + 1)
	}
	for phase := range result.Phases {
		for i := range int64(10_000) {
			r.Merged.Latencies.Of(phase).Record(i + int64(phase))
		}
	}
	s := resultStatus(r)
	for _, part := range []any{s.Errors, s.Latency, s.Latency.Total, s.Latency.Service} {
		v := reflect.ValueOf(part).Elem()
		for i := range v.NumField() {
			if v.Field(i).IsNil() {
				t.Errorf("%s has no %s", v.Type(), v.Type().Field(i).Name)
			}
		}
	}
	h := r.Merged.Latencies[result.Total]
	if got := s.Latency.Total; *got.P9999Microseconds != h.Percentile(99.99) || *got.P50Microseconds != h.Percentile(50) || *got.P999Microseconds != h.Percentile(99.9) || *got.MaxMicroseconds != h.Max() {
		t.Errorf("total %+v", *got)
	}
	if *s.Errors.Total != r.Merged.Errors.Total() || *s.Errors.Status != r.Merged.Errors[result.ErrorStatus] {
		t.Errorf("errors %+v", *s.Errors)
	}
	r.Merged.Latencies[result.TLS] = nil
	if got := resultStatus(r).Latency; got.TLS != nil || got.Connect == nil {
		t.Errorf("latencies %+v", *got)
	}
}
