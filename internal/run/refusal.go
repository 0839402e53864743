package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/loadplan"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/run/state"
)

const (
	// refusalTimeout limits the time for which the Job's pods may be refused: what fills a quota may be terminating.
	refusalTimeout = 20 * time.Second
	// acceptanceTimeout limits the time from the last totals for which the artifact may be refused;
	// acceptanceInterval is the interval at which it is tried again until then.
	acceptanceTimeout  = time.Minute
	acceptanceInterval = 2 * time.Second
)

// KindMissing reports whether an error says that the API server doesn't have the kind of an object.
// Clients that have seen the kind before get an answer without an object's name.
func KindMissing(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// passing holds texts of Forbidden errors that are over in a moment: after a start of the API server, which knows
// neither the manager's rights nor what its admission plugins need, with a quota that is new, and in a namespace that
// is so new that it has no service account.
var passing = []string{
	"cannot create resource", "not yet ready to handle request", "status unknown for quota", "error looking up service account",
}

// Rejects reports whether an error is the API server's decision about an object, which it would
// repeat. All else, such as a webhook that fails or times out, may be over at the next attempt.
func Rejects(err error) bool {
	if KindMissing(err) {
		return true
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	message, code := status.Status().Message, status.Status().Code
	switch {
	case apierrors.IsBadRequest(err) || apierrors.IsRequestEntityTooLargeError(err) || apierrors.IsInvalid(err):
		return true
	case apierrors.IsForbidden(err):
		return !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) && !slices.ContainsFunc(passing, func(text string) bool {
			return strings.Contains(message, text)
		})
	case apierrors.IsUnauthorized(err) || apierrors.IsConflict(err) || apierrors.IsTooManyRequests(err):
		return false
	}
	// A webhook denies with any code from 400 on. From 500 on it could not decide.
	return code < 500 && reasonOfRejection(message) == v1alpha1.ReasonPolicyDenied
}

// reasonOfRejection returns the reason for a rejection that the run's spec alone does not explain,
// or "". The words are those of the API server's admission (quota, webhook, policy/validating).
func reasonOfRejection(message string) string {
	switch {
	case strings.Contains(message, "exceeded quota: "):
		return v1alpha1.ReasonQuotaExceeded
	case strings.Contains(message, "admission webhook ") && strings.Contains(message, "denied the request"),
		strings.Contains(message, "AdmissionPolicy ") && strings.Contains(message, "denied request"):
		return v1alpha1.ReasonPolicyDenied
	}
	return ""
}

// adviceOn returns what to do about a rejection.
func adviceOn(message, namespace string) string {
	switch reasonOfRejection(message) {
	case v1alpha1.ReasonQuotaExceeded:
		return fmt.Sprintf("Increase the quota of namespace %s, or decrease what the run requests.", namespace)
	case v1alpha1.ReasonPolicyDenied:
		return fmt.Sprintf("Change the spec to what the policy allows, or exempt namespace %s from the policy.", namespace)
	}
	return fmt.Sprintf("Fix the spec, or the policies and quotas of namespace %s.", namespace)
}

// refused returns the failure for an object of the run that the API server rejected.
func refused(run *v1alpha1.BenchmarkRun, o *Observed) *Failure {
	r := o.Refusal
	switch {
	case apierrors.IsAlreadyExists(r.Err):
		return conflict(r.name())
	case KindMissing(r.Err):
		for _, c := range manifest.Certificates(run) {
			if c.Secret == r.Creation.Object.GetName() {
				return certManagerMissing(c.Field)
			}
		}
	}
	why := r.Err.Error()
	reason := r.Creation.Reason
	if own := reasonOfRejection(why); own != "" && reason != v1alpha1.ReasonArtifactNotStored {
		reason = own
	}
	return failuref(reason, "%s. %s", printable.WithoutPeriod(r.Error()), adviceOn(why, run.Namespace))
}

// mayBeAccepted reports whether to try again to create an artifact that the API server rejected: its
// quota or a policy may change, while the pods still have the measurement. The run holds its lane meanwhile.
func mayBeAccepted(run *v1alpha1.BenchmarkRun, o *Observed, now time.Time) bool {
	r := o.Refusal
	if r.Creation.Reason != v1alpha1.ReasonArtifactNotStored || !apierrors.IsForbidden(r.Err) && reasonOfRejection(r.Err.Error()) == "" {
		return false
	}
	return now.Before(lastTotals(run, o).Add(acceptanceTimeout))
}

// lastTotals returns the time at which the last client's totals arrived.
func lastTotals(run *v1alpha1.BenchmarkRun, o *Observed) time.Time {
	var last time.Time
	for i := range loadplan.Replicas(&run.Spec) {
		if since := o.Sessions.Clients[i].TotalsSince; since.After(last) {
			last = since
		}
	}
	return last
}

// clientRefused fails a run whose Job can't create a pod because the API server rejects it.
func clientRefused(run *v1alpha1.BenchmarkRun, o *Observed, now time.Time) *Failure {
	i, missing := o.missingClient(run)
	if !missing || !now.After(o.Job.CreationTimestamp.Add(refusalTimeout)) {
		return nil
	}
	e := o.PodEvents[o.Job.Name]
	if e == nil || e.Reason != "FailedCreate" {
		return nil
	}
	reason := reasonOfRejection(e.Message)
	switch {
	case reason != "":
	case strings.Contains(e.Message, "is forbidden"):
		reason = v1alpha1.ReasonInvalidSpec
	default:
		return nil
	}
	return failuref(reason, "The pod of client %d was rejected by the API server: %s. %s", i, printable.WithoutPeriod(e.Message), adviceOn(e.Message, run.Namespace))
}

// missingClient returns the first client without a pod, and whether there is one.
func (o *Observed) missingClient(run *v1alpha1.BenchmarkRun) (int, bool) {
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
