package run

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
)

// laneRun returns a run of lane "l" that was created the given number of seconds
// after the epoch.
func laneRun(name string, created int64, changes ...func(*v1alpha1.BenchmarkRun)) v1alpha1.BenchmarkRun {
	run := v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, UID: types.UID(name + "-uid"), CreationTimestamp: metav1.NewTime(time.Unix(created, 0)),
		},
		Spec: v1alpha1.BenchmarkRunSpec{Lane: "l"},
	}
	for _, change := range changes {
		change(&run)
	}
	return run
}

func with(kind string) func(*v1alpha1.BenchmarkRun) {
	return func(run *v1alpha1.BenchmarkRun) {
		run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue})
	}
}

func suspended(run *v1alpha1.BenchmarkRun) { run.Spec.Suspend = ptr.To(true) }

func inLane(lane string) func(*v1alpha1.BenchmarkRun) {
	return func(run *v1alpha1.BenchmarkRun) { run.Spec.Lane = lane }
}

func lanePod(run string, phase corev1.PodPhase) corev1.Pod {
	return corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Labels: map[string]string{manifest.LabelLane: "l", manifest.LabelRun: run, manifest.LabelRunUID: run + "-uid"}},
		Status:     corev1.PodStatus{Phase: phase},
	}
}

func TestPositionOf(t *testing.T) {
	admitted, finished := with(v1alpha1.ConditionAdmitted), with(v1alpha1.ConditionFinished)
	tests := map[string]struct {
		runs []v1alpha1.BenchmarkRun
		pods []corev1.Pod
		want Position
	}{
		"alone":                     {want: Position{Free: true}},
		"an older one waits":        {runs: []v1alpha1.BenchmarkRun{laneRun("old", 5)}, want: Position{Ahead: 1}},
		"a younger one waits":       {runs: []v1alpha1.BenchmarkRun{laneRun("young", 15)}, want: Position{Free: true}},
		"as old, its name is first": {runs: []v1alpha1.BenchmarkRun{laneRun("a", 10)}, want: Position{Ahead: 1}},
		"as old, its name is last":  {runs: []v1alpha1.BenchmarkRun{laneRun("z", 10)}, want: Position{Free: true}},
		"one runs":                  {runs: []v1alpha1.BenchmarkRun{laneRun("young", 15, admitted)}, want: Position{Ahead: 1, Holder: "ns/young"}},
		"one runs and one waits":    {runs: []v1alpha1.BenchmarkRun{laneRun("a", 1, admitted), laneRun("b", 2)}, want: Position{Ahead: 2, Holder: "ns/a"}},
		"an older one has finished": {runs: []v1alpha1.BenchmarkRun{laneRun("old", 5, admitted, finished)}, want: Position{Free: true}},
		"an older one is suspended": {runs: []v1alpha1.BenchmarkRun{laneRun("old", 5, suspended)}, want: Position{Free: true}},
		"one runs in another lane":  {runs: []v1alpha1.BenchmarkRun{laneRun("old", 5, admitted, inLane("other"))}, want: Position{Free: true}},
		"a finished one's pod runs": {
			runs: []v1alpha1.BenchmarkRun{laneRun("old", 5, admitted, finished)}, pods: []corev1.Pod{lanePod("old", corev1.PodRunning)},
			want: Position{Holder: "ns/old"},
		},
		"a deleted one's pod runs":     {pods: []corev1.Pod{lanePod("gone", corev1.PodPending)}, want: Position{Holder: "ns/gone"}},
		"a finished one's pod is kept": {pods: []corev1.Pod{lanePod("old", corev1.PodFailed), lanePod("old", corev1.PodSucceeded)}, want: Position{Free: true}},
		"its own pod runs":             {pods: []corev1.Pod{lanePod("me", corev1.PodRunning)}, want: Position{Free: true}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			me := laneRun("me", 10)
			got := PositionOf(&me, append(test.runs, me), test.pods)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNext(t *testing.T) {
	admitted, finished := with(v1alpha1.ConditionAdmitted), with(v1alpha1.ConditionFinished)
	runs := []v1alpha1.BenchmarkRun{
		laneRun("third", 30), laneRun("first", 10), laneRun("second", 20), laneRun("runs", 1, admitted),
		laneRun("done", 2, admitted, finished), laneRun("suspended", 3, suspended), laneRun("elsewhere", 4, inLane("other")),
	}
	for _, want := range []string{"first", "second", "third", ""} {
		got, ok := Next("l", runs)
		if got.Name != want || ok != (want != "") || ok && got.Namespace != "ns" {
			t.Fatalf("%v, %t, want %q", got, ok, want)
		}
		runs = slices.DeleteFunc(runs, func(run v1alpha1.BenchmarkRun) bool { return run.Name == want })
	}
}
