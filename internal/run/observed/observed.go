// Package observed holds what is observed of a run: its objects, what its pods reported, and what time limits follow from
// these. It tells what else has to be read.
package observed

import (
	"fmt"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/lane"
	"github.com/assay-dev/assay/internal/run/ownership"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/session"
)

// Run holds everything that a decision about a run is based on, besides the run itself and the
// time. A child is nil if it doesn't exist.
type Run struct {
	// Settings holds what the operator was started with.
	Settings manifest.Settings
	// CA is the CA bundle, in PEM, by which pods verify the manager, or nil before there is one.
	CA []byte

	// LeaderSince is the time since which this manager leads, or zero if that isn't known. It begins again when the wall
	// clock is set.
	LeaderSince time.Time

	Config *corev1.ConfigMap
	Target *corev1.Pod
	Job    *batchv1.Job
	// Clients holds the clients' pods, by index.
	Clients map[int]*corev1.Pod
	// Stored is the run's artifact, or nil if there is none. It is read only for a run that hasn't
	// finished, and only if the status announces it. An artifact that the status doesn't announce has
	// no content here.
	Stored *Stored
	// Unstored is the artifact that this manager could not create yet, or nil. It is encoded once.
	Unstored *Storage

	// Bucket is the bucket of the run's namespace, or nil. Upload is the state of storing the full result there, or
	// nil if this manager hasn't begun. They are read only when every client has sent its totals.
	Bucket *Bucket
	Upload *Upload
	// Reclaims reports whether the objects of runs are deleted with them. Reclaim is the state of that for a run that is
	// being deleted, or nil for any other.
	Reclaims bool
	Reclaim  *Reclaim

	// Sessions holds what the run's pods reported.
	Sessions session.Observation
	// Windows holds the last windows of a warm-up, until it is decided that the target is steady.
	Windows []result.WarmupWindow
	// Passed holds the seconds of the measurement that all clients have sent, if the load may end at a
	// breaking point and this is undecided.
	Passed []result.Second
	// Window holds the seconds of the measurement that all clients have sent since WindowEnd, as one. It has none
	// before the first, and when every client has sent its totals.
	Window result.Second
	// Series holds the seconds of the measurement, Levels the levels of the load and Steps the steps
	// between them with the usage of the target in each. They are read only when every client has sent
	// its totals.
	Series []result.Second
	Levels []result.Level
	Steps  []result.Step

	// Others are the other runs of the run's block that are active, if it has one.
	Others []Other

	// Position is the run's place in its lane. It is read only for a run that isn't admitted.
	Position lane.Position
	// Inputs holds the user's ConfigMaps by name, until the run's own is built from them.
	Inputs map[string]*corev1.ConfigMap

	// Issued holds the run's Certificates by the names of their Secrets. Issuing says why one isn't
	// ready, in cert-manager's words. NoCertManager is the field that needs cert-manager, if there
	// is none. They are read only while the run starts, and when it is cleaned up.
	Issued        map[string]*unstructured.Unstructured
	Issuing       map[string]string
	NoCertManager string
	// Signed holds the names of the Secrets that this manager has already made.
	Signed map[string]bool

	// Logs holds the ends of the servers' logs by container, and LogErrors why one can't be read.
	// They are read only when NeedsLogs says so.
	Logs      map[string]string
	LogErrors map[string]string
	// LoadLogs holds the servers' logs since the load began, by container. They are read only when
	// NeedsLoadLogs says so.
	LoadLogs map[string]string
	// PodEvents holds what keeps pods from starting, or the Job from creating them, by the names of
	// the pods and the Job.
	PodEvents map[string]*pods.Event
	// Node is the target's node. It is read only when NeedsNode says so.
	Node *corev1.Node

	// Strays are objects with the names of the run's children that it can't use.
	Strays []Stray
	// Refusal is the object of the plan that could not be created, if there was one.
	Refusal *Refusal
}

// Other is another run of a run's block.
type Other struct {
	UID     types.UID
	Name    string
	Variant int32
	// Ready reports whether its target and clients are ready, WarmedUp whether its clients have ended their warm-up.
	Ready, WarmedUp bool
}

// Bucket is a bucket for full results.
type Bucket struct {
	// Location is the URL by which readers find it.
	Location string
	// Prefix is the beginning of the keys of the run's objects.
	Prefix string
}

// Upload is the state of storing a full result in a bucket.
type Upload struct {
	// Running reports that an attempt has begun and not ended.
	Running bool
	// Err is the error of the last attempt that ended, which was at At, or nil. Final reports that the next attempt
	// would fail for the same reason.
	Err   error
	At    time.Time
	Final bool
}

// Reclaim is the state of deleting the objects of a run that is being deleted.
type Reclaim struct {
	// Timeout limits the time from the deletion of the run for which its bucket may fail.
	Timeout time.Duration
	// Object is where the run's full result is, or nil if the run's status names none. Without it there may be objects
	// that nothing names.
	Object *v1alpha1.ArtifactObject
	// Uploading reports that an attempt to store an object has not ended.
	Uploading bool
	// Attempt is the state of the attempts to delete them, or nil if this manager hasn't begun.
	Attempt *Upload
}

// Stray is an object with the name of a run's child that the run can't use: one that isn't its own, or its own from before
// its suspension.
type Stray struct {
	ownership.Relation
	Kind   string
	Object manifest.Object
}

// Name returns the kind and the name of the object.
func (s *Stray) Name() string { return s.Kind + " " + s.Object.GetName() }

// Refusal is an object that the API server did not accept. Err is why: somebody else owns an object
// of that name, the kind is unknown, or the object is forbidden or invalid.
type Refusal struct {
	Creation Creation
	Kind     string
	Err      error
}

// Name returns the kind and the name of the object.
func (r *Refusal) Name() string { return r.Kind + " " + r.Creation.Object.GetName() }

// Error implements error.
func (r *Refusal) Error() string {
	return fmt.Sprintf("%s was rejected by the API server: %s", r.Name(), r.Err)
}

// NoteDeletions records the children of a run that are being deleted.
func (o *Run) NoteDeletions() {
	note := func(kind string, obj manifest.Object) {
		if !obj.GetDeletionTimestamp().IsZero() {
			o.Strays = append(o.Strays, Stray{ownership.Own, kind, obj})
		}
	}
	if o.Config != nil {
		note("ConfigMap", o.Config)
	}
	if o.Target != nil {
		note("Pod", o.Target)
	}
	if o.Job != nil {
		note("Job", o.Job)
	}
}

// IsObstructed reports whether the run has to wait for the deletion of an object whose name it needs.
func (o *Run) IsObstructed() bool {
	return slices.ContainsFunc(o.Strays, func(s Stray) bool { return s.Relation != ownership.Foreign })
}

// Collected reports whether every client has sent its totals.
func (o *Run) Collected(run *v1alpha1.BenchmarkRun) bool {
	for i := range loadplan.Replicas(&run.Spec) {
		if o.Sessions.Clients[i].Totals == nil {
			return false
		}
	}
	return true
}

// Remains reports whether the run has children that can be deleted. Secrets can't be seen: they are
// created after the ConfigMap, and deleted before it.
func (o *Run) Remains() bool { return o.Config != nil || o.Target != nil || o.Job != nil }

// Pods returns the pods of the run that exist.
func (o *Run) Pods() []*corev1.Pod {
	var all []*corev1.Pod
	if o.Target != nil {
		all = append(all, o.Target)
	}
	for _, i := range slices.Sorted(maps.Keys(o.Clients)) {
		all = append(all, o.Clients[i])
	}
	return all
}

// Probed returns what the target's first successful answer showed, or nil if there was none yet.
func Probed(run *v1alpha1.BenchmarkRun, o *Run) *session.ProbeResult {
	if state.IsExternal(run) {
		return o.Sessions.Clients[0].ProbeResult
	}
	if o.Sessions.Agent == nil {
		return nil
	}
	return o.Sessions.Agent.ProbeResult
}
