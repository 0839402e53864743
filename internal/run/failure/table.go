// Package failure has each way in which a run ends without a result: when it has happened, the reason of the condition
// Succeeded, and the message. table has those that objects and sessions show; the others have a function each, which
// is called where the run comes to them.
package failure

import (
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/ownership"
	"github.com/assay-dev/assay/internal/server"
	"github.com/assay-dev/assay/internal/session"
)

// table has what can happen to the objects and the sessions of a run that holds its lane, with the reason of the failure
// and what finds it: a function that returns the message, or "" if it hasn't happened. The first one counts: an eviction
// comes before the end of containers, which is its consequence, and the end of a client before the deletion of others,
// which the Job deletes then.
var table = []struct {
	reason string
	find   func(*seen) string
}{
	{v1alpha1.ReasonTargetEvicted, targetEvicted},
	{v1alpha1.ReasonClientEvicted, eachClient(clientEvicted)},

	{v1alpha1.ReasonClientEvicted, jobSuspended},

	{v1alpha1.ReasonTargetLost, targetDeleted},
	{v1alpha1.ReasonInvalidSpec, sharingUnsupported},
	{v1alpha1.ReasonTargetUnsupported, targetUnsupported},
	{v1alpha1.ReasonTargetMismatch, targetMismatched},
	{v1alpha1.ReasonTargetNotStarted, contentNotWritten},
	{v1alpha1.ReasonTargetNotStarted, serverNotStarted},
	{v1alpha1.ReasonTargetCrashed, serverExited},
	{v1alpha1.ReasonTargetLost, targetFailed},
	{v1alpha1.ReasonTargetLost, agentExited},
	{v1alpha1.ReasonTargetLost, targetEnded},
	{v1alpha1.ReasonConfigurationMissing, targetLacksObject},
	{v1alpha1.ReasonTargetNotStarted, targetBlocked},
	{v1alpha1.ReasonTargetImageUnavailable, targetImageUnavailable},
	{v1alpha1.ReasonTargetNotStarted, assayImageUnavailable},
	{v1alpha1.ReasonTargetNotReady, externalNotReady},
	{v1alpha1.ReasonTargetUnschedulable, targetUnschedulable},
	{v1alpha1.ReasonTargetNotStarted, targetNotStarted},
	{v1alpha1.ReasonTargetNotReady, targetNotReady},
	{v1alpha1.ReasonProtocolMismatch, agentFailed(session.FailureProtocolMismatch)},
	{v1alpha1.ReasonTargetLost, agentFailed(anyKind)},
	{v1alpha1.ReasonTargetLost, agentDisconnected},

	{v1alpha1.ReasonClientLost, jobDeleted},
	{v1alpha1.ReasonProtocolMismatch, eachClient(clientFailed(session.FailureProtocolMismatch))},
	{v1alpha1.ReasonScriptInvalid, eachClient(clientFailed(session.FailureScriptInvalid))},
	{v1alpha1.ReasonScriptException, eachClient(clientFailed(session.FailureScriptException))},
	{v1alpha1.ReasonScriptAborted, eachClient(clientFailed(session.FailureScriptAborted))},
	{v1alpha1.ReasonClientFailed, eachClient(clientFailed(anyKind))},
	{v1alpha1.ReasonClientFailed, eachClient(clientExited)},
	{v1alpha1.ReasonClientLost, eachClient(clientEnded)},
	{v1alpha1.ReasonClientLost, eachClient(clientDeleted)},
	{v1alpha1.ReasonClientFailed, jobFailed},
	{v1alpha1.ReasonConfigurationMissing, eachClient(clientLacksObject)},
	{v1alpha1.ReasonClientImageUnavailable, eachClient(clientImageUnavailable)},
	{v1alpha1.ReasonClientFailed, eachClient(clientBlocked)},
	{v1alpha1.ReasonQuotaExceeded, clientRefused(v1alpha1.ReasonQuotaExceeded)},
	{v1alpha1.ReasonPolicyDenied, clientRefused(v1alpha1.ReasonPolicyDenied)},
	{v1alpha1.ReasonInvalidSpec, clientRefused("")},
	{v1alpha1.ReasonClientsNotReady, unready(clientNotCreated)},
	{v1alpha1.ReasonClientUnschedulable, unready(clientUnschedulable)},
	{v1alpha1.ReasonClientsNotReady, unready(clientNotReady)},
	{v1alpha1.ReasonClientLost, eachClient(clientDisconnected)},
}

// Find returns why an admitted run can't end with a result, or nil: what has happened to it first, by the table. Once every
// client has sent its totals, nothing that happens to the pods can prevent it, only that they can't be stored.
func Find(run *v1alpha1.BenchmarkRun, o *observed.Run, now time.Time, logged []server.Mismatch) *Failure {
	for i := range o.Strays {
		if s := &o.Strays[i]; s.Relation == ownership.Foreign {
			return NameConflict(s.Name())
		}
	}
	if f := Overdue(run, o, now); f != nil || o.Collected(run) {
		return f
	}
	s := &seen{run, o, now, logged}
	for _, row := range table {
		if message := row.find(s); message != "" {
			return s.withoutTeardown(&Failure{row.reason, message})
		}
	}
	return nil
}
