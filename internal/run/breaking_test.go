package run

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/collect"
	"github.com/assay-dev/assay/internal/run/conclusion"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// staged makes the load go up from 0 to 100 connections of each of two clients in 100 s, and stay there. It ends
// when the CPU is above 80%. The measurement has begun the given number of seconds ago.
func staged(seconds int) *scene {
	s := newScene().withBackend().started(measurementStage)
	s.run.Spec.Load = v1alpha1.Load{
		Requests: []v1alpha1.Request{{Path: "/"}},
		Stages: &v1alpha1.StagesLoad{
			Levels: []v1alpha1.LoadLevel{{Connections: ptr.To(int32(100)), RampSeconds: ptr.To(int32(100)), HoldSeconds: 100}},
			StopAt: []v1alpha1.Threshold{{Metric: v1alpha1.MetricTargetCPU, Above: "80%"}},
		},
	}
	s.o.Sessions.Starts = map[sessionpb.Stage]int64{measurementStage: now.Add(-time.Duration(seconds) * time.Second).UnixMicro()}
	s.readBackend("app", "2")
	return s
}

// loaded returns seconds in which the backend's CPU usage is the number of the second in percent.
func loaded(seconds int64) []result.Second {
	var all []result.Second
	for s := range seconds {
		all = append(all, result.Second{Second: s, Seconds: 1, Requests: 10 * (s + 1), P99: 10, ServerCPU: 10_000, BackendCPU: map[string]int64{"app": s * 10_000}})
	}
	return all
}

func TestEndEarly(t *testing.T) {
	decided := func(s *scene, end int64) *scene {
		s.run.Status.Stop = &v1alpha1.StopStatus{
			BreakingPoint: v1alpha1.BreakingPoint{Kind: "CPU", Container: "app", Bound: "above 80%", Actual: "81.0%", Connections: ptr.To(int64(163)), StartSeconds: ptr.To(int64(81)), During: v1alpha1.PartStep},
			EndSeconds:    ptr.To(end),
		}
		return s
	}
	passed := func(s *scene, n int64) *scene {
		s.o.Passed = loaded(n)
		return s
	}
	tests := map[string]struct {
		scene *scene
		end   int64
		says  string
	}{
		"nothing known yet":        {staged(85), 0, "The clients are sending load."},
		"two seconds above":        {passed(staged(84), 83), 0, "The clients are sending load."},
		"three seconds above":      {passed(staged(85), 84), 87, "The load ends after 87s: CPU of app was 81.0% (above 80%) at 163 connections."},
		"known late":               {passed(staged(150), 150), 152, "The load ends after 152s: CPU of app was 81.0% (above 80%) at 163 connections."},
		"as the load ends anyway":  {passed(staged(199), 198), 0, "The clients are sending load."},
		"decided by another":       {decided(staged(86), 87), 87, "The load ends after 87s: CPU of app was 81.0%"},
		"a decision stands":        {decided(passed(staged(90), 89), 87), 87, "The load ends after 87s: CPU of app was 81.0%"},
		"decided and time is over": {decided(staged(150), 87), 87, "The load ends after 87s"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := test.scene.decide()
			said := verdict(&p)
			if p.EndMeasurement != test.end || said.Reason != v1alpha1.ReasonMeasuring || !strings.Contains(said.Message, test.says) {
				t.Errorf("ends with second %d, %s: %s", p.EndMeasurement, said.Reason, said.Message)
			}
			if stop := p.Status.Stop; (stop != nil) != (test.end > 0) || stop != nil && *stop.EndSeconds != test.end {
				t.Errorf("status %+v", stop)
			}
			if observed.Stops(test.scene.run) != (test.scene.run.Status.Stop == nil) {
				t.Error("it reads what it doesn't need, or doesn't read what it needs")
			}
		})
	}
	s := decided(staged(80), 87)
	s.run.Spec.Suspend = ptr.To(true)
	if p := s.decide(); p.Status.Stop != nil {
		t.Errorf("a run that starts again keeps %+v", p.Status.Stop)
	}
	s = passed(staged(150), 150)
	s.run.Spec.Load.Stages.StopAt = nil
	if p := s.decide(); p.Status.Stop != nil || observed.Stops(s.run) {
		t.Errorf("a run without stopAt has %+v", p.Status.Stop)
	}
}

// TestStoppedResult checks that levels end with the load, or with the client that ended last, and that the result
// and the status say what ended it.
func TestStoppedResult(t *testing.T) {
	s := staged(90)
	s.run.Spec.Load.Stages.Levels = append(s.run.Spec.Load.Stages.Levels, v1alpha1.LoadLevel{Connections: ptr.To(int32(300)), RampSeconds: ptr.To(int32(10)), HoldSeconds: 10})
	s.run.Status.Stop = &v1alpha1.StopStatus{
		BreakingPoint: v1alpha1.BreakingPoint{Kind: "CPU", Container: "app", Bound: "above 80%", Actual: "81.0%", Connections: ptr.To(int64(163)), StartSeconds: ptr.To(int64(81)), During: v1alpha1.PartStep},
		EndSeconds:    ptr.To(int64(87)),
	}
	at := s.o.Sessions.Starts[measurementStage]
	seconds := int64(87)
	s.clients(func(c *session.ClientState) {
		c.Totals = &result.Totals{StartedAt: at, EndedAt: at + seconds*1_000_000, Levels: make([]result.LevelTotals, 2), Steps: make([]result.LevelTotals, 2)}
		c.Totals.Requests, c.Totals.Steps[0].Requests, c.Totals.Steps[0].Seconds = 1000, 990, seconds
		seconds++ // the other was told later
	})
	s.o.Series = loaded(88)
	s.o.Levels, s.o.Steps = observed.Levels(s.run, s.o.Sessions.Clients)
	e, err := collect.Evidence(step.NewPlanner(s.run, s.o, now))
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Merge()
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Levels) != 0 || len(r.Steps) != 1 || r.Steps[0].From != 0 || r.Steps[0].TargetConnections != 200 || r.Steps[0].End != 88 || r.Steps[0].Requests != 1980 {
		t.Errorf("levels %+v, steps %+v", r.Levels, r.Steps)
	}
	want := &result.Stop{End: 88, BreakingPoint: result.BreakingPoint{
		Kind: result.BreakingCPU, Container: "app", Bound: "above 80%", Reached: true, Second: 81, Connections: 163, Step: true, Actual: "81.0%",
	}}
	if diff := cmp.Diff(want, r.Stop); diff != "" {
		t.Error(diff)
	}
	status := conclusion.ResultStatus(r)
	if len(status.BreakingPoints) != 1 || *status.BreakingPoints[0].Connections != 163 || status.BreakingPoints[0].Container != "app" {
		t.Errorf("status %+v", status.BreakingPoints)
	}
	if len(r.BreakingPoints) != 6 { // of both containers and the pod, failed requests, their share, throughput
		t.Errorf("breaking points %+v", r.BreakingPoints)
	}
	s.run.Status.Artifact = &v1alpha1.ArtifactReference{SHA256: "digest"}
	s.o.Stored = &observed.Stored{Result: r}
	s.o.Stored.SHA256 = "digest"
	finished := s.decide()
	if said := verdict(&finished); said.Status != metav1.ConditionTrue || said.Reason != v1alpha1.ReasonCompleted ||
		!strings.Contains(said.Message, "The load ended after 88s, by spec.load.stages.stopAt: CPU of app was 81.0% (above 80%) at 163 connections.") {
		t.Errorf("%+v", said)
	}
}
