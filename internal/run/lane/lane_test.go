package lane

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

// now is the time of the decision.
var now = time.Unix(1_000_010, 0)

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

// recorded gives a run a target's pod and a Job, whose UIDs begin with its name.
func recorded(run *v1alpha1.BenchmarkRun) {
	run.Status.Children = &v1alpha1.ChildrenStatus{TargetPodUID: run.Name + "-pod", ClientJobUID: run.Name + "-job"}
}

// suspendedBefore makes a run one that was suspended 10 seconds ago.
func suspendedBefore(run *v1alpha1.BenchmarkRun) {
	run.Status.Conditions = append(run.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionAdmitted, Status: metav1.ConditionFalse, LastTransitionTime: metav1.NewTime(now.Add(-10 * time.Second)),
	})
}

// completed sets the time of a finished run's end, in seconds before now.
func completed(ago int) func(*v1alpha1.BenchmarkRun) {
	return func(run *v1alpha1.BenchmarkRun) {
		run.Status.CompletionTime = ptr.To(metav1.NewTime(now.Add(-time.Duration(ago) * time.Second)))
	}
}

func deleting(ago int) func(*v1alpha1.BenchmarkRun) {
	return func(run *v1alpha1.BenchmarkRun) {
		run.DeletionTimestamp = ptr.To(metav1.NewTime(now.Add(-time.Duration(ago) * time.Second)))
	}
}

func in(namespace string) func(*v1alpha1.BenchmarkRun) {
	return func(run *v1alpha1.BenchmarkRun) {
		run.Namespace, run.UID = namespace, types.UID(namespace+"-"+run.Name+"-uid")
	}
}

// lanePod returns the target's pod of a run, with its labels.
func lanePod(run string, phase corev1.PodPhase, changes ...func(*corev1.Pod)) corev1.Pod {
	pod := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: run + "-target", UID: types.UID(run + "-pod"),
			Labels:          map[string]string{manifest.LabelLane: "l", manifest.LabelRun: run, manifest.LabelRunUID: run + "-uid"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "assay.dev/v1alpha1", Kind: "BenchmarkRun", Name: run, UID: types.UID(run + "-uid"), Controller: ptr.To(true)}},
		},
		Status: corev1.PodStatus{Phase: phase},
	}
	for _, change := range changes {
		change(&pod)
	}
	return pod
}

// ended terminates the only container of a pod.
func ended(pod *corev1.Pod) {
	pod.Spec.Containers = []corev1.Container{{Name: "server"}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "server", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
}

func TestPositionOf(t *testing.T) {
	admitted, finished := with(v1alpha1.ConditionAdmitted), with(v1alpha1.ConditionFinished)
	of := func(runs ...v1alpha1.BenchmarkRun) []v1alpha1.BenchmarkRun { return runs }
	pods := func(pods ...corev1.Pod) []corev1.Pod { return pods }
	running := lanePod("old", corev1.PodRunning)
	tests := map[string]struct {
		runs  []v1alpha1.BenchmarkRun
		pods  []corev1.Pod
		turns map[string]time.Time
		want  Position
		full  map[string]string
	}{
		"its namespace is full":                    {full: map[string]string{"ns": "why"}, want: Position{Full: "why"}},
		"others' is, and is younger":               {runs: of(laneRun("young", 15, in("other"))), full: map[string]string{"ns": "why"}, want: Position{Full: "why", Ahead: 1}},
		"others' is, and is older":                 {runs: of(laneRun("old", 5, in("other"))), full: map[string]string{"other": "why"}, want: Position{Free: true}},
		"alone":                                    {want: Position{Free: true}},
		"an older one waits":                       {runs: of(laneRun("old", 5)), want: Position{Ahead: 1}},
		"a younger one waits":                      {runs: of(laneRun("young", 15)), want: Position{Free: true}},
		"as old, its name is first":                {runs: of(laneRun("a", 10)), want: Position{Ahead: 1}},
		"as old, its name is last":                 {runs: of(laneRun("z", 10)), want: Position{Free: true}},
		"one runs":                                 {runs: of(laneRun("young", 15, admitted)), want: Position{Ahead: 1, Held: true, Holder: "Run young or its pods"}},
		"one of another namespace":                 {runs: of(laneRun("young", 15, admitted, in("other"))), want: Position{Ahead: 1, Held: true}},
		"one runs and one waits":                   {runs: of(laneRun("a", 1, admitted), laneRun("b", 2)), want: Position{Ahead: 2, Held: true, Holder: "Run a or its pods"}},
		"an older one has finished":                {runs: of(laneRun("old", 5, admitted, finished)), want: Position{Free: true}},
		"an older one is suspended":                {runs: of(laneRun("old", 5, suspended)), want: Position{Free: true}},
		"somebody's finalizer keeps a deleted one": {runs: of(laneRun("old", 5, admitted, deleting(1))), want: Position{Free: true}},
		"a finished one's pod runs": {
			runs: of(laneRun("old", 5, admitted, finished, recorded, completed(20))), pods: pods(running),
			want: Position{Held: true, Holder: "Run old or its pods", HeldUntil: now.Add(100 * time.Second)},
		},
		"a finished one's pod is on a lost node": {
			runs: of(laneRun("old", 5, admitted, finished, recorded, completed(120))), pods: pods(running), want: Position{Free: true},
		},
		"a deleted one's pod runs": {
			runs: of(laneRun("old", 5, admitted, recorded, deleting(20))), pods: pods(running),
			want: Position{Held: true, Holder: "Run old or its pods", HeldUntil: now.Add(100 * time.Second)},
		},
		"a deleted one's pod is on a lost node": {
			runs: of(laneRun("old", 5, admitted, recorded, deleting(120))), pods: pods(running), want: Position{Free: true},
		},
		"a finished one's pods are kept": {
			runs: of(laneRun("old", 5, admitted, finished, recorded, completed(20))), pods: pods(lanePod("old", corev1.PodFailed)), want: Position{Free: true},
		},
		"pods of an earlier run of its name run": {
			runs: of(laneRun("me", 5, admitted, finished, recorded, completed(20), func(run *v1alpha1.BenchmarkRun) {
				run.UID, run.Status.Children = "earlier", &v1alpha1.ChildrenStatus{TargetPodUID: "earlier-pod"}
			})),
			pods: pods(lanePod("me", corev1.PodRunning, func(p *corev1.Pod) { p.UID = "earlier-pod" })),
			want: Position{Held: true, Holder: "Pods of an earlier run of the same name", HeldUntil: now.Add(100 * time.Second)},
		},
		"its own pod from before its suspension is deleted": {
			pods: pods(lanePod("me", corev1.PodRunning, func(p *corev1.Pod) { p.DeletionTimestamp = ptr.To(metav1.NewTime(now)) })),
			want: Position{Held: true, Holder: "Its own pods from before its suspension", HeldUntil: now.Add(110 * time.Second)},
		},
		"its containers have ended, its kubelet hasn't noticed": {
			runs: of(laneRun("old", 5, admitted, finished, recorded, completed(20))), pods: pods(lanePod("old", corev1.PodRunning, ended)), want: Position{Free: true},
		},
		"its own pod runs":        {pods: pods(lanePod("me", corev1.PodRunning)), want: Position{Free: true}},
		"a pod with labels alone": {pods: pods(lanePod("gone", corev1.PodRunning)), want: Position{Free: true}},
		"a pod that claims a finished run": {
			runs: of(laneRun("old", 5, admitted, finished, recorded, completed(20))),
			pods: pods(lanePod("old", corev1.PodRunning, func(p *corev1.Pod) { p.UID = "planted" })), want: Position{Free: true},
		},
		"a pod in another namespace that claims a finished run": {
			runs: of(laneRun("old", 5, admitted, finished, recorded, completed(20))),
			pods: pods(lanePod("old", corev1.PodRunning, func(p *corev1.Pod) { p.Namespace = "other" })), want: Position{Free: true},
		},
		"another namespace had its turn later": {
			runs:  of(laneRun("old", 5, in("other"))),
			turns: map[string]time.Time{"ns": now.Add(-time.Hour), "other": now.Add(-time.Minute)}, want: Position{Free: true},
		},
		"another namespace had its turn earlier": {
			runs:  of(laneRun("young", 15, in("other"))),
			turns: map[string]time.Time{"ns": now.Add(-time.Minute), "other": now.Add(-time.Hour)}, want: Position{Ahead: 1},
		},
		"another namespace has many": {
			runs: of(laneRun("a", 1, in("other")), laneRun("b", 2, in("other")), laneRun("c", 3, in("other"))), want: Position{Ahead: 1},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			me := laneRun("me", 10, recorded, suspendedBefore)
			queue := &Lane{Full: test.full, Runs: []*v1alpha1.BenchmarkRun{&me}, Pods: test.pods, LastAdmission: test.turns}
			for i := range test.runs {
				queue.Runs = append(queue.Runs, &test.runs[i])
			}
			if diff := cmp.Diff(test.want, PositionOf(&me, queue, now)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNextTakesTurns admits all waiting runs, one after the other.
func TestNextTakesTurns(t *testing.T) {
	admitted, finished := with(v1alpha1.ConditionAdmitted), with(v1alpha1.ConditionFinished)
	runs := []v1alpha1.BenchmarkRun{
		laneRun("a2", 2, in("a")), laneRun("a1", 1, in("a")), laneRun("a3", 3, in("a")), laneRun("b1", 10, in("b")), laneRun("b2", 11, in("b")),
		laneRun("c1", 20, in("c")), laneRun("runs", 1, admitted), laneRun("done", 2, admitted, finished), laneRun("suspended", 3, suspended),
	}
	queue := &Lane{LastAdmission: map[string]time.Time{}}
	for i := range runs {
		queue.Runs = append(queue.Runs, &runs[i])
	}
	var got []string
	for at := now; ; at = at.Add(time.Second) {
		next, ok := Next(queue)
		if !ok {
			break
		}
		got = append(got, next.Name)
		queue.LastAdmission[next.Namespace] = at
		queue.Runs = slices.DeleteFunc(queue.Runs, func(run *v1alpha1.BenchmarkRun) bool { return run.Name == next.Name })
	}
	if diff := cmp.Diff([]string{"a1", "b1", "c1", "a2", "b2", "a3"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
