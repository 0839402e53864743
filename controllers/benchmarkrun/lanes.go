package benchmarkrun

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/lane"
	"github.com/assay-dev/assay/internal/run/state"
)

const (
	// laneField is the cache's index of the runs of a lane that have not finished. placeField is that of the runs which are
	// placeActive: they hold their lane, and of those which are placeWaiting.
	laneField    = "lane"
	placeField   = "place"
	placeActive  = "active"
	placeWaiting = "waiting"
	// lanePage limits the runs of one read past the cache, podPage the pods, which may be larger.
	lanePage = 500
	podPage  = 100
	// maxIdleLanes is the number of lanes past which those without a run are forgotten.
	maxIdleLanes = 1024
)

// lanes holds what this manager knows of lanes before its cache does, and what the cache can't know. The zero
// value is ready to use.
type lanes struct {
	loading sync.Mutex // held while runs are read past the cache, and guards loaded
	loaded  bool

	mu     sync.Mutex // never held during a call to the API server
	byName map[string]*laneState
	// version counts reservations: a lane may be reserved only if no lane was since it was observed. So neither a lane nor
	// a namespace has more active runs than it may have.
	version uint64
	// noMemory holds the namespaces for whose inputs there was no room in memory.
	noMemory map[string]noMemory
}

// noMemory is why there is no room in memory, and until when it isn't tried again.
type noMemory struct {
	why   string
	until time.Time
}

type laneState struct {
	// reserved is the UID of the run that may be admitted, or empty.
	reserved types.UID
	// written holds runs as this manager has written them last, until their pods can't hold the
	// lane any more: the cache may be behind, and runs may be deleted before their pods. A run for
	// which the lane is reserved counts as written.
	written map[types.UID]*v1alpha1.BenchmarkRun
	// lastAdmission holds the time of the last admission of each namespace, also by runs that were deleted.
	lastAdmission map[string]time.Time
}

func laneIndex(obj client.Object) []string {
	if br := obj.(*v1alpha1.BenchmarkRun); !state.IsFinished(br) {
		return []string{br.Spec.Lane}
	}
	return nil
}

func placeIndex(obj client.Object) []string {
	switch br := obj.(*v1alpha1.BenchmarkRun); {
	case lane.Holds(br):
		return []string{placeActive}
	case lane.Waits(br):
		return []string{placeWaiting}
	}
	return nil
}

// state returns the state of a lane. The caller holds mu.
func (l *lanes) state(name string) *laneState {
	if l.byName == nil {
		l.byName = map[string]*laneState{}
	}
	s := l.byName[name]
	if s == nil {
		s = &laneState{written: map[types.UID]*v1alpha1.BenchmarkRun{}, lastAdmission: map[string]time.Time{}}
		l.byName[name] = s
	}
	return s
}

// reserve keeps a lane for a run until its admission is written, so that no other run is admitted
// meanwhile. It returns false if a lane was reserved since the state of the lanes had the given version: what was
// observed then may be wrong by now. Nobody waits for the end of a reservation.
func (l *lanes) reserve(br *v1alpha1.BenchmarkRun, version uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.state(br.Spec.Lane)
	if l.version != version {
		return false
	}
	admitted := br.DeepCopy()
	meta.SetStatusCondition(&admitted.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionAdmitted, Status: metav1.ConditionTrue})
	l.version++
	s.reserved, s.written[br.UID] = br.UID, laneFields(admitted)
	return true
}

// admitted reports whether a manager has written the admission of a run, and the run as it was read, which
// isn't admitted, is older than that.
func (l *lanes) admitted(br *v1alpha1.BenchmarkRun) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.byName[br.Spec.Lane]
	if s == nil || s.reserved == br.UID {
		return false
	}
	last := s.written[br.UID]
	return last != nil && state.IsAdmitted(last) && !newer(br, last)
}

// newer reports whether a run in the cache is of a later version than as this manager wrote it: a run that
// was suspended may be in the cache before the manager knows that its write succeeded.
func newer(cached, written *v1alpha1.BenchmarkRun) bool {
	order, err := resourceversion.CompareResourceVersion(cached.ResourceVersion, written.ResourceVersion)
	return err == nil && order > 0
}

// isReserved reports whether a run's lane is reserved for it.
func (l *lanes) isReserved(br *v1alpha1.BenchmarkRun) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.byName[br.Spec.Lane]
	return s != nil && s.reserved == br.UID
}

// release gives up the reservation for a run that was not admitted. It reports whether there was one.
func (l *lanes) release(br *v1alpha1.BenchmarkRun) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.byName[br.Spec.Lane]
	if s == nil || s.reserved != br.UID {
		return false
	}
	s.reserved = ""
	if state.IsAdmitted(s.written[br.UID]) { // by reserve
		delete(s.written, br.UID)
	}
	return true
}

func (s *laneState) purge(now time.Time) {
	maps.DeleteFunc(s.written, func(_ types.UID, br *v1alpha1.BenchmarkRun) bool { return lane.HasLeft(br, now) })
}

// note remembers a run as it was written. One that was never admitted can't hold the lane.
func (l *lanes) note(br *v1alpha1.BenchmarkRun) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if br.Status.AdmissionTime == nil && br.Status.Children == nil {
		return
	}
	s := l.state(br.Spec.Lane)
	if s.reserved == br.UID && state.IsAdmitted(br) {
		s.reserved = ""
	}
	s.written[br.UID] = laneFields(br)
	if at := br.Status.AdmissionTime; at != nil && at.After(s.lastAdmission[br.Namespace]) {
		s.lastAdmission[br.Namespace] = at.Time
	}
}

// laneFields returns a run with the fields that decide whether a run or its pods hold a lane.
func laneFields(br *v1alpha1.BenchmarkRun) *v1alpha1.BenchmarkRun {
	return &v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{Namespace: br.Namespace, Name: br.Name, UID: br.UID, ResourceVersion: br.ResourceVersion},
		Spec:       v1alpha1.BenchmarkRunSpec{Lane: br.Spec.Lane, Clients: v1alpha1.Clients{Replicas: br.Spec.Clients.Replicas}, Alternation: br.Spec.Alternation},
		Status: v1alpha1.BenchmarkRunStatus{
			Conditions: br.Status.Conditions, CompletionTime: br.Status.CompletionTime, Children: br.Status.Children,
		},
	}
}

// load learns once which runs have been admitted before this manager. The cache may be behind, so the
// metadata of all runs is read past it, and each run of which the cache has another version. Thousands of
// finished runs take seconds to be sent in full.
func (l *lanes) load(ctx context.Context, cached, live client.Reader) error {
	l.loading.Lock()
	defer l.loading.Unlock()
	if l.loaded {
		return nil
	}
	var runs v1alpha1.BenchmarkRunList
	if err := cached.List(ctx, &runs, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list the runs that were admitted before: %w", err)
	}
	known := make(map[types.UID]*v1alpha1.BenchmarkRun, len(runs.Items))
	for i := range runs.Items {
		known[runs.Items[i].UID] = &runs.Items[i]
	}
	for token := ""; ; {
		page := &metav1.PartialObjectMetadataList{}
		page.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("BenchmarkRunList"))
		if err := live.List(ctx, page, client.Limit(lanePage), client.Continue(token)); err != nil {
			return fmt.Errorf("list the runs that were admitted before: %w", err)
		}
		for i := range page.Items {
			br, err := inVersion(ctx, known[page.Items[i].UID], &page.Items[i], live)
			if client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("get a run that may have been admitted before: %w", err)
			}
			if err == nil {
				l.note(br)
			}
		}
		if token = page.Continue; token == "" {
			break
		}
	}
	l.loaded = true
	return nil
}

// inVersion returns a cached run, which may be nil, if it is of the version of its metadata, and else the
// run as it is now.
func inVersion(ctx context.Context, cached *v1alpha1.BenchmarkRun, metadata *metav1.PartialObjectMetadata, live client.Reader) (*v1alpha1.BenchmarkRun, error) {
	if cached != nil && cached.ResourceVersion == metadata.ResourceVersion {
		return cached, nil
	}
	var br v1alpha1.BenchmarkRun
	err := live.Get(ctx, client.ObjectKeyFromObject(metadata), &br)
	return &br, err
}

// snapshot returns copies of what is known of a lane, and the version of all.
func (l *lanes) snapshot(name string, now time.Time) (written map[types.UID]*v1alpha1.BenchmarkRun, lastAdmission map[string]time.Time, version uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.state(name)
	s.purge(now)
	if len(l.byName) > maxIdleLanes {
		maps.DeleteFunc(l.byName, func(other string, s *laneState) bool {
			s.purge(now)
			return other != name && s.reserved == "" && len(s.written) == 0
		})
	}
	return maps.Clone(s.written), maps.Clone(s.lastAdmission), l.version
}

// active returns the runs that hold a lane, as this manager has written them last, or for which one is reserved.
func (l *lanes) active() map[types.UID]*v1alpha1.BenchmarkRun {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[types.UID]*v1alpha1.BenchmarkRun{}
	for _, s := range l.byName {
		for uid, br := range s.written {
			if lane.Holds(br) {
				all[uid] = br
			}
		}
	}
	return all
}

// noteOutOfMemory notes until when a namespace has no room in memory, and why.
func (l *lanes) noteOutOfMemory(namespace, why string, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.noMemory == nil {
		l.noMemory = map[string]noMemory{}
	}
	l.noMemory[namespace] = noMemory{why, until}
}

// outOfMemory returns the namespaces that have no room in memory.
func (l *lanes) outOfMemory(now time.Time) map[string]noMemory {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.noMemory, func(_ string, n noMemory) bool { return !now.Before(n.until) })
	return maps.Clone(l.noMemory)
}

// deleted notes that a run was deleted, unless that is known.
func (l *lanes) deleted(br *v1alpha1.BenchmarkRun, now time.Time) *v1alpha1.BenchmarkRun {
	gone := br.DeepCopy()
	gone.DeletionTimestamp = new(metav1.NewTime(now))
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.byName[br.Spec.Lane]; s != nil && s.written[br.UID] != nil {
		s.written[br.UID] = gone
	}
	return gone
}
