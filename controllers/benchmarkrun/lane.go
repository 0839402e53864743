package benchmarkrun

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
)

// turn is where a run stands in its lane.
type turn struct {
	// free is whether the run may start.
	free bool
	// ahead is the number of runs that wait or run before it.
	ahead int
	// holder names the run that holds the lane, or whose pods still do.
	holder string
}

// turnOf says where a run stands among all runs and pods of its lane. A lane is
// held by the run that was admitted and hasn't finished, and after that by its
// pods until they have ended: a run must not be disturbed by the end of
// another, nor of itself when it was suspended and starts anew. Runs wait in
// the order of their creation.
func turnOf(run *v1alpha1.BenchmarkRun, runs []v1alpha1.BenchmarkRun, pods []corev1.Pod) turn {
	var t turn
	for i := range runs {
		other := &runs[i]
		switch {
		case other.UID == run.UID || other.Spec.Lane != run.Spec.Lane:
		case holdsLane(other):
			t.ahead++
			t.holder = other.Namespace + "/" + other.Name
		case waits(other) && before(other, run):
			t.ahead++
		}
	}
	for i := range pods {
		pod := &pods[i]
		own := pod.Labels[manifest.LabelRunUID] == string(run.UID) && pod.DeletionTimestamp.IsZero()
		if pod.Labels[manifest.LabelLane] == run.Spec.Lane && !own && !podEnded(pod) && t.holder == "" {
			t.holder = pod.Namespace + "/" + pod.Labels[manifest.LabelRun]
		}
	}
	t.free = t.ahead == 0 && t.holder == ""
	return t
}

func holdsLane(run *v1alpha1.BenchmarkRun) bool { return isAdmitted(run) && !isFinished(run) }

func waits(run *v1alpha1.BenchmarkRun) bool {
	return !isAdmitted(run) && !isFinished(run) && !isSuspended(run) && run.DeletionTimestamp.IsZero()
}

func before(a, b *v1alpha1.BenchmarkRun) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name) < 0
}

// waitingIn returns the runs that wait in a lane, the next one first.
func waitingIn(lane string, runs []v1alpha1.BenchmarkRun) []types.NamespacedName {
	var waiting []*v1alpha1.BenchmarkRun
	for i := range runs {
		if runs[i].Spec.Lane == lane && waits(&runs[i]) {
			waiting = append(waiting, &runs[i])
		}
	}
	slices.SortFunc(waiting, func(a, b *v1alpha1.BenchmarkRun) int {
		if before(a, b) {
			return -1
		}
		return 1
	})
	names := make([]types.NamespacedName, 0, len(waiting))
	for _, run := range waiting {
		names = append(names, types.NamespacedName{Namespace: run.Namespace, Name: run.Name})
	}
	return names
}

func isAdmitted(run *v1alpha1.BenchmarkRun) bool {
	return meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionAdmitted)
}

func isFinished(run *v1alpha1.BenchmarkRun) bool {
	return meta.IsStatusConditionTrue(run.Status.Conditions, v1alpha1.ConditionFinished)
}

func isSuspended(run *v1alpha1.BenchmarkRun) bool {
	return run.Spec.Suspend != nil && *run.Spec.Suspend
}

func podEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
