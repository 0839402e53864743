//go:build e2e

package e2e

import (
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestStopAt asks a server that responds to 100 requests/s for 40, and then for 200 over half a minute. Half of the latter
// fail, so that the load ends in the first seconds of that level.
func TestStopAt(t *testing.T) {
	t.Parallel()
	const path = "/limited/100/10"
	run := loadRun(t, "stop-at", path).Obj()
	run.Spec.Load.Closed, run.Spec.Load.LoadIsPer = nil, v1alpha1.LoadPerRun
	run.Spec.Load.Stages = &v1alpha1.StagesLoad{
		Levels: []v1alpha1.LoadLevel{{RequestsPerSecond: ptr.To(int32(40)), HoldSeconds: 4}, {RequestsPerSecond: ptr.To(int32(200)), HoldSeconds: 30}},
		StopAt: []v1alpha1.Threshold{{Metric: v1alpha1.MetricErrorRate, Above: "20%"}},
	}
	c := theCluster
	c.create(t, run)
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)

	stop := done.Status.Stop
	if stop == nil {
		t.Fatalf("the load wasn't ended:%s", conditions(done))
	}
	if stop.Kind != v1alpha1.BreakingPointKind(result.BreakingErrorRate) || stop.Bound != "above 20%" || ptr.Deref(stop.RequestsPerSecond, 0) != 200 ||
		stop.During != v1alpha1.PartLevel || ptr.Deref(stop.StartSeconds, 0) < 4 {
		t.Errorf("the load was ended by %+v", stop)
	}
	// The server may let more requests through in the level's first second.
	end := ptr.Deref(stop.EndSeconds, 0)
	if start := *stop.StartSeconds; start > 6 || end <= start || end >= 34 {
		t.Errorf("the load broke after %d s and ended after %d s", start, end)
	}
	stored := c.artifact(t, done)
	if len(stored.Levels) != 2 || stored.Levels[0].End != 4 || stored.Levels[1].Start != 4 || stored.Levels[1].End < end || stored.Levels[1].End >= 34 {
		t.Fatalf("levels %+v", stored.Levels)
	}
	if first, second := &stored.Levels[0], &stored.Levels[1]; first.ErrorPercent() >= 20 || second.ErrorPercent() < 20 {
		t.Errorf("%.1f%% of the requests failed in the first level, %.1f%% in the second", first.ErrorPercent(), second.ErrorPercent())
	}
	if stored.Stop == nil || stored.Stop.Kind != result.BreakingErrorRate || stored.Stop.RatePerSecond != 200 {
		t.Errorf("the result says that the load was ended by %+v", stored.Stop)
	}
	if took := stored.DurationMicroseconds; took > 1_000_000*(stored.Levels[1].End+5) {
		t.Errorf("the measurement took %d µs", took)
	}
	if report := plugin(t, 0, "report", "-n", run.Namespace, run.Name); !strings.Contains(report, "as stopAt says") {
		t.Errorf("the report doesn't say what ended the load:\n%s", report)
	}
}

// TestSharedCPU runs a server and a backend that could use 200m each, with 200m for both.
func TestSharedCPU(t *testing.T) {
	t.Parallel()
	c := theCluster
	const budget = 200 // thousandths of a CPU
	run := wrapper.NewRun(c.namespace(t), "shared-cpu", nginxImage).Lane("shared-cpu").Nginx().Content("/a.bin", 1000).TargetResources("500m", "128Mi").
		Backend("app", harness.ServerImage, wrapper.GenericBackend(8081, "-listen=:8081")).Forward("/fixed", "app").
		Clients(1, "300m", "64Mi").Seconds(20, 8).Retain(v1alpha1.RetainAlways).Obj()
	run.Spec.Target.Backends[0].Resources = wrapper.Resources("500m", "128Mi")
	run.Spec.Target.SharedCPU = resource.NewMilliQuantity(budget, resource.DecimalSI)
	run.Spec.Target.Readiness.Path = "/fixed/0/10"
	run.Spec.Load.Requests = []v1alpha1.Request{{Path: "/a.bin"}, {Path: "/fixed/0/1000"}}
	c.create(t, run)
	done := c.finished(t, run, 2*time.Minute)
	if !c.hasPodLevelResources(t) {
		wantFailed(t, done, v1alpha1.ReasonInvalidSpec, "spec.target.sharedCPU needs pod-level resources")
		return
	}
	wantSucceeded(t, done)
	pod := c.targetOf(t, done)
	if whole := pod.Spec.Resources; whole == nil || whole.Limits.Cpu().MilliValue() != budget || pod.Status.QOSClass != corev1.PodQOSGuaranteed {
		t.Errorf("the pod has %+v, its class is %s", whole, pod.Status.QOSClass)
	}
	stored := c.artifact(t, done)
	if stored.Environment.SharedCPULimit != budget {
		t.Errorf("the result has a shared limit of %d", stored.Environment.SharedCPULimit)
	}
	var server, app, seconds int64
	for i := range stored.Series {
		s := &stored.Series[i]
		if used, known := s.BackendCPU["app"]; known && used >= 0 && s.ServerCPU >= 0 {
			server, app, seconds = server+s.ServerCPU, app+used, seconds+s.Seconds
		}
	}
	if seconds < 5 {
		t.Fatalf("the usage of both is known in %d seconds", seconds)
	}
	share := func(cpu int64) float64 { return float64(cpu) / float64(1000*seconds) }
	if server == 0 || app == 0 || share(server+app) > 1.1*budget || share(server+app) < 0.5*budget {
		t.Errorf("the server used %.0fm and the backend %.0fm, want both together to use about %dm", share(server), share(app), budget)
	}
}

// hasPodLevelResources reports whether the cluster's version of Kubernetes has pod-level resources by default.
func (c *cluster) hasPodLevelResources(t *testing.T) bool {
	t.Helper()
	version, err := c.Kube.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	minor, err := strconv.Atoi(strings.TrimRight(version.Minor, "+"))
	if err != nil {
		t.Fatalf("version %s: %v", version, err)
	}
	return version.Major == "1" && minor >= 34
}
