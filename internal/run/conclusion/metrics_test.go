package conclusion

import (
	"reflect"
	"testing"

	"github.com/assay-dev/assay/internal/result"
)

// TestStatusHasEveryMetric checks that every field of the status has a metric.
func TestStatusHasEveryMetric(t *testing.T) {
	r := &result.Result{}
	for k := range r.Merged.Errors {
		r.Merged.Errors[k] = int64(k + 1)
	}
	for phase := range result.Phases {
		for i := range int64(10_000) {
			r.Merged.Latencies.Of(phase).Record(i + int64(phase))
		}
	}
	s := ResultStatus(r)
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
	if got := ResultStatus(r).Latency; got.TLS != nil || got.Connect == nil {
		t.Errorf("latencies %+v", *got)
	}
}

func TestStatusHasCPUPerRequest(t *testing.T) {
	r := &result.Result{Clients: make([]result.Client, 2)}
	if c := ResultStatus(r).CPUPerRequest; c != nil {
		t.Errorf("without requests: %+v", c)
	}
	r.Merged.Requests = 3000
	r.Clients[0].Usage.UserCPU, r.Clients[1].Usage.SystemCPU = 40_000, 30_000
	if c := ResultStatus(r).CPUPerRequest; c == nil || c.TargetMicroseconds != "" || c.ClientsMicroseconds != "23.33" {
		t.Errorf("of an external target: %+v", c)
	}
	r.Server = &result.Server{End: result.ServerUsage{UserCPU: 200_000, SystemCPU: 2000}}
	if c := ResultStatus(r).CPUPerRequest; c.TargetMicroseconds != "67.33" {
		t.Errorf("%+v", c)
	}
}
