package run

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/result"
	"github.com/assay-dev/assay/internal/run/failure"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/pods"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/session"
)

// Messages as the API server writes them.
const (
	webhookDenied = `admission webhook "pods.example.org" denied the request: no benchmarks on Fridays`
	policyDenied  = `pods "run-target" is forbidden: ValidatingAdmissionPolicy 'hours' with binding 'all' denied request: no benchmarks on Fridays`
	overQuota     = `pods "run-target" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2`
)

func answered(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message}}
}

func TestRejects(t *testing.T) {
	terminating := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "x", errors.New("namespace ns is being terminated"))
	terminating.ErrStatus.Details = &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}}
	tests := map[string]struct {
		err  error
		want bool
	}{
		"a webhook denies":            {answered(http.StatusBadRequest, "", webhookDenied), true},
		"a webhook denies with 403":   {answered(http.StatusForbidden, "Forbidden", webhookDenied), true},
		"a webhook denies with 418":   {answered(http.StatusTeapot, "", webhookDenied), true},
		"a webhook denies with 429":   {answered(http.StatusTooManyRequests, "TooManyRequests", webhookDenied), false},
		"a webhook's own error":       {answered(http.StatusInternalServerError, "", webhookDenied), false},
		"a webhook can't be called":   {apierrors.NewInternalError(errors.New(`failed calling webhook "pods.example.org": connection refused`)), false},
		"a policy denies":             {answered(http.StatusUnprocessableEntity, "Invalid", policyDenied), true},
		"a quota":                     {answered(http.StatusForbidden, "Forbidden", overQuota), true},
		"a quota that is new":         {answered(http.StatusForbidden, "Forbidden", `pods "x" is forbidden: status unknown for quota: few, resources: pods`), false},
		"a namespace that is new":     {answered(http.StatusForbidden, "Forbidden", `pods "x" is forbidden: error looking up service account ns/default: serviceaccount "default" not found`), false},
		"admission is starting":       {answered(http.StatusForbidden, "Forbidden", `pods "x" is forbidden: not yet ready to handle request`), false},
		"Pod Security":                {answered(http.StatusForbidden, "Forbidden", `pods "x" is forbidden: violates PodSecurity "restricted:latest"`), true},
		"invalid":                     {answered(http.StatusUnprocessableEntity, "Invalid", "spec.x"), true},
		"too large":                   {answered(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "Request entity too large"), true},
		"unknown kind":                {&meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "Certificate"}}, true},
		"wrapped":                     {fmt.Errorf("create: %w", answered(http.StatusBadRequest, "", webhookDenied)), true},
		"rights aren't known yet":     {answered(http.StatusForbidden, "Forbidden", `pods is forbidden: User "x" cannot create resource "pods" in API group ""`), false},
		"the namespace is being gone": {terminating, false},
		"not authenticated":           {apierrors.NewUnauthorized("no"), false},
		"no such namespace":           {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "ns"), false},
		"no API server":               {errors.New("dial tcp: connection refused"), false},
		"API server overloaded":       {apierrors.NewTooManyRequests("later", 1), false},
		"timeout":                     {apierrors.NewTimeoutError("later", 1), false},
		"etcd is away":                {apierrors.NewInternalError(errors.New("etcdserver: request timed out")), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := failure.Rejects(test.err); got != test.want {
				t.Errorf("%t for %v", got, test.err)
			}
		})
	}
}

func TestDecideNamesWhatRejectsAnObject(t *testing.T) {
	tests := map[string]struct {
		message string
		reason  string
		advice  string
	}{
		"webhook":                  {webhookDenied, v1alpha1.ReasonPolicyDenied, "Admission webhook pods.example.org is in the way"},
		"policy":                   {policyDenied, v1alpha1.ReasonPolicyDenied, "The admission policy hours is in the way"},
		"quota":                    {overQuota, v1alpha1.ReasonQuotaExceeded, "ResourceQuota few of namespace ns is in the way (kubectl describe quota few -n ns)"},
		"a quota without defaults": {`pods "x" is forbidden: failed quota: few: must specify limits.cpu for: proxy`, v1alpha1.ReasonInvalidSpec, "ResourceQuota few of namespace ns is in the way: it wants resources"},
		"a LimitRange":             {`pods "x" is forbidden: minimum cpu usage per Container is 200m, but request is 50m`, v1alpha1.ReasonPolicyDenied, "A LimitRange of namespace ns is in the way (kubectl describe limitrange -n ns)"},
		"Pod Security":             {`pods "x" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true`, v1alpha1.ReasonInvalidSpec, "The Pod Security level restricted:latest is in the way: whoever administers namespace ns"},
		"OpenShift":                {`pods "x" is forbidden: unable to validate against any security context constraint: [provider restricted-v2: .containers[0].runAsUser: Invalid value: 65532]`, v1alpha1.ReasonPolicyDenied, "a cluster administrator can let service account default of namespace ns"},
		"other":                    {`pods "x" is forbidden: no`, v1alpha1.ReasonInvalidSpec, "policies and quotas of namespace ns"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.o.Refusal = &observed.Refusal{Creation: observed.Creation{Object: s.o.Target, Reason: v1alpha1.ReasonInvalidSpec}, Kind: "Pod", Err: answered(http.StatusForbidden, "Forbidden", test.message)}
			s.o.Target = nil
			got := stateIn(s.decide())
			if got.Status != metav1.ConditionFalse || got.Reason != test.reason || !strings.Contains(got.Message, "Pod run-target was rejected by the API server: "+test.message+". ") ||
				!strings.Contains(got.Message, test.advice) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// refusedArtifact returns a scene in which the API server rejects the artifact of 1,000 requests, so long
// after the last totals.
func refusedArtifact(after time.Duration, err error) *scene {
	s := newScene().collected().sampled().clients(func(c *session.ClientState) {
		c.TotalsSince = now.Add(-after)
		c.Totals.Requests = 500
		c.Totals.Errors[result.ErrorTimeout] = 2
	})
	p := s.decide()
	s.o.Unstored, s.run.Status = p.Store, p.Status
	s.o.Refusal = &observed.Refusal{Creation: s.o.Unstored.Creation, Kind: "ConfigMap", Err: err}
	return s
}

// TestDecideTriesARefusedArtifactAgain checks that a quota and a policy get time to change, while the pods
// keep the measurement, and nothing else.
func TestDecideTriesARefusedArtifactAgain(t *testing.T) {
	denied := func(message string) error { return answered(http.StatusForbidden, "Forbidden", message) }
	tests := map[string]struct {
		after time.Duration
		err   error
		ends  bool
	}{
		"a webhook":                    {0, denied(webhookDenied), false},
		"a webhook, with another code": {0, answered(http.StatusBadRequest, "BadRequest", webhookDenied), false},
		"a policy":                     {0, denied(policyDenied), false},
		"a quota, just before the end": {failure.AcceptanceTimeout - time.Second, denied(overQuota), false},
		"a quota, for too long":        {failure.AcceptanceTimeout, denied(overQuota), true},
		"it is too large":              {0, answered(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge", "too large"), true},
		"it is invalid":                {0, answered(http.StatusUnprocessableEntity, "Invalid", "invalid"), true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := refusedArtifact(test.after, test.err)
			p := s.decide()
			got := stateIn(p)
			if ends := p.Status.CompletionTime != nil; ends != test.ends {
				t.Fatalf("%+v", got)
			}
			if !strings.Contains(got.Message, "ConfigMap run-result was rejected by the API server: "+test.err.Error()) {
				t.Errorf("the message is %q", got.Message)
			}
			if test.ends {
				return
			}
			if got.Reason != v1alpha1.ReasonCollecting || !strings.Contains(got.Message, "Retrying: ") || p.RequeueAfter != failure.AcceptanceInterval || p.Release || p.Delete != nil {
				t.Errorf("%+v, again after %s, release %t", got, p.RequeueAfter, p.Release)
			}
			// The next attempt changes nothing in the status, and stores the same artifact.
			s.run.Status, s.o.Refusal = p.Status, nil
			next := s.decide()
			if diff := cmp.Diff(p.Status, next.Status); diff != "" || next.Store != s.o.Unstored {
				t.Errorf("the next attempt stores %p, want %p, and changes the status (-want +got):\n%s", next.Store, s.o.Unstored, diff)
			}
		})
	}
}

// TestDecideKeepsTheFiguresOfARefusedArtifact checks that only what the status has no room for is lost of
// a measurement that was complete at the pods.
func TestDecideKeepsTheFiguresOfARefusedArtifact(t *testing.T) {
	quota := answered(http.StatusForbidden, "Forbidden", overQuota)
	restarted := func() *scene { // the deadline ends the run before a new manager can store anything
		s := refusedArtifact(observed.StoreTimeout+time.Second, quota)
		s.o.Refusal, s.o.Unstored = nil, nil
		s.run.Spec.ActiveDeadlineSeconds = new(int32(1))
		return s
	}
	blind := restarted()
	for name, p := range map[string]step.Plan{
		"refused for too long":                refusedArtifact(failure.AcceptanceTimeout, quota).decide(),
		"not stored in time":                  restarted().decide(),
		"not stored in time, nothing is read": Interrupted(blind.run, &observed.Run{Sessions: blind.o.Sessions}, now, errors.New("no answer")),
	} {
		t.Run(name, func(t *testing.T) {
			got, valid := stateIn(p), meta.FindStatusCondition(p.Status.Conditions, v1alpha1.ConditionValid)
			if got.Reason != v1alpha1.ReasonArtifactNotStored || p.Status.Verdict != v1alpha1.VerdictError || p.Status.Artifact != nil ||
				!strings.HasSuffix(got.Message, "The measurement was complete (1000 requests, 4 of them failed): status.result has its summary, but the full result is lost.") {
				t.Errorf("%+v", got)
			}
			if r := p.Status.Result; r == nil || *r.Requests != 1000 || *r.Errors.Total != 4 || len(p.Status.Clients) != 2 {
				t.Errorf("the status has %+v and %d clients", r, len(p.Status.Clients))
			}
			if valid.Reason == v1alpha1.ReasonNoResult || p.Release || p.Delete != nil {
				t.Errorf("%+v, release %t", valid, p.Release)
			}
		})
	}
}

// TestDecideEndsARunWhoseClientsAreRefused checks that a Job that can't create a pod ends the run
// soon, and with the cause.
func TestDecideEndsARunWhoseClientsAreRefused(t *testing.T) {
	const podSecurity = `Error creating: pods "run-client-1-x" is forbidden: violates PodSecurity "restricted:latest"`
	tests := map[string]struct {
		message string
		reason  string // empty while the run goes on
	}{
		"quota":                  {"Error creating: " + overQuota, v1alpha1.ReasonQuotaExceeded},
		"webhook":                {"Error creating: " + webhookDenied, v1alpha1.ReasonPolicyDenied},
		"policy":                 {"Error creating: " + policyDenied, v1alpha1.ReasonPolicyDenied},
		"other":                  {podSecurity, v1alpha1.ReasonInvalidSpec},
		"a webhook that is down": {`Error creating: Internal error occurred: failed calling webhook "pods.example.org": connection refused`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			delete(s.o.Clients, 1)
			delete(s.o.Sessions.Clients, 1)
			if got := observed.NeedsEvents(s.run, s.o, begin.Add(observed.PodEventDelay)); len(got) != 1 || got[0].GetName() != "run-client" {
				t.Fatalf("reads the events of %v", names(got))
			}
			s.o.PodEvents = map[string]*pods.Event{"run-client": {Reason: "FailedCreate", Message: test.message}}
			p := s.decide()
			if got := stateIn(p); got.Reason != v1alpha1.ReasonStarting || !strings.Contains(got.Message, "Client 1 has no pod yet: FailedCreate: "+test.message) || p.RequeueAfter > observed.PodEventInterval {
				t.Errorf("at first: %+v, again after %s", got, p.RequeueAfter)
			}
			got := stateIn(Decide(s.run, s.o, begin.Add(failure.RefusalTimeout+time.Second)))
			if test.reason == "" {
				if got.Reason != v1alpha1.ReasonStarting {
					t.Errorf("then: %+v", got)
				}
			} else if got.Reason != test.reason || !strings.Contains(got.Message, "The pod of client 1 was rejected by the API server: "+test.message) {
				t.Errorf("then: %+v", got)
			}
		})
	}
}

func TestEventsOfTheJobAreReadOnlyWithoutAPod(t *testing.T) {
	s := newScene()
	if got := observed.NeedsEvents(s.run, s.o, now); got != nil {
		t.Errorf("with all pods: %v", names(got))
	}
	s.clientsWereReady()
	s.o.Clients = nil
	if got := observed.NeedsEvents(s.run, s.o, now); got != nil {
		t.Errorf("when pods are gone: %v", names(got))
	}
}
