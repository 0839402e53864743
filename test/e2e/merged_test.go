//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// serverReport holds what test/server counted on one path; see there.
type serverReport struct {
	Requests, Succeeded, Status, Short, Aborted, BodyBytes int64
	Received, Anonymous, Connections                       int64
	Methods                                                map[string]int64
	Imposed                                                *result.Histogram
}

// serverReport returns the counts that the test server of a finished run logged when
// it was stopped. The run's pods must be retained.
func (c *cluster) serverReport(t *testing.T, run *v1alpha1.BenchmarkRun) map[string]serverReport {
	t.Helper()
	var pod *corev1.Pod
	if err := wait.PollUntilContextTimeout(t.Context(), 250*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		pod = c.pod(t, run.Namespace, client.MatchingLabels{
			manifest.LabelRunUID: string(run.UID), manifest.LabelRole: manifest.RoleTarget,
		})
		return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded, nil
	}); err != nil {
		t.Fatalf("the retained target did not stop: %v", err)
	}
	log := c.logs(t, pod, "server")
	lines := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
	var report map[string]serverReport
	if err := json.Unmarshal(lines[len(lines)-1], &report); err != nil {
		t.Fatalf("decode the server's last line: %v\n%s", err, log)
	}
	return report
}

// TestMetrics compares the merged metrics of five clients with the delays that the
// server imposed. Counts and bytes are equal, the merged histogram equals that of all
// samples pooled, and no percentile is below the server's.
//
// How far a percentile may be above the server's depends on what else the machine does:
// a disturbance lengthens requests, by any time, but never shortens one. What a client
// adds to each request is therefore seen on the fastest: the 8.5th percentile, a tenth
// of the 85% of the requests that /mix delays by 2 ms, is at most a quarter above the
// server's. It is 80 to 100 µs above on an idle machine, up to 150 µs beside two
// programs that never wait, and 224 µs were seen at a load average of 10.
// The log has the other percentiles.
func TestMetrics(t *testing.T) {
	c := theCluster
	const perClient, length = 2000, 1000
	run := wrapper.NewRun(c.namespace(t), "metrics", harness.ServerImage).Path("/mix/1000").TargetResources("1", "128Mi").
		Clients(5, "140m", "128Mi").Requests(2, perClient).Retain(v1alpha1.RetainAlways).Obj()
	c.create(t, run)
	done := c.finished(t, run, 3*time.Minute)
	wantSucceeded(t, done)
	server := c.serverReport(t, done)["/mix/1000"]
	stored := c.artifact(t, done)
	merged := &stored.Merged

	if merged.Requests != 5*perClient || merged.Requests != server.Requests || merged.Succeeded() != server.Succeeded {
		t.Errorf("%d requests of which %d succeeded; the server had %d and %d, want %d",
			merged.Requests, merged.Succeeded(), server.Requests, server.Succeeded, 5*perClient)
	}
	if merged.BodyBytes != server.BodyBytes || merged.BodyBytes != 5*perClient*length {
		t.Errorf("%d bytes of bodies; the server sent %d", merged.BodyBytes, server.BodyBytes)
	}
	total := merged.Latencies.Get(result.Total)
	for _, p := range []float64{8.5, 50, 86, 90, 95.45, 99, 99.55, 99.9} {
		got, imposed := total.Percentile(p), server.Imposed.Percentile(p)
		t.Logf("p%v: %d µs measured, %d µs imposed, %+d µs", p, got, imposed, got-imposed)
		if got < imposed-imposed/1000 {
			t.Errorf("p%v: %d µs measured, less than the %d µs imposed", p, got, imposed)
		}
		if p == 8.5 && got > imposed+imposed/4 {
			t.Errorf("p%v: %d µs measured, more than a quarter above the %d µs imposed", p, got, imposed)
		}
	}

	pooled := result.NewHistogram()
	for i := range stored.Clients {
		pooled.Merge(stored.Clients[i].Latencies.Get(result.Total))
	}
	want, got := pooled.Bars(), total.Bars()
	if len(want) != len(got) {
		t.Fatalf("%d buckets merged, %d pooled", len(got), len(want))
	}
	for i := range want {
		if want[i] != got[i] {
			t.Errorf("bucket %d: %+v merged, %+v pooled", i, got[i], want[i])
		}
	}
}

// TestFailures compares the errors of two clients, by kind, with the failures that
// the server caused.
func TestFailures(t *testing.T) {
	c := theCluster
	run := wrapper.NewRun(c.namespace(t), "failures", harness.ServerImage).Path("/failures/1000").
		Clients(2, "100m", "128Mi").Requests(4, 1000).Retain(v1alpha1.RetainAlways).Obj()
	c.create(t, run)
	done := c.finished(t, run, 3*time.Minute)
	wantSucceeded(t, done)
	server := c.serverReport(t, done)["/failures/1000"]
	counted, errors := done.Status.Result, done.Status.Result.Errors
	if *counted.Requests != 2000 || *counted.Requests != server.Requests {
		t.Errorf("%d requests; the server had %d", *counted.Requests, server.Requests)
	}
	for _, kind := range []struct {
		name       string
		got, wants int64
	}{
		{"status", *errors.Status, server.Status},
		{"length", *errors.Length, server.Short},
		{"receive", *errors.Receive, server.Aborted},
		{"connect", *errors.Connect, 0},
		{"timeout", *errors.Timeout, 0},
		{"exception", *errors.Exception, 0},
		{"total", *errors.Total, server.Status + server.Short + server.Aborted},
	} {
		if kind.got != kind.wants {
			t.Errorf("%d errors of the kind %s; the server caused %d", kind.got, kind.name, kind.wants)
		}
	}
	if *counted.BodyBytesReceived != server.BodyBytes {
		t.Errorf("%d bytes of bodies; the server sent %d", *counted.BodyBytesReceived, server.BodyBytes)
	}
}
