package run

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/ending"
	"github.com/assay-dev/assay/internal/run/lane"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/ownership"
)

// inTheWay returns a scene of a run that is first in its lane, and a pod with the name of its target.
func inTheWay(owner types.UID, changes ...func(*corev1.Pod)) (*scene, *corev1.Pod) {
	s := fresh()
	s.run.Status = v1alpha1.BenchmarkRunStatus{}
	s.o.Position = lane.Position{Free: true}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "run-target", UID: "planted", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "assay.dev/v1alpha1", Kind: "BenchmarkRun", Name: "run", UID: owner, Controller: ptr.To(true)},
	}}}
	for _, change := range changes {
		change(pod)
	}
	return s, pod
}

// deletedAgo makes a pod one whose deletion was requested some seconds ago, with a grace period.
func deletedAgo(ago, grace int64) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.DeletionGracePeriodSeconds = &grace
		pod.DeletionTimestamp = ptr.To(metav1.NewTime(now.Add(time.Duration(grace-ago) * time.Second)))
		pod.Finalizers = []string{"example.org/forever"}
	}
}

// TestDecideWaitsForADeletionAndNotForEver looks at a run that can't start as an object has the name of
// its target: an earlier run's, or one that it hasn't recorded. It is first in its lane, so that others
// wait for it.
func TestDecideWaitsForADeletionAndNotForEver(t *testing.T) {
	const year = 365 * 24 * 3600
	for name, test := range map[string]struct {
		change  func(*corev1.Pod)
		deletes []string
		reason  string
		message string
		after   time.Duration
	}{
		"not deleted yet":        {func(*corev1.Pod) {}, []string{"run-target"}, v1alpha1.ReasonQueued, "Waiting for the deletion of Pod run-target", ending.DeletionInterval},
		"deleted":                {deletedAgo(10, 30), nil, v1alpha1.ReasonQueued, "Waiting for the deletion of Pod run-target", ending.DeletionInterval},
		"kept by a finalizer":    {deletedAgo(120, 30), nil, v1alpha1.ReasonNameConflict, "still exists 120s after its deletion. Its finalizers are example.org/forever.", 0},
		"with a year to stop in": {deletedAgo(120, year), nil, v1alpha1.ReasonNameConflict, "still exists 120s after its deletion.", 0},
	} {
		for kind, owner := range map[string]types.UID{"of an earlier run": "earlier", "that the run has not recorded": "uid"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				s, pod := inTheWay(owner, test.change)
				s.o.Strays = []observed.Stray{{Relation: ownership.Of(s.run, v1alpha1.ChildrenStatus{}, pod), Kind: "Pod", Object: pod}}
				p := s.decide()
				if diff := cmp.Diff(test.deletes, names(p.Delete)); diff != "" {
					t.Errorf("deletes (-want +got):\n%s", diff)
				}
				got := stateIn(p)
				if got.Reason != test.reason || !strings.Contains(got.Message, test.message) || !strings.Contains(got.Message, kind) {
					t.Errorf("%+v", got)
				}
				if p.RequeueAfter != test.after || len(p.Create) > 0 {
					t.Errorf("again after %s, creates %d", p.RequeueAfter, len(p.Create))
				}
			})
		}
	}
}

// TestDecideDeletesNothingWhileItWaitsForItsLane keeps many runs of a tenant that planted objects from being
// busy at the same time.
func TestDecideDeletesNothingWhileItWaitsForItsLane(t *testing.T) {
	s, pod := inTheWay("uid")
	s.o.Strays = []observed.Stray{{Relation: ownership.Unrecorded, Kind: "Pod", Object: pod}}
	s.o.Position = lane.Position{Ahead: 1, Held: true, HeldUntil: now.Add(30 * time.Second)}
	p := s.decide()
	if len(p.Delete) > 0 || p.RequeueAfter != 30*time.Second+time.Millisecond {
		t.Errorf("deletes %v, again after %s, when pods no longer hold the lane", names(p.Delete), p.RequeueAfter)
	}
	if got := stateIn(p).Message; got != "Waiting for lane l: 1 runs are ahead. A run of another namespace or its pods hold the lane." {
		t.Error(got)
	}
}

// TestDecideReplacesWhatAnAdmittedRunHasNotRecorded has a manager find a target of a run that its status doesn't record.
func TestDecideReplacesWhatAnAdmittedRunHasNotRecorded(t *testing.T) {
	s := newScene()
	s.o.Strays = []observed.Stray{{Relation: ownership.Unrecorded, Kind: "Pod", Object: s.o.Target}}
	s.o.Target, s.o.Sessions = nil, fresh().o.Sessions
	const want = "Waiting for the deletion of Pod run-target that the run has not recorded."
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonQueued || !strings.Contains(got.Message, want) {
		t.Errorf("%+v", got)
	}
}
