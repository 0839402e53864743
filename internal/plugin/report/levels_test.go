package report

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/artifact"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/plugin/cluster"
	"github.com/assay-dev/assay/internal/report/round"
	"github.com/assay-dev/assay/internal/result"
)

// TestLevels checks that the levels of the runs that count are read from their results, and that a note counts those
// whose results are gone.
func TestLevels(t *testing.T) {
	stored := &result.Result{Run: result.Run{Namespace: "default", Name: "x-r1-c000-b00", UID: "uid", Load: result.LoadClosed}}
	stored.Levels = []result.Level{{TargetConnections: 50, End: 10}}
	stored.Levels[0].Requests = 500
	data, err := artifact.Encode(stored, artifact.ConfigMapLimit)
	if err != nil {
		t.Fatal(err)
	}
	identity := artifact.Identify(data)
	run := &v1alpha1.BenchmarkRun{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: stored.Run.Name, UID: types.UID(stored.Run.UID)}}
	run.Status.Artifact = &v1alpha1.ArtifactReference{
		ConfigMap: &v1alpha1.ArtifactConfigMap{Name: "result", Key: artifact.Key}, SizeBytes: &identity.SizeBytes, SHA256: identity.SHA256,
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "result"}, BinaryData: map[string][]byte{artifact.Key: data}}
	scheme, err := cluster.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster.Cluster{WithWatch: fake.NewClientBuilder().WithScheme(scheme).WithObjects(run, config).Build(), Namespace: "default"}
	for format, want := range map[string]int{"html": 1, "svg=levels": 1, "text": 0} {
		r := &round.Report{Round: &benchmark.Round{Runs: []benchmark.Run{
			{RunKey: benchmark.RunKey{Cell: 2}, Name: run.Name, Valid: true},
			{Name: "x-r1-c001-b00", Valid: true},
			{Name: "x-r1-c002-b00"},                                                   // not valid
			{RunKey: benchmark.RunKey{Number: 1}, Name: "x-r1-c000-b01", Valid: true}, // not in a whole block
		}}}
		r.Blocks, r.Spec.Template.Spec.Load.Stages = 1, &v1alpha1.StagesLoad{}
		if err := addLevels(t.Context(), c, r, format); err != nil {
			t.Fatal(err)
		}
		if len(r.Levels) != want || want == 1 && (r.Levels[0].Cell != 2 || r.Levels[0].Levels[0].RequestsPerSecond != 50) {
			t.Errorf("%s: %+v", format, r.Levels)
		}
		if note := strings.Join(r.Notes, " "); (note == "The levels of 1 run are missing: its result is gone.") != (want == 1) {
			t.Errorf("%s: %q", format, note)
		}
	}
}
