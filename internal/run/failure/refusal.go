package failure

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
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/printable"
	"github.com/assay-dev/assay/internal/run/observed"
)

const (
	// AcceptanceTimeout limits the time from the last totals for which the artifact may be refused.
	AcceptanceTimeout = time.Minute
	// AcceptanceInterval is the interval at which it is tried again until then.
	AcceptanceInterval = 2 * time.Second
)

// KindMissing reports whether an error says that the API server doesn't have the kind of an object.
// Clients that have seen the kind before get an answer without an object's name.
func KindMissing(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// transientMessages holds texts of Forbidden errors that are over in a moment: after a start of the API server, which knows
// neither the manager's rights nor what its admission plugins need, with a quota that is new, and in a namespace that
// is so new that it has no service account.
var transientMessages = []string{
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
		return !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) && !slices.ContainsFunc(transientMessages, func(text string) bool {
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

// ObjectRefused returns the failure for an object of the run that the API server rejected.
func ObjectRefused(run *v1alpha1.BenchmarkRun, o *observed.Run) *Failure {
	r := o.Refusal
	switch {
	case apierrors.IsAlreadyExists(r.Err):
		return NameConflict(r.Name())
	case KindMissing(r.Err):
		for _, c := range manifest.Certificates(run) {
			if c.Secret == r.Creation.Object.GetName() {
				return CertManagerMissing(c.Field)
			}
		}
	}
	why := r.Err.Error()
	reason := r.Creation.Reason
	if own := reasonOfRejection(why); own != "" && reason != v1alpha1.ReasonArtifactNotStored {
		reason = own
	}
	return newf(reason, "%s. %s", printable.WithoutPeriod(r.Error()), adviceOn(why, run.Namespace))
}

// MayBeAccepted reports whether to try again to create an artifact that the API server rejected: its
// quota or a policy may change, while the pods still have the measurement. The run holds its lane meanwhile.
func MayBeAccepted(run *v1alpha1.BenchmarkRun, o *observed.Run, now time.Time) bool {
	r := o.Refusal
	if r.Creation.Reason != v1alpha1.ReasonArtifactNotStored || !apierrors.IsForbidden(r.Err) && reasonOfRejection(r.Err.Error()) == "" {
		return false
	}
	return now.Before(observed.LastTotals(run, o).Add(AcceptanceTimeout))
}
