package benchmarkrun

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
)

// runState is what this manager knows of a run, and the API server doesn't or would have to be asked for each time.
type runState struct {
	name types.NamespacedName
	// made has the UIDs of the pod and the Job that this manager has created last: the status may not record them yet.
	made v1alpha1.ChildrenStatus
	// signed has the names of the Secrets that this manager has made.
	signed map[string]bool
	// config is the ConfigMap of an active run, without the user's files: the cache has no content.
	config *corev1.ConfigMap
	// inputs is the number of bytes that the account of memory has for the run's inputs, once that is known.
	inputs int64
	// node is the node of an active run's target.
	node *targetNode
	// unstored is an artifact that could not be created yet, for which the account of memory has unstoredBytes.
	unstored      *observed.Storage
	unstoredBytes int64
	// upload stores the full result, reclaim deletes the objects of a deleted run.
	upload, reclaim *attempts
}

// attempts is the state of storing a full result, or of deleting it. Attempts run in the background: a bucket that
// doesn't answer must not keep other runs waiting. The lock of knownRuns guards it.
type attempts struct {
	last observed.Upload
	stop context.CancelFunc // of the attempt that is running
}

// uploads and reclaims select which attempts of a run are meant.
func uploads(s *runState) **attempts  { return &s.upload }
func reclaims(s *runState) **attempts { return &s.reclaim }

// targetNode is the node of a run's target as it was read, or nil if it was not found.
type targetNode struct {
	name string
	node *corev1.Node
}

// knownRuns holds the state of each run that was reconciled and isn't deleted. The zero value is ready to use.
type knownRuns struct {
	mu    sync.Mutex
	byUID map[types.UID]*runState
}

// get returns what is known of a run.
func (k *knownRuns) get(uid types.UID) runState {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.byUID[uid]; s != nil {
		return *s
	}
	return runState{}
}

// change changes what is known of a run. It does nothing for one that is deleted.
func (k *knownRuns) change(uid types.UID, do func(*runState)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if s := k.byUID[uid]; s != nil {
		do(s)
	}
}

// see notes a run that exists. Of one that is over, it keeps only what may go on: while the run is being deleted, the end
// of an upload is waited for.
func (k *knownRuns) see(br *v1alpha1.BenchmarkRun, name types.NamespacedName) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byUID == nil {
		k.byUID = map[types.UID]*runState{}
	}
	s := k.byUID[br.UID]
	if s == nil {
		s = &runState{name: name, signed: map[string]bool{}}
		k.byUID[br.UID] = s
	}
	if state.IsOver(br) {
		s.config, s.node, s.unstored, s.unstoredBytes = nil, nil, nil, 0
		if br.DeletionTimestamp.IsZero() {
			s.upload = nil
		}
	}
}

// forget drops the runs of a name, and returns their UIDs.
func (k *knownRuns) forget(name types.NamespacedName) (gone []types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for uid, s := range k.byUID {
		if s.name == name {
			gone = append(gone, uid)
			delete(k.byUID, uid)
		}
	}
	return gone
}
