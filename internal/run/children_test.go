package run

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/manifest"
	"github.com/assay-dev/assay/internal/run/ending"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/state"
	"github.com/assay-dev/assay/internal/run/step"
	"github.com/assay-dev/assay/internal/session"
)

// fresh returns an admitted run without children.
func fresh() *scene {
	s := newScene()
	s.o.Config, s.o.Target, s.o.Job, s.o.Clients, s.o.Sessions = nil, nil, nil, nil, session.Observation{}
	return s
}

// mutualTLS makes target and clients use certificates of these kinds.
func (s *scene) mutualTLS(server, client v1alpha1.Certificate) *scene {
	s.run.Spec.Target.TLS = &v1alpha1.TLS{Certificate: &server, ClientAuthentication: &v1alpha1.ClientAuthentication{Certificate: client}}
	return s
}

// issued adds cert-manager's Certificate of the server, whose condition Ready has
// the given status.
func (s *scene) issued(ready string) *scene {
	obj := manifest.IssuedCertificate(s.run, &manifest.Certificates(s.run)[0])
	obj.SetUID("certificate")
	obj.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": ready}}}
	s.o.Issued = map[string]*unstructured.Unstructured{obj.GetName(): obj}
	return s
}

var (
	bySelf   = v1alpha1.Certificate{SelfSigned: &v1alpha1.SelfSigned{}}
	byIssuer = v1alpha1.Certificate{IssuerRef: &v1alpha1.IssuerReference{Name: "ca", Kind: "Issuer", Group: "cert-manager.io"}}
)

// created describes the objects that a plan creates.
func created(p step.Plan) []string {
	var all []string
	for _, c := range p.Create {
		text := strings.TrimPrefix(fmt.Sprintf("%T ", c.Object), "*") + c.Object.GetName()
		if c.Certificate != nil {
			text += " with a new " + c.Certificate.Algorithm + " key"
		}
		all = append(all, text)
	}
	return all
}

func TestDecideCreatesChildrenInOrder(t *testing.T) {
	const (
		config, target, job   = "v1.ConfigMap run-config", "v1.Pod run-target", "v1.Job run-client"
		server, client, issue = "v1.Secret run-tls-uid", "v1.Secret run-client-tls-uid", "unstructured.Unstructured run-tls-uid"
		newKey                = " with a new RSA key"
	)
	withoutCA := func(s *scene) *scene { s.o.CA = nil; return s }
	missing := func(s *scene) *scene {
		s.run.Spec.Target.Content = []v1alpha1.ContentFile{{Path: "/a", ConfigMapKeyRef: &v1alpha1.ConfigMapKeyReference{Name: "files", Key: "a"}}}
		return s
	}
	lost := func(s *scene) *scene { s.o.Config = nil; return s }
	tests := map[string]struct {
		scene *scene
		state string
		want  []string
	}{
		"plain": {fresh(), v1alpha1.ReasonStarting, []string{config, target}},
		"external": {func() *scene {
			s := externalScene()
			s.o.Config, s.o.Job, s.o.Sessions = nil, nil, session.Observation{}
			return s
		}(), v1alpha1.ReasonStarting, []string{config, job}},
		"an input is missing":            {missing(fresh()), v1alpha1.ReasonStarting, nil},
		"the manager has no certificate": {withoutCA(fresh()), v1alpha1.ReasonStarting, nil},
		"self-signed":                    {fresh().mutualTLS(bySelf, bySelf), v1alpha1.ReasonStarting, []string{config, server + newKey, client + newKey, target}},
		"self-signed, the server's is made": {func() *scene {
			s := fresh().mutualTLS(bySelf, bySelf)
			s.o.Signed = map[string]bool{"run-tls-uid": true}
			return s
		}(), v1alpha1.ReasonStarting, []string{config, client + newKey, target}},
		"by cert-manager":            {fresh().mutualTLS(byIssuer, bySelf), v1alpha1.ReasonStarting, []string{config, server, issue, client + newKey}},
		"by cert-manager, not ready": {fresh().mutualTLS(byIssuer, bySelf).issued("False"), v1alpha1.ReasonStarting, []string{config, client + newKey}},
		"by cert-manager, ready":     {fresh().mutualTLS(byIssuer, bySelf).issued("True"), v1alpha1.ReasonStarting, []string{config, client + newKey, target}},
		"cert-manager isn't installed": {func() *scene {
			s := fresh().mutualTLS(byIssuer, bySelf)
			s.o.NoCertManager = "spec.target.tls.certificate"
			return s
		}(), v1alpha1.ReasonCertManagerMissing, nil},
		"the Job is missing": {func() *scene { s := newScene(); s.o.Job, s.o.Clients, s.o.Sessions.Clients = nil, nil, nil; return s }(), v1alpha1.ReasonStarting, []string{job}},
		"the target has no node yet": {func() *scene {
			s := newScene()
			s.o.Job, s.o.Clients, s.o.Sessions, s.o.Target.Spec.NodeName = nil, nil, session.Observation{}, ""
			return s
		}(), v1alpha1.ReasonStarting, nil},
		"all exist":                        {newScene(), v1alpha1.ReasonStarting, nil},
		"repaired under load":              {lost(newScene().started(measurementStage)), v1alpha1.ReasonMeasuring, []string{config}},
		"can't be repaired under load":     {lost(missing(newScene().started(measurementStage))), v1alpha1.ReasonMeasuring, nil},
		"no certificate to repair it with": {withoutCA(lost(newScene().started(measurementStage))), v1alpha1.ReasonMeasuring, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := test.scene.decide()
			if got := stateIn(p); got.Reason != test.state {
				t.Errorf("%s: %s; want %s", got.Reason, got.Message, test.state)
			}
			if diff := cmp.Diff(test.want, created(p)); diff != "" {
				t.Errorf("creates (-want +got):\n%s", diff)
			}
			if stateIn(p).Status == metav1.ConditionUnknown && p.RequeueAfter == 0 {
				t.Error("nothing continues the run")
			}
		})
	}
}

func TestDecideFailsARunWhoseObjectIsRefused(t *testing.T) {
	plan := fresh().mutualTLS(byIssuer, bySelf).decide()
	stored := newScene().collected().sampled().decide()
	config, certificate, result := plan.Create[0], plan.Create[2], stored.Store.Creation
	tests := map[string]struct {
		refusal observed.Refusal
		reason  string
		message string
	}{
		"forbidden":       {observed.Refusal{Creation: config, Kind: "ConfigMap", Err: errors.New("exceeded quota")}, v1alpha1.ReasonInvalidSpec, "ConfigMap run-config was rejected by the API server: exceeded quota. Fix the spec, or the policies and quotas of namespace ns."},
		"somebody else's": {observed.Refusal{Creation: config, Kind: "ConfigMap", Err: apierrors.NewAlreadyExists(schema.GroupResource{}, "")}, v1alpha1.ReasonNameConflict, "ConfigMap run-config already exists and does not belong to this run. Delete it, or give the run another name."},
		"no such kind":    {observed.Refusal{Creation: certificate, Kind: "Certificate", Err: &meta.NoKindMatchError{}}, v1alpha1.ReasonCertManagerMissing, "spec.target.tls.certificate.issuerRef needs cert-manager, which is not installed in this cluster. Install it, or use selfSigned or secretName."},
		"the artifact":    {observed.Refusal{Creation: result, Kind: "ConfigMap", Err: errors.New("too large")}, v1alpha1.ReasonArtifactNotStored, "ConfigMap run-result was rejected by the API server: too large. Fix the spec, or the policies and quotas of namespace ns."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := fresh().mutualTLS(byIssuer, bySelf)
			s.o.Refusal = &test.refusal
			p := s.decide()
			got := stateIn(p)
			if diff := cmp.Diff([]string{test.reason, test.message}, []string{got.Reason, got.Message}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !state.IsFinished(&v1alpha1.BenchmarkRun{Status: p.Status}) || p.Create != nil || p.Delete != nil {
				t.Errorf("the plan doesn't only end the run: %+v", p)
			}
		})
	}
}

func TestDecideDeletesChildrenInOrder(t *testing.T) {
	finished := func(s *scene) *scene {
		s.run.Status.CompletionTime = new(metav1.NewTime(begin))
		s.run.Status.Conditions = append(s.run.Status.Conditions,
			metav1.Condition{Type: v1alpha1.ConditionFinished, Status: metav1.ConditionTrue}, metav1.Condition{Type: v1alpha1.ConditionSucceeded, Status: metav1.ConditionTrue})
		return s
	}
	deleting := func(s *scene) *scene {
		s.o.Target.DeletionTimestamp = new(metav1.Now())
		s.o.Issued["run-tls-uid"].SetDeletionTimestamp(new(metav1.Now()))
		return s
	}
	tests := map[string]struct {
		scene *scene
		want  []string
		again bool
	}{
		"self-signed":             {finished(newScene().mutualTLS(bySelf, bySelf)), []string{"run-target", "run-client", "run-tls-uid", "run-client-tls-uid", "run-config"}, false},
		"the user's Secret":       {finished(newScene().mutualTLS(v1alpha1.Certificate{SecretName: "mine"}, bySelf)), []string{"run-target", "run-client", "run-client-tls-uid", "run-config"}, false},
		"a Certificate":           {finished(newScene().mutualTLS(byIssuer, bySelf).issued("True")), []string{"run-target", "run-client", "run-tls-uid"}, true},
		"a Certificate, deleting": {deleting(finished(newScene().mutualTLS(byIssuer, bySelf).issued("True"))), []string{"run-client"}, true},
		"the Certificate is gone": {finished(newScene().mutualTLS(byIssuer, bySelf)), []string{"run-target", "run-client", "run-tls-uid", "run-client-tls-uid", "run-config"}, false},
		"only the ConfigMap is left": {func() *scene {
			s := finished(newScene().mutualTLS(bySelf, bySelf))
			s.o.Target, s.o.Job, s.o.Clients = nil, nil, map[int]*corev1.Pod{}
			return s
		}(), []string{"run-tls-uid", "run-client-tls-uid", "run-config"}, false},
		"nothing is left": {finished(fresh().mutualTLS(bySelf, bySelf)), nil, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := test.scene.decide()
			if diff := cmp.Diff(test.want, names(p.Delete)); diff != "" {
				t.Errorf("deletes (-want +got):\n%s", diff)
			}
			if again := p.RequeueAfter == ending.DeletionInterval; again != test.again {
				t.Errorf("the next reconciliation is after %s", p.RequeueAfter)
			}
		})
	}
}
