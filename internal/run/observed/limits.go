package observed

import (
	"time"

	"k8s.io/utils/ptr"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/state"
)

// JudgedAt returns the time from which on the deadline ends an admitted run. That is later than the
// deadline if the measurement may be complete: pods that lost their session get time to reconnect and
// to send what they have, and the manager to store it.
func JudgedAt(run *v1alpha1.BenchmarkRun, o *Run) time.Time {
	by := o.Deadline(run.Status.AdmissionTime.Time, manifest.ActiveDeadline(run))
	collected := o.Collected(run)
	if !collected && !state.UnderLoad(state.Of(run)) {
		return by
	}
	for i := range loadplan.Replicas(&run.Spec) {
		client := o.Sessions.Clients[i]
		until := by
		switch {
		case collected:
			until = client.TotalsSince.Add(StoreTimeout)
		case client.Totals == nil && (!client.Connected || client.Behind):
			until = DisconnectedSince(o, i).Add(ContactTimeout)
		}
		if until.After(by) {
			by = until
		}
	}
	return by
}

// DisconnectedSince returns the end of a client's last session. If it had none with this manager,
// that is the time since which it could have one.
func DisconnectedSince(o *Run, client int) time.Time {
	if c, known := o.Sessions.Clients[client]; known {
		return c.DisconnectedSince
	}
	return o.Sessions.Since
}

// StoreTimeout is the time for which a complete result may fail to be stored, past the run's
// deadline.
const StoreTimeout = 5 * time.Minute

// ContactTimeout is the time for which a pod may be without a session during the run.
const ContactTimeout = 2 * time.Minute

// TakeoverGrace is added to each time limit once another manager leads: nothing went on without one, and pods have to
// find it.
const TakeoverGrace = ContactTimeout

// Deadline returns the time at which a limit ends that began at from. If this manager leads only since then, the limit ends
// takeoverGrace later, and at the earliest so long after it began to lead.
func (o *Run) Deadline(from time.Time, limit time.Duration) time.Time {
	end := from.Add(limit)
	switch {
	case !o.LeaderSince.After(from):
		return end
	case end.Before(o.LeaderSince):
		end = o.LeaderSince
	}
	return end.Add(TakeoverGrace)
}

// LastTotals returns the time at which the last client's totals arrived.
func LastTotals(run *v1alpha1.BenchmarkRun, o *Run) time.Time {
	var last time.Time
	for i := range loadplan.Replicas(&run.Spec) {
		if since := o.Sessions.Clients[i].TotalsSince; since.After(last) {
			last = since
		}
	}
	return last
}

// MissingClient returns the first client without a pod, and whether there is one.
func (o *Run) MissingClient(run *v1alpha1.BenchmarkRun) (int, bool) {
	if o.Job == nil || state.ClientsWereReady(run) {
		return 0, false
	}
	for i := range loadplan.Replicas(&run.Spec) {
		if _, connected := o.Sessions.Clients[i]; o.Clients[i] == nil && !connected {
			return i, true
		}
	}
	return 0, false
}

// AwaitsSample reports whether the agent may still sample the server after the last client's end. Every client
// has sent its totals.
func AwaitsSample(run *v1alpha1.BenchmarkRun, o *Run, now time.Time) bool {
	var end int64
	late := true
	for i := range loadplan.Replicas(&run.Spec) {
		client := o.Sessions.Clients[i]
		end = max(end, client.Totals.EndedAt)
		late = late && now.Sub(client.TotalsSince) > lastSampleTimeout
	}
	agent := o.Sessions.Agent
	return agent != nil && agent.Connected && !late && (agent.Latest == nil || agent.Latest.At < end)
}

const lastSampleTimeout = 2 * time.Second

// LastSampleInterval is the interval at which a run looks for the last sample.
const LastSampleInterval = lastSampleTimeout / 20

// TargetNode returns the name of the target's node, or "" if it has none: it hasn't been scheduled yet, or
// is external.
func (o *Run) TargetNode() string {
	if o.Target == nil {
		return ""
	}
	return o.Target.Spec.NodeName
}

// ClientsPlaceable reports whether clients can be created. They are placed relative to the target's node.
func ClientsPlaceable(run *v1alpha1.BenchmarkRun, o *Run) bool {
	return state.IsExternal(run) || IsQueued(run) || o.TargetNode() != ""
}

// IsQueued reports whether a queue of Kueue decides when the clients may start. They are created before the target, which so waits
// with them.
func IsQueued(run *v1alpha1.BenchmarkRun) bool { return run.Labels[manifest.LabelQueue] != "" }

// JobSuspended reports whether the clients' Job is suspended.
func (o *Run) JobSuspended() bool { return o.Job != nil && ptr.Deref(o.Job.Spec.Suspend, false) }

// ClientsSince returns the time since which clients may become ready: their Job exists, and the run has its lane.
func (o *Run) ClientsSince(run *v1alpha1.BenchmarkRun) time.Time {
	since := o.Job.CreationTimestamp.Time
	if at := run.Status.AdmissionTime; at != nil && at.After(since) {
		return at.Time
	}
	return since
}

// Wall converts a time of the sessions' clock, which is monotonic, to the wall clock. They differ if
// that was set, or the host slept, since the manager was started.
func (o *Run) Wall(at int64, now time.Time) time.Time {
	step := now.Sub(time.UnixMicro(o.Sessions.Now))
	if step.Abs() < minClockStep {
		step = 0
	}
	return time.UnixMicro(at).Add(step.Truncate(time.Second))
}

// minClockStep is the difference between two clocks from which on one of them was set.
const minClockStep = time.Second

// TargetReadyBy returns the time until which the target must have answered its readiness probe.
func TargetReadyBy(run *v1alpha1.BenchmarkRun, o *Run) time.Time {
	if o.Target == nil { // it is external, or the clients of a queue come first
		return o.Deadline(o.ClientsSince(run), state.ReadinessTimeout(run))
	}
	return o.Deadline(o.Target.CreationTimestamp.Time, state.ReadinessTimeout(run))
}
