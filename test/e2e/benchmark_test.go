//go:build e2e

package e2e

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/blocks"
	"github.com/assay-dev/assay/internal/benchmark/lifecycle"
	"github.com/assay-dev/assay/test/harness"
	"github.com/assay-dev/assay/test/wrapper"
)

// TestBenchmark compares a server whose requests take 2 ms with one whose requests take 4 ms: the round must
// say that it is worse, and keep the metrics of every run. The runs must be those of the round, one at a
// time, in the order that its seed says.
func TestBenchmark(t *testing.T) {
	t.Parallel()
	c := theCluster
	run := wrapper.NewRun("", "", harness.ServerImage).Lane("benchmark").Path("/fixed/2000/100").TargetResources("200m", "128Mi").
		Clients(1, "200m", "128Mi").Seconds(2, 2).Obj()
	b := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace(t), Name: "service-times"}}
	b.Spec.Template.Spec = run.Spec
	b.Spec.Template.Spec.Load.Requests = []v1alpha1.Request{{Name: "varied", Path: "/fixed/2000/100"}, {Name: "same", Path: "/fixed/2000/10"}}
	b.Spec.Axes = []v1alpha1.Axis{{Name: "path", Path: "/load/requests/0/path", Values: []apiextensionsv1.JSON{
		{Raw: []byte(`"/fixed/2000/100"`)}, {Raw: []byte(`"/fixed/4000/100"`)},
	}}}
	b.Spec.Repetitions = &v1alpha1.Repetitions{Min: ptr.To(int32(6)), InvalidRuns: v1alpha1.InvalidRuns{Replace: ptr.To(int32(20))}}
	b.Spec.Comparison = &v1alpha1.Comparison{
		Baseline: v1alpha1.Baseline{Cell: v1alpha1.CellSelector{"path": "/fixed/2000/100"}},
		Metrics: []v1alpha1.ComparedMetric{
			{Name: v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP50), Request: "varied"},
			{Name: v1alpha1.BenchmarkMetric(v1alpha1.MetricLatencyP50), Request: "same", Role: v1alpha1.RoleReport},
		},
	}
	c.create(t, b)
	if err := wait.PollUntilContextTimeout(t.Context(), time.Second, 8*time.Minute, true, func(ctx context.Context) (bool, error) {
		err := c.Get(ctx, client.ObjectKeyFromObject(b), b)
		return meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.ConditionFinished), err
	}); err != nil {
		t.Fatalf("wait for the end of the round: %v: %+v", err, b.Status)
	}
	if r := b.Status.Round; b.Status.Verdict != v1alpha1.BenchmarkFailed || len(r.Claims) != 1 || r.Claims[0].Verdict != v1alpha1.ClaimContradicted || len(r.Effects) != 1 || r.Effects[0].Request != "same" {
		t.Fatalf("%s: %+v", lifecycle.Succeeded(b).Message, b.Status.Round)
	}
	t.Log(lifecycle.Succeeded(b).Message)

	var stored corev1.ConfigMap
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: b.Namespace, Name: b.Status.Round.Artifact.ConfigMap.Name}, &stored); err != nil {
		t.Fatal(err)
	}
	data := stored.BinaryData[benchmark.ArtifactKey]
	if artifact.Identify(data).SHA256 != b.Status.Round.Artifact.SHA256 {
		t.Error("the artifact isn't the one that the status announces")
	}
	round, err := benchmark.DecodeRound(data)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(round.Runs, func(a, b benchmark.Run) int { return a.Started.Compare(b.Started) })
	var last benchmark.Run
	valid := 0
	var pauses []time.Duration
	for i, r := range round.Runs {
		if i > 0 {
			if r.Started.Before(last.Ended.Truncate(time.Second)) {
				t.Errorf("run %s began at %s, before the end of %s at %s", r.Name, r.Started, last.Name, last.Ended)
			}
			pauses = append(pauses, r.Started.Sub(last.Ended))
		}
		if r.Valid {
			if want := blocks.Order(round.Seed, 2, r.Number)[valid%2]; r.Cell != want || r.Number != valid/2 {
				t.Errorf("valid run %d is %s, want cell %d of block %d", valid, r.Name, want, valid/2)
			}
			valid++
		}
		last = r
	}
	if valid != 12 {
		t.Errorf("%d valid runs of %d, want 12", valid, len(round.Runs))
	}
	t.Logf("between the end of a run and the creation of the next, to the second: %v", pauses)
	c.commands(t, b, round)
}
