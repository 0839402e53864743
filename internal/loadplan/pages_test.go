package loadplan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/session"
)

// pagesOf is a run with a load of pages.
func pagesOf(replicas int, load v1alpha1.Load) *v1alpha1.BenchmarkRun {
	run := of(replicas, load)
	run.Spec.Load.Requests = []v1alpha1.Request{
		{Path: "/a.html", Weight: ptr.To(int32(2)), Elements: []v1alpha1.ElementPath{"/1.gif", "/2.gif", "/1.gif"}},
		{Path: "/order", Method: v1alpha1.MethodPost, Body: &v1alpha1.Body{Text: "x=1"}},
	}
	return run
}

func TestPagePlans(t *testing.T) {
	lengths := map[string]int64{"/a.html": 1000, "/1.gif": 43, "/other": 7}
	plans := Plans(pagesOf(3, v1alpha1.Load{
		LoadIsPer: v1alpha1.LoadPerRun, Pages: &v1alpha1.Pages{}, Closed: &v1alpha1.ClosedLoad{Users: 10, RequestCount: ptr.To(int64(100))},
	}), lengths)
	want := []session.Page{
		{Document: session.PlannedRequest{Path: "/a.html", Weight: 2, Length: 1000, Decoded: true}, Elements: []string{"/1.gif", "/2.gif", "/1.gif"}},
		{Document: session.PlannedRequest{Path: "/order", Method: "POST", Body: []byte("x=1"), Weight: 1, Length: -1}},
	}
	users := 0
	for i, p := range plans {
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, p.Pages); diff != "" || p.Requests != nil {
			t.Errorf("client %d: %s", i, diff)
		}
		if diff := cmp.Diff(map[string]int64{"/1.gif": 43}, p.Lengths); diff != "" {
			t.Errorf("client %d: lengths %s", i, diff)
		}
		if p.UserConnections != 6 {
			t.Errorf("client %d: %d connections of each user", i, p.UserConnections)
		}
		users += p.Connections
	}
	if users != 10 {
		t.Errorf("%d users", users)
	}
}

func TestPageStages(t *testing.T) {
	run := pagesOf(2, v1alpha1.Load{
		LoadIsPer: v1alpha1.LoadPerRun, Pages: &v1alpha1.Pages{ConnectionsPerUser: ptr.To(int32(2))},
		Stages: &v1alpha1.StagesLoad{ThinkTime: &v1alpha1.ThinkTime{MinMilliseconds: 500}, Levels: []v1alpha1.LoadLevel{
			{Users: ptr.To(int32(200)), HoldSeconds: 10}, {Users: ptr.To(int32(401)), RampSeconds: ptr.To(int32(5)), HoldSeconds: 10},
		}},
	})
	plans := Plans(run, nil)
	if err := plans[0].Check(); err != nil {
		t.Fatal(err)
	}
	if p := plans[0]; p.Connections != 201 || p.UserConnections != 2 || p.ThinkTime.MinMicroseconds != 500_000 || p.Measurement.DurationMicroseconds != 25_000_000 {
		t.Errorf("plan %+v", p)
	}
	levels, steps := Levels(&run.Spec)
	if len(levels) != 2 || levels[0].TargetConnections != 200 || levels[1].TargetConnections != 401 || len(steps) != 1 || steps[0].From != 200 {
		t.Errorf("levels %+v, steps %+v", levels, steps)
	}
	if shape := Shape(&run.Spec); shape != "closed" {
		t.Errorf("shape %q", shape)
	}
}
