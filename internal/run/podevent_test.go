package run

import (
	"strings"
	"testing"
	"time"

	"github.com/assay-dev/assay/api/v1alpha1"
	"github.com/assay-dev/assay/internal/run/inputs"
	"github.com/assay-dev/assay/internal/run/observed"
	"github.com/assay-dev/assay/internal/run/pods"
)

func TestDecideSaysWhatAPodWaitsFor(t *testing.T) {
	const missing = `MountVolume.SetUp failed for volume "tls" : secret "mine" not found`
	s := newScene().stuck(missing)
	p := s.decide()
	if got := stateIn(p); got.Reason != v1alpha1.ReasonStarting || !strings.Contains(got.Message, missing) || p.RequeueAfter > observed.PodEventInterval {
		t.Errorf("at first: %+v, again after %s", got, p.RequeueAfter)
	}
	s.o.Target.CreationTimestamp.Time = now.Add(-inputs.Timeout - time.Second)
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonConfigurationMissing || !strings.Contains(got.Message, missing) {
		t.Errorf("then: %+v", got)
	}

	const other = "MountVolume.MountDevice failed for volume \"p\" : busy"
	s = newScene().stuck(other)
	s.o.Target.CreationTimestamp.Time = now.Add(-inputs.Timeout - time.Second)
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonStarting {
		t.Errorf("for what may be overcome: %+v", got)
	}
	s.run.Spec.Target.Readiness.TimeoutSeconds = new(int32(5))
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonTargetNotStarted || !strings.Contains(got.Message, other) {
		t.Errorf("and isn't: %+v", got)
	}
}

func TestDecideSaysWhatAClientWaitsFor(t *testing.T) {
	const missing = `MountVolume.SetUp failed for volume "tls-client" : configmap "ca" not found`
	s := newScene().stuck("")
	s.o.Clients[1].Name, s.o.Clients[1].CreationTimestamp.Time = "client-1", now.Add(-inputs.Timeout)
	s.o.PodEvents = map[string]*pods.Event{"client-1": {Reason: "FailedMount", Message: missing}}
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonStarting || !strings.Contains(got.Message, "Client 1 does not start yet: FailedMount: "+missing) {
		t.Errorf("at first: %+v", got)
	}
	s.o.Clients[1].CreationTimestamp.Time = now.Add(-inputs.Timeout - time.Second)
	if got := stateIn(s.decide()); got.Reason != v1alpha1.ReasonConfigurationMissing || !strings.Contains(got.Message, missing) {
		t.Errorf("then: %+v", got)
	}
}

// TestDecideNamesTheFieldOfCredentialsThatAreMissing checks that the message names
// the field, the Secret and the keys that it must have.
func TestDecideNamesTheFieldOfCredentialsThatAreMissing(t *testing.T) {
	for _, test := range []struct {
		scheme  v1alpha1.AuthenticationScheme
		message string
		want    string // after the field; empty where it isn't the credentials
	}{
		{v1alpha1.AuthenticationBasic, `MountVolume.SetUp failed for volume "credentials" : secret "login" not found`, "have the keys username and password for scheme Basic"},
		{v1alpha1.AuthenticationForm, `MountVolume.SetUp failed for volume "credentials" : references non-existent secret key: password`, "have the keys username and password for scheme Form"},
		{v1alpha1.AuthenticationBearer, `MountVolume.SetUp failed for volume "credentials" : references non-existent secret key: token`, "have the key token for scheme Bearer"},
		{v1alpha1.AuthenticationBearer, `MountVolume.SetUp failed for volume "tls-client" : secret "ca" not found`, ""},
		{"", `MountVolume.SetUp failed for volume "tls-client" : secret "ca" not found`, ""},
	} {
		s := newScene().stuck("")
		s.o.Clients[1].Name = "client-1"
		s.o.PodEvents = map[string]*pods.Event{"client-1": {Reason: "FailedMount", Message: test.message}}
		if test.scheme != "" {
			s.run.Spec.Load.Authentication = &v1alpha1.Authentication{Scheme: test.scheme, SecretName: "login"}
		}
		for _, late := range []bool{false, true} {
			s.o.Clients[1].CreationTimestamp.Time = now.Add(-inputs.Timeout)
			if late {
				s.o.Clients[1].CreationTimestamp.Time = now.Add(-inputs.Timeout - time.Second)
			}
			got := stateIn(s.decide())
			if (got.Reason == v1alpha1.ReasonConfigurationMissing) != late || !strings.Contains(got.Message, test.message) {
				t.Errorf("%s, late: %t: %+v", test.message, late, got)
			}
			field := "spec.load.authentication.secretName: Secret ns/login must exist and " + test.want
			if strings.Contains(got.Message, field) != (test.want != "") {
				t.Errorf("%s, late: %t: %s", test.message, late, got.Message)
			}
		}
	}
}
