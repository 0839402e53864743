package loadplan

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
)

func TestPlansOfHTTP2(t *testing.T) {
	for name, test := range map[string]struct {
		client v1alpha1.LoadClient
		want   int
	}{
		"nothing said":  {v1alpha1.LoadClient{}, 0},
		"HTTP/1.1":      {v1alpha1.LoadClient{Protocol: v1alpha1.HTTP1}, 0},
		"HTTP/2":        {v1alpha1.LoadClient{Protocol: v1alpha1.HTTP2}, 1},
		"eight streams": {v1alpha1.LoadClient{Protocol: v1alpha1.HTTP2, Streams: ptr.To(int32(8))}, 8},
	} {
		run := &v1alpha1.BenchmarkRun{Spec: v1alpha1.BenchmarkRunSpec{Load: v1alpha1.Load{
			Requests: []v1alpha1.Request{{Path: "/"}}, Client: test.client,
			Closed: &v1alpha1.ClosedLoad{Connections: 2, RequestCount: ptr.To(int64(100))},
		}}}
		plan := Plans(run, nil)[0]
		if plan.Streams != test.want || plan.Connections != 2 || plan.Measurement.Requests != 100 || plan.Check() != nil {
			t.Errorf("%s: %d streams on %d connections, %v", name, plan.Streams, plan.Connections, plan.Check())
		}
	}
}
