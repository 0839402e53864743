// Package ownership decides which objects are a run's, and which pods speak for it.
//
// Anybody who may create objects in a namespace can give them any name, labels and owner references. Those say only which
// run to look at. What decides is the run's status, which only a manager writes.
package ownership

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/state"
)

// Relation is the relation of an object, which has the name of one of a run's children, to the run.
type Relation int

const (
	// Own is an object of the run.
	Own Relation = iota
	// Unrecorded is an object that names the run as its owner, but that the run hasn't recorded: somebody else created
	// it, or a manager that was killed before it could record it. It is replaced.
	Unrecorded
	// EarlierRun is an object of a deleted run of the same name. It is deleted with its owner.
	EarlierRun
	// Foreign is anybody else's object. It is left alone.
	Foreign
)

// Of returns the relation of an object to a run. made has the UIDs of the objects that this manager created last for the
// run: the status may not record them yet.
func Of(run *v1alpha1.BenchmarkRun, made v1alpha1.ChildrenStatus, obj metav1.Object) Relation {
	owner := metav1.GetControllerOf(obj)
	names := owner != nil && owner.UID == run.UID
	switch {
	case !names && manifest.IsRun(owner) && owner.Name == run.Name:
		return EarlierRun
	case !names:
		return Foreign
	case state.IsOver(run):
		return Own // what a run leaves behind is deleted, whoever created it
	case uidOf(&made, obj) == nil:
		return Own // no pod speaks by a ConfigMap or a Certificate
	case isIn(run.Status.Children, obj) || isIn(&made, obj):
		return Own
	}
	return Unrecorded
}

// Expects reports whether the run's status records an object of the kind of obj, without which the run would fail.
func Expects(run *v1alpha1.BenchmarkRun, obj metav1.Object) bool {
	if run.Status.Children == nil || state.IsOver(run) {
		return false
	}
	uid := uidOf(run.Status.Children, obj)
	return uid != nil && *uid != ""
}

// Record adds the UID of an object to the children of a run, if it is one by which pods speak. An object that was not
// created has none.
func Record(children *v1alpha1.ChildrenStatus, obj metav1.Object) {
	if uid := uidOf(children, obj); uid != nil && obj.GetUID() != "" {
		*uid = string(obj.GetUID())
	}
}

// uidOf returns where the UID of an object is recorded, or nil for one by which no pod speaks: only the target's pod and
// the clients' Job have to be recorded.
func uidOf(children *v1alpha1.ChildrenStatus, obj metav1.Object) *string {
	switch obj.(type) {
	case *corev1.Pod:
		return &children.TargetPodUID
	case *batchv1.Job:
		return &children.ClientJobUID
	}
	return nil
}

func isIn(children *v1alpha1.ChildrenStatus, obj metav1.Object) bool {
	return children != nil && obj.GetUID() != "" && *uidOf(children, obj) == string(obj.GetUID())
}
