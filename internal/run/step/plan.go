// Package step has what one step of a run consists of: the Plan, and the Planner by which the packages that decide make it.
package step

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/ownership"
	"github.com/assay-dev/assay/internal/session"
	"github.com/assay-dev/assay/internal/session/sessionpb"
)

// Plan lists the next steps of a run: objects to create and delete, then the status to write, then
// what to send to its pods. Every step may be repeated without harm.
type Plan struct {
	// Create holds objects that don't exist yet, in their order.
	Create []observed.Creation
	// Stop holds pods that must terminate but are kept.
	Stop []*corev1.Pod
	// Delete holds objects that must go, in their order. One without a UID is deleted by its name.
	Delete []manifest.Object
	// Expire reports that Delete holds the run itself, whose status is no longer written.
	Expire bool

	// Status is the status that the run should have.
	Status v1alpha1.BenchmarkRunStatus
	// Findings are those about the result of a run that ends.
	Findings []result.Finding

	// Store is the artifact to create once the status that announces it is written, or nil.
	Store *observed.Storage
	// Upload is the artifact whose full result must be in its bucket before the artifact is created, or nil. Attempt
	// begins an attempt to store it there.
	Upload  *observed.Storage
	Attempt bool

	// Finalizer says what to do about v1alpha1.FinalizerBucketObjects once the status is written, and before Upload.
	Finalizer Finalizer
	// Reclaim begins an attempt to delete the objects of a run that is being deleted.
	Reclaim bool
	// Retained says which objects a deleted run leaves in their bucket, and why. It is empty if there are none.
	Retained string

	// Forget drops what the pods have reported so far, before anything is sent to them.
	Forget bool
	// Watch tells the agent what to probe and sample, or is nil if that isn't known.
	Watch *session.Watch
	// Prepare tells the clients what to prepare for, or is nil if that isn't known.
	Prepare *Prepare
	// Begin is a stage to begin, or nil.
	Begin *Begin
	// EndWarmup makes the clients end their warm-up.
	EndWarmup bool
	// EndMeasurement is the second of the measurement with which the clients end it, or 0 for its planned
	// end.
	EndMeasurement int64
	// Summarize makes a client run handleSummary() of its script, or is nil.
	Summarize *Summarize
	// Read requests a usage sample from the agent.
	Read bool
	// Release lets the pods exit.
	Release bool

	// RequeueAfter is the longest delay until the next reconciliation, or zero for the next change.
	RequeueAfter time.Duration
}

// Finalizer is a change of a run's finalizers.
type Finalizer int

const (
	// KeepFinalizer changes nothing.
	KeepFinalizer Finalizer = iota
	// AddFinalizer keeps a run until its objects are deleted.
	AddFinalizer
	// RemoveFinalizer lets a run go.
	RemoveFinalizer
)

// Record adds the UID of the run's pod or Job, which the manager has created, to the status to
// write. It ignores an object without a UID, which was not created.
func (p *Plan) Record(obj manifest.Object) {
	children := ptr.Deref(p.Status.Children, v1alpha1.ChildrenStatus{})
	ownership.Record(&children, obj)
	if children != (v1alpha1.ChildrenStatus{}) {
		p.Status.Children = &children
	}
}

// Prepare holds the clients' plans by index, and the host and port of the target.
type Prepare struct {
	Plans   []*session.Plan
	Address string
}

// Begin is the begin of a stage. Its start time is Lead after the status was written: however long that
// takes, the start time reaches every client before it comes.
type Begin struct {
	Stage sessionpb.Stage
	Lead  time.Duration
	// With holds the UIDs of the other runs of the block, which begin the stage at the same time.
	With []types.UID
}

// Summarize is the order to a client to run handleSummary() of the script with the given data, which is JSON.
type Summarize struct {
	Client int
	Data   []byte
}
