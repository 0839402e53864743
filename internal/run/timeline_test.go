package run

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/run/step"
)

// write is a change of a status at a second.
type write struct {
	at      float64
	state   string
	ready   string // a condition that becomes True
	storing bool
	reason  string // of a run that ends
}

// play returns the timeline of a status after writes, as text.
func play(writes ...write) string {
	var status v1alpha1.BenchmarkRunStatus
	for _, s := range writes {
		before := status.DeepCopy()
		p := &step.Planner{Run: &v1alpha1.BenchmarkRun{}, Now: time.Unix(0, int64(s.at*1e9))}
		p.Status = status
		if s.state != "" {
			p.SetState(s.state, "", nil)
		}
		if s.ready != "" {
			p.SetCondition(s.ready, metav1.ConditionTrue, v1alpha1.ReasonReady, "")
		}
		if s.state == v1alpha1.ReasonSuspended {
			p.SetCondition(v1alpha1.ConditionTargetReady, metav1.ConditionFalse, v1alpha1.ReasonSuspended, "")
		}
		if s.storing {
			p.Status.Artifact = &v1alpha1.ArtifactReference{}
		}
		if s.reason != "" {
			p.SetCondition(v1alpha1.ConditionSucceeded, metav1.ConditionFalse, s.reason, "")
			p.Status.CompletionTime = ptr.To(metav1.NewTime(p.Now))
		}
		status = p.Status
		status.Timeline = state.Timeline(before, &status, p.Now)
	}
	var all []string
	for _, e := range status.Timeline {
		all = append(all, fmt.Sprintf("%s %g", e.Event, float64(e.Time.UnixMicro())/1e6))
	}
	return strings.Join(all, ", ")
}

func TestTimeline(t *testing.T) {
	for name, test := range map[string]struct {
		writes []write
		want   string
	}{
		"a whole run": {[]write{
			{at: 1, state: "Queued"}, {at: 2, state: "Queued"}, {at: 3.000001, state: "Starting"}, {at: 4, state: "Starting", ready: "TargetReady"},
			{at: 5, state: "Starting", ready: "ClientsReady"}, {at: 6, state: "WarmingUp"}, {at: 7, state: "Measuring"}, {at: 8, state: "Measuring"},
			{at: 9, state: "Collecting"}, {at: 10, state: "Collecting", storing: true}, {at: 11, reason: "Completed"},
		}, "Queued 1, Starting 3.000001, TargetReady 4, ClientsReady 5, WarmingUp 6, Measuring 7, Collecting 9, Storing 10, Finished 11"},
		"ready and under load in one step": {[]write{
			{at: 1, state: "Starting", ready: "TargetReady"}, {at: 2, state: "Measuring", ready: "ClientsReady"}, {at: 3, state: "Collecting", storing: true},
		}, "Starting 1, TargetReady 1, ClientsReady 2, Measuring 2, Collecting 3, Storing 3"},
		"suspended and resumed": {[]write{
			{at: 1, state: "Queued"}, {at: 2, state: "Starting"}, {at: 3, ready: "TargetReady"}, {at: 4, state: "Suspended"}, {at: 5, state: "Queued"}, {at: 6, state: "Starting"},
			{at: 7, ready: "TargetReady"},
		}, "Queued 5, Starting 6, TargetReady 7"},
		"failed before it began": {[]write{{at: 1, reason: "InvalidSpec"}}, "Finished 1"},
	} {
		if diff := cmp.Diff(test.want, play(test.writes...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestTimelineIsRecorded checks that each decision records what it changes, and nothing else.
func TestTimelineIsRecorded(t *testing.T) {
	s := newScene()
	s.run.Status.Conditions = nil
	s.run.Status.AdmissionTime = nil
	s.o.Position.Free = true
	plan := Decide(s.run, s.o, now)
	if len(plan.Status.Timeline) != 1 || plan.Status.Timeline[0].Event != v1alpha1.EventStarting || !plan.Status.Timeline[0].Time.Time.Equal(now) {
		t.Errorf("admitted: %v", plan.Status.Timeline)
	}
	s.run.Status = plan.Status
	again := Decide(s.run, s.o, now.Add(time.Second))
	if !slices.Equal(again.Status.Timeline, plan.Status.Timeline) {
		t.Errorf("a second later: %v", again.Status.Timeline)
	}
	interrupted := Interrupted(s.run, s.o, now.Add(24*time.Hour), fmt.Errorf("API server is down"))
	if n := len(interrupted.Status.Timeline); n != 2 || interrupted.Status.Timeline[1].Event != v1alpha1.EventFinished {
		t.Errorf("after its deadline: %v", interrupted.Status.Timeline)
	}
}
