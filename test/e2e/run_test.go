//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestTomcat is a small version of R1's test 2: two clients drive Tomcat with
// keep-alive. The status must have the merged result.
func TestTomcat(t *testing.T) {
	c := theCluster
	ns := c.namespace(t)
	run := wrapper.NewRun(ns, "tomcat", tomcatImage).Tomcat().Content("/js/bootstrap.min.js", 31819).
		TargetResources("1", "512Mi").Clients(2, "200m", "128Mi").Warmup(500).Requests(25, 2000).
		Threshold(v1alpha1.MetricErrorRate, "1%").Threshold(v1alpha1.MetricLatencyP50, "1us").Obj()
	c.create(t, run)
	done := c.finished(t, run, 3*time.Minute)
	wantSucceeded(t, done)

	if s := done.Status.Result; *s.Requests != 4000 || *s.Errors.Total != 0 || *s.BodyBytesReceived != 4000*31819 {
		t.Errorf("result: %d requests, %d errors, %d bytes", *s.Requests, *s.Errors.Total, *s.BodyBytesReceived)
	}
	if n := len(done.Status.Clients); n != 2 {
		t.Errorf("%d clients in the status, want 2", n)
	}
	for _, status := range done.Status.Clients {
		if *status.Requests != 2000 || *status.Errors != 0 {
			t.Errorf("client %d: %d requests, %d errors", *status.Index, *status.Requests, *status.Errors)
		}
	}
	if s := done.Status.Target; s.CPUExclusivity != v1alpha1.CPUsExclusive || s.Node == "" || s.ImageID == "" {
		t.Errorf("target: %+v", s)
	}
	if done.Status.Result.Target == nil || *done.Status.Result.Target.UserCPUMicroseconds == 0 {
		t.Error("the target's CPU time was not measured")
	}
	if got := thresholds(done); got.Status != metav1.ConditionFalse || !strings.Contains(got.Message, "LatencyP50") {
		t.Errorf("thresholds: %+v", got)
	}
	stored := c.artifact(t, done)
	if len(stored.Clients) != 2 || stored.Merged.Requests != 4000 || stored.Warmup == nil || stored.Warmup.Requests != 1000 {
		t.Errorf("artifact: %d clients, %d requests, warm-up %+v", len(stored.Clients), stored.Merged.Requests, stored.Warmup)
	}
	var inSeries int64
	for _, second := range stored.Series {
		inSeries += second.Requests
	}
	if inSeries != 4000 {
		t.Errorf("the series has %d requests, want 4000", inSeries)
	}
	wantSurroundings(t, stored)
	c.nothingLeft(t, done, time.Minute)

	report := plugin(t, 0, "report", run.Name, "-n", ns)
	for _, line := range []string{
		"Complete requests:", "Requests per second:", "Percentage of the requests served within a certain time", "GC pauses:", "Around the target\n",
		"Around the clients\n",
	} {
		if !strings.Contains(report, line) {
			t.Errorf("the report does not contain %q:\n%s", line, report)
		}
	}
	var asJSON result.Result
	if err := json.Unmarshal([]byte(plugin(t, 0, "report", run.Name, "-n", ns, "-o", "json")), &asJSON); err != nil || asJSON.Merged.Requests != 4000 {
		t.Errorf("the report as JSON: %d requests, %v", asJSON.Merged.Requests, err)
	}
	code := 2 // a threshold was missed
	if condition(done, v1alpha1.ConditionValid).Status == metav1.ConditionFalse {
		code = 3 // this host was too busy, which has precedence
	}
	plugin(t, code, "watch", run.Name, "-n", ns)
}

// TestDeletion deletes a run during its measurement.
func TestDeletion(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "deleted", harness.ServerImage).Lane("deletion").Path("/fixed/1000/10").Seconds(2, 300).Obj()
	c.create(t, run)
	measuring := c.state(t, run, v1alpha1.ReasonMeasuring, time.Minute)
	if err := c.Delete(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	c.nothingLeft(t, measuring, time.Minute)
}

// TestLane creates three runs in a lane. They must be admitted one after the other,
// oldest first, each after the pods of the previous one have terminated.
func TestLane(t *testing.T) {
	t.Parallel()
	c := theCluster
	ns := c.namespace(t)
	var runs []*v1alpha1.BenchmarkRun
	for _, name := range []string{"b-first", "a-second", "c-third"} {
		run := wrapper.NewRun(ns, name, harness.ServerImage).Lane("queue").Path("/fixed/1000/10").Requests(1, 200).Obj()
		c.create(t, run)
		c.until(t, run, time.Minute, "an observation", func(r *v1alpha1.BenchmarkRun) bool { return ptr.Deref(r.Status.ObservedGeneration, -1) > 0 })
		runs = append(runs, run)
		if name != "c-third" {
			nextSecond(t, run)
		}
	}
	var last *v1alpha1.BenchmarkRun
	for _, run := range runs {
		done := c.finished(t, run, 2*time.Minute)
		wantSucceeded(t, done)
		if last != nil && done.Status.AdmissionTime.Before(last.Status.CompletionTime) {
			t.Errorf("%s was admitted at %s, before %s had finished at %s", done.Name, done.Status.AdmissionTime, last.Name, last.Status.CompletionTime)
		}
		last = done
	}
}

// TestSuspend suspends a run during its measurement and resumes it, which starts it
// from scratch.
func TestSuspend(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "suspended", harness.ServerImage).Lane("suspension").Path("/fixed/1000/10").Requests(1, 3000).Suspended().Obj()
	c.create(t, run)
	c.state(t, run, v1alpha1.ReasonSuspended, time.Minute)
	c.suspend(t, run, false)
	c.state(t, run, v1alpha1.ReasonMeasuring, time.Minute)
	c.suspend(t, run, true)
	suspended := c.state(t, run, v1alpha1.ReasonSuspended, time.Minute)
	c.nothingLeft(t, suspended, time.Minute)
	c.suspend(t, run, false)
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	if *done.Status.Result.Requests != 3000 {
		t.Errorf("%d requests, want 3000", *done.Status.Result.Requests)
	}
}

// TestExpiry checks that a finished run is deleted after its TTL.
func TestExpiry(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "expiring", harness.ServerImage).Lane("expiry").Path("/fixed/100/10").TTL(1).Obj()
	c.create(t, run)
	done := c.finished(t, run, 2*time.Minute)
	wantSucceeded(t, done)
	done.Status.Artifact = nil // it is deleted too
	c.nothingLeft(t, done, time.Minute)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(run), &v1alpha1.BenchmarkRun{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the run was not deleted: %v", err)
	}
}

// TestColumns checks the columns of kubectl get.
func TestColumns(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "columns", harness.ServerImage).Lane("columns").Path("/fixed/100/10").Obj()
	c.create(t, run)
	wantSucceeded(t, c.finished(t, run, 2*time.Minute))
	out, err := exec.Command("kubectl", "get", "benchmarkruns", "-n", run.Namespace).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, text := range []string{"TARGET", "STATE", "CLIENTS", "REQUESTS/S", "P99", "ERRORS", "VALID", "AGE", harness.ServerImage, "Completed"} {
		if !strings.Contains(string(out), text) {
			t.Errorf("kubectl get does not print %q:\n%s", text, out)
		}
	}
}

// nextSecond waits until a new object gets a later creation time, which has a
// resolution of one second.
func nextSecond(t *testing.T, run *v1alpha1.BenchmarkRun) {
	t.Helper()
	timer := time.NewTimer(time.Until(run.CreationTimestamp.Add(time.Second + 10*time.Millisecond)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
	}
}

func (c *cluster) suspend(t *testing.T, run *v1alpha1.BenchmarkRun, suspend bool) {
	t.Helper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":`+map[bool]string{true: "true", false: "false"}[suspend]+`}}`))
	if err := c.Patch(t.Context(), run.DeepCopy(), patch); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) artifact(t *testing.T, run *v1alpha1.BenchmarkRun) *result.Result {
	t.Helper()
	var stored corev1.ConfigMap
	if err := c.Get(t.Context(), types.NamespacedName{Namespace: run.Namespace, Name: run.Status.Artifact.ConfigMap.Name}, &stored); err != nil {
		t.Fatal(err)
	}
	if stored.Labels[manifest.LabelRunUID] != string(run.UID) {
		t.Errorf("the artifact's labels: %v", stored.Labels)
	}
	decoded, err := artifact.Decode(stored.BinaryData[artifact.Key])
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

// plugin runs kubectl assay and checks its exit code.
func plugin(t *testing.T, wantCode int, args ...string) string {
	t.Helper()
	command := exec.Command("kubectl", append([]string{"assay"}, args...)...)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if code := command.ProcessState.ExitCode(); code != wantCode {
		t.Fatalf("kubectl assay %s: exit code %d, want %d: %v\n%s%s", strings.Join(args, " "), code, wantCode, err, out, stderr.String())
	}
	return string(out)
}

// wantSurroundings checks that a result of Tomcat has what happened around target and clients, and the garbage
// collections that its Java virtual machine logged.
func wantSurroundings(t *testing.T, stored *result.Result) {
	t.Helper()
	around := map[string]*result.NodeUsage{"the target": stored.NodeUsage}
	for i := range stored.Clients {
		around[fmt.Sprint("client ", i)] = stored.Clients[i].NodeUsage
	}
	for of, u := range around {
		if u == nil || u.CPUTime <= 0 || u.OtherCPU < 0 || u.ContextSwitches <= 0 || u.RunQueue < 1 || u.SegmentsSent <= 0 || u.ListenOverflows < 0 || u.PacketsReceived <= 0 {
			t.Errorf("around %s: %+v", of, u)
		}
	}
	if u := stored.NodeUsage; u != nil && u.AcceptQueueLimit < 1 {
		t.Errorf("the limit of the target's accept queue is %d", u.AcceptQueueLimit)
	}
	if stored.Server == nil {
		t.Fatal("the server's usage is unknown")
	}
	if u := stored.Server.End; u.CompilerCPU < 1 || u.CompilerCPU > u.CPU() {
		t.Errorf("Java's compiler used %d of %d microseconds", u.CompilerCPU, u.CPU())
	}
	if u := stored.Server.Spent(); u.GCPauses < 0 || u.GCPause < 0 || u.DescriptorLimit < 1 {
		t.Errorf("the server used %+v", u)
	}
	var counts result.Counts
	var times result.PhaseTimes
	for _, second := range stored.Series {
		counts.Add(*second.Counts)
		times.Add(second.Phases)
		for phase, p := range second.Phases {
			if p.Count > 0 && (p.PhasePercentiles == nil || p.P50 > p.P90 || p.P90 > p.P99 || p.P99 > p.Max || result.Phase(phase) == result.Total && p.P99 != second.P99) {
				t.Errorf("second %d: %s %+v with percentiles %+v", second.Second, result.Phase(phase), p, p.PhasePercentiles)
			}
		}
	}
	if counts != stored.Merged.Counts {
		t.Errorf("the seconds have %+v, all %+v", counts, stored.Merged.Counts)
	}
	for phase := range result.Phases {
		if h := stored.Merged.Latencies.Get(phase); times[phase].Count != h.Count() || times[phase].Sum != h.Sum() {
			t.Errorf("%s: the seconds have %+v, all %d durations with the sum %d", phase, times[phase], h.Count(), h.Sum())
		}
	}
}
