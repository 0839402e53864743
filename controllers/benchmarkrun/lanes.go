package benchmarkrun

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run"
)

const (
	// laneField is the cache's index of the runs of a lane that have not finished.
	laneField = "lane"
	// lanePage is how many runs are read at a time when a manager starts.
	lanePage = 500
	// maxIdleLanes is the number of lanes past which those without a run are forgotten.
	maxIdleLanes = 1024
)

// lanes holds what this manager knows of lanes before its cache does, and what the cache can't know. The zero
// value is ready to use.
type lanes struct {
	mu     sync.Mutex
	loaded bool
	byName map[string]*laneState
}

type laneState struct {
	// admission is held while a run may be given the lane, so that no two are. Lanes don't wait for
	// each other.
	admission sync.Mutex
	users     int
	// written holds runs as this manager has written them last, until their pods can't hold the
	// lane any more: the cache may be behind, and runs may be deleted before their pods.
	written map[types.UID]*v1alpha1.BenchmarkRun
	// turns holds the time of the last admission of each namespace, also by runs that were deleted.
	turns map[string]time.Time
}

func laneIndex(obj client.Object) []string {
	if br := obj.(*v1alpha1.BenchmarkRun); !run.IsFinished(br) {
		return []string{br.Spec.Lane}
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
		s = &laneState{written: map[types.UID]*v1alpha1.BenchmarkRun{}, turns: map[string]time.Time{}}
		l.byName[name] = s
	}
	return s
}

// lock waits until no other goroutine may admit a run to a lane.
func (l *lanes) lock(name string, now time.Time) (unlock func()) {
	l.mu.Lock()
	s := l.state(name)
	s.users++
	if len(l.byName) > maxIdleLanes {
		maps.DeleteFunc(l.byName, func(_ string, s *laneState) bool {
			s.purge(now)
			return s.users == 0 && len(s.written) == 0
		})
	}
	l.mu.Unlock()
	s.admission.Lock()
	return func() {
		s.admission.Unlock()
		l.mu.Lock()
		s.users--
		l.mu.Unlock()
	}
}

func (s *laneState) purge(now time.Time) {
	maps.DeleteFunc(s.written, func(_ types.UID, br *v1alpha1.BenchmarkRun) bool { return run.LeftLane(br, now) })
}

// note remembers a run that was admitted at some time, as it was written.
func (l *lanes) note(br *v1alpha1.BenchmarkRun) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if br.Status.AdmissionTime == nil && br.Status.Children == nil {
		return
	}
	s := l.state(br.Spec.Lane)
	s.written[br.UID] = &v1alpha1.BenchmarkRun{
		ObjectMeta: metav1.ObjectMeta{Namespace: br.Namespace, Name: br.Name, UID: br.UID},
		Spec:       v1alpha1.BenchmarkRunSpec{Lane: br.Spec.Lane, Clients: v1alpha1.Clients{Replicas: br.Spec.Clients.Replicas}},
		Status: v1alpha1.BenchmarkRunStatus{
			Conditions: br.Status.Conditions, CompletionTime: br.Status.CompletionTime, Children: br.Status.Children,
		},
	}
	if at := br.Status.AdmissionTime; at != nil && at.After(s.turns[br.Namespace]) {
		s.turns[br.Namespace] = at.Time
	}
}

// load reads once, past the cache, which runs have been admitted before this manager.
func (l *lanes) load(ctx context.Context, reader client.Reader) error {
	l.mu.Lock()
	loaded := l.loaded
	l.mu.Unlock()
	if loaded {
		return nil
	}
	for token := ""; ; {
		var page v1alpha1.BenchmarkRunList
		if err := reader.List(ctx, &page, client.Limit(lanePage), client.Continue(token)); err != nil {
			return fmt.Errorf("list the runs that were admitted before: %w", err)
		}
		for i := range page.Items {
			l.note(&page.Items[i])
		}
		if token = page.Continue; token == "" {
			break
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loaded = true
	return nil
}

// snapshot returns copies of what is known of a lane.
func (l *lanes) snapshot(name string, now time.Time) (written map[types.UID]*v1alpha1.BenchmarkRun, turns map[string]time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.byName[name]
	if s == nil {
		return nil, nil
	}
	s.purge(now)
	return maps.Clone(s.written), maps.Clone(s.turns)
}

// deleted notes that a run was deleted, if that is news.
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
