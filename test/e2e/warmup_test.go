//go:build e2e

package e2e

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// warmingPath gets ten times faster within eight seconds, down to 10 ms.
const warmingPath = "/warming/10000/8/100"

// untilSteady returns a warm-up with windows of 2s.
func untilSteady(timeoutSeconds int32) v1alpha1.SteadyState {
	return v1alpha1.SteadyState{
		WindowSeconds: ptr.To(int32(2)), Windows: ptr.To(int32(3)), ThroughputPercent: ptr.To(int32(15)), P99Percent: ptr.To(int32(100)),
		TimeoutSeconds: ptr.To(timeoutSeconds),
	}
}

// TestWarmupUntilSteady warms up a target that gets faster for some seconds, and kills
// the manager meanwhile. The measurement must be of the warm target, and every
// request must be counted once, in the warm-up or in the measurement.
func TestWarmupUntilSteady(t *testing.T) {
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "steady", harness.ServerImage).Lane("steady").Path(warmingPath).TargetResources("200m", "128Mi").
		Clients(2, "100m", "128Mi").WarmupUntilSteady(untilSteady(90)).Requests(4, 600).Retain(v1alpha1.RetainAlways).Obj()
	c.create(t, run)
	warming := c.until(t, run, time.Minute, "warmed up", func(r *v1alpha1.BenchmarkRun) bool {
		return r.Status.Progress != nil && ptr.Deref(r.Status.Progress.Requests, 0) > 0
	})
	if got := condition(warming, v1alpha1.ConditionSucceeded); got.Reason != v1alpha1.ReasonWarmingUp || !strings.Contains(got.Message, "window") {
		t.Errorf("during the warm-up: %+v", got)
	}
	c.kill(t, c.manager(t), "manager")
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)

	if w := done.Status.Warmup; w == nil || w.Steady != v1alpha1.SteadyReached || len(w.Windows) != 3 {
		t.Errorf("warm-up in the status: %+v", w)
	}
	stored := c.artifact(t, done)
	w := stored.Warmup
	if w == nil || w.Steady == nil || !w.Steady.Reached || w.Steady.ThroughputSpread() > 15 || w.Steady.P99Spread() > 100 {
		t.Fatalf("warm-up in the artifact: %+v", w)
	}
	// The first three windows that are all warm end 14s after the first request.
	if w.DurationMicroseconds < 12_000_000 || w.DurationMicroseconds > 80_000_000 {
		t.Errorf("the warm-up took %d µs", w.DurationMicroseconds)
	}
	if least := stored.Merged.Latencies.Get(result.Total).Percentile(50); least < 10_000 || least > 20_000 {
		t.Errorf("the median is %d µs: the target was not warm", least)
	}
	if strings.Contains(condition(done, v1alpha1.ConditionValid).Message, "WarmupNotSteady") {
		t.Errorf("%+v", condition(done, v1alpha1.ConditionValid))
	}
	if got := c.serverReport(t, done)[warmingPath]; got.Requests != w.Requests+1200 || stored.Merged.Requests != 1200 {
		t.Errorf("the server had %d requests, %d were warm-up and %d measured", got.Requests, w.Requests, stored.Merged.Requests)
	}
	for _, client := range stored.Clients {
		if client.Usage.SchedulingLatencyP99 <= 0 {
			t.Errorf("client %d reports no scheduling latency: %+v", client.Index, client.Usage)
		}
	}
}

// TestWarmupLimit limits the warm-up so that the target is not warm. The run must
// continue, and its result must report it.
func TestWarmupLimit(t *testing.T) {
	t.Parallel()
	c := theCluster
	ns := c.namespace(t)
	run := wrapper.NewRun(ns, "limit", harness.ServerImage).Lane("limit").Path(warmingPath).TargetResources("200m", "128Mi").
		WarmupUntilSteady(untilSteady(6)).Requests(8, 1000).Obj()
	c.create(t, run)
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	if w := done.Status.Warmup; w == nil || w.Steady != v1alpha1.SteadyNotReached {
		t.Errorf("warm-up in the status: %+v", w)
	}
	valid := condition(done, v1alpha1.ConditionValid)
	for _, want := range []string{"WarmupNotSteady", "last 3 windows of 2s", "warmup.steady.timeoutSeconds"} {
		if !strings.Contains(valid.Message, want) {
			t.Errorf("Valid is %s: %q does not contain %q", valid.Status, valid.Message, want)
		}
	}
	if valid.Status != metav1.ConditionTrue {
		t.Logf("Valid: %+v", valid)
	}
	w := c.artifact(t, done).Warmup
	if w == nil || w.Steady == nil || w.Steady.Reached || w.DurationMicroseconds < 5_900_000 || w.DurationMicroseconds > 8_000_000 {
		t.Errorf("warm-up in the artifact: %+v", w)
	}
	if report := plugin(t, 0, "report", run.Name, "-n", ns); !strings.Contains(report, "Steady after it:        NO; requests/s of the last 3 windows of 2s") {
		t.Errorf("the report does not say that the target was not steady:\n%s", report)
	}
}
