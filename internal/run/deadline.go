package run

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/state"
)

const (
	// storeTimeout is the time for which a complete result may fail to be stored, past the run's
	// deadline.
	storeTimeout = 5 * time.Minute
	// maxMissing limits the clients that a message lists.
	maxMissing = 3
)

// deadlineOf returns the time of an admitted run's deadline.
func deadlineOf(run *v1alpha1.BenchmarkRun, o *Observed) time.Time {
	return o.deadline(run.Status.AdmissionTime.Time, manifest.ActiveDeadline(run))
}

// judgedAt returns the time from which on the deadline ends an admitted run. That is later than the
// deadline if the measurement may be complete: pods that lost their session get time to reconnect and
// to send what they have, and the manager to store it.
func judgedAt(run *v1alpha1.BenchmarkRun, o *Observed) time.Time {
	by := deadlineOf(run, o)
	collected := o.Collected(loadplan.Replicas(&run.Spec))
	if !collected && !state.UnderLoad(state.Of(run)) {
		return by
	}
	for i := range loadplan.Replicas(&run.Spec) {
		client := o.Sessions.Clients[i]
		until := by
		switch {
		case collected:
			until = client.TotalsSince.Add(storeTimeout)
		case client.Totals == nil && (!client.Connected || client.Behind):
			until = disconnectedSince(o, i).Add(contactTimeout)
		}
		if until.After(by) {
			by = until
		}
	}
	return by
}

// disconnectedSince returns the end of a client's last session. If it had none with this manager,
// that is the time since which it could have one.
func disconnectedSince(o *Observed, client int) time.Time {
	if c, known := o.Sessions.Clients[client]; known {
		return c.DisconnectedSince
	}
	return o.Sessions.Since
}

// overdue returns why the deadline ends a run, or nil. It needs nothing but the run and its sessions,
// and so is judged whatever else can't be observed.
func overdue(run *v1alpha1.BenchmarkRun, o *Observed, now time.Time) *Failure {
	if !state.IsAdmitted(run) || !now.After(judgedAt(run, o)) {
		return nil
	}
	last := cmp.Or(state.Succeeded(run).Message, "nothing was done yet.")
	if o.Collected(loadplan.Replicas(&run.Spec)) {
		return failuref(v1alpha1.ReasonArtifactNotStored,
			"Every client has sent its totals, but the result was not stored %s after that, past spec.activeDeadlineSeconds (%ds). The last state was %s: %s",
			storeTimeout, int(manifest.ActiveDeadline(run).Seconds()), state.Of(run), last)
	}
	message := fmt.Sprintf("The run took longer than spec.activeDeadlineSeconds (%ds). Increase it, or reduce the load. The last state was %s: %s",
		int(manifest.ActiveDeadline(run).Seconds()), state.Of(run), last)
	if missing := missingTotals(run, o, now); missing != "" {
		message += " " + missing
	}
	if o.LeaderSince.After(run.Status.AdmissionTime.Time) {
		message += fmt.Sprintf(" It had %s more, since another manager leads since then.", takeoverGrace)
	}
	return &Failure{Reason: v1alpha1.ReasonDeadlineExceeded, Message: message}
}

// missingTotals returns which clients had not sent their totals and why, or "" before the load.
func missingTotals(run *v1alpha1.BenchmarkRun, o *Observed, now time.Time) string {
	if !state.UnderLoad(state.Of(run)) {
		return ""
	}
	var missing []string
	for i := range loadplan.Replicas(&run.Spec) {
		client, known := o.Sessions.Clients[i]
		switch away := now.Sub(disconnectedSince(o, i)).Round(time.Second); {
		case client.Totals != nil:
		case client.Connected:
			missing = append(missing, fmt.Sprintf("client %d, which is connected", i))
		case known:
			missing = append(missing, fmt.Sprintf("client %d, which has been disconnected for %s", i, away))
		default:
			missing = append(missing, fmt.Sprintf("client %d, which has not connected to this manager for %s", i, away))
		}
	}
	if len(missing) == 0 {
		return ""
	}
	n := len(missing)
	missing = slices.Clip(missing[:min(n, maxMissing)])
	if n > maxMissing {
		missing = append(missing, fmt.Sprintf("and %d more", n-maxMissing))
	}
	return fmt.Sprintf("It waited for the totals of %d of %d clients: %s.", n, loadplan.Replicas(&run.Spec), strings.Join(missing, "; "))
}
