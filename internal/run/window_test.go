package run

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/observed"
)

// TestWindow checks the figures of the last seconds in the status, and that they stay until there are newer ones.
func TestWindow(t *testing.T) {
	s := newScene().started(measurementStage)
	if w := s.decide().Status.Progress.Window; w != nil || observed.WindowEnd(s.run) != 0 {
		t.Errorf("before the first second: %+v", w)
	}
	s.o.Window = result.Second{Second: 4, Seconds: 2, Requests: 300, Errors: 10, P50: 1200, P99: 9900, ServerCPU: 150_000, ClientCPU: 600_000}
	p := s.decide()
	want := &v1alpha1.ProgressWindow{
		Second: ptr.To(int64(4)), Seconds: ptr.To(int64(2)), Requests: ptr.To(int64(300)), Errors: ptr.To(int64(10)),
		P50Microseconds: ptr.To(int64(1200)), P99Microseconds: ptr.To(int64(9900)), TargetCPUPercent: ptr.To(int32(75)), ClientCPUPercent: ptr.To(int32(15)),
	}
	if diff := cmp.Diff(want, p.Status.Progress.Window); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.run.Status, s.o.Window = p.Status, result.Second{}
	if diff := cmp.Diff(want, s.decide().Status.Progress.Window); diff != "" || observed.WindowEnd(s.run) != 6 {
		t.Errorf("nothing new after second %d (-want +got):\n%s", observed.WindowEnd(s.run), diff)
	}
	s.o.Window = result.Second{Second: 6, Seconds: 1, Requests: 3, Errors: 3, P50: result.Unknown, P99: result.Unknown, ServerCPU: result.Unknown, ClientCPU: result.Unknown}
	got := s.decide().Status.Progress.Window
	if diff := cmp.Diff(&v1alpha1.ProgressWindow{Second: ptr.To(int64(6)), Seconds: ptr.To(int64(1)), Requests: ptr.To(int64(3)), Errors: ptr.To(int64(3))}, got); diff != "" {
		t.Errorf("without a successful request (-want +got):\n%s", diff)
	}
}

// TestWaitingClientsAreInTheStatus has a client for whose message the manager has no memory.
func TestWaitingClientsAreInTheStatus(t *testing.T) {
	s := newScene().started(measurementStage)
	c := s.o.Sessions.Clients[1]
	c.Waiting = "the manager has no memory left for 3.0 MiB of totals of clients"
	s.o.Sessions.Clients[1] = c
	if got := meta.FindStatusCondition(s.decide().Status.Conditions, v1alpha1.ConditionSucceeded).Message; !strings.HasSuffix(got, " Client 1 waits for memory: "+c.Waiting+".") {
		t.Errorf("the run says %q", got)
	}
}
