package failure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
)

const (
	// maxMissing limits the clients that a message lists.
	maxMissing = 3
)

// Overdue returns why the deadline ends a run, or nil. It needs nothing but the run and its sessions,
// and so is judged whatever else can't be observed.
func Overdue(run *v1alpha1.BenchmarkRun, o *observed.Run, now time.Time) *Failure {
	if !state.IsAdmitted(run) || !now.After(observed.JudgedAt(run, o)) {
		return nil
	}
	last := cmp.Or(state.Succeeded(run).Message, "nothing was done yet.")
	if o.Collected(run) {
		return newf(v1alpha1.ReasonArtifactNotStored,
			"Every client has sent its totals, but the result was not stored %s after that, past spec.activeDeadlineSeconds (%ds). The last state was %s: %s",
			observed.StoreTimeout, int(manifest.ActiveDeadline(run).Seconds()), state.Of(run), last)
	}
	message := fmt.Sprintf("The run took longer than spec.activeDeadlineSeconds (%ds). Increase it, or reduce the load. The last state was %s: %s",
		int(manifest.ActiveDeadline(run).Seconds()), state.Of(run), last)
	if missing := missingTotals(run, o, now); missing != "" {
		message += " " + missing
	}
	if o.LeaderSince.After(run.Status.AdmissionTime.Time) {
		message += fmt.Sprintf(" It had %s more, since another manager leads since then.", observed.TakeoverGrace)
	}
	return &Failure{Reason: v1alpha1.ReasonDeadlineExceeded, Message: message}
}

// missingTotals returns which clients had not sent their totals and why, or "" before the load.
func missingTotals(run *v1alpha1.BenchmarkRun, o *observed.Run, now time.Time) string {
	if !state.UnderLoad(state.Of(run)) {
		return ""
	}
	var missing []string
	for i := range loadplan.Replicas(&run.Spec) {
		client, known := o.Sessions.Clients[i]
		switch away := now.Sub(observed.DisconnectedSince(o, i)).Round(time.Second); {
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

// blockTimeout is the time from the admission of the first run of a block until all its runs must exist. A Benchmark creates
// them within seconds.
const blockTimeout = 30 * time.Second

// BlockIncomplete returns the failure of a run whose block lacks a variant, or nil as long as it may still be created.
func BlockIncomplete(run *v1alpha1.BenchmarkRun, variant int32, now time.Time) *Failure {
	if admitted := run.Status.AdmissionTime; admitted == nil || now.Before(admitted.Add(blockTimeout)) {
		return nil
	}
	return newf(v1alpha1.ReasonBlockIncomplete,
		"Variant %d of block %s does not exist or has ended, so the load can't alternate. See why that run ended, and run the block again.",
		variant, run.Spec.Alternation.Block)
}
