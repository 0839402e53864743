package objects_test

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/benchmark"
	"github.com/assay-dev/assay/internal/benchmark/objects"
	"github.com/assay-dev/assay/internal/benchmark/plan"
	"github.com/assay-dev/assay/test/benchtest"
)

// planned returns a planner of one cell with a capacity search, and the run of a key as it would be stored.
func planned(t *testing.T, k benchmark.RunKey) (*plan.Planner, *v1alpha1.BenchmarkRun) {
	t.Helper()
	spec := &v1alpha1.BenchmarkSpec{
		Axes:        []v1alpha1.Axis{benchtest.Values("image", "/target/image", `"tomcat:10"`)},
		Capacity:    &v1alpha1.Capacity{Path: "/load/closed/connections", From: 10, Max: 400},
		Repetitions: &v1alpha1.Repetitions{Min: ptr.To(int32(6))},
	}
	spec.Template.Spec = *benchtest.Template(t, benchtest.TomcatTemplate)
	p := benchtest.Planner(t, spec)
	encoded, err := objects.PlannedSpec(p, k)
	if err != nil {
		t.Fatal(err)
	}
	b := &v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Name: "bm", Namespace: "default", UID: "1"}, Spec: *spec}
	made, err := objects.NewRun(b, k, &p.Cells[0], encoded, p.Alternation(k))
	if err != nil {
		t.Fatal(err)
	}
	run := &v1alpha1.BenchmarkRun{}
	if encoded, err = json.Marshal(made.Object); err == nil {
		err = json.Unmarshal(encoded, run)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p, run
}

func TestDifference(t *testing.T) {
	block, trial := benchmark.RunKey{Round: 1, Number: 3}, benchmark.RunKey{Round: 1, Trial: true, Number: 3}
	for name, test := range map[string]struct {
		key    benchmark.RunKey
		change func(*v1alpha1.BenchmarkRun)
		want   string
	}{
		"the planned run": {block, func(*v1alpha1.BenchmarkRun) {}, ""},
		"what users change of the Benchmark's own runs": {block, func(r *v1alpha1.BenchmarkRun) {
			r.Labels["team"], r.Finalizers = "shop", []string{"example.org/keep"}
			r.Spec.Suspend, r.Spec.TTLSecondsAfterFinished = ptr.To(true), ptr.To(int32(60))
		}, ""},
		"the same amount of CPU in other words": {block, func(r *v1alpha1.BenchmarkRun) { r.Spec.Target.Resources.CPU = ptr.To(resource.MustParse("1000m")) }, ""},
		"an empty list":                         {block, func(r *v1alpha1.BenchmarkRun) { r.Spec.Thresholds = []v1alpha1.Threshold{} }, ""},
		"another image":                         {block, func(r *v1alpha1.BenchmarkRun) { r.Spec.Target.Image = "fast\n:1" }, `spec.target.image is "fast\n:1", must be "tomcat:10"`},
		"a field that the cell doesn't set":     {block, func(r *v1alpha1.BenchmarkRun) { r.Spec.ActiveDeadlineSeconds = ptr.To(int32(9)) }, `spec.activeDeadlineSeconds is 9, must be not set`},
		"an empty object":                       {block, func(r *v1alpha1.BenchmarkRun) { r.Spec.Target.Server.Nginx = &v1alpha1.NginxServer{} }, `spec.target.server.nginx is {}, must be not set`},
		"one element of a list":                 {block, func(r *v1alpha1.BenchmarkRun) { r.Spec.Load.Requests[1].Path = "/c" }, `spec.load.requests[1].path is "/c", must be "/b"`},
		"a shorter list":                        {block, func(r *v1alpha1.BenchmarkRun) { r.Spec.Load.Requests = r.Spec.Load.Requests[:1] }, `spec.load.requests is [{"path":"/a"}], must be [{"path":"/a"},{"path":"/b"}]`},
		"no label of the round":                 {block, func(r *v1alpha1.BenchmarkRun) { delete(r.Labels, benchmark.LabelRound) }, `metadata.labels[assay.dev/round] is "", must be "1"`},
		"the name of another cell":              {block, func(r *v1alpha1.BenchmarkRun) { r.Annotations[benchmark.AnnotationCell] = "image=x" }, `metadata.annotations[assay.dev/cell] is "image=x", must be "image=tomcat:10"`},
		"a trial of the first load":             {trial, func(*v1alpha1.BenchmarkRun) {}, ""},
		"a trial of another load":               {trial, func(r *v1alpha1.BenchmarkRun) { r.Spec.Load.Closed.Connections = 400 }, ""},
		"a trial of too much load":              {trial, func(r *v1alpha1.BenchmarkRun) { r.Spec.Load.Closed.Connections = 401 }, `spec/load/closed/connections is 401, must be 10 to 400`},
		"a trial without its load":              {trial, func(r *v1alpha1.BenchmarkRun) { r.Spec.Load.Closed = nil }, `spec/load/closed/connections: it is neither an object nor a list`},
		"a trial of another time": {trial, func(r *v1alpha1.BenchmarkRun) {
			r.Spec.Load.Closed.Connections, r.Spec.Load.Closed.DurationSeconds = 400, ptr.To(int32(1))
		}, `spec.load.closed.durationSeconds is 1, must be 30`},
	} {
		t.Run(name, func(t *testing.T) {
			p, want := planned(t, test.key)
			run := want.DeepCopy()
			test.change(run)
			if got, err := objects.Difference(p, test.key, run, want); err != nil || got != test.want {
				t.Errorf("%q, %v, want %q", got, err, test.want)
			}
			ours, err := objects.Digest(p, test.key, want)
			theirs, err2 := objects.Digest(p, test.key, run)
			if err != nil || err2 != nil || (ours == theirs) != (test.want == "") {
				t.Errorf("digests %x and %x, %v, %v", ours, theirs, err, err2)
			}
		})
	}
}

func TestPlans(t *testing.T) {
	p, _ := planned(t, benchmark.RunKey{Round: 1})
	for k, want := range map[benchmark.RunKey]bool{
		{Round: 1}:                         true,
		{Round: 1, Number: 5}:              true,
		{Round: 1, Number: 6}:              false, // of 6 blocks
		{Round: 1, Cell: 1}:                false, // of 1 cell
		{Round: 2}:                         false,
		{Round: 1, Trial: true, Number: 9}: true,
	} {
		if got := objects.Plans(p, k); got != want {
			t.Errorf("%+v: %t", k, got)
		}
	}
	p.Spec.Capacity = nil
	if objects.Plans(p, benchmark.RunKey{Round: 1, Trial: true}) {
		t.Error("a trial without a capacity search")
	}
}
