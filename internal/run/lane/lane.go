// Package lane orders the runs that wait in a lane, a queue of runs, and decides which of them may start.
package lane

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/ownership"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/state"
)

// ReleaseTimeout limits the time for which the pods of a run that has ended hold its lane. A kubelet needs
// seconds to terminate them. Pods that are left then are on a lost node, or somebody keeps them from
// being deleted.
const ReleaseTimeout = 2 * time.Minute

// Lane is the observed state of a lane, a queue of runs.
type Lane struct {
	// Runs holds the runs of the lane that have not finished, and finished or deleted ones whose
	// pods may still run. A deleted one has a deletion timestamp.
	Runs []*v1alpha1.BenchmarkRun
	// Pods holds pods that may belong to these runs.
	Pods []corev1.Pod
	// LastAdmission holds the time of the last admission of each namespace.
	LastAdmission map[string]time.Time
	// Full holds the namespaces that may have no more active runs now, and why. Others go ahead of their runs.
	Full map[string]string
	// Room holds how many more active runs a namespace may have, for those that have any. It is nil if there is no limit.
	Room map[string]int
}

// PositionOf returns a run's position in its lane. An admitted run holds the lane until it finishes, and then
// its pods do until their containers have terminated, PodReleaseTimeout at most: no run may be disturbed by the end of
// another, nor by its own end when it was suspended and starts again. Only pods that a run recorded
// hold a lane: anybody may create pods with any labels. Namespaces take turns: see order. The runs of a block
// hold a lane together.
func PositionOf(run *v1alpha1.BenchmarkRun, lane *Lane, now time.Time) Position {
	p := Position{Full: fullFor(run, lane)}
	hold := func(holder *v1alpha1.BenchmarkRun) {
		p.Held = true
		if name := holderOf(run, holder); name != "" && (p.Holder == "" || name < p.Holder) { // whatever the order of the cache
			p.Holder = name
		}
	}
	for _, other := range lane.Runs {
		if other.UID != run.UID && Holds(other) && !SameBlock(run, other) {
			p.Ahead++
			hold(other)
		}
	}
	owners := OwnersAmong(lane.Runs)
	for i := range lane.Pods {
		pod := &lane.Pods[i]
		owner := owners.Of(pod)
		if owner == nil || pods.ContainersEnded(pod) || Holds(owner) || owner.UID == run.UID && pod.DeletionTimestamp.IsZero() {
			continue
		}
		if until := endOf(owner).Add(ReleaseTimeout); now.Before(until) {
			hold(owner)
			if until.After(p.HeldUntil) {
				p.HeldUntil = until
			}
		}
	}
	for _, other := range order(lane) {
		if other.UID == run.UID {
			break
		}
		if !SameBlock(run, other) {
			p.Ahead++
		}
	}
	p.Free = p.Ahead == 0 && !p.Held && p.Full == ""
	return p
}

// SameBlock reports whether two runs are different variants of a block, whose loads alternate.
func SameBlock(a, b *v1alpha1.BenchmarkRun) bool {
	x, y := a.Spec.Alternation, b.Spec.Alternation
	return x != nil && y != nil && a.Namespace == b.Namespace && a.Spec.Lane == b.Spec.Lane && x.Block == y.Block &&
		x.Variants == y.Variants && ptr.Deref(x.Variant, 0) != ptr.Deref(y.Variant, 0)
}

// fullFor returns why a run's namespace may have no more active runs now, or an empty text. The first run of a block
// needs room for all of them, and the others have it.
func fullFor(run *v1alpha1.BenchmarkRun, lane *Lane) string {
	a := run.Spec.Alternation
	if a == nil {
		return lane.Full[run.Namespace]
	}
	if slices.ContainsFunc(lane.Runs, func(other *v1alpha1.BenchmarkRun) bool { return Holds(other) && SameBlock(run, other) }) {
		return ""
	}
	if room, limited := lane.Room[run.Namespace]; limited && room < int(a.Variants) {
		return cmp.Or(lane.Full[run.Namespace], fmt.Sprintf("it may have %d more, and the block has %d", room, a.Variants))
	}
	return lane.Full[run.Namespace]
}

// holderOf returns how the message of a waiting run refers to the one that holds its lane, or an empty
// text if that is in another namespace.
func holderOf(run, holder *v1alpha1.BenchmarkRun) string {
	switch {
	case holder.Namespace != run.Namespace:
		return ""
	case holder.UID == run.UID:
		return "Its own pods from before its suspension"
	case holder.Name == run.Name:
		return "Pods of an earlier run of the same name"
	}
	return "Run " + holder.Name + " or its pods"
}

// Next returns the run that is first in a lane, or false if none waits.
func Next(lane *Lane) (types.NamespacedName, bool) {
	waiting := order(lane)
	if len(waiting) == 0 {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: waiting[0].Namespace, Name: waiting[0].Name}, true
}

// order returns the waiting runs of a lane in their order. Within a namespace the oldest is first. The
// namespaces take turns, beginning with the one whose last admission is the longest ago.
func order(lane *Lane) []*v1alpha1.BenchmarkRun {
	var waiting []*v1alpha1.BenchmarkRun
	for _, run := range lane.Runs {
		if Waits(run) && fullFor(run, lane) == "" {
			waiting = append(waiting, run)
		}
	}
	slices.SortFunc(waiting, CompareAge)
	round, rounds := map[types.UID]int{}, map[string]int{}
	for _, run := range waiting {
		round[run.UID] = rounds[run.Namespace]
		rounds[run.Namespace]++
	}
	slices.SortStableFunc(waiting, func(a, b *v1alpha1.BenchmarkRun) int {
		return cmp.Or(cmp.Compare(round[a.UID], round[b.UID]), lane.LastAdmission[a.Namespace].Compare(lane.LastAdmission[b.Namespace]))
	})
	return waiting
}

// Waits reports whether a run waits for its lane.
func Waits(run *v1alpha1.BenchmarkRun) bool {
	return !state.IsAdmitted(run) && !state.IsParked(run) && !state.IsFinished(run) && !state.IsSuspended(run) && run.DeletionTimestamp.IsZero()
}

// Holds reports whether a run itself holds its lane. One that is being deleted doesn't, however
// long somebody's finalizer keeps it: its pods may, for a while.
func Holds(run *v1alpha1.BenchmarkRun) bool {
	return state.IsAdmitted(run) && !state.IsFinished(run) && run.DeletionTimestamp.IsZero()
}

// HasLeft reports whether neither a run nor its pods can hold its lane any more.
func HasLeft(run *v1alpha1.BenchmarkRun, now time.Time) bool {
	return !Holds(run) && !now.Before(endOf(run).Add(ReleaseTimeout))
}

// Owners finds the runs of pods, by the UIDs that the runs recorded.
type Owners map[string]*v1alpha1.BenchmarkRun

// OwnersAmong returns the owners among runs.
func OwnersAmong(runs []*v1alpha1.BenchmarkRun) Owners {
	owners := Owners{}
	for _, run := range runs {
		if children := run.Status.Children; children != nil {
			owners[children.TargetPodUID], owners[children.ClientJobUID] = run, run
		}
	}
	return owners
}

// Of returns the run that recorded a pod or the pod's Job, or nil.
func (o Owners) Of(pod *corev1.Pod) *v1alpha1.BenchmarkRun {
	uids := []types.UID{pod.UID}
	if job := metav1.GetControllerOf(pod); job != nil {
		uids = append(uids, job.UID)
	}
	for _, uid := range uids {
		if run := o[string(uid)]; run != nil && uid != "" {
			if role, _ := ownership.RoleOf(run, pod); role != ownership.None {
				return run
			}
		}
	}
	return nil
}

// endOf returns when a run that doesn't hold its lane gave it up.
func endOf(run *v1alpha1.BenchmarkRun) time.Time {
	switch {
	case state.IsFinished(run):
		return ptr.Deref(run.Status.CompletionTime, metav1.Time{}).Time
	case !run.DeletionTimestamp.IsZero():
		return run.DeletionTimestamp.Time
	}
	admitted := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionAdmitted)
	return ptr.Deref(admitted, metav1.Condition{}).LastTransitionTime.Time // when it was suspended
}

// CompareAge returns a negative number if a was created before b.
func CompareAge(a, b *v1alpha1.BenchmarkRun) int {
	if order := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); order != 0 {
		return order
	}
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// Position is a run's place in its lane, a queue of runs.
type Position struct {
	// Free reports whether the run may start.
	Free bool
	// Ahead is the number of runs that wait or run before it.
	Ahead int
	// Full says why its namespace may have no more active runs now, or is empty.
	Full string
	// Held reports whether another run, or pods of a run, hold the lane.
	Held bool
	// Holder says which run or pods hold the lane. It is empty for those of another namespace, so that names don't leak.
	Holder string
	// HeldUntil is the latest time at which pods stop holding the lane, or at which a run that has no room is tried again,
	// or zero.
	HeldUntil time.Time
}
