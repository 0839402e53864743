package benchmarkrun

import (
	"context"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/session/sessionpb"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestReconcileStopsAtABreakingPoint kills the manager before it writes that the load ends, and after that. The
// clients are told only what the status says, each manager says the same, and the result has it.
func TestReconcileStopsAtABreakingPoint(t *testing.T) {
	b := newBench(t, func(r *wrapper.Run) {
		r.Spec.Load.Closed = nil
		r.Spec.Load.Stages = &v1alpha1.StagesLoad{
			Levels: []v1alpha1.LoadLevel{{Connections: new(int32(10)), HoldSeconds: 100}, {Connections: new(int32(20)), HoldSeconds: 100}},
			StopAt: []v1alpha1.Threshold{{Metric: v1alpha1.MetricErrorRate, Above: "5%"}},
		}
	})
	b.measuring()
	at := b.sessions.starts[measurementStage]
	b.sessions.observation.Starts = map[sessionpb.Stage]int64{measurementStage: at}
	b.clock.SetTime(time.UnixMicro(at).Add(105 * time.Second))
	b.reconcile()
	if b.sessions.endSecond != 0 || b.run.Status.Stop != nil {
		t.Fatalf("nothing has failed: %d, %+v", b.sessions.endSecond, b.run.Status.Stop)
	}
	b.sessions.passed = []result.Second{{Second: 102, Seconds: 1, Requests: 1000, Errors: 60}}
	restore := b.intercept(interceptor.Funcs{
		SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
			return errKilled
		},
	})
	b.killed()
	restore()
	if b.sessions.endSecond != 0 {
		t.Fatal("the clients end what the status doesn't know of")
	}
	b.reconcile()
	stop := b.run.Status.Stop
	if b.sessions.endSecond != 107 || stop == nil || *stop.EndSeconds != 107 || *stop.Connections != 40 || *stop.StartSeconds != 102 || stop.During != v1alpha1.PartLevel {
		t.Fatalf("it ends with second %d, %+v", b.sessions.endSecond, stop)
	}
	b.sessions.endSecond, b.sessions.passed = 0, nil // another manager, later
	b.clock.SetTime(time.UnixMicro(at).Add(110 * time.Second))
	b.reconcile()
	if b.sessions.endSecond != 107 {
		t.Errorf("another manager ends it with second %d", b.sessions.endSecond)
	}

	b.measured(at)
	b.clock.SetTime(time.UnixMicro(at).Add(112 * time.Second))
	for i, c := range b.sessions.observation.Clients {
		c.Totals.Levels = []result.LevelTotals{{Seconds: 100}, {Seconds: 7}}
		b.sessions.observation.Clients[i] = c
	}
	b.reconcile()
	b.reconcile()
	decoded := b.stored()
	if s := decoded.Stop; s == nil || s.End != 107 || s.Kind != result.BreakingErrorRate || s.Actual != "6.0%" {
		t.Errorf("the result was stopped by %+v", s)
	}
	if l := decoded.Levels; len(l) != 2 || l[0].End != 100 || l[1].Start != 100 || l[1].End != 107 || l[1].ServerCPU != 1_000_000 {
		t.Errorf("levels %+v", l)
	}
	if got := b.state(); got.Reason != v1alpha1.ReasonCompleted || b.run.Status.Stop == nil {
		t.Errorf("%+v, %+v", got, b.run.Status.Stop)
	}
}
