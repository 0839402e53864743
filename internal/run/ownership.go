package run

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/state"
)

// Expects reports whether the run's status records an object of the kind of obj, without which the
// run would fail: the target's pod or the clients' Job.
func Expects(run *v1alpha1.BenchmarkRun, obj metav1.Object) bool {
	if state.IsOver(run) || run.Status.Children == nil {
		return false
	}
	switch obj.(type) {
	case *corev1.Pod:
		return run.Status.Children.TargetPodUID != ""
	case *batchv1.Job:
		return run.Status.Children.ClientJobUID != ""
	}
	return false
}

// Recorded reports whether the run's status records an object as its own, so that its pods may speak
// for the run. Only the target's pod and the clients' Job have to be recorded, and only while the run
// goes on: what a run leaves behind is deleted in any case.
func Recorded(run *v1alpha1.BenchmarkRun, obj metav1.Object) bool {
	if state.IsOver(run) {
		return true
	}
	children := ptr.Deref(run.Status.Children, v1alpha1.ChildrenStatus{})
	switch obj.(type) {
	case *corev1.Pod:
		return string(obj.GetUID()) == children.TargetPodUID
	case *batchv1.Job:
		return string(obj.GetUID()) == children.ClientJobUID
	}
	return true
}

// Ownership is the relation between a run and an object that has the name of one of its children.
type Ownership int

// OwnershipOf returns the relation between a run and an object.
func OwnershipOf(obj metav1.Object, run *v1alpha1.BenchmarkRun) Ownership {
	owner := metav1.GetControllerOf(obj)
	switch {
	case owner != nil && owner.UID == run.UID:
		return Own
	case manifest.IsRun(owner) && owner.Name == run.Name:
		return EarlierRun
	}
	return Foreign
}

const (
	// Own means the run itself.
	Own Ownership = iota
	// EarlierRun means a deleted run of the same name. The object will be deleted with its owner.
	EarlierRun
	// Foreign means anybody else.
	Foreign
)
