package failure

import (
	"errors"
	"fmt"
	"regexp"
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
		strings.Contains(message, "AdmissionPolicy ") && strings.Contains(message, "denied request"),
		limitRange.MatchString(message), strings.Contains(message, "against any security context constraint"):
		return v1alpha1.ReasonPolicyDenied
	}
	return ""
}

// limitRange matches the rejections of a LimitRange, which don't name it.
var limitRange = regexp.MustCompile(`(usage|limit to request ratio) per (Container|Pod)`)

// obstacles are the objects that are in the way of a rejected one, by the words of the API server's admission plugins. Each has the
// object, whose name is the first group of the expression if that has one, and who can change it, with NAMESPACE and NAME in the
// place of theirs.
var obstacles = []struct {
	words  *regexp.Regexp
	advice string
}{
	{regexp.MustCompile(`exceeded quota: ([^,\s]+)`),
		"ResourceQuota NAME of namespace NAMESPACE is in the way (kubectl describe quota NAME -n NAMESPACE): whoever administers the namespace can increase it. Or decrease what the run requests."},
	{regexp.MustCompile(`failed quota: ([^:]+): must specify`),
		"ResourceQuota NAME of namespace NAMESPACE is in the way: it wants resources that the pod doesn't set. Whoever administers the namespace can give it a LimitRange with defaults for them."},
	{limitRange,
		"A LimitRange of namespace NAMESPACE is in the way (kubectl describe limitrange -n NAMESPACE): whoever administers the namespace can change it. Or set resources within it; those of the agent are the chart's runs.agentResources."},
	{regexp.MustCompile(`violates PodSecurity "([^"]+)"`),
		"The Pod Security level NAME is in the way: whoever administers namespace NAMESPACE can change its label pod-security.kubernetes.io/enforce. Or set spec.target.podSecurity to Restricted."},
	{regexp.MustCompile(`unable to validate against any (security context constraint)`),
		"The SecurityContextConstraints of OpenShift are in the way: a cluster administrator can let service account default of namespace NAMESPACE use one that allows the pod, such as nonroot-v2."},
	{regexp.MustCompile(`admission webhook "([^"]+)" denied`),
		"Admission webhook NAME is in the way: change the spec to what it allows, such as by labels, or ask whoever administers it (a cluster administrator) to exempt namespace NAMESPACE."},
	{regexp.MustCompile(`AdmissionPolicy '([^']+)' with binding`),
		"The admission policy NAME is in the way: change the spec to what it allows, such as by labels, or ask a cluster administrator to exempt namespace NAMESPACE."},
}

// adviceOn returns what to do about a rejection.
func adviceOn(message, namespace string) string {
	for _, o := range obstacles {
		if found := o.words.FindStringSubmatch(message); found != nil {
			return strings.NewReplacer("NAMESPACE", namespace, "NAME", printable.Clipped(found[1], 253)).Replace(o.advice)
		}
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
