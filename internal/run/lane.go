package run

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
)

// PositionOf returns a run's position among all runs and pods of its lane. A lane is held by an
// admitted run until it finishes, and then by its pods until they terminate: no run may be
// disturbed by the end of another, nor by its own end when it was suspended and starts again. Runs
// wait in the order of their creation.
func PositionOf(run *v1alpha1.BenchmarkRun, runs []v1alpha1.BenchmarkRun, pods []corev1.Pod) Position {
	var p Position
	for i := range runs {
		other := &runs[i]
		switch {
		case other.UID == run.UID || other.Spec.Lane != run.Spec.Lane:
		case IsAdmitted(other) && !IsFinished(other):
			p.Ahead++
			p.Holder = other.Namespace + "/" + other.Name
		case waits(other) && compareAge(other, run) < 0:
			p.Ahead++
		}
	}
	for i := range pods {
		pod := &pods[i]
		own := pod.Labels[manifest.LabelRunUID] == string(run.UID) && pod.DeletionTimestamp.IsZero()
		if pod.Labels[manifest.LabelLane] == run.Spec.Lane && !own && !PodEnded(pod) && p.Holder == "" {
			p.Holder = pod.Namespace + "/" + pod.Labels[manifest.LabelRun]
		}
	}
	p.Free = p.Ahead == 0 && p.Holder == ""
	return p
}

// Next returns the run that is first in a lane, or false if none waits.
func Next(lane string, runs []v1alpha1.BenchmarkRun) (types.NamespacedName, bool) {
	var first *v1alpha1.BenchmarkRun
	for i := range runs {
		if run := &runs[i]; run.Spec.Lane == lane && waits(run) && (first == nil || compareAge(run, first) < 0) {
			first = run
		}
	}
	if first == nil {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: first.Namespace, Name: first.Name}, true
}

func waits(run *v1alpha1.BenchmarkRun) bool {
	return !IsAdmitted(run) && !IsFinished(run) && !IsSuspended(run) && run.DeletionTimestamp.IsZero()
}

// compareAge returns a negative number if a is before b in their lane.
func compareAge(a, b *v1alpha1.BenchmarkRun) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name))
}
