//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestAlternatingBlocks compares a server whose requests take 2 ms with one whose requests take 3 ms. The runs of a block must have
// begun their measurement at the same time, each with as many seconds as it declares, and with the rate that its service time allows:
// that of a run that is loaded alone.
func TestAlternatingBlocks(t *testing.T) {
	t.Parallel()
	const seconds, connections = 4, 2
	c := theCluster
	run := wrapper.NewRun("", "", harness.ServerImage).Lane("alternating").Path("/fixed/2000/100").TargetResources("200m", "128Mi").
		Clients(1, "200m", "128Mi").Seconds(connections, seconds).WarmupSeconds(1).Obj()
	b := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace(t), Name: "alternating"}}
	b.Spec.Template.Spec = run.Spec
	b.Spec.Axes = []v1alpha1.Axis{{Name: "path", Path: "/load/requests/0/path", Values: []apiextensionsv1.JSON{
		{Raw: []byte(`"/fixed/2000/100"`)}, {Raw: []byte(`"/fixed/3000/100"`)},
	}}}
	b.Spec.Repetitions = &v1alpha1.Repetitions{Min: ptr.To(int32(6)), Order: v1alpha1.OrderAlternating, InvalidRuns: v1alpha1.InvalidRuns{Replace: ptr.To(int32(10))}}
	b.Spec.Comparison = &v1alpha1.Comparison{
		Baseline: v1alpha1.Baseline{Cell: v1alpha1.CellSelector{"path": "/fixed/2000/100"}},
		Metrics:  []v1alpha1.ComparedMetric{{Name: v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP50)}},
	}
	c.create(t, b)
	if err := wait.PollUntilContextTimeout(t.Context(), time.Second, 8*time.Minute, true, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(b), b)
		return meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionFinished), err
	}); err != nil {
		t.Fatalf("wait for the end of the round: %v: %+v", err, b.Status)
	}
	t.Log(lifecycle.Succeeded(b).Message)
	if b.Status.Verdict != v1alpha1.BenchmarkFailed || *b.Status.Round.CompletedBlocks != 6 {
		t.Fatalf("%s: %+v", lifecycle.Succeeded(b).Message, b.Status.Round)
	}
	var runs v1alpha1.BenchmarkRunList
	if err := c.List(t.Context(), &runs, client.InNamespace(b.Namespace)); err != nil {
		t.Fatal(err)
	}
	began := map[string]metav1.MicroTime{}
	for i := range runs.Items {
		r := &runs.Items[i]
		key, ok := benchmark.ParseRunName(b.Name, r.Name)
		if !ok || r.Status.Verdict == v1alpha1.VerdictError {
			continue
		}
		at, first := *r.Status.MeasurementTime, began[r.Spec.Alternation.Block]
		switch {
		case first.IsZero():
			began[r.Spec.Alternation.Block] = at
		case at.Sub(first.Time).Abs() > time.Second: // the same instant, by two conversions of the manager's clock
			t.Errorf("the runs of block %s began to measure at %s and %s", r.Spec.Alternation.Block, first, at)
		}
		measured := c.artifact(t, r)
		if got := len(measured.Series); got != seconds && got != seconds+1 { // a request may end after the last second
			t.Errorf("%s has %d seconds, want %d", r.Name, got, seconds)
		}
		// A connection makes at most one request in its service time.
		most := connections * seconds * 1_000_000 / map[int]int64{0: 2000, 1: 3000}[key.Cell]
		if got := measured.Merged.Requests; got > most+connections || got < most/4 {
			t.Errorf("%s has %d requests, want at most %d, and not those of a part of its seconds", r.Name, got, most)
		}
	}
	if len(began) < 6 {
		t.Errorf("%d blocks with results", len(began))
	}
}

// TestBlockOfServers loads nginx, httpd and Tomcat in turn, each started on the block's CPUs by a program that Assay copies to it. Then
// one of the servers of another block is killed while they measure: that run fails, and the other ends with a result.
func TestBlockOfServers(t *testing.T) {
	t.Parallel()
	c := theCluster
	ns := c.namespace(t)
	block := func(name string, servers ...func(*wrapper.Run)) []*v1alpha1.BenchmarkRun {
		runs := make([]*v1alpha1.BenchmarkRun, len(servers))
		for i, server := range servers {
			w := wrapper.NewRun(ns, fmt.Sprint(name, i), "").Lane("block-of-servers").Content("/a.bin", 1000).TargetResources("300m", "256Mi").
				Clients(1, "300m", "128Mi").Seconds(2, 4)
			server(w)
			runs[i] = w.Obj()
			runs[i].Spec.Alternation = &v1alpha1.Alternation{Block: name, Variants: int32(len(servers)), Variant: ptr.To(int32(i))}
			c.create(t, runs[i])
		}
		return runs
	}
	nginx := func(w *wrapper.Run) { w.Nginx().Spec.Target.Image = nginxImage }
	httpd := func(w *wrapper.Run) { w.HTTPD().Spec.Target.Image = httpdImage }
	tomcat := func(w *wrapper.Run) { w.Tomcat().Spec.Target.Image = tomcatImage }
	for _, run := range block("servers", nginx, httpd, tomcat) {
		done := c.finished(t, run, 3*time.Minute)
		wantSucceeded(t, done)
		if got := len(c.artifact(t, done).Series); got < 4 {
			t.Errorf("%s has %d seconds, want 4", run.Name, got)
		}
	}
	runs := block("killed", nginx, httpd)
	c.state(t, runs[0], v1alpha1.ReasonMeasuring, 2*time.Minute)
	c.kill(t, c.running(t, ns, client.MatchingLabels{manifest.LabelRunUID: string(runs[0].UID), manifest.LabelRole: manifest.RoleTarget}), "server")
	wantFailed(t, c.finished(t, runs[0], 2*time.Minute), v1alpha1.ReasonTargetCrashed)
	wantSucceeded(t, c.finished(t, runs[1], 2*time.Minute))
}
